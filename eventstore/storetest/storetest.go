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
	Reopen func(t testing.TB, s Store) Store
	// Stray stores claims and names of a record that is not there, behind the back of the
	// store.
	Stray func(t testing.TB, s Store, h eventstore.Held)
	// Patience is how long the suite waits for what has to come; 0: 30 s.
	Patience time.Duration
}

// Case is one promise of the port and its check.
type Case struct {
	Name string
	Run  func(t testing.TB, h Harness)
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
		Case{"a call may have many appends", longCall},
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
		Case{"former slugs", past(3, formerSlugs)},
		Case{"claims and names of no record are damage", strays},
		Case{"the log verifies", verifies},
		Case{"the log verifies while others write", verifiesBusy},
	)
}

// Draft makes the draft of a change of a record, nil for none yet, and the record
// after it.
func Draft(t testing.TB, before *calendar.Record, change calendar.Change, at time.Time) (eventstore.Draft, *calendar.Record) {
	t.Helper()
	draft, after, err := eventstore.NewDraft(before, change, at)
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

func setup(t testing.TB, h Harness) *fixture {
	t.Helper()
	if h.Patience == 0 {
		h.Patience = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*h.Patience)
	t.Cleanup(cancel)
	return &fixture{
		TB: t, harness: h, store: h.Open(t), ctx: ctx, now: time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC),
		limit: manyPerPage, signed: map[calendar.Position]eventstore.Checkpoint{},
	}
}

// patient returns a context for what has to come.
func (f *fixture) patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(f.ctx, f.harness.Patience)
}

// must ends the test with an error.
func (f *fixture) must(what string, err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%s: %v", what, err)
	}
}

// equal fails the test when got differs from want; empty and nil secrets differ too.
func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	if reflect.DeepEqual(want, got) { // a hundred times as fast
		return
	}
	if size := len(fmt.Sprint(want)); size > 1<<20 { // a difference takes minutes
		f.Errorf("%s differs: want %d characters, got %d", what, size, len(fmt.Sprint(got)))
	} else if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// reopen opens the store as a new process would, and checks that all is there.
func (f *fixture) reopen() {
	f.Helper()
	before := f.readings()
	f.store = f.harness.Reopen(f, f.store)
	f.equal("the log after a restart", f.readings(), before)
}

func (f *fixture) newID() calendar.ID {
	f.Helper()
	id, err := f.store.NewIDs(f.ctx, 1)
	f.must("NewIDs", err)
	return id
}

func (f *fixture) load(id calendar.ID) eventstore.State {
	f.Helper()
	states, err := f.store.Load(f.ctx, id)
	if err != nil || len(states) != 1 {
		f.Fatalf("Load(%d) returns %d states, %v", id, len(states), err)
	}
	return states[0]
}

// appendOf makes an Append of drafts.
func (f *fixture) appendOf(drafts ...eventstore.Draft) eventstore.Append {
	return eventstore.Append{
		Drafts: drafts, Time: f.now, Actor: 7,
		Cause: eventstore.Cause{Client: "suite", Request: "r-1", Reason: "because"},
	}
}

// one appends one Append.
func (f *fixture) one(a eventstore.Append) eventstore.Result {
	return f.store.Append(f.ctx, []eventstore.Append{a})[0]
}

// write appends drafts, which nothing may refuse.
func (f *fixture) write(drafts ...eventstore.Draft) calendar.Position {
	f.Helper()
	res := f.one(f.appendOf(drafts...))
	f.must("Append", res.Err)
	return res.Position
}

// record is a record that is not there yet.
func (f *fixture) record(kind calendar.Kind) *calendar.Record {
	f.Helper()
	return &calendar.Record{Kind: kind, ID: f.newID()}
}

// draft makes the draft of a change of a record, which becomes the record after it.
func (f *fixture) draft(record *calendar.Record, verb string, fields calendar.Fields) eventstore.Draft {
	f.Helper()
	before := record
	if record.Version == 0 {
		before = nil
	}
	d, after := Draft(f, before, calendar.Change{Name: record.Kind.String() + "." + verb, Kind: record.Kind, ID: record.ID, Home: calendar.LangEN, Fields: fields}, f.now)
	*record = *after
	return d
}

// namedFields are the name and the slug of a record of a kind.
func namedFields(kind calendar.Kind, text string) calendar.Fields {
	return calendar.Fields{kind.NameField(): calendar.Text{calendar.LangEN: "Name of " + text}, "slug": text}
}

// erasing returns the Append that erases the records of drafts.
func (f *fixture) erasing(drafts ...eventstore.Draft) eventstore.Append {
	a := eventstore.Append{Time: f.now, Actor: 3, Cause: eventstore.Cause{Client: "erase", Reason: "asked for"}}
	for _, draft := range drafts {
		draft.Change, draft.Fields, draft.Secret, draft.Names = eventstore.ErasedChange(draft.Kind), []byte(`{}`), []byte{}, nil
		a.Drafts, a.Redact = append(a.Drafts, draft), append(a.Redact, draft.ID)
	}
	return a
}

// erase erases records, and redacts what is known of them.
func (f *fixture) erase(a eventstore.Append) eventstore.Result {
	f.Helper()
	before := f.store.Epoch()
	res := f.one(a)
	if res.Err != nil {
		return res
	}
	if now := f.store.Epoch(); now.History != before.History || now.Erasures <= before.Erasures {
		f.Errorf("the epoch is %+v after an erasure, it was %+v", now, before)
	}
	first := res.Position - calendar.Position(len(a.Drafts)) + 1
	for i, draft := range a.Drafts {
		by := first + calendar.Position(i)
		for j := range f.log {
			if known := &f.log[j]; known.ID == draft.ID && known.Position < by && known.Redacted == nil {
				known.Redact(by)
			}
		}
		last, err := f.store.Read(f.ctx, eventstore.Range{After: uint64(by - 1), Limit: 1})
		if err != nil || len(last) != 1 {
			f.Fatalf("the entry that erased: %d entries, %v", len(last), err)
		}
		f.equal("the entry that erased", last[0], eventstore.Entry{
			Position: by, Kind: draft.Kind, ID: draft.ID, Version: draft.Expected + 1, Time: f.now, Actor: 3, Cause: a.Cause,
			Change: draft.Change, Fields: draft.Fields, State: draft.State, Secret: []byte{}, Salts: last[0].Salts,
		})
	}
	commits, err := f.store.Commits(f.ctx, first, 1)
	if len(a.Drafts) > 0 && (err != nil || len(commits) != 1 || commits[0].Last < res.Position) {
		f.Errorf("the commit of an erasure at %d: %+v, %v", res.Position, commits, err)
	}
	return res
}
