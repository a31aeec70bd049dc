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
	"daybook/internal/ground/cache"
)

// Reader reads the past of records. It is safe for concurrent use.
type Reader struct {
	store  eventstore.Store
	now    func() time.Time
	public *cache.ByEpoch[eventstore.Epoch, versionKey, bool]             // see WasPublic
	moves  *cache.ByEpoch[eventstore.Epoch, versionKey, *calendar.Record] // see Moved
}

// New makes a Reader with the clock that gates go by.
func New(store eventstore.Store, now func() time.Time) *Reader {
	return &Reader{
		store, now,
		cache.NewByEpoch[eventstore.Epoch](cacheBytes, func(key versionKey, _ bool) int { return len(key.slug) }),
		cache.NewByEpoch[eventstore.Epoch](cacheBytes, func(versionKey, *calendar.Record) int { return movedBytes }),
	}
}

// Forget drops what is cached of records that were erased since.
func (reader *Reader) Forget() {
	reader.public.In(reader.store.Epoch())
	reader.moves.In(reader.store.Epoch())
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

// currentRecord is a record as it is now.
type currentRecord struct {
	*calendar.Record // what gates and names need of it; nil: there is none

	gate error // the gate now
}

// request is one request of a viewer.
type request struct {
	*Reader
	Viewer

	instant time.Time // the present moment
	known   map[calendar.ID]*currentRecord
}

func (reader *Reader) request(viewer Viewer) *request {
	return &request{reader, viewer, reader.now(), map[calendar.ID]*currentRecord{}}
}

// maxChunk is how many records or entries are read together: each may have some 800 kB.
const maxChunk = 128

// learn looks up what is not known of records.
func (request *request) learn(ctx context.Context, ids ...calendar.ID) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool { return id <= 0 || request.known[id] != nil })
	slices.Sort(ids)
	for chunk := range slices.Chunk(slices.Compact(ids), maxChunk) {
		states, err := request.store.Load(ctx, chunk...)
		if err != nil {
			return err
		}
		for i := range states {
			state, p := &states[i], &currentRecord{}
			if state.Version > 0 {
				record, err := calendar.DecodeRecord(state.Record)
				if err != nil {
					return fmt.Errorf("%s %d: %w: record: %w", state.Kind, state.ID, eventstore.ErrDamaged, err)
				}
				p.Record = Outline(record)
			}
			p.gate = Gate(request.Caller, state.Kind, p.Record, request.instant)
			if p.Record != nil && p.Erased && !request.Caller.ReadsAll() {
				p.gate = calendar.Fail(calendar.CodeErased, p.Kind)
			}
			request.known[chunk[i]] = p
		}
	}
	return nil
}

// find returns a record of a kind and its gate now.
func (request *request) find(ctx context.Context, kind calendar.Kind, id calendar.ID) (*currentRecord, error) {
	if err := request.learn(ctx, id); err != nil {
		return nil, err
	}
	present := request.known[id]
	if present == nil || present.Record == nil || present.Kind != kind {
		return nil, calendar.Fail(calendar.CodeNotFound, kind)
	}
	return present, present.gate
}

// Present returns the version that a record of a kind has now, when the caller passes its
// gate. Errors: CodeNotFound, CodeErased unless the caller reads all, those of Gate, those
// of the store.
func (reader *Reader) Present(ctx context.Context, caller calendar.Caller, kind calendar.Kind, id calendar.ID) (version int64, err error) {
	present, err := reader.request(Viewer{Caller: caller}).find(ctx, kind, id)
	if err != nil {
		return 0, err
	}
	return present.Version, nil
}

// Head returns the position of the newest entry.
func (reader *Reader) Head(ctx context.Context) (calendar.Position, error) {
	head, err := reader.store.Head(ctx, eventstore.Point{})
	return head.Position, err
}

// Wait waits until there is an entry behind a position, see eventstore.Wait.
func (reader *Reader) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	head, err := eventstore.Wait(ctx, reader.store, after)
	return head.Position, err
}

// Epoch returns which history the store has, see eventstore.Epoch.
func (reader *Reader) Epoch() uint64 { return reader.store.Epoch().History }

func decode(entry *eventstore.Entry) (*calendar.Record, error) {
	record, err := calendar.DecodeRecord(entry.State)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w: record: %w", entry.Position, eventstore.ErrDamaged, err)
	}
	return record, nil
}

