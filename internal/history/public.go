package history

import (
	"context"
	"errors"
	"strings"

	"daybook/calendar"
)

// cacheBytes is about what each cache of what was found out about versions takes.
const cacheBytes = 8 << 20

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
	cached, key := reader.public.In(reader.Store.Epoch()), versionKey{record.ID, record.Version, slug}
	if known, ok := cached.Get(key); ok {
		return known, nil
	}
	versions := &Versions{reader.request(Viewer{}), &currentRecord{Record: record}}
	for entry, err := range versions.each(ctx, 1, record.Version, false) {
		var state *calendar.Record
		if err == nil {
			state, err = versions.open(ctx, entry)
		}
		problem, refused := errors.AsType[*calendar.Error](err)
		if err != nil && !refused {
			return false, err
		}
		if public = (!refused || problem.Code == calendar.CodePasswordProtected) && (slug == "" || state.Slug() == slug); public {
			break
		}
	}
	cached.Set(key, public)
	return public, nil
}

// Moved returns when an event was before its start was moved last: of the newest version
// that everybody may open and that begins at another moment than the present one, the
// fields of its times; nil for none. It looks at MaxLooked versions.
func (reader *Reader) Moved(ctx context.Context, event *calendar.Record) (was *calendar.Record, err error) {
	if event.Version == 1 {
		return nil, nil //nolint:nilnil // it was not moved
	}
	cached, key := reader.moves.In(reader.Store.Epoch()), versionKey{id: event.ID, version: event.Version}
	if known, ok := cached.Get(key); ok {
		return known, nil
	}
	versions, err := reader.Versions(ctx, Viewer{}, event.Kind, event.ID)
	if err != nil {
		return nil, unlessRefused(err)
	}
	for entry, err := range versions.each(ctx, event.Version-MaxLooked, event.Version-1, false) {
		var state *calendar.Record
		if err == nil {
			state, err = versions.openOrNone(ctx, entry)
		}
		if err != nil {
			return nil, err
		}
		if state != nil && state.Fields.Wall("utc_start_date") != event.Fields.Wall("utc_start_date") {
			was = &calendar.Record{Kind: state.Kind, ID: state.ID, Version: state.Version, Home: state.Home, Fields: state.Fields.Copy(strings.Fields("start_date end_date utc_start_date utc_end_date timezone all_day"))}
			break
		}
	}
	cached.Set(key, was)
	return was, nil
}
