package history

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Version names a version of a record; Number 0 is none.
type Version struct {
	Number   int64
	Position calendar.Position
	Time     time.Time
}

// Versions are the versions of a record whose gate now a viewer passes.
type Versions struct {
	*request
	*present
}

// Opened is a version that the viewer may open.
type Opened struct {
	Version

	Record *calendar.Record // as it was then
	Moment time.Time        // at which it is shown
}

// Versions returns the versions of a record. Errors: those of Present, and CodeErased for
// everybody.
func (r *Reader) Versions(ctx context.Context, viewer Viewer, k calendar.Kind, id calendar.ID) (*Versions, error) {
	q := r.request(viewer)
	p, err := q.find(ctx, k, id)
	if err == nil && p.Erased {
		err = calendar.Fail(calendar.CodeErased, k)
	}
	return &Versions{q, p}, err
}

// each yields the entries of the record from one version to another.
func (v *Versions) each(ctx context.Context, from, to int64, ascending bool) iter.Seq2[*eventstore.Entry, error] {
	return func(yield func(*eventstore.Entry, error) bool) {
		for entries, err := range v.chunks(ctx, v.ID, max(from, 1), min(to, v.Version), ascending, 4) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !ascending {
				slices.Reverse(entries)
			}
			for i := range entries {
				if !yield(&entries[i], nil) {
					return
				}
			}
		}
	}
}

// walk yields up to MaxLooked versions from one to another; the Record is nil of those that
// are not open, or deleted.
func (v *Versions) walk(ctx context.Context, from, to int64, ascending bool) iter.Seq2[Opened, error] {
	return func(yield func(Opened, error) bool) {
		looked := 0
		for e, err := range v.each(ctx, from, to, ascending) {
			var o Opened
			if err == nil {
				o.Version = Version{e.Version, e.Position, e.Time}
				o.Record, err = v.open(ctx, e, time.Time{})
			}
			if isRefusal(err) || o.Record != nil && o.Record.Deleted {
				o.Record, err = nil, nil
			}
			if looked++; !yield(o, err) || err != nil || looked == MaxLooked {
				return
			}
		}
	}
}

// nearest returns the first open version of a walk.
func (v *Versions) nearest(ctx context.Context, from, to int64, ascending bool) (Version, error) {
	for o, err := range v.walk(ctx, from, to, ascending) {
		if o.Record != nil || err != nil {
			return o.Version, err
		}
	}
	return Version{}, nil
}

// First and Last return the first and the last open version.
// First returns the first open version.
func (v *Versions) First(ctx context.Context) (Version, error) {
	return v.nearest(ctx, 1, v.Version, true)
}

// Last returns the last open version.
func (v *Versions) Last(ctx context.Context) (Version, error) {
	return v.nearest(ctx, 1, v.Version, false)
}

// Numbered returns a version by its number. Errors: CodeVersionNotFound, CodeNotFound where
// the record is deleted, those of Gate.
func (v *Versions) Numbered(ctx context.Context, number int64) (*Opened, error) {
	e, r, err := v.side(ctx, number, true)
	if err == nil && r.Deleted {
		err = calendar.Fail(calendar.CodeNotFound, v.Kind)
	}
	if err != nil {
		return nil, err
	}
	return &Opened{Version{e.Version, e.Position, e.Time}, r, e.Time}, nil
}

// At returns the version at a point, as it is shown at a moment. Errors: CodeNotFound, those
// of Gate.
func (v *Versions) At(ctx context.Context, p eventstore.Point, moment time.Time) (*Opened, error) {
	entries, err := v.store.At(ctx, p, v.ID)
	if err != nil {
		return nil, err
	}
	e := &entries[0]
	r, err := stateOf(e)
	if err == nil && (r == nil || r.Deleted) {
		err = calendar.Fail(calendar.CodeNotFound, v.Kind)
	}
	if err == nil {
		err = Gate(v.Caller, v.Kind, r, moment)
	}
	return &Opened{Version{e.Version, e.Position, e.Time}, r, moment}, err
}

// stateOf decodes the record after an entry; nil where there is none, or it is erased.
func stateOf(e *eventstore.Entry) (*calendar.Record, error) {
	if e.Version == 0 || e.Redacted != nil {
		return nil, nil //nolint:nilnil // no record is no error
	}
	return decode(e)
}

// Linked returns linked records as they were at a point, nil for those that were not, and
// those that do not pass the gate now.
func (v *Versions) Linked(ctx context.Context, p eventstore.Point, ids []calendar.ID) ([]*calendar.Record, error) {
	if err := v.learn(ctx, ids...); err != nil {
		return nil, err
	}
	entries, err := v.store.At(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		r, err := stateOf(&entries[i])
		if err != nil {
			return nil, err
		}
		if known := v.known[id]; r != nil && !r.Deleted && known != nil && known.gate == nil {
			out[i] = r
		}
	}
	return out, nil
}

