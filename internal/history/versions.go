package history

import (
	"cmp"
	"context"
	"iter"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Version is a version of a record; Number 0 is none, with an empty record.
type Version struct {
	Number   int64             `json:"version"`
	Position calendar.Position `json:"position,omitempty"`
	Time     Time              `json:"time,omitzero"`
	Record   *calendar.Record  `json:"-"`               // as it was then, nil where the viewer may not open it
	Members  Members           `json:"record,omitzero"` // MembersOf the Record; nil: left out
}

func versionOf(entry *eventstore.Entry) Version {
	return Version{Number: entry.Version, Position: entry.Position, Time: Time{entry.Time}}
}

// Versions are the versions of a record whose gate now a viewer passes.
type Versions struct {
	*request
	*currentRecord
}

// Present returns the versions of a record of a kind. Errors: CodeNotFound, those of Gate, those
// of the store.
func (reader *Reader) Present(ctx context.Context, viewer Viewer, kind calendar.Kind, id calendar.ID) (*Versions, error) {
	request := reader.request(viewer)
	if err := request.learn(ctx, id); err != nil {
		return nil, err
	}
	present := request.known[id]
	if present == nil || present.Record == nil || present.Kind != kind {
		return nil, calendar.Fail(calendar.CodeNotFound, kind)
	}
	return &Versions{request, present}, present.gate
}

// Versions is Present with CodeErased for everybody.
func (reader *Reader) Versions(ctx context.Context, viewer Viewer, kind calendar.Kind, id calendar.ID) (*Versions, error) {
	versions, err := reader.Present(ctx, viewer, kind, id)
	if err == nil && versions.Erased {
		err = calendar.Fail(calendar.CodeErased, kind)
	}
	return versions, err
}

// each yields the entries of the record from one version to another.
func (versions *Versions) each(ctx context.Context, from, until int64, ascending bool) iter.Seq2[*eventstore.Entry, error] {
	return func(yield func(*eventstore.Entry, error) bool) {
		for entries, err := range versions.chunks(ctx, versions.ID, max(from, 1), min(until, versions.Version), ascending) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				if !yield(&entries[i], nil) {
					return
				}
			}
		}
	}
}

// list returns up to limit versions from one to another that are open and not deleted, without
// their records, and the number that was looked at last, of up to MaxLooked.
func (versions *Versions) list(ctx context.Context, from, until int64, ascending bool, limit int) (found []Version, lookedTo int64, err error) {
	looked := 0
	for entry, err := range versions.each(ctx, from, until, ascending) {
		var record *calendar.Record
		if err == nil {
			record, err = versions.openOrNone(ctx, entry)
		}
		if err != nil {
			return nil, 0, err
		}
		if lookedTo = entry.Version; record != nil && !record.Deleted {
			found = append(found, versionOf(entry))
		}
		if looked++; looked == MaxLooked || len(found) == limit {
			break
		}
	}
	return found, lookedTo, nil
}

// nearest returns the first version of a list.
func (versions *Versions) nearest(ctx context.Context, from, until int64, ascending bool) (Version, error) {
	found, _, err := versions.list(ctx, from, until, ascending, 1)
	return append(found, Version{})[0], err
}

// First returns the first open version.
func (versions *Versions) First(ctx context.Context) (Version, error) {
	return versions.nearest(ctx, 1, versions.Version, true)
}

// numbered returns a version by its number, deleted ones too.
func (versions *Versions) numbered(ctx context.Context, number int64) (Version, error) {
	entries, err := versions.Store.Read(ctx, eventstore.Range{Record: versions.ID, After: uint64(number - 1), Limit: 1})
	switch {
	case err != nil:
		return Version{}, err
	case len(entries) == 0:
		return Version{}, calendar.Fail(calendar.CodeVersionNotFound, versions.Kind)
	}
	found := versionOf(&entries[0])
	found.Record, err = versions.open(ctx, &entries[0])
	return found, err
}

// At returns a version by its number, of 0 the one at a point as it is shown at a moment.
// Errors: CodeVersionNotFound, CodeNotFound where there is none or it is deleted, those of Gate.
func (versions *Versions) At(ctx context.Context, number int64, point eventstore.Point, moment time.Time) (found Version, err error) {
	if number > 0 {
		found, err = versions.numbered(ctx, number)
	} else {
		var entries []eventstore.Entry
		if entries, err = versions.Store.At(ctx, point, versions.ID); err == nil {
			found = versionOf(&entries[0])
			found.Record, err = stateOf(&entries[0])
		}
		err = cmp.Or(err, Gate(versions.Caller, versions.Kind, found.Record, moment))
	}
	if err == nil && found.Record.Deleted {
		err = calendar.Fail(calendar.CodeNotFound, versions.Kind)
	}
	return found, err
}

