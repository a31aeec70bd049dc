package history

import (
	"bytes"
	"context"
	"strings"

	"daybook/calendar"
)

// The caches of whether records were public, and of when events were before they were
// moved, take about publicBytes each; a record with the times of an event takes movedSize.
const (
	publicBytes = 4 << 20
	movedSize   = 1 << 10
)

// wasPublic reports whether a version of a record or one before it was public.
type wasPublic struct {
	version int64
	public  bool
}

// publicKey is a record under a slug, "" for any.
type publicKey struct {
	id   calendar.ID
	slug string
}

var publicStatuses = [][]byte{[]byte(`"` + calendar.StatusPublish + `"`), []byte(`"` + calendar.StatusFuture + `"`)}

// WasPublic reports whether everybody could read a record at any time while it had the
// slug ("" for any), protected or not: that is, at the end of the life of one of its
// versions. Terms always were, and are not looked at.
func (r *Reader) WasPublic(ctx context.Context, record *calendar.Record, slug string) (public bool, err error) {
	if record.Kind.IsTerm() {
		return true, nil
	}
	epoch, key := r.store.Epoch(), publicKey{record.ID, slug}
	if known, ok := r.public.In(epoch).Get(key); ok && known.version == record.Version {
		return known.public, nil
	}
	if slug != "" {
		if ever, err := r.WasPublic(ctx, record, ""); err != nil || !ever {
			return false, err
		}
	}
	mayBe := func(v *version) bool {
		return (bytes.Contains(v.State, publicStatuses[0]) || bytes.Contains(v.State, publicStatuses[1])) && bytes.Contains(v.State, []byte(slug))
	}
	for v, err := range r.backward(ctx, record.ID, record.Version) {
		if err != nil {
			return false, err
		}
		if !mayBe(v) {
			continue
		}
		state, err := v.decode()
		if err != nil {
			return false, err
		}
		if slug == "" || state.Slug() == slug {
			if public = calendar.MayRead(calendar.Caller{}, state, EndOfLife(v.Time, v.next, r.now())); public {
				break
			}
		}
	}
	r.public.In(epoch).Set(key, wasPublic{record.Version, public})
	return public, nil
}

// wasMoved is what Moved found of a version, for everybody.
type wasMoved struct {
	version int64
	was     *calendar.Record
}

var startKey = []byte(`start_date":`)

// Moved returns when an event was before its start was moved last: of the newest version
// that the caller may open and that begins at another moment than the present one, the
// fields of its times; nil for none. It looks at MaxLooked versions.
func (r *Reader) Moved(ctx context.Context, c calendar.Caller, event *calendar.Record) (was *calendar.Record, err error) {
	if event.Version == 1 {
		return nil, nil //nolint:nilnil // it was not moved
	}
	q := r.request(Viewer{Caller: c})
	if _, err := q.find(ctx, event.Kind, event.ID); err != nil {
		if isRefusal(err) {
			err = nil
		}
		return nil, err
	}
	epoch, everybody := r.store.Epoch(), c.Role == calendar.Anonymous
	known, ok := r.moved.In(epoch).Get(event.ID)
	ok = ok && everybody
	moved, looked := false, 0 // moved by a version that was looked at
	for v, err := range r.backward(ctx, event.ID, event.Version) {
		if err != nil {
			return nil, err
		}
		if ok && !moved && v.Version == known.version {
			was = known.was // it begins as it did then
			break
		}
		if moved {
			state, err := q.open(ctx, v)
			if err != nil && !isRefusal(err) {
				return nil, err
			}
			if state != nil {
				if moved = false; state.Fields.Wall("utc_start_date") != event.Fields.Wall("utc_start_date") {
					was = timesOf(state)
					break
				}
			}
		}
		moved = moved || bytes.Contains(v.Fields, startKey)
		if looked++; looked == MaxLooked {
			break
		}
	}
	if everybody && (!ok || known.version < event.Version) {
		r.moved.In(epoch).Set(event.ID, wasMoved{event.Version, was})
	}
	return was, nil
}

// timesOf is a record with what tells when it is.
func timesOf(r *calendar.Record) *calendar.Record {
	out := &calendar.Record{Kind: r.Kind, ID: r.ID, Version: r.Version, Home: r.Home, Fields: calendar.Fields{}}
	for _, name := range []string{"start_date", "end_date", "utc_start_date", "utc_end_date", "timezone", "all_day"} {
		if v, there := r.Fields[name]; there {
			if text, ok := v.(string); ok {
				v = strings.Clone(text)
			}
			out.Fields[name] = v
		}
	}
	return out
}
