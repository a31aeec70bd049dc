package past

import (
	"context"
	"fmt"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/query"
)

// Request is a single read of the past.
type Request struct {
	Kind   calendar.Kind
	ID     calendar.ID
	Slug   string // in the place of ID when it is not empty, lower case
	Caller calendar.Caller
	Lang   calendar.Lang
	Embeds query.Embeds
	Point  history.Point
	// FromFirst makes the first open version of a time before it (Accept-Datetime).
	FromFirst bool
}

// Record is what was found.
type Record struct {
	View    query.View
	Version Version
	Moment  time.Time
	// Permanent reports that a version was asked for, or given in the place of a time.
	Permanent bool
	// Mementos are the open versions around the one that is shown; of records by id.
	Mementos Mementos
}

// Read answers a single read. The order of its errors is that of HISTORY 17: no such
// record, erased, gate now, no such version or none at the point, gate then.
func (s *Service) Read(ctx context.Context, r Request) (*Record, error) {
	var then Then
	var err error
	if r.Point.Form != history.ByVersion {
		if then, err = s.Resolve(ctx, r.Point); err != nil {
			return nil, err
		}
	}
	if r.Slug != "" {
		if r.ID, err = eventstore.SlugAt(ctx, s.store, r.Kind, r.Slug, then.Point); err != nil {
			return nil, err
		}
	}
	v, err := s.versionsOf(ctx, r.Kind, r.ID, r.Caller)
	if err != nil {
		return nil, err
	}
	out := &Record{Permanent: r.Point.Form == history.ByVersion}
	number := r.Point.Version
	if r.FromFirst {
		first, err := v.nearest(ctx, 1, false)
		if err != nil {
			return nil, err
		}
		if first.Number > 0 && then.Moment.Before(first.Time) {
			number, out.Permanent = first.Number, true
		}
	}
	var shown eventstore.Entry
	if out.Permanent {
		if shown, then, err = v.version(ctx, number); err != nil {
			return nil, err
		}
	} else {
		at, err := s.store.At(ctx, then.Point, r.ID)
		if err != nil {
			return nil, err
		}
		shown = at[0]
	}
	rec, err := stateOf(&shown)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Deleted {
		return nil, calendar.Fail(calendar.CodeNotFound, r.Kind)
	}
	gate := then.Moment
	if out.Permanent {
		if gate, err = v.endOfLife(ctx, &shown, rec); err != nil {
			return nil, err
		}
	}
	if err := history.Gate(r.Caller, r.Kind, rec, gate); err != nil {
		return nil, err
	}
	out.Moment, out.Version = then.Moment, versionOf(&shown)
	out.View, err = s.views.View(ctx, r.Caller, rec, r.Lang, r.Embeds, query.Moment{
		Now: then.Moment, Uncounted: true,
		Load: func(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
			return s.load(ctx, r.Caller, then.Point, ids)
		},
	})
	if err == nil && r.Slug == "" {
		out.Mementos, err = v.around(ctx, out.Version)
	}
	return out, err
}

