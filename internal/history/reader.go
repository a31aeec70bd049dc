package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Reader reads the past of records. It is safe for concurrent use.
type Reader struct {
	store  eventstore.Store
	now    func() time.Time
	public *eventstore.EpochCache[versionKey, bool]             // see WasPublic
	moves  *eventstore.EpochCache[versionKey, *calendar.Record] // see Moved
}

// New makes a Reader with the clock that gates go by.
func New(store eventstore.Store, now func() time.Time) *Reader {
	return &Reader{
		store, now,
		eventstore.NewEpochCache(cacheBytes, func(k versionKey, _ bool) int { return len(k.slug) }),
		eventstore.NewEpochCache(cacheBytes, func(versionKey, *calendar.Record) int { return movedBytes }),
	}
}

// Forget drops what is cached of records that were erased since.
func (r *Reader) Forget() {
	r.public.In(r.store.Epoch())
	r.moves.In(r.store.Epoch())
}

// Viewer is who reads the past.
type Viewer struct {
	Caller calendar.Caller
	Lang   calendar.Lang
	// Collection returns the URL of a collection, for links to versions; nil: there are none.
	Collection func(calendar.Kind) string
}

// Entry is an entry as a viewer gets it (docs/spec/history.md 5). What is not shown to the
// viewer has no key.
type Entry struct {
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Position calendar.Position `json:"position"`
	Time     Time              `json:"time"`
	Action   Action            `json:"action"`
	Actor    *Actor            `json:"actor,omitempty"`
	Client   string            `json:"client,omitempty"`
	Request  string            `json:"request,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Name     string            `json:"name,omitempty"`
	Summary  string            `json:"summary"`
	Changes  []Change          `json:"changes"`
	Redacted *Version          `json:"redacted,omitempty"` // the one whose entry erased the content
	URLs     URLs              `json:"urls,omitzero"`

	Named []calendar.ID `json:"-"` // the records that sentences name
}

// Actor is the user who made a change, 0 the service itself.
type Actor struct {
	ID   calendar.ID `json:"id"`
	Name string      `json:"name,omitempty"`
}

// URLs are the links of an entry.
type URLs struct {
	Version string `json:"version,omitempty"`
	Diff    string `json:"diff,omitempty"`
}

// present is a record as it is now.
type present struct {
	*calendar.Record // what gates and names need of it; nil: there is none

	gate error // the gate now
}

// request is one request of a viewer.
type request struct {
	*Reader
	Viewer

	at    time.Time // the present moment
	known map[calendar.ID]*present
}

func (r *Reader) request(viewer Viewer) *request {
	return &request{r, viewer, r.now(), map[calendar.ID]*present{}}
}

// maxChunk is how many records or entries are read together: each may have some 800 kB.
const maxChunk = 128

// learn looks up what is not known of records.
func (q *request) learn(ctx context.Context, ids ...calendar.ID) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool { return id <= 0 || q.known[id] != nil })
	slices.Sort(ids)
	for chunk := range slices.Chunk(slices.Compact(ids), maxChunk) {
		states, err := q.store.Load(ctx, chunk...)
		if err != nil {
			return err
		}
		for i := range states {
			state, p := &states[i], &present{}
			if state.Version > 0 {
				record, err := calendar.DecodeRecord(state.Record)
				if err != nil {
					return fmt.Errorf("%s %d: %w: record: %w", state.Kind, state.ID, eventstore.ErrDamaged, err)
				}
				p.Record = Outline(record)
			}
			p.gate = Gate(q.Caller, state.Kind, p.Record, q.at)
			if p.Record != nil && p.Erased && !q.Caller.ReadsAll() {
				p.gate = calendar.Fail(calendar.CodeErased, p.Kind)
			}
			q.known[chunk[i]] = p
		}
	}
	return nil
}

// find returns a record of a kind and its gate now.
func (q *request) find(ctx context.Context, kind calendar.Kind, id calendar.ID) (*present, error) {
	if err := q.learn(ctx, id); err != nil {
		return nil, err
	}
	p := q.known[id]
	if p == nil || p.Record == nil || p.Kind != kind {
		return nil, calendar.Fail(calendar.CodeNotFound, kind)
	}
	return p, p.gate
}

// Present returns the version that a record of a kind has now, when the caller passes its
// gate. Errors: CodeNotFound, CodeErased unless the caller reads all, those of Gate, those
// of the store.
func (r *Reader) Present(ctx context.Context, caller calendar.Caller, kind calendar.Kind, id calendar.ID) (version int64, err error) {
	present, err := r.request(Viewer{Caller: caller}).find(ctx, kind, id)
	if err != nil {
		return 0, err
	}
	return present.Version, nil
}

// Head returns the position of the newest entry.
func (r *Reader) Head(ctx context.Context) (calendar.Position, error) {
	head, err := r.store.Head(ctx, eventstore.Point{})
	return head.Position, err
}

// Wait waits until there is an entry behind a position, see eventstore.Wait.
func (r *Reader) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	head, err := eventstore.Wait(ctx, r.store, after)
	return head.Position, err
}

// Epoch returns which history the store has, see eventstore.Epoch.
func (r *Reader) Epoch() uint64 { return r.store.Epoch().History }

func decode(entry *eventstore.Entry) (*calendar.Record, error) {
	record, err := calendar.DecodeRecord(entry.State)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w: record: %w", entry.Position, eventstore.ErrDamaged, err)
	}
	return record, nil
}

// open returns the state after an entry that passes the gate then at the end of its life,
// nil for a redacted one. Another one is refused with a *calendar.Error.
func (q *request) open(ctx context.Context, entry *eventstore.Entry) (*calendar.Record, error) {
	all := q.Caller.ReadsAll() && (entry.Kind.IsPost() || entry.Kind.IsTerm() || ReadsKept(q.Caller))
	switch {
	case entry.Redacted != nil && all:
		return nil, nil //nolint:nilnil // it has no state
	case entry.Redacted != nil:
		return nil, calendar.Fail(calendar.CodeErased, entry.Kind)
	}
	record, err := decode(entry)
	if err != nil || all {
		return record, err
	}
	end := entry.Time
	if record.Status(entry.Time) == calendar.StatusFuture { // only such a version changes by itself
		after, err := q.store.Read(ctx, eventstore.Range{Record: entry.ID, After: uint64(entry.Version), Limit: 1})
		if err != nil {
			return nil, err
		}
		end = EndOfLife(entry.Time, append(after, eventstore.Entry{})[0].Time, q.at)
	}
	return record, Gate(q.Caller, entry.Kind, record, end)
}

// openOrNone is open that returns no record of a state that does not pass.
func (q *request) openOrNone(ctx context.Context, entry *eventstore.Entry) (*calendar.Record, error) {
	record, err := q.open(ctx, entry)
	if isRefusal(err) {
		return nil, nil //nolint:nilnil // the viewer does not get it
	}
	return record, err
}

// Opens reports whether a caller may open a version: it passes both gates.
func (r *Reader) Opens(ctx context.Context, caller calendar.Caller, entry *eventstore.Entry) (bool, error) {
	request := r.request(Viewer{Caller: caller})
	_, err := request.find(ctx, entry.Kind, entry.ID)
	if err == nil {
		_, err = request.open(ctx, entry)
	}
	if isRefusal(err) {
		return false, nil
	}
	return err == nil, err
}

// version is an entry and the one of its record before it.
type version struct {
	*eventstore.Entry

	before *eventstore.Entry // nil: none, or it was not read
	wanted bool
}

// isRefusal reports whether an error says that a record or a version is not open.
func isRefusal(err error) bool {
	_, refused := errors.AsType[*calendar.Error](err)
	return refused
}

// entry returns a version of a record that passed the gate now, nil when it is not open.
func (q *request) entry(ctx context.Context, v *version) (*Entry, error) {
	record, err := q.open(ctx, v.Entry)
	switch {
	case isRefusal(err):
		return nil, nil //nolint:nilnil // the viewer does not get it
	case err != nil:
		return nil, err
	}
	e := &Entry{
		Kind: v.Kind.String(), ID: v.ID, Version: v.Version, Position: v.Position, Time: Time{v.Time},
		Action: actionOf(v.Change), Changes: []Change{},
	}
	if err := q.addCause(ctx, e, v.Entry); err != nil {
		return nil, err
	}
	if v.Redacted != nil {
		e.Summary = BlankSummary(q.Lang)
		by, err := q.store.At(ctx, eventstore.Point{Position: v.Redacted.By}, v.ID)
		if err != nil {
			return nil, err
		}
		erasure := versionOf(&by[0], nil)
		e.Redacted = &erasure
		return e, nil
	}
	e.Name = NameOf(record, q.Lang)
	var before *calendar.Record
	if v.before != nil {
		if before, err = q.openOrNone(ctx, v.before); err != nil {
			return nil, err
		}
	}
	switch {
	case e.Action == Erased:
	case v.before != nil && before == nil:
		e.Action = Published
	default:
		e.Changes = Changes(before, record, v.Secret != nil)
		if e.Named, err = q.describe(ctx, e.Changes, v.Position, v.Time); err != nil {
			return nil, err
		}
	}
	e.Summary = Summary(e.Action, e.Name, e.Changes, q.Lang)
	e.URLs = q.links(e, v.Kind, before != nil)
	return e, nil
}

// actionOf returns the last part of the name of a change.
func actionOf(change string) Action {
	_, verb, _ := strings.Cut(change, ".")
	return Action(verb)
}

// addCause adds who made a change and why, as far as the viewer gets it (HISTORY 4.2).
func (q *request) addCause(ctx context.Context, to *Entry, entry *eventstore.Entry) error {
	all := q.Caller.ReadsAll()
	if !all && !q.Caller.Owns(q.known[entry.ID].Record) {
		return nil
	}
	if err := q.learn(ctx, entry.Actor); err != nil {
		return err
	}
	to.Actor = &Actor{ID: entry.Actor}
	if user := q.known[entry.Actor]; user != nil && user.Record != nil && user.Kind == calendar.KindUser {
		to.Actor.Name = NameOf(user.Record, q.Lang)
	}
	to.Reason = entry.Cause.Reason
	if all {
		to.Client, to.Request = entry.Cause.Client, entry.Cause.Request
	}
	return nil
}

// describe writes the sentences of changes with the names that linked records had after the
// entry at a position, where they pass both gates, and returns the ids of those with a name.
func (q *request) describe(ctx context.Context, changes []Change, at calendar.Position, moment time.Time) ([]calendar.ID, error) {
	found, err := q.linked(ctx, eventstore.Point{Position: at}, Links(changes))
	names := make(Names, len(found))
	for _, record := range found {
		if record == nil || Gate(q.Caller, record.Kind, record, moment) != nil {
			continue
		}
		if name := NameOf(record, q.Lang); name != "" {
			names[record.ID] = name
		}
	}
	for i := range changes {
		changes[i].describe(q.Lang, names)
	}
	return slices.Collect(maps.Keys(names)), err
}

// linked returns records as they were at a point, nil for those that were not, and those that
// do not pass the gate now.
func (q *request) linked(ctx context.Context, point eventstore.Point, ids []calendar.ID) ([]*calendar.Record, error) {
	if err := q.learn(ctx, ids...); err != nil {
		return nil, err
	}
	out := make([]*calendar.Record, 0, len(ids))
	for chunk := range slices.Chunk(ids, maxChunk) {
		entries, err := q.store.At(ctx, point, chunk...)
		if err != nil {
			return nil, err
		}
		for i, id := range chunk {
			record, err := stateOf(&entries[i])
			if err != nil {
				return nil, err
			}
			if known := q.known[id]; known == nil || known.gate != nil {
				record = nil
			}
			out = append(out, record)
		}
	}
	return out, nil
}

// links returns the URLs of an entry: the version, unless its point has no record, and its
// difference to the one before where that is open.
func (q *request) links(entry *Entry, kind calendar.Kind, compared bool) (urLs URLs) {
	if q.Collection == nil || !kind.IsPost() && !kind.IsTerm() || entry.Action == Erased {
		return urLs
	}
	base := q.Collection(kind) + "/" + entry.ID.String()
	if entry.Action != Deleted {
		urLs.Version = fmt.Sprintf("%s?%s=version%%3A%d", base, ParamPoint, entry.Version)
	}
	if compared {
		urLs.Diff = fmt.Sprintf("%s/diff?from=%d&to=%d", base, entry.Version-1, entry.Version)
	}
	return urLs
}

// Filter chooses entries; what is nil or zero chooses all.
type Filter struct {
	Kinds        []calendar.Kind
	IDs          []calendar.ID
	Actors       []calendar.ID
	Actions      []Action
	Fields       []string
	Since, Until time.Time // Since ≤ time of the entry < Until
}

// mayMatch reports whether an entry may pass the filter, by what stands in it alone.
func (f *Filter) mayMatch(entry *eventstore.Entry) bool {
	verb := actionOf(entry.Change)
	return (f.Kinds == nil || slices.Contains(f.Kinds, entry.Kind)) &&
		(f.IDs == nil || slices.Contains(f.IDs, entry.ID)) &&
		(f.Actors == nil || slices.Contains(f.Actors, entry.Actor)) &&
		!entry.Time.Before(f.Since) && (f.Until.IsZero() || entry.Time.Before(f.Until)) &&
		(f.Actions == nil || slices.Contains(f.Actions, verb) || slices.Contains(f.Actions, Published)) &&
		// What a change has set stands in it; a new record has defaults, too.
		(f.Fields == nil || verb == Created || slices.ContainsFunc(f.Fields, func(name string) bool {
			if name == "password" {
				return entry.Secret != nil
			}
			return bytes.Contains(entry.Fields, []byte(`"`+name+`":`))
		}))
}

// matches reports whether an entry passes as the viewer gets it.
func (f *Filter) matches(entry *Entry) bool {
	return (f.Actions == nil || slices.Contains(f.Actions, entry.Action)) &&
		(f.Fields == nil || slices.ContainsFunc(entry.Changes, func(change Change) bool { return slices.Contains(f.Fields, change.Field) }))
}

// Walk is a walk through the log, or the history of one record.
type Walk struct {
	Record    calendar.ID // 0: the log; numbers are positions then, else versions
	From, To  int64       // the least and the greatest number
	Ascending bool
	Filter    Filter
	Limit     int // about how many entries the viewer wants
	// LookedTo is the number that was looked at last, 0 for none.
	LookedTo int64
}

// MaxLooked is how many entries one walk looks at.
const MaxLooked = 5000

// More reports whether numbers remain that were not looked at.
func (w *Walk) More() bool {
	return w.From <= w.To && (w.LookedTo == 0 || w.Ascending && w.LookedTo < w.To || !w.Ascending && w.LookedTo > w.From)
}

// Entries yields what of the log the viewer gets, in order, and nil for each of the up to
// MaxLooked entries that is skipped. Of one record, who does not pass the gate now gets
// nothing: call Present first.
func (r *Reader) Entries(ctx context.Context, viewer Viewer, walk *Walk) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		request := r.request(viewer)
		from, to := walk.From, walk.To
		if walk.Ascending {
			to = min(to, from+MaxLooked-1)
		} else {
			from = max(from, to-MaxLooked+1)
		}
		for entries, err := range request.chunks(ctx, walk.Record, from, to, walk.Ascending, max(int64(walk.Limit), 16)) {
			var versions []version
			if err == nil {
				versions, err = request.versions(ctx, entries, &walk.Filter)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !walk.Ascending {
				slices.Reverse(versions)
			}
			for i := range versions {
				v := &versions[i]
				var entry *Entry
				if v.wanted {
					if entry, err = request.entry(ctx, v); err == nil && entry != nil && !walk.Filter.matches(entry) {
						entry = nil
					}
				}
				if err == nil {
					walk.LookedTo = numberOf(v.Entry, walk.Record)
				}
				if !yield(entry, err) || err != nil {
					return
				}
			}
		}
	}
}

// chunks yields the entries from one number to another, of a record or of the log, in
// chunks that grow from a size on. Within one they ascend.
func (r *Reader) chunks(ctx context.Context, record calendar.ID, from, to int64, ascending bool, size int64) iter.Seq2[[]eventstore.Entry, error] {
	return func(yield func([]eventstore.Entry, error) bool) {
		for ; from <= to; size *= 2 {
			size = min(size, maxChunk)
			first, last := from, min(from+size-1, to)
			if !ascending {
				first, last = max(from, to-size+1), to
			}
			entries := make([]eventstore.Entry, 0, last-first+1)
			for next := first; next <= last; next = first + int64(len(entries)) {
				page, err := r.store.Read(ctx, eventstore.Range{Record: record, After: uint64(next - 1), Limit: int(last - next + 1)})
				if err != nil || len(page) == 0 { // none: the store went back behind the walk
					yield(nil, err)
					return
				}
				entries = append(entries, page...)
			}
			if !yield(entries, nil) {
				return
			}
			if ascending {
				from = last + 1
			} else {
				to = first - 1
			}
		}
	}
}

func numberOf(entry *eventstore.Entry, record calendar.ID) int64 {
	if record != 0 {
		return entry.Version
	}
	return int64(entry.Position)
}

// versions returns entries that follow each other with those before them. Wanted are those
// that may pass the filter, of records that pass the gate now.
func (q *request) versions(ctx context.Context, entries []eventstore.Entry, filter *Filter) ([]version, error) {
	out := make([]version, len(entries))
	var ids []calendar.ID
	for i := range entries {
		out[i] = version{Entry: &entries[i], wanted: filter.mayMatch(&entries[i])}
		if out[i].wanted {
			ids = append(ids, entries[i].ID)
		}
	}
	if err := q.learn(ctx, ids...); err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id calendar.ID) bool { return q.known[id].gate != nil })
	last := map[calendar.ID]*eventstore.Entry{}
	if len(ids) > 0 && entries[0].Position > 1 {
		before, err := q.store.At(ctx, eventstore.Point{Position: entries[0].Position - 1}, ids...)
		if err != nil {
			return nil, err
		}
		for i := range before {
			last[ids[i]] = &before[i]
		}
	}
	for i := range out {
		v := &out[i]
		v.wanted = v.wanted && q.known[v.ID].gate == nil
		if v.before = last[v.ID]; v.before != nil && v.before.Version == 0 {
			v.before = nil
		}
		if v.wanted && (v.before == nil && v.Version > 1 || v.before != nil && v.before.Version != v.Version-1) {
			return nil, fmt.Errorf("no version %d before entry %d: %w", v.Version-1, v.Position, eventstore.ErrDamaged)
		}
		last[v.ID] = v.Entry
	}
	return out, nil
}
