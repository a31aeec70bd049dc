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

// Version is a version of a record; Number 0 is none, with an empty record.
type Version struct {
	Number   int64             `json:"version"`
	Position calendar.Position `json:"position,omitempty"`
	Time     Time              `json:"time,omitzero"`
	Record   *calendar.Record  `json:"-"`               // as it was then, nil where the viewer may not open it
	Members  Members           `json:"record,omitzero"` // see WithMembers; nil: left out
}

func versionOf(entry *eventstore.Entry, record *calendar.Record) Version {
	return Version{Number: entry.Version, Position: entry.Position, Time: Time{entry.Time}, Record: record}
}

// WithMembers returns the version with what is shown of its record.
func (version Version) WithMembers() Version {
	version.Members = MembersOf(version.Record)
	return version
}

// isThere reports whether the viewer may open the version, and it is not deleted.
func (version *Version) isThere() bool { return version.Record != nil && !version.Record.Deleted }

// Versions are the versions of a record whose gate now a viewer passes.
type Versions struct {
	*request
	*currentRecord
}

// Versions returns the versions of a record. Errors: those of Present, and CodeErased for
// everybody.
func (reader *Reader) Versions(ctx context.Context, viewer Viewer, kind calendar.Kind, id calendar.ID) (*Versions, error) {
	request := reader.request(viewer)
	present, err := request.find(ctx, kind, id)
	if err == nil && present.Erased {
		err = calendar.Fail(calendar.CodeErased, kind)
	}
	return &Versions{request, present}, err
}