// Mementos are open versions around one that is shown. They may be the same; Prev and Next
// may be none.
type Mementos struct{ First, Prev, Shown, Next, Last Version }

// Around returns the open versions around an open one.
func (v *Versions) Around(ctx context.Context, shown Version) (m Mementos, err error) {
	m = Mementos{First: shown, Shown: shown, Last: shown}
	if m.Prev, err = v.nearest(ctx, 1, shown.Number-1, false); err == nil && m.Prev.Number > 0 {
		m.First, err = v.First(ctx)
	}
	if err != nil {
		return m, err
	}
	if m.Next, err = v.nearest(ctx, shown.Number+1, v.Version, true); err == nil && m.Next.Number > 0 {
		m.Last, err = v.Last(ctx)
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
func (r *Reader) TimeMap(ctx context.Context, viewer Viewer, k calendar.Kind, id calendar.ID, after int64, limit int) (*TimeMap, error) {
	v, err := r.Versions(ctx, viewer, k, id)
	if err != nil {
		return nil, err
	}
	out := &TimeMap{}
	if out.First, err = v.First(ctx); err != nil {
		return nil, err
	}
	if out.Last, err = v.Last(ctx); err != nil {
		return nil, err
	}
	for o, err := range v.walk(ctx, after+1, out.Last.Number, true) {
		if err != nil {
			return nil, err
		}
		if out.After = o.Number; o.Record != nil {
			out.Versions = append(out.Versions, o.Version)
		}
		if len(out.Versions) == limit {
			break
		}
	}
	if out.After == out.Last.Number {
		out.After = 0
	}
	return out, nil
}

// Side is one of the two states of a Diff; Version 0 is an empty record.
type Side struct {
	Version  int64             `json:"version"`
	Position calendar.Position `json:"position,omitempty"`
	Time     Time              `json:"time,omitzero"`
	Record   Members           `json:"record,omitzero"` // nil: left out
}

// Diff is what differs between two versions of a record (docs/spec/history.md 9).
type Diff struct {
	From    Side        `json:"from"`
	To      Side        `json:"to"`
	Patch   []Operation `json:"patch"`
	Changes []Change    `json:"changes"`
	Summary string      `json:"summary"`

	Named []calendar.ID `json:"-"` // the records that sentences name
}

// Diff compares two versions of a record; 0 for the open one before to, and for the newest
// open one. Errors: those of Versions, CodeVersionNotFound, those of Gate.
func (r *Reader) Diff(ctx context.Context, viewer Viewer, k calendar.Kind, id calendar.ID, from, to int64) (*Diff, error) {
	v, err := r.Versions(ctx, viewer, k, id)
	if err != nil {
		return nil, err
	}
	to = cmp.Or(to, v.Version) // who passes the gate now, passes that of the newest version
	if max(from, to) > v.Version {
		return nil, calendar.Fail(calendar.CodeVersionNotFound, k)
	}
	entry, after, err := v.side(ctx, to, true)
	if err != nil {
		return nil, err
	}
	first, before, err := v.side(ctx, cmp.Or(from, to-1), from > 0)
	if err != nil {
		return nil, err
	}
	password := false
	for e, err := range v.each(ctx, min(first.Version, to)+1, max(first.Version, to), true) {
		if err != nil {
			return nil, err
		}
		password = password || e.Secret != nil
	}
	d := &Diff{From: sideOf(first, before), To: sideOf(entry, after), Patch: Patch(before, after), Changes: Changes(before, after, password)}
	d.Named, err = v.describe(ctx, d.Changes, entry.Position, after.Changed)
	d.Summary = Summary(Updated, "", d.Changes, v.Lang)
	return d, err
}

func sideOf(e *eventstore.Entry, r *calendar.Record) Side {
	return Side{Version: e.Version, Position: e.Position, Time: Time{e.Time}, Record: MembersOf(r)}
}

// side returns a version that has to be open, or else the last open one up to it, the empty
// record for none.
func (v *Versions) side(ctx context.Context, number int64, exact bool) (*eventstore.Entry, *calendar.Record, error) {
	least := int64(1)
	if exact {
		least = number
	}
	for e, err := range v.each(ctx, least, number, false) {
		if err != nil {
			return nil, nil, err
		}
		state, err := v.open(ctx, e, time.Time{})
		if !exact && isRefusal(err) {
			continue
		}
		if err == nil && state == nil {
			err = calendar.Fail(calendar.CodeErased, v.Kind)
		}
		return e, state, err
	}
	if exact {
		return nil, nil, calendar.Fail(calendar.CodeVersionNotFound, v.Kind)
	}
	return &eventstore.Entry{}, nil, nil
}