// stateOf decodes the record after an entry; nil if none exists, or it is erased.
func stateOf(entry *eventstore.Entry) (*calendar.Record, error) {
	if entry.Version == 0 || entry.Redacted != nil {
		return nil, nil //nolint:nilnil // no record is no error
	}
	return decode(entry)
}

// Mementos are open versions around one that is shown. They may be the same; Prev and Next
// may be none.
type Mementos struct{ First, Prev, Shown, Next, Last Version }

// Around returns the open versions around an open one.
func (versions *Versions) Around(ctx context.Context, shown Version) (mementos Mementos, err error) {
	look := func(from, until int64, ascending bool) (found Version) {
		if err == nil {
			found, err = versions.nearest(ctx, from, until, ascending)
		}
		return found
	}
	mementos = Mementos{
		First: look(1, shown.Number, true), Prev: look(1, shown.Number-1, false), Shown: shown,
		Next: look(shown.Number+1, versions.Version, true), Last: look(shown.Number, versions.Version, false),
	}
	return mementos, err
}

// TimeMap are the open versions of a record.
type TimeMap struct {
	First, Last Version   // of all of them
	Versions    []Version // of the page, ascending
	After       int64     // the next page begins behind it; 0: there is none
}

// TimeMap returns up to limit open versions after a number; a page may hold fewer and have
// a next one.
func (reader *Reader) TimeMap(ctx context.Context, viewer Viewer, kind calendar.Kind, id calendar.ID, after int64, limit int) (*TimeMap, error) {
	versions, err := reader.Versions(ctx, viewer, kind, id)
	if err != nil {
		return nil, err
	}
	timeMap := &TimeMap{}
	if timeMap.First, err = versions.First(ctx); err != nil {
		return nil, err
	}
	if timeMap.Last, err = versions.nearest(ctx, 1, versions.Version, false); err != nil {
		return nil, err
	}
	timeMap.Versions, timeMap.After, err = versions.list(ctx, after+1, timeMap.Last.Number, true, limit)
	if timeMap.After == timeMap.Last.Number {
		timeMap.After = 0
	}
	return timeMap, err
}

// Diff is what differs between two versions of a record (docs/spec/history.md 9).
type Diff struct {
	From    Version     `json:"from"`
	To      Version     `json:"to"`
	Patch   []Operation `json:"patch"`
	Changes []Change    `json:"changes"`
	Summary string      `json:"summary"`

	Named []calendar.ID `json:"-"` // the records that sentences name
}

// Diff compares two versions of a record; 0 for the open one before to, and for the newest
// open one. Errors: those of Versions, CodeVersionNotFound, those of Gate.
func (reader *Reader) Diff(ctx context.Context, viewer Viewer, kind calendar.Kind, id calendar.ID, from, until int64) (*Diff, error) {
	versions, err := reader.Versions(ctx, viewer, kind, id)
	if err != nil {
		return nil, err
	}
	until = cmp.Or(until, versions.Version) // who passes the gate now, passes that of the newest version
	if max(from, until) > versions.Version {
		return nil, calendar.Fail(calendar.CodeVersionNotFound, kind)
	}
	after, err := versions.numbered(ctx, until)
	if err != nil {
		return nil, err
	}
	var before Version
	if from == 0 {
		before, err = versions.nearest(ctx, 1, until-1, false)
		from = before.Number
	}
	if err == nil && from > 0 {
		before, err = versions.numbered(ctx, from)
	}
	password := false
	for entry, eachErr := range versions.each(ctx, min(from, until)+1, max(from, until), true) {
		password, err = password || eachErr == nil && entry.Secret != nil, cmp.Or(err, eachErr)
	}
	if err != nil {
		return nil, err
	}
	before.Members, after.Members = MembersOf(before.Record), MembersOf(after.Record)
	diff := &Diff{From: before, To: after, Patch: Patch(before.Members, after.Members), Changes: Changes(before.Record, after.Record, password)}
	diff.Named, err = versions.describe(ctx, diff.Changes, after.Position, after.Record.Changed)
	diff.Summary = phrasing{language: versions.Lang}.summary(&Entry{Action: calendar.Updated, Changes: diff.Changes})
	return diff, err
}