// open returns the state after an entry that passes the gate then at the end of its life,
// nil for a redacted one. Another one is refused with a *calendar.Error.
func (request *request) open(ctx context.Context, entry *eventstore.Entry) (*calendar.Record, error) {
	all := request.Caller.ReadsAll() && (entry.Kind.IsPost() || entry.Kind.IsTerm() || ReadsKept(request.Caller))
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
		after, err := request.store.Read(ctx, eventstore.Range{Record: entry.ID, After: uint64(entry.Version), Limit: 1})
		if err != nil {
			return nil, err
		}
		end = EndOfLife(entry.Time, append(after, eventstore.Entry{})[0].Time, request.instant)
	}
	return record, Gate(request.Caller, entry.Kind, record, end)
}

// openOrNone is open that returns no record of a state that does not pass.
func (request *request) openOrNone(ctx context.Context, entry *eventstore.Entry) (*calendar.Record, error) {
	record, err := request.open(ctx, entry)
	if isRefusal(err) {
		return nil, nil //nolint:nilnil // the viewer does not get it
	}
	return record, err
}

// Opens reports whether a caller may open a version: it passes both gates.
func (reader *Reader) Opens(ctx context.Context, caller calendar.Caller, entry *eventstore.Entry) (bool, error) {
	request := reader.request(Viewer{Caller: caller})
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
func (request *request) entry(ctx context.Context, version *version) (*Entry, error) {
	record, err := request.open(ctx, version.Entry)
	switch {
	case isRefusal(err):
		return nil, nil //nolint:nilnil // the viewer does not get it
	case err != nil:
		return nil, err
	}
	entry := &Entry{
		Kind: version.Kind.String(), ID: version.ID, Version: version.Version, Position: version.Position, Time: Time{version.Time},
		Action: actionOf(version.Change), Changes: []Change{},
	}
	if err := request.addCause(ctx, entry, version.Entry); err != nil {
		return nil, err
	}
	if version.Redacted != nil {
		entry.Summary = BlankSummary(request.Lang)
		entries, err := request.store.At(ctx, eventstore.Point{Position: version.Redacted.By}, version.ID)
		if err != nil {
			return nil, err
		}
		erasure := versionOf(&entries[0], nil)
		entry.Redacted = &erasure
		return entry, nil
	}
	entry.Name = NameOf(record, request.Lang)
	var before *calendar.Record
	if version.before != nil {
		if before, err = request.openOrNone(ctx, version.before); err != nil {
			return nil, err
		}
	}
	switch {
	case entry.Action == Erased:
	case version.before != nil && before == nil:
		entry.Action = Published
	default:
		entry.Changes = Changes(before, record, version.Secret != nil)
		if entry.Named, err = request.describe(ctx, entry.Changes, version.Position, version.Time); err != nil {
			return nil, err
		}
	}
	entry.Summary = Summary(entry.Action, entry.Name, entry.Changes, request.Lang)
	entry.URLs = request.links(entry, version.Kind, before != nil)
	return entry, nil
}

// actionOf returns the last part of the name of a change.
func actionOf(change string) Action {
	_, verb, _ := strings.Cut(change, ".")
	return Action(verb)
}

// addCause adds who made a change and why, as far as the viewer gets it (HISTORY 4.2).
func (request *request) addCause(ctx context.Context, to *Entry, entry *eventstore.Entry) error {
	all := request.Caller.ReadsAll()
	if !all && !request.Caller.Owns(request.known[entry.ID].Record) {
		return nil
	}
	if err := request.learn(ctx, entry.Actor); err != nil {
		return err
	}
	to.Actor = &Actor{ID: entry.Actor}
	if user := request.known[entry.Actor]; user != nil && user.Record != nil && user.Kind == calendar.KindUser {
		to.Actor.Name = NameOf(user.Record, request.Lang)
	}
	to.Reason = entry.Cause.Reason
	if all {
		to.Client, to.Request = entry.Cause.Client, entry.Cause.Request
	}
	return nil
}

// describe writes the sentences of changes with the names that linked records had after the
// entry at a position, where they pass both gates, and returns the ids of those with a name.
func (request *request) describe(ctx context.Context, changes []Change, position calendar.Position, moment time.Time) ([]calendar.ID, error) {
	found, err := request.linked(ctx, eventstore.Point{Position: position}, Links(changes))
	names := make(Names, len(found))
	for _, record := range found {
		if record == nil || Gate(request.Caller, record.Kind, record, moment) != nil {
			continue
		}
		if name := NameOf(record, request.Lang); name != "" {
			names[record.ID] = name
		}
	}
	for i := range changes {
		changes[i].describe(request.Lang, names)
	}
	return slices.Collect(maps.Keys(names)), err
}

// linked returns records as they were at a point, nil for those that were not, and those that
// do not pass the gate now.
func (request *request) linked(ctx context.Context, point eventstore.Point, ids []calendar.ID) ([]*calendar.Record, error) {
	if err := request.learn(ctx, ids...); err != nil {
		return nil, err
	}
	out := make([]*calendar.Record, 0, len(ids))
	for chunk := range slices.Chunk(ids, maxChunk) {
		entries, err := request.store.At(ctx, point, chunk...)
		if err != nil {
			return nil, err
		}
		for i, id := range chunk {
			record, err := stateOf(&entries[i])
			if err != nil {
				return nil, err
			}
			if known := request.known[id]; known == nil || known.gate != nil {
				record = nil
			}
			out = append(out, record)
		}
	}
	return out, nil
}

// links returns the URLs of an entry: the version, unless its point has no record, and its
// difference to the one before where that is open.
func (request *request) links(entry *Entry, kind calendar.Kind, compared bool) (urLs URLs) {
	if request.Collection == nil || !kind.IsPost() && !kind.IsTerm() || entry.Action == Erased {
		return urLs
	}
	base := request.Collection(kind) + "/" + entry.ID.String()
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
func (filter *Filter) mayMatch(entry *eventstore.Entry) bool {
	verb := actionOf(entry.Change)
	return (filter.Kinds == nil || slices.Contains(filter.Kinds, entry.Kind)) &&
		(filter.IDs == nil || slices.Contains(filter.IDs, entry.ID)) &&
		(filter.Actors == nil || slices.Contains(filter.Actors, entry.Actor)) &&
		!entry.Time.Before(filter.Since) && (filter.Until.IsZero() || entry.Time.Before(filter.Until)) &&
		(filter.Actions == nil || slices.Contains(filter.Actions, verb) || slices.Contains(filter.Actions, Published)) &&
		// What a change has set stands in it; a new record has defaults, too.
		(filter.Fields == nil || verb == Created || slices.ContainsFunc(filter.Fields, func(name string) bool {
			if name == "password" {
				return entry.Secret != nil
			}
			return bytes.Contains(entry.Fields, []byte(`"`+name+`":`))
		}))
}

// matches reports whether an entry passes as the viewer gets it.
func (filter *Filter) matches(entry *Entry) bool {
	return (filter.Actions == nil || slices.Contains(filter.Actions, entry.Action)) &&
		(filter.Fields == nil || slices.ContainsFunc(entry.Changes, func(change Change) bool { return slices.Contains(filter.Fields, change.Field) }))
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
func (walk *Walk) More() bool {
	return walk.From <= walk.To && (walk.LookedTo == 0 || walk.Ascending && walk.LookedTo < walk.To || !walk.Ascending && walk.LookedTo > walk.From)
}

// Entries yields what of the log the viewer gets, in order, and nil for each of the up to
// MaxLooked entries that is skipped. Of one record, who does not pass the gate now gets
// nothing: call Present first.
func (reader *Reader) Entries(ctx context.Context, viewer Viewer, walk *Walk) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		request := reader.request(viewer)
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
func (reader *Reader) chunks(ctx context.Context, record calendar.ID, from, to int64, ascending bool, size int64) iter.Seq2[[]eventstore.Entry, error] {
	return func(yield func([]eventstore.Entry, error) bool) {
		for ; from <= to; size *= 2 {
			size = min(size, maxChunk)
			first, last := from, min(from+size-1, to)
			if !ascending {
				first, last = max(from, to-size+1), to
			}
			entries := make([]eventstore.Entry, 0, last-first+1)
			for next := first; next <= last; next = first + int64(len(entries)) {
				page, err := reader.store.Read(ctx, eventstore.Range{Record: record, After: uint64(next - 1), Limit: int(last - next + 1)})
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
func (request *request) versions(ctx context.Context, entries []eventstore.Entry, filter *Filter) ([]version, error) {
	out := make([]version, len(entries))
	var ids []calendar.ID
	for i := range entries {
		out[i] = version{Entry: &entries[i], wanted: filter.mayMatch(&entries[i])}
		if out[i].wanted {
			ids = append(ids, entries[i].ID)
		}
	}
	if err := request.learn(ctx, ids...); err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id calendar.ID) bool { return request.known[id].gate != nil })
	last := map[calendar.ID]*eventstore.Entry{}
	if len(ids) > 0 && entries[0].Position > 1 {
		before, err := request.store.At(ctx, eventstore.Point{Position: entries[0].Position - 1}, ids...)
		if err != nil {
			return nil, err
		}
		for i := range before {
			last[ids[i]] = &before[i]
		}
	}
	for i := range out {
		v := &out[i]
		v.wanted = v.wanted && request.known[v.ID].gate == nil
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