// load returns linked records as they were, nil for those that were not, and those that do
// not pass the gate "now". The gate "then" is that of every view.
func (s *Service) load(ctx context.Context, c calendar.Caller, p eventstore.Point, ids []calendar.ID) ([]*calendar.Record, error) {
	entries, err := s.store.At(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	present, err := s.store.Load(ctx, ids...)
	if err != nil {
		return nil, err
	}
	now := s.o.Query.Now()
	out := make([]*calendar.Record, len(ids))
	for i := range ids {
		r, err := stateOf(&entries[i])
		if err != nil {
			return nil, err
		}
		if r == nil || r.Deleted {
			continue
		}
		of := r
		if present[i].Version != r.Version {
			if of, err = presentOf(&present[i]); err != nil {
				return nil, err
			}
		}
		if history.Gate(c, r.Kind, of, now) == nil {
			out[i] = r
		}
	}
	return out, nil
}

// stateOf decodes the record after an entry; nil when there is none, or it is erased.
func stateOf(e *eventstore.Entry) (*calendar.Record, error) {
	if e.Redacted != nil {
		return nil, nil // no record is no error
	}
	return decoded(e.Version, e.State, "entry %d", e.Position)
}

// presentOf decodes a record as it is now; nil when there is none.
func presentOf(s *eventstore.State) (*calendar.Record, error) {
	return decoded(s.Version, s.Record, "%s %d", s.Kind, s.ID)
}

func decoded(version int64, body []byte, subject string, of ...any) (*calendar.Record, error) {
	if version == 0 {
		return nil, nil // no record is no error
	}
	r, err := calendar.DecodeRecord(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: record: %w", fmt.Sprintf(subject, of...), eventstore.ErrDamaged, err)
	}
	return r, nil
}

// Version is a version of a record; Number 0 is none.
type Version struct {
	Number   int64
	Position calendar.Position
	Time     time.Time
}

func versionOf(e *eventstore.Entry) Version { return Version{e.Version, e.Position, e.Time} }

// Mementos are open versions of one record. They may be the same; Prev and Next may be none.
type Mementos struct{ First, Prev, Shown, Next, Last Version }

// versions reads the versions of a record that a caller may open.
type versions struct {
	s      *Service
	caller calendar.Caller
	now    time.Time
	record *calendar.Record // as it is now
}

// versionsOf finds a record and asks the gate "now": CodeNotFound, CodeErased, and those
// of the gate.
func (s *Service) versionsOf(ctx context.Context, k calendar.Kind, id calendar.ID, c calendar.Caller) (*versions, error) {
	var states []eventstore.State
	var err error
	if id > 0 {
		if states, err = s.store.Load(ctx, id); err != nil {
			return nil, err
		}
	}
	if len(states) == 0 || states[0].Version == 0 || states[0].Kind != k {
		return nil, calendar.Fail(calendar.CodeNotFound, k)
	}
	r, err := presentOf(&states[0])
	if err != nil {
		return nil, err
	}
	if r.Erased {
		return nil, calendar.Fail(calendar.CodeErased, k)
	}
	v := &versions{s: s, caller: c, now: s.o.Query.Now(), record: r}
	return v, history.Gate(c, k, r, v.now)
}

// version returns a version and its point.
func (v *versions) version(ctx context.Context, number int64) (eventstore.Entry, Then, error) {
	if number <= v.record.Version {
		entries, err := v.s.store.Read(ctx, eventstore.Range{Record: v.record.ID, After: uint64(number - 1), Limit: 1})
		if err != nil {
			return eventstore.Entry{}, Then{}, err
		}
		if len(entries) > 0 && entries[0].Version == number {
			e := entries[0]
			return e, Then{eventstore.Point{Position: e.Position}, e.Time}, nil
		}
	}
	return eventstore.Entry{}, Then{}, calendar.Fail(calendar.CodeVersionNotFound, v.record.Kind)
}

// endOfLife returns when the life of a version with a state ends, as far as the gate goes by
// that.
func (v *versions) endOfLife(ctx context.Context, e *eventstore.Entry, state *calendar.Record) (time.Time, error) {
	if state.Status(e.Time) != calendar.StatusFuture { // only such a version changes by itself
		return e.Time, nil
	}
	var next eventstore.Entry
	var err error
	if e.Version < v.record.Version {
		next, _, err = v.version(ctx, e.Version+1)
	}
	return history.EndOfLife(e.Time, next.Time, v.now), err
}

// mostLooked is how many versions are looked at for one link or one page: a record may have
// any number that are not open.
const mostLooked = 5000

// open reports whether the caller may open the version of an entry.
func (v *versions) open(ctx context.Context, e *eventstore.Entry) (bool, error) {
	r, err := stateOf(e)
	if err != nil || r == nil || r.Deleted {
		return false, err
	}
	ends, err := v.endOfLife(ctx, e, r)
	return err == nil && history.Gate(v.caller, v.record.Kind, r, ends) == nil, err
}

// walk calls use with open versions from a number on, upwards or downwards, until it returns
// false. looked is the last one that was looked at.
func (v *versions) walk(ctx context.Context, from int64, down bool, use func(Version) bool) (looked int64, err error) {
	looked = from - 1
	for size, seen := int64(2), int64(0); from > 0 && from <= v.record.Version && seen < mostLooked; size = min(4*size, 256) {
		n, after := min(size, mostLooked-seen, v.record.Version-from+1), from-1
		if down {
			n = min(size, mostLooked-seen, from)
			after = from - n
		}
		page, err := v.s.store.Read(ctx, eventstore.Range{Record: v.record.ID, After: uint64(after), Limit: int(n)})
		if err != nil || len(page) == 0 {
			return looked, err
		}
		if from += n; down {
			from = after
			slices.Reverse(page)
		}
		seen += n
		for i := range page {
			looked = page[i].Version
			if open, err := v.open(ctx, &page[i]); err != nil || open && !use(versionOf(&page[i])) {
				return looked, err
			}
		}
	}
	return looked, nil
}

// nearest returns the first open version from a number on, upwards or downwards.
func (v *versions) nearest(ctx context.Context, from int64, down bool) (found Version, err error) {
	_, err = v.walk(ctx, from, down, func(open Version) bool {
		found = open
		return false
	})
	return found, err
}

// around returns the open versions that links name. The one that is shown is open.
func (v *versions) around(ctx context.Context, shown Version) (m Mementos, err error) {
	m = Mementos{First: shown, Shown: shown, Last: shown}
	if m.Prev, err = v.nearest(ctx, shown.Number-1, true); err == nil && m.Prev.Number > 0 {
		m.First, err = v.nearest(ctx, 1, false)
	}
	if err != nil {
		return m, err
	}
	if m.Next, err = v.nearest(ctx, shown.Number+1, false); err == nil && m.Next.Number > 0 {
		m.Last, err = v.nearest(ctx, v.record.Version, true)
	}
	return m, err
}

// TimeMap are the open versions of a record.
type TimeMap struct {
	First, Last Version   // of all of them
	Versions    []Version // of the page, ascending
	After       int64     // the next page begins behind it; 0: there is none
}

// TimeMap returns up to limit open versions after a number; a page may hold fewer and have
// a next one.
func (s *Service) TimeMap(ctx context.Context, k calendar.Kind, id calendar.ID, c calendar.Caller, after int64, limit int) (*TimeMap, error) {
	v, err := s.versionsOf(ctx, k, id, c)
	if err != nil {
		return nil, err
	}
	out := &TimeMap{}
	if out.First, err = v.nearest(ctx, 1, false); err != nil {
		return nil, err
	}
	if out.Last, err = v.nearest(ctx, v.record.Version, true); err != nil {
		return nil, err
	}
	looked, err := v.walk(ctx, after+1, false, func(open Version) bool {
		out.Versions = append(out.Versions, open)
		return len(out.Versions) < limit
	})
	if looked < out.Last.Number {
		out.After = looked
	}
	return out, err
}