// each yields the entries of the record from one version to another.
func (versions *Versions) each(ctx context.Context, from, to int64, ascending bool) iter.Seq2[*eventstore.Entry, error] {
	return func(yield func(*eventstore.Entry, error) bool) {
		for entries, err := range versions.chunks(ctx, versions.ID, max(from, 1), min(to, versions.Version), ascending, 4) {
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
// are not open.
func (versions *Versions) walk(ctx context.Context, from, to int64, ascending bool) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		looked := 0
		for entry, err := range versions.each(ctx, from, to, ascending) {
			var record *calendar.Record
			if err == nil {
				record, err = versions.openOrNone(ctx, entry)
			}
			if err != nil {
				yield(Version{}, err)
				return
			}
			if looked++; !yield(versionOf(entry, record), nil) || looked == MaxLooked {
				return
			}
		}
	}
}

// nearest returns the first version of a walk that is open, and not deleted.
func (versions *Versions) nearest(ctx context.Context, from, to int64, ascending bool) (Version, error) {
	for found, err := range versions.walk(ctx, from, to, ascending) {
		if err != nil || found.isThere() {
			return found, err
		}
	}
	return Version{}, nil
}

// First returns the first open version.
func (versions *Versions) First(ctx context.Context) (Version, error) {
	return versions.nearest(ctx, 1, versions.Version, true)
}

// Numbered returns a version by its number. Errors: CodeVersionNotFound, CodeNotFound where
// the record is deleted, those of Gate.
func (versions *Versions) Numbered(ctx context.Context, number int64) (Version, error) {
	found, err := versions.numbered(ctx, number)
	if err == nil && found.Record.Deleted {
		err = calendar.Fail(calendar.CodeNotFound, versions.Kind)
	}
	return found, err
}

// numbered returns a version by its number, deleted ones too.
func (versions *Versions) numbered(ctx context.Context, number int64) (Version, error) {
	entries, err := versions.store.Read(ctx, eventstore.Range{Record: versions.ID, After: uint64(number - 1), Limit: 1})
	switch {
	case err != nil:
		return Version{}, err
	case len(entries) == 0:
		return Version{}, calendar.Fail(calendar.CodeVersionNotFound, versions.Kind)
	}
	record, err := versions.open(ctx, &entries[0])
	if err == nil && record == nil {
		err = calendar.Fail(calendar.CodeErased, versions.Kind)
	}
	return versionOf(&entries[0], record), err
}

// At returns the version at a point, as it is shown at a moment. Errors: CodeNotFound, those
// of Gate.
func (versions *Versions) At(ctx context.Context, point eventstore.Point, moment time.Time) (Version, error) {
	entries, err := versions.store.At(ctx, point, versions.ID)
	if err != nil {
		return Version{}, err
	}
	record, err := stateOf(&entries[0])
	if err == nil && (record == nil || record.Deleted) {
		err = calendar.Fail(calendar.CodeNotFound, versions.Kind)
	}
	if err == nil {
		err = Gate(versions.Caller, versions.Kind, record, moment)
	}
	return versionOf(&entries[0], record), err
}

// stateOf decodes the record after an entry; nil if none exists, or it is erased.
func stateOf(entry *eventstore.Entry) (*calendar.Record, error) {
	if entry.Version == 0 || entry.Redacted != nil {
		return nil, nil //nolint:nilnil // no record is no error
	}
	return decode(entry)
}

// Linked returns linked records as they were at a point, nil for those that were not, and
// those that do not pass the gate now.
func (versions *Versions) Linked(ctx context.Context, point eventstore.Point, ids []calendar.ID) ([]*calendar.Record, error) {
	found, err := versions.linked(ctx, point, ids)
	for i, record := range found {
		if record != nil && record.Deleted {
			found[i] = nil
		}
	}
	return found, err
}

// Mementos are open versions around one that is shown. They may be the same; Prev and Next
// may be none.
type Mementos struct{ First, Prev, Shown, Next, Last Version }

// Around returns the open versions around an open one.
func (versions *Versions) Around(ctx context.Context, shown Version) (Mementos, error) {
	mementos := Mementos{Shown: shown}
	for _, look := range []struct {
		version     *Version
		from, until int64
		ascending   bool
	}{
		{&mementos.First, 1, shown.Number, true},
		{&mementos.Prev, 1, shown.Number - 1, false},
		{&mementos.Next, shown.Number + 1, versions.Version, true},
		{&mementos.Last, shown.Number, versions.Version, false},
	} {
		var err error
		if *look.version, err = versions.nearest(ctx, look.from, look.until, look.ascending); err != nil {
			return mementos, err
		}
	}
	return mementos, nil
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
	out := &TimeMap{}
	if out.First, err = versions.First(ctx); err != nil {
		return nil, err
	}
	if out.Last, err = versions.nearest(ctx, 1, versions.Version, false); err != nil {
		return nil, err
	}
	for found, err := range versions.walk(ctx, after+1, out.Last.Number, true) {
		if err != nil {
			return nil, err
		}
		if out.After = found.Number; found.isThere() {
			found.Record = nil // it takes room
			out.Versions = append(out.Versions, found)
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
func (reader *Reader) Diff(ctx context.Context, viewer Viewer, kind calendar.Kind, id calendar.ID, from, to int64) (*Diff, error) {
	versions, err := reader.Versions(ctx, viewer, kind, id)
	if err != nil {
		return nil, err
	}
	to = cmp.Or(to, versions.Version) // who passes the gate now, passes that of the newest version
	if max(from, to) > versions.Version {
		return nil, calendar.Fail(calendar.CodeVersionNotFound, kind)
	}
	after, err := versions.numbered(ctx, to)
	if err != nil {
		return nil, err
	}
	var before Version
	if from > 0 {
		before, err = versions.numbered(ctx, from)
	} else {
		before, err = versions.nearest(ctx, 1, to-1, false)
	}
	password := false
	for entry, eachErr := range versions.each(ctx, min(before.Number, to)+1, max(before.Number, to), true) {
		password, err = password || eachErr == nil && entry.Secret != nil, cmp.Or(err, eachErr)
	}
	if err != nil {
		return nil, err
	}
	diff := &Diff{
		From: before.WithMembers(), To: after.WithMembers(),
		Patch: Patch(before.Record, after.Record), Changes: Changes(before.Record, after.Record, password),
	}
	diff.Named, err = versions.describe(ctx, diff.Changes, after.Position, after.Record.Changed)
	diff.Summary = Summary(Updated, "", diff.Changes, versions.Lang)
	return diff, err
}
