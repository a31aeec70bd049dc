package history

import (
	"bytes"
	"context"
	"time"

	"daybook/calendar"
)

// The cache of what was found out about versions takes about foundBytes; a record with the
// times of an event takes movedSize.
const (
	foundBytes = 8 << 20
	movedSize  = 1 << 10
)

// found is what was found out about a version of a record, for everybody.
type found struct {
	version int64
	public  bool             // it or one before it was public
	was     *calendar.Record // when the event was before it was moved
}

// foundKey is a record under a slug, "" for any, or its moves.
type foundKey struct {
	id    calendar.ID
	slug  string
	moves bool
}

func foundSize(k foundKey, f found) int {
	if f.was != nil {
		return movedSize
	}
	return len(k.slug)
}

// publicStatuses are the statuses that may be public, as they are stored.
var publicStatuses = [...][]byte{[]byte(`"` + calendar.StatusPublish + `"`), []byte(`"` + calendar.StatusFuture + `"`)}

// WasPublic reports whether everybody could read a record at any time while it had the
// slug ("" for any), protected or not: that is, at the end of the life of one of its
// versions. Terms always were, and are not looked at.
func (r *Reader) WasPublic(ctx context.Context, record *calendar.Record, slug string) (public bool, err error) {
	if record.Kind.IsTerm() {
		return true, nil
	}
	epoch, key := r.store.Epoch(), foundKey{id: record.ID, slug: slug}
	if known, ok := r.found.In(epoch).Get(key); ok && known.version == record.Version {
		return known.public, nil
	}
	if slug != "" {
		if ever, err := r.WasPublic(ctx, record, ""); err != nil || !ever {
			return false, err
		}
	}
	v, next := &Versions{r.request(Viewer{}), &present{Record: record}}, time.Time{}
	for e, err := range v.each(ctx, 1, record.Version, false) {
		if err != nil {
			return false, err
		}
		if (bytes.Contains(e.State, publicStatuses[0]) || bytes.Contains(e.State, publicStatuses[1])) && bytes.Contains(e.State, []byte(slug)) {
			state, err := decode(e)
			if err != nil {
				return false, err
			}
			if public = (slug == "" || state.Slug() == slug) && calendar.MayRead(calendar.Caller{}, state, EndOfLife(e.Time, next, v.at)); public {
				break
			}
		}
		next = e.Time
	}
	r.found.In(epoch).Set(key, found{version: record.Version, public: public})
	return public, nil
}

var startKey = []byte(`start_date":`)

// Moved returns when an event was before its start was moved last: of the newest version
// that the caller may open and that begins at another moment than the present one, the
// fields of its times; nil for none. It looks at MaxLooked versions.
func (r *Reader) Moved(ctx context.Context, c calendar.Caller, event *calendar.Record) (was *calendar.Record, err error) {
	if event.Version == 1 {
		return nil, nil //nolint:nilnil // it was not moved
	}
	v, err := r.Versions(ctx, Viewer{Caller: c}, event.Kind, event.ID)
	if isRefusal(err) {
		return nil, nil //nolint:nilnil // the caller does not get its past
	}
	if err != nil {
		return nil, err
	}
	epoch, everybody, key := r.store.Epoch(), c.Role == calendar.Anonymous, foundKey{id: event.ID, moves: true}
	known, ok := r.found.In(epoch).Get(key)
	ok = ok && everybody
	moved := false // by a version that was looked at
	for e, err := range v.each(ctx, event.Version-MaxLooked+1, event.Version, false) {
		if err != nil {
			return nil, err
		}
		if ok && !moved && e.Version == known.version {
			was = known.was // it begins as it did then
			break
		}
		if moved {
			state, err := v.open(ctx, e, time.Time{})
			if err != nil && !isRefusal(err) {
				return nil, err
			}
			if err == nil && state != nil {
				if moved = false; state.Fields.Wall("utc_start_date") != event.Fields.Wall("utc_start_date") {
					was = &calendar.Record{Kind: state.Kind, ID: state.ID, Version: state.Version, Home: state.Home, Fields: state.Fields.Copy(timeFields)}
					break
				}
			}
		}
		moved = moved || bytes.Contains(e.Fields, startKey)
	}
	if everybody && (!ok || known.version < event.Version) {
		r.found.In(epoch).Set(key, found{version: event.Version, was: was})
	}
	return was, nil
}

// timeFields are the fields that tell when an event is.
var timeFields = []string{"start_date", "end_date", "utc_start_date", "utc_end_date", "timezone", "all_day"}
