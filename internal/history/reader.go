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
	Store  eventstore.Store
	now    func() time.Time
	public *cache.ByEpoch[eventstore.Epoch, versionKey, bool]             // see WasPublic
	moves  *cache.ByEpoch[eventstore.Epoch, versionKey, *calendar.Record] // see Moved
}

// New makes a Reader with the clock that gates go by.
func New(store eventstore.Store, now func() time.Time) *Reader {
	return &Reader{
		store, now,
		cache.NewByEpoch[eventstore.Epoch](cacheBytes, func(key versionKey, _ bool) int { return len(key.slug) }),
		cache.NewByEpoch[eventstore.Epoch](cacheBytes, func(versionKey, *calendar.Record) int { return 1 << 10 }),
	}
}

// Forget drops the slugs that are cached of records that were erased since.
func (reader *Reader) Forget() { reader.public.In(reader.Store.Epoch()) }

// Viewer is who reads the past.
type Viewer struct {
	Caller calendar.Caller
	Lang   calendar.Lang
}

// Entry is an entry as a viewer gets it (docs/spec/history.md 5). What is not shown to the
// viewer has no key.
type Entry struct {
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Position calendar.Position `json:"position"`
	Time     Time              `json:"time"`
	Action   string            `json:"action"`
	Actor    *Actor            `json:"actor,omitempty"`
	Client   string            `json:"client,omitempty"`
	Request  string            `json:"request,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Name     string            `json:"name,omitempty"`
	Summary  string            `json:"summary"`
	Changes  []Change          `json:"changes"`
	Redacted *Version          `json:"redacted,omitempty"` // the one whose entry erased the content

	Named    []calendar.ID `json:"-"` // the records that sentences name
	Compared bool          `json:"-"` // with the version before it, which is open
}

// Actor is the user who made a change, 0 the service itself.
type Actor struct {
	ID   calendar.ID `json:"id"`
	Name string      `json:"name,omitempty"`
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

// How many records or entries are read together: each may have some 800 kB.
const (
	minChunk = 8
	maxChunk = 128
)

// learn looks up what is not known of records.
func (request *request) learn(ctx context.Context, ids ...calendar.ID) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool { return id <= 0 || request.known[id] != nil })
	slices.Sort(ids)
	for chunk := range slices.Chunk(slices.Compact(ids), maxChunk) {
		states, err := request.Store.Load(ctx, chunk...)
		if err != nil {
			return err
		}
		for i := range states {
			state, p := &states[i], &currentRecord{}
			if state.Version > 0 {
				record, err := decode(&eventstore.Entry{Position: state.Position, State: state.Record})
				if err != nil {
					return err
				}
				p.Record = Outline(record)
			}
			p.gate = Gate(request.Caller, state.Kind, p.Record, request.instant)
			request.known[chunk[i]] = p
		}
	}
	return nil
}

// Head returns the position of the newest entry.
func (reader *Reader) Head(ctx context.Context) (calendar.Position, error) {
	head, err := reader.Store.Head(ctx, eventstore.Point{})
	return head.Position, err
}

func decode(entry *eventstore.Entry) (*calendar.Record, error) {
	record, err := calendar.DecodeRecord(entry.State)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w: record: %w", entry.Position, eventstore.ErrDamaged, err)
	}
	return record, nil
}

// open returns the state after an entry that passes the gate then at the end of its life.
// Another one, and a redacted one, is refused with a *calendar.Error.
func (request *request) open(ctx context.Context, entry *eventstore.Entry) (*calendar.Record, error) {
	if entry.Redacted != nil {
		return nil, calendar.Fail(calendar.CodeErased, entry.Kind)
	}
	record, err := decode(entry)
	if err != nil {
		return nil, err
	}
	end := entry.Time
	if record.Status(entry.Time) == calendar.StatusFuture { // only such a version changes by itself
		after, err := request.Store.Read(ctx, eventstore.Range{Record: entry.ID, After: uint64(entry.Version), Limit: 1})
		if err != nil {
			return nil, err
		}
		end = append(after, eventstore.Entry{Time: request.instant})[0].Time
		if end.Before(entry.Time) {
			end = entry.Time
		}
	}
	return record, Gate(request.Caller, entry.Kind, record, end)
}

// openOrNone is open that returns no record of a state that does not pass.
func (request *request) openOrNone(ctx context.Context, entry *eventstore.Entry) (*calendar.Record, error) {
	record, err := request.open(ctx, entry)
	if err != nil {
		return nil, unlessRefused(err)
	}
	return record, nil
}

// unlessRefused returns an error that does not say that a record or a version is not open.
func unlessRefused(err error) error {
	if _, refused := errors.AsType[*calendar.Error](err); refused {
		return nil
	}
	return err
}

// Opens reports whether a caller may open a version: it passes both gates.
func (reader *Reader) Opens(ctx context.Context, caller calendar.Caller, entry *eventstore.Entry) (bool, error) {
	versions, err := reader.Present(ctx, Viewer{Caller: caller}, entry.Kind, entry.ID)
	if err == nil {
		_, err = versions.open(ctx, entry)
	}
	return err == nil, unlessRefused(err)
}

// entry returns a version of a record that passed the gate now, nil when it is not open.
func (request *request) entry(ctx context.Context, stored *eventstore.Entry) (*Entry, error) {
	record, err := request.open(ctx, stored)
	if err != nil && (stored.Redacted == nil || !request.Caller.ReadsAll()) {
		return nil, unlessRefused(err)
	}
	entry := &Entry{
		Kind: stored.Kind.String(), ID: stored.ID, Version: stored.Version, Position: stored.Position, Time: Time{stored.Time},
		Action: actionOf(stored), Changes: []Change{},
	}
	if err := request.addCause(ctx, entry, stored); err != nil {
		return nil, err
	}
	if stored.Redacted != nil {
		entries, err := request.Store.At(ctx, eventstore.Point{Position: stored.Redacted.By}, stored.ID)
		if err == nil {
			entry.Redacted = new(versionOf(&entries[0]))
			entry.Summary = phrasing{language: request.Lang}.summary(entry)
		}
		return entry, err
	}
	entry.Name = NameOf(record, request.Lang)
	var before *calendar.Record
	if stored.Version > 1 {
		entries, err := request.Store.At(ctx, eventstore.Point{Position: stored.Position - 1}, stored.ID)
		if err == nil {
			before, err = request.openOrNone(ctx, &entries[0])
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case entry.Action == calendar.Erased:
	case stored.Version > 1 && before == nil:
		entry.Action = Published
	default:
		entry.Changes = Changes(before, record, stored.Secret != nil)
		if entry.Named, err = request.describe(ctx, entry.Changes, stored.Position, stored.Time); err != nil {
			return nil, err
		}
	}
	entry.Summary, entry.Compared = phrasing{language: request.Lang}.summary(entry), before != nil
	return entry, nil
}

// actionOf returns the last part of the name of the change of an entry.
func actionOf(entry *eventstore.Entry) string {
	_, verb, _ := strings.Cut(entry.Change, ".")
	return verb
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
	if user := request.known[entry.Actor]; user != nil && user.Record != nil {
		to.Actor.Name = NameOf(user.Record, request.Lang)
	}
	to.Reason = entry.Cause.Reason
	if all {
		to.Client, to.Request = entry.Cause.Client, entry.Cause.Request
	}
	return nil
}

// describe writes the sentences of changes with the names that linked records had after the
// entry at a position, where they pass both gates, and returns the ids of those.
func (request *request) describe(ctx context.Context, changes []Change, position calendar.Position, moment time.Time) ([]calendar.ID, error) {
	var ids []calendar.ID
	for i := range changes {
		change := &changes[i]
		ids = slices.Concat(ids, change.linked(change.Before), change.linked(change.After))
	}
	slices.Sort(ids)
	found, err := request.Linked(ctx, eventstore.Point{Position: position}, slices.Compact(ids))
	names := make(map[calendar.ID]string, len(found))
	for _, record := range found {
		if record != nil && Gate(request.Caller, record.Kind, record, moment) == nil {
			names[record.ID] = NameOf(record, request.Lang)
		}
	}
	for i := range changes {
		changes[i].names = names
		changes[i].Sentence = changes[i].sentence(phrasing{language: request.Lang})
	}
	return slices.Collect(maps.Keys(names)), err
}

// Linked returns records as they were at a point, deleted ones too, nil for those that were
// not, and those that do not pass the gate now.
func (request *request) Linked(ctx context.Context, point eventstore.Point, ids []calendar.ID) ([]*calendar.Record, error) {
	if err := request.learn(ctx, ids...); err != nil {
		return nil, err
	}
	records := make([]*calendar.Record, 0, len(ids))
	for chunk := range slices.Chunk(ids, maxChunk) {
		entries, err := request.Store.At(ctx, point, chunk...)
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
			records = append(records, record)
		}
	}
	return records, nil
}

// Filter chooses entries; what is nil or zero chooses all.
type Filter struct {
	Kinds        []calendar.Kind
	IDs          []calendar.ID
	Actors       []calendar.ID
	Actions      []string
	Fields       []string
	Since, Until time.Time // Since ≤ time of the entry < Until
}

// mayMatch reports whether an entry may pass the filter, by what stands in it alone.
func (filter *Filter) mayMatch(entry *eventstore.Entry) bool {
	verb := actionOf(entry)
	return chosen(filter.Kinds, entry.Kind) && chosen(filter.IDs, entry.ID) && chosen(filter.Actors, entry.Actor) &&
		!entry.Time.Before(filter.Since) && (filter.Until.IsZero() || entry.Time.Before(filter.Until)) &&
		(chosen(filter.Actions, verb) || slices.Contains(filter.Actions, Published)) &&
		// What a change has set stands in it; a new record has defaults, too.
		(filter.Fields == nil || verb == calendar.Created || slices.ContainsFunc(filter.Fields, func(name string) bool {
			if name == "password" {
				return entry.Secret != nil
			}
			return bytes.Contains(entry.Fields, []byte(`"`+name+`":`))
		}))
}

// matches reports whether an entry passes as the viewer gets it.
func (filter *Filter) matches(entry *Entry) bool {
	return chosen(filter.Actions, entry.Action) &&
		(filter.Fields == nil || slices.ContainsFunc(entry.Changes, func(change Change) bool { return slices.Contains(filter.Fields, change.Field) }))
}

// chosen reports whether a value is in a list; without a list all are.
func chosen[T comparable](list []T, value T) bool { return list == nil || slices.Contains(list, value) }

// Walk is a walk through the log, or the history of one record.
type Walk struct {
	Record    calendar.ID // 0: the log; numbers are positions then, else versions
	From, To  int64       // the least and the greatest number
	Ascending bool
	Filter    Filter
	// LookedTo is the number that was looked at last, 0 for none.
	LookedTo int64
}

// MaxLooked is how many entries one walk looks at.
const MaxLooked = 5000

// More reports whether numbers remain behind those that were looked at.
func (walk *Walk) More() bool {
	last := walk.From
	if walk.Ascending {
		last = walk.To
	}
	return walk.LookedTo > 0 && walk.LookedTo != last
}

// Entries yields what of the log the viewer gets, in order, and nil for each of the up to
// MaxLooked entries that is skipped. Of one record, who does not pass the gate now gets
// nothing: call Present first.
func (reader *Reader) Entries(ctx context.Context, viewer Viewer, walk *Walk) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		request := reader.request(viewer)
		from, until := walk.From, walk.To
		if walk.Ascending {
			until = min(until, from+MaxLooked-1)
		} else {
			from = max(from, until-MaxLooked+1)
		}
		for entries, err := range request.chunks(ctx, walk.Record, from, until, walk.Ascending) {
			var ids []calendar.ID
			for i := range entries {
				if walk.Filter.mayMatch(&entries[i]) {
					ids = append(ids, entries[i].ID)
				}
			}
			if err == nil {
				err = request.learn(ctx, ids...)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range entries {
				stored := &entries[i]
				var entry *Entry
				if walk.Filter.mayMatch(stored) && request.known[stored.ID].gate == nil {
					entry, err = request.entry(ctx, stored)
				}
				if entry != nil && !walk.Filter.matches(entry) {
					entry = nil
				}
				if walk.LookedTo = int64(stored.Position); walk.Record != 0 {
					walk.LookedTo = stored.Version
				}
				if !yield(entry, err) || err != nil {
					return
				}
			}
		}
	}
}

// chunks yields the entries from one number to another, of a record or of the log, in
// chunks that grow.
func (reader *Reader) chunks(ctx context.Context, record calendar.ID, from, until int64, ascending bool) iter.Seq2[[]eventstore.Entry, error] {
	return func(yield func([]eventstore.Entry, error) bool) {
		for size := int64(minChunk); from <= until; size = min(2*size, maxChunk) {
			first, last := from, min(from+size-1, until)
			if !ascending {
				first, last = max(from, until-size+1), until
			}
			entries := make([]eventstore.Entry, 0, last-first+1)
			for next := first; next <= last; next = first + int64(len(entries)) {
				page, err := reader.Store.Read(ctx, eventstore.Range{Record: record, After: uint64(next - 1), Limit: int(last - next + 1)})
				if err != nil || len(page) == 0 { // none: the store went back behind the walk
					yield(nil, err)
					return
				}
				entries = append(entries, page...)
			}
			if ascending {
				from = last + 1
			} else {
				until = first - 1
				slices.Reverse(entries)
			}
			if !yield(entries, nil) {
				return
			}
		}
	}
}
