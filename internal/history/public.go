package history

import (
	"bytes"
	"context"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
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

// shownKey is a record under a slug, "" for any.
type shownKey struct {
	id   calendar.ID
	slug string
}

var publicStatuses = [][]byte{[]byte(`"` + calendar.StatusPublish + `"`), []byte(`"` + calendar.StatusFuture + `"`)}

// WasPublic reports whether everybody could read a record at any time while it had the
// slug ("" for any), protected or not: that is, at the end of the life of one of its
// versions. Terms always were, and are not looked at.
func (t *Teller) WasPublic(ctx context.Context, r *calendar.Record, slug string) (public bool, err error) {
	if r.Kind.IsTerm() {
		return true, nil
	}
	epoch, key := t.store.Epoch(), shownKey{r.ID, slug}
	if known, ok := t.shown.Get(epoch, key); ok && known.version == r.Version {
		return known.public, nil
	}
	if slug != "" {
		if ever, err := t.WasPublic(ctx, r, ""); err != nil || !ever {
			return false, err
		}
	}
	err = t.backward(ctx, r.ID, r.Version, func(e *eventstore.Entry, next time.Time) (bool, error) {
		if !bytes.Contains(e.State, publicStatuses[0]) && !bytes.Contains(e.State, publicStatuses[1]) || !bytes.Contains(e.State, []byte(slug)) {
			return false, nil
		}
		v := version{Entry: e}
		then, err := v.record()
		if err == nil && (slug == "" || then.Slug() == slug) {
			public = calendar.MayRead(calendar.Caller{}, then, EndOfLife(e.Time, next, t.now()))
		}
		return public, err
	})
	if err == nil {
		t.shown.Put(epoch, key, wasPublic{r.Version, public})
	}
	return public, err
}

// wasMoved is what Moved found of a version, for everybody.
type wasMoved struct {
	version int64
	was     *calendar.Record
}

// mostMoved is how many versions Moved looks at.
const mostMoved = 5000

var startKey = []byte(`start_date":`)

// Moved gives when an event was before its start was moved last: of the newest version that
// the caller may open and that begins at another moment than the present one, the fields of
// its times; nil for none.
func (t *Teller) Moved(ctx context.Context, c calendar.Caller, r *calendar.Record) (was *calendar.Record, err error) {
	to := t.to(Listener{Caller: c})
	if err := to.learn(ctx, []calendar.ID{r.ID}); err != nil {
		return nil, err
	}
	if open, err := isOpen(to.known[r.ID].gate); err != nil || !open {
		return nil, err
	}
	epoch, everybody := t.store.Epoch(), c.Role == calendar.Anonymous
	known, ok := t.moved.Get(epoch, r.ID)
	ok = ok && everybody
	moved, looked := false, 0 // moved by a version that was looked at
	err = t.backward(ctx, r.ID, r.Version, func(e *eventstore.Entry, next time.Time) (bool, error) {
		if ok && !moved && e.Version == known.version {
			was = known.was // it begins as it did then
			return true, nil
		}
		if looked++; moved {
			v := &version{Entry: e, next: to.nextOf(e, next)}
			open, err := isOpen(to.closed(ctx, v))
			if err != nil {
				return true, err
			}
			if open && e.Redacted == nil {
				then, err := v.record()
				if err != nil {
					return true, err
				}
				if moved = false; then.Fields.Wall("utc_start_date") != r.Fields.Wall("utc_start_date") {
					was = timesOf(then)
				}
			}
		}
		moved = moved || bytes.Contains(e.Fields, startKey)
		return was != nil || looked == mostMoved, nil
	})
	if err == nil && everybody && (!ok || known.version < r.Version) {
		t.moved.Put(epoch, r.ID, wasMoved{r.Version, was})
	}
	return was, err
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
