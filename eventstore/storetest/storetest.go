// Package storetest is the suite that each implementation of the port to the event store
// passes, and the proof that the suite finds broken ones.
package storetest

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
)

// Store is what the suite asks of an implementation.
type Store interface {
	eventstore.Store
	io.Closer
}

// Harness opens the stores of one implementation.
type Harness struct {
	// Open returns an empty store and closes it when the test ends.
	Open func(t testing.TB) Store
	// Reopen closes a store that Open or Reopen returned, and opens what it stored,
	// as a new process would.
	Reopen func(t testing.TB, store Store) Store
	// Stray stores claims and names of a record that is not there, behind the back of the
	// store.
	Stray func(t testing.TB, store Store, held eventstore.Held)
	// Patience is how long the suite waits for what has to come; 0: 30 s.
	Patience time.Duration
}

// Case is one promise of the port and its check.
type Case struct {
	Name string
	Run  func(t testing.TB, harness Harness)
}

// Run checks an implementation against the whole suite. No case may be skipped.
func Run(t *testing.T, harness Harness) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if t.Skipped() {
					t.Errorf("case %q was skipped", c.Name)
				}
			}()
			c.Run(t, harness)
		})
	}
}

// Cases returns all cases of the suite: those of script.txt, and those of more than
// one caller, of real records and of large ones.
func Cases() []Case {
	return append(scripts(),
		Case{"entries are stored whole", entriesWhole},
		Case{"a group may have many appends", longGroup},
		Case{"pages are bounded by their number", smallPages},
		Case{"pages are bounded by bytes", largePages},
		Case{"a store has a UUID and a history of its own", identity},
		Case{"one writer wins each version", race("tag:1.<round>", "version conflict")},
		Case{"one record wins a claim", race("tag:<writer>.0 +c<round>", "claim s/c<round> is held by <writer>")},
		Case{"guards are read before the append", race("tag:<writer>.0 ~n<round> ?n<round>=0", "version conflict")},
		Case{"equal requests at the same time write once", race("tag:<writer>.0 7/k<round>/1", "<entry> found <writer>.1@<entry>")},
		Case{"readers and writers at the same time", together},
		Case{"ids are given once", freshIDs},
		Case{"the head moves", waiting},
		Case{"ended contexts", endedContexts},
		Case{"closed stores refuse", closed},
		Case{"records at points of the past", past(3, recordsAt)},
		Case{"what counts at points of the past", past(120, countedAt)},
		Case{"slugs of the past", past(3, slugsAt)},
		Case{"claims and names of no record are damage", strays},
		Case{"the log verifies", verifies},
		Case{"the log verifies while others write", verifiesBusy},
	)
}

// Draft makes the draft of a change of a record, nil for none yet, and the record
// after it.
func Draft(t testing.TB, before *calendar.Record, change calendar.Change, instant time.Time) (eventstore.Draft, *calendar.Record) {
	t.Helper()
	draft, after, err := eventstore.NewDraft(before, change, instant)
	if err != nil {
		t.Fatalf("draft of %s: %v", change.Name, err)
	}
	return draft, after
}

// fixture is what every case works with.
type fixture struct {
	testing.TB

	harness Harness
	store   Store
	ctx     context.Context // ends with the test
	now     time.Time

	limit int // of the pages of readings

	// What readings expects to be there.
	log    []eventstore.Entry // the first entries
	signed map[calendar.Position]eventstore.Checkpoint
}

// manyPerPage is a limit that few logs of the suite reach.
const manyPerPage = 100

func setup(t testing.TB, harness Harness) *fixture {
	t.Helper()
	if harness.Patience == 0 {
		harness.Patience = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*harness.Patience)
	t.Cleanup(cancel)
	return &fixture{
		TB: t, harness: harness, store: harness.Open(t), ctx: ctx, now: time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC),
		limit: manyPerPage, signed: map[calendar.Position]eventstore.Checkpoint{},
	}
}

// patient returns a context for what has to come.
func (fixture *fixture) patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(fixture.ctx, fixture.harness.Patience)
}

// must ends the test with an error.
func (fixture *fixture) must(what string, err error) {
	fixture.Helper()
	if err != nil {
		fixture.Fatalf("%s: %v", what, err)
	}
}

