package history

import (
	"bytes"
	"context"
	"time"

	"daybook/calendar"
)

// The caches of what was found out about versions take about cacheBytes each; the times of
// an event take movedBytes.
const (
	cacheBytes = 8 << 20
	movedBytes = 1 << 10
)

// versionKey is a version of a record and a slug, "" for any.
type versionKey struct {
	id      calendar.ID
	version int64
	slug    string
}

// WasPublic reports whether everybody could read a record at any time while it had the
// slug ("" for any), protected or not: that is, at the end of the life of one of its
// versions. Terms always were, and are not looked at.
func (reader *Reader) WasPublic(ctx context.Context, record *calendar.Record, slug string) (public bool, err error) {
	if record.Kind.IsTerm() {
		return true, nil
	}
	cached, key := reader.public.In(reader.store.Epoch()), versionKey{record.ID, record.Version, slug}
	if known, ok := cached.Get(key); ok {
		return known, nil
	}
	versions, next := &Versions{reader.request(Viewer{}), &currentRecord{Record: record}}, time.Time{}
	for entry, err := range versions.each(ctx, 1, record.Version, false) {
		if err != nil {
			return false, err
		}
		if entry.Redacted == nil && bytes.Contains(entry.State, []byte(slug)) {
			state, err := decode(entry)
			if err != nil {
				return false, err
			}
			if public = (slug == "" || state.Slug() == slug) && calendar.MayRead(calendar.Caller{}, state, EndOfLife(entry.Time, next, versions.instant)); public {
				break
			}
		}
		next = entry.Time
	}
	cached.Set(key, public)
	return public, nil
}

// Moved returns when an event was before its start was moved last: of the newest version
// that the caller may open and that begins at another moment than the present one, the
// fields of its times; nil for none. It looks at MaxLooked versions.
func (reader *Reader) Moved(ctx context.Context, caller calendar.Caller, event *calendar.Record) (was *calendar.Record, err error) {
	if event.Version == 1 {
		return nil, nil //nolint:nilnil // it was not moved
	}
	cached, key := reader.moves.In(reader.store.Epoch()), versionKey{id: event.ID, version: event.Version}
	everybody := caller.Role == calendar.Anonymous
	if known, ok := cached.Get(key); ok && everybody {
		return known, nil
	}
	versions, err := reader.Versions(ctx, Viewer{Caller: caller}, event.Kind, event.ID)
	if isRefusal(err) {
		return nil, nil //nolint:nilnil // the caller does not get its past
	}
	if err != nil {
		return nil, err
	}
	moved := false // by a version that was looked at
	for entry, err := range versions.each(ctx, event.Version-MaxLooked+1, event.Version, false) {
		if err != nil {
			return nil, err
		}
		if moved {
			state, err := versions.openOrNone(ctx, entry)
			if err != nil {
				return nil, err
			}
			if moved = state == nil; !moved && state.Fields.Wall("utc_start_date") != event.Fields.Wall("utc_start_date") {
				was = &calendar.Record{Kind: state.Kind, ID: state.ID, Version: state.Version, Home: state.Home, Fields: state.Fields.Copy(timeFields)}
				break
			}
		}
		moved = moved || bytes.Contains(entry.Fields, []byte(`start_date":`))
	}
	if everybody {
		cached.Set(key, was)
	}
	return was, nil
}

// timeFields are the fields that tell when an event is.
var timeFields = []string{"start_date", "end_date", "utc_start_date", "utc_end_date", "timezone", "all_day"}