// equal fails the test when got differs from want; empty and nil secrets differ too.
func (fixture *fixture) equal(what string, got, want any) {
	fixture.Helper()
	if reflect.DeepEqual(want, got) { // a hundred times as fast
		return
	}
	if size := len(fmt.Sprint(want)); size > 1<<20 { // a difference takes minutes
		fixture.Errorf("%s differs: want %d characters, got %d", what, size, len(fmt.Sprint(got)))
	} else if diff := cmp.Diff(want, got); diff != "" {
		fixture.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// reopen opens the store as a new process would, and checks that all is there.
func (fixture *fixture) reopen() {
	fixture.Helper()
	before := fixture.readings()
	fixture.store = fixture.harness.Reopen(fixture, fixture.store)
	fixture.equal("the log after a restart", fixture.readings(), before)
}

func (fixture *fixture) newID() calendar.ID {
	fixture.Helper()
	id, err := fixture.store.NewID(fixture.ctx)
	fixture.must("NewID", err)
	return id
}

func (fixture *fixture) load(id calendar.ID) eventstore.State {
	fixture.Helper()
	states, err := fixture.store.Load(fixture.ctx, id)
	if err != nil || len(states) != 1 {
		fixture.Fatalf("Load(%d) returns %d states, %v", id, len(states), err)
	}
	return states[0]
}

// appendOf makes an Append of drafts.
func (fixture *fixture) appendOf(drafts ...eventstore.Draft) eventstore.Append {
	return eventstore.Append{
		Drafts: drafts, Time: fixture.now, Actor: 7,
		Cause: eventstore.Cause{Client: "suite", Request: "r-1", Reason: "because"},
	}
}

// one appends one Append.
func (fixture *fixture) one(addition eventstore.Append) eventstore.Result {
	return fixture.store.Append(fixture.ctx, addition)
}

// grouping is a store that decides appends together when a test asks for it, as it does
// when they come at the same time.
type grouping interface {
	Together(ctx context.Context, appends []eventstore.Append) []eventstore.Result
}

// all appends several Appends: together where the store can, else one after the other.
func all(ctx context.Context, store eventstore.Store, appends []eventstore.Append) (results []eventstore.Result) {
	if store, ok := store.(grouping); ok && len(appends) > 1 {
		return store.Together(ctx, appends)
	}
	for _, addition := range appends {
		results = append(results, store.Append(ctx, addition))
	}
	return results
}

// Together decides appends in one group by what commits the items of a store.
func Together(ctx context.Context, commit func(context.Context, []*eventstore.Item) (*eventstore.Group, error), appends []eventstore.Append) (results []eventstore.Result) {
	items := make([]*eventstore.Item, len(appends))
	for i, addition := range appends {
		items[i] = eventstore.NewItem(addition)
	}
	_, err := commit(ctx, items)
	for _, item := range items {
		if err != nil {
			item.Result = eventstore.Result{Err: err}
		}
		results = append(results, item.Result)
	}
	return results
}

// write appends drafts, which nothing may refuse.
func (fixture *fixture) write(drafts ...eventstore.Draft) calendar.Position {
	fixture.Helper()
	result := fixture.one(fixture.appendOf(drafts...))
	fixture.must("Append", result.Err)
	return result.Position
}

// record is a record that is not there yet.
func (fixture *fixture) record(kind calendar.Kind) *calendar.Record {
	fixture.Helper()
	return &calendar.Record{Kind: kind, ID: fixture.newID()}
}

// draft makes the draft of a change of a record, which becomes the record after it.
func (fixture *fixture) draft(record *calendar.Record, verb string, fields calendar.Fields) eventstore.Draft {
	fixture.Helper()
	before := record
	if record.Version == 0 {
		before = nil
	}
	draft, after := Draft(fixture, before, calendar.Change{Name: record.Kind.String() + "." + verb, Kind: record.Kind, ID: record.ID, Home: calendar.LangEN, Fields: fields}, fixture.now)
	*record = *after
	return draft
}

// namedFields are the name and the slug of a record of a kind.
func namedFields(kind calendar.Kind, text string) calendar.Fields {
	return calendar.Fields{kind.NameField(): calendar.Text{calendar.LangEN: "Name of " + text}, "slug": text}
}

// erasing returns the Append that erases the records of drafts.
func (fixture *fixture) erasing(drafts ...eventstore.Draft) eventstore.Append {
	addition := eventstore.Append{Time: fixture.now, Actor: 3, Cause: eventstore.Cause{Client: "erase", Reason: "asked for"}}
	for _, draft := range drafts {
		draft.Change, draft.Fields, draft.Secret, draft.Names = eventstore.ErasedChange(draft.Kind), []byte(`{}`), []byte{}, nil
		addition.Drafts, addition.Redact = append(addition.Drafts, draft), append(addition.Redact, draft.ID)
	}
	return addition
}

// erase erases records, and redacts what is known of them.
func (fixture *fixture) erase(addition eventstore.Append) eventstore.Result {
	fixture.Helper()
	before := fixture.store.Epoch()
	result := fixture.one(addition)
	if result.Err != nil {
		return result
	}
	if now := fixture.store.Epoch(); now.History != before.History || now.Erasures <= before.Erasures {
		fixture.Errorf("the epoch is %+v after an erasure, it was %+v", now, before)
	}
	first := result.Position - calendar.Position(len(addition.Drafts)) + 1
	for i, draft := range addition.Drafts {
		position := first + calendar.Position(i)
		for j := range fixture.log {
			if known := &fixture.log[j]; known.ID == draft.ID && known.Position < position && known.Redacted == nil {
				known.Redact(position)
			}
		}
		last, err := fixture.store.Read(fixture.ctx, eventstore.Range{After: uint64(position - 1), Limit: 1})
		if err != nil || len(last) != 1 {
			fixture.Fatalf("the entry that erased: %d entries, %v", len(last), err)
		}
		fixture.equal("the entry that erased", last[0], eventstore.Entry{
			Position: position, Kind: draft.Kind, ID: draft.ID, Version: draft.Version, Time: fixture.now, Actor: 3, Cause: addition.Cause,
			Change: draft.Change, Fields: draft.Fields, State: draft.State, Secret: []byte{}, Salts: last[0].Salts, Leaf: last[0].Leaf, Commit: last[0].Commit,
		})
	}
	entries, err := fixture.store.Read(fixture.ctx, eventstore.Range{After: uint64(first - 1), Limit: 1, Leaves: true})
	if len(addition.Drafts) > 0 && (err != nil || len(entries) != 1 || entries[0].Commit.Last < result.Position) {
		fixture.Errorf("the commit of an erasure at %d: %+v, %v", result.Position, entries, err)
	}
	return result
}
