// Package storetest is the suite that each implementation of the event store
// passes, and the proof that the suite finds broken ones.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/eventstore"
)

// Store is what the suite asks of an implementation.
type Store interface {
	eventstore.Verifier
	io.Closer
}

// Harness opens the stores of one implementation.
type Harness struct {
	// Open gives an empty store and closes it when the test ends.
	Open func(t testing.TB) Store
	// Reopen closes a store that Open or Reopen gave, and opens what it kept, as
	// a new process would.
	Reopen func(t testing.TB, s Store) Store
	// Patience is how long the suite waits for what has to come; 0: 30 s.
	Patience time.Duration
}

// Case is one promise of the port and its check.
type Case struct {
	Name string
	Run  func(t testing.TB, h Harness)
}

// Run checks an implementation against the whole suite. No case may be skipped.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if t.Skipped() {
					t.Errorf("case %q was skipped", c.Name)
				}
			}()
			c.Run(t, h)
		})
	}
}

// Cases are all cases of the suite.
func Cases() []Case {
	return []Case{
		{"entries are kept whole", entriesWhole},
		{"leaves are salted", leaves},
		{"one writer wins each version", versionRace},
		{"versions and kinds are checked", versionsChecked},
		{"tail reader sees every position", tailReader},
		{"one record wins a claim", claimRace},
		{"claims are released before they are claimed", claimsMove},
		{"guards hold", guards},
		{"guards are read before the append", guardRace},
		{"equal requests write once", receiptOnce},
		{"equal requests at the same time write once", receiptRace},
		{"receipts are looked up and completed", receiptAnswers},
		{"receipts are completed later", receiptLater},
		{"an append is whole or not at all", wholeOrNothing},
		{"a loser does not harm its group", groupWithLoser},
		{"appends of one call follow each other", callOrder},
		{"states are read at once", readYourWrites},
		{"secrets are kept and removed", secrets},
		{"history of a record", history},
		{"records by kind and id", records},
		{"claims and names are found", find},
		{"marks name the history", marks},
		{"appends of another epoch are refused", otherEpoch},
		{"ids are given once", freshIDs},
		{"waiting for the head", waiting},
		{"ended contexts", endedContext},
		{"large payloads", largePayloads},
		{"entries never change", appendOnly},
		{"pages are bounded by bytes", bytePages},
		{"malformed appends are refused", malformed},
		{"appends of nothing", settles},
		{"records at points of the past", at},
		{"what counts at points of the past", counted},
		{"slugs of the past", slugs},
		{"former slugs", formerSlugs},
		{"checkpoints are kept and gain lines", checkpoints},
		{"an erasure leaves the leaves", erases},
		{"erasures are refused or done again", erasesAgain},
		{"records are erased together", erasesTogether},
		{"answers that name what was erased are not kept", erasesAnswers},
		{"the log verifies", verifies},
		{"states are never beyond the entries", statesWithEntries},
		{"the log verifies while others write", verifiesBusy},
		{"claims and names of no state are found", verifiesHoldings},
		{"everything is there after a restart", restart},
		{"a store has a UUID of its own", ownUUID},
		{"closed stores refuse", closed},
	}
}

// Verify is eventstore.Verify for who expects a whole store: what does not fit is an
// error.
func Verify(ctx context.Context, s eventstore.Verifier, progress func(done, total calendar.Position)) (hash [32]byte, entries calendar.Position, err error) {
	f, err := eventstore.Verify(ctx, s, progress)
	if err == nil {
		err = f.Err()
	}
	return f.Hash, f.Entries, err
}

// fixture is what every case works with.
type fixture struct {
	testing.TB

	h     Harness
	store Store
	ctx   context.Context // ends with the test
	now   time.Time
}

func setup(t testing.TB, h Harness) *fixture {
	t.Helper()
	if h.Patience == 0 {
		h.Patience = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*h.Patience)
	t.Cleanup(cancel)
	return &fixture{TB: t, h: h, store: h.Open(t), ctx: ctx, now: time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)}
}

// patient gives a context for what has to come.
func (f *fixture) patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(f.ctx, f.h.Patience)
}

func (f *fixture) id() calendar.ID {
	f.Helper()
	id, err := f.store.NewIDs(f.ctx, 1)
	if err != nil {
		f.Fatalf("NewIDs: %v", err)
	}
	return id
}

// created is the change that makes a tag or a venue.
func created(k calendar.Kind, id calendar.ID, slug string) calendar.Change {
	return calendar.Change{
		Name: k.String() + "." + calendar.Created, Kind: k, ID: id, Home: calendar.LangEN,
		Fields: calendar.Fields{k.NameField(): calendar.Text{calendar.LangEN: "Name of " + slug}, "slug": slug},
	}
}

// changed is the change of some fields.
func changed(r *calendar.Record, fields calendar.Fields) calendar.Change {
	return calendar.Change{Name: r.Kind.String() + "." + calendar.Updated, Kind: r.Kind, ID: r.ID, Fields: fields}
}

// deleted is the change that ends a tag.
func deleted(r *calendar.Record) calendar.Change {
	return calendar.Change{Name: r.Kind.String() + "." + calendar.Deleted, Kind: r.Kind, ID: r.ID, Fields: calendar.Fields{}}
}

func (f *fixture) draft(before *calendar.Record, c calendar.Change) (eventstore.Draft, *calendar.Record) {
	f.Helper()
	return Draft(f, before, c, f.now)
}

// Draft makes the draft of a change of a record, nil for none yet, and the record
// after it.
func Draft(t testing.TB, before *calendar.Record, c calendar.Change, at time.Time) (eventstore.Draft, *calendar.Record) {
	t.Helper()
	d, after, err := eventstore.NewDraft(before, c, at)
	if err != nil {
		t.Fatalf("draft of %s: %v", c.Name, err)
	}
	return d, after
}

// appendOf makes an Append of drafts.
func (f *fixture) appendOf(drafts ...eventstore.Draft) eventstore.Append {
	return eventstore.Append{
		Drafts: drafts, Time: f.now, Actor: 7,
		Cause: eventstore.Cause{Client: "suite", Request: "r-1", Reason: "because"},
	}
}

// write appends one Append and gives its result.
func (f *fixture) write(a eventstore.Append) eventstore.Result {
	f.Helper()
	results := f.store.Append(f.ctx, []eventstore.Append{a})
	if len(results) != 1 {
		f.Fatalf("Append gave %d results for 1", len(results))
	}
	return results[0]
}

// mustWrite appends and fails the test when that is refused.
func (f *fixture) mustWrite(a eventstore.Append) calendar.Position {
	f.Helper()
	res := f.write(a)
	if res.Err != nil {
		f.Fatalf("Append: %v", res.Err)
	}
	return res.Position
}

// create makes a record of a kind.
func (f *fixture) create(k calendar.Kind, slug string) *calendar.Record {
	f.Helper()
	d, r := f.draft(nil, created(k, f.id(), slug))
	f.mustWrite(f.appendOf(d))
	return r
}

// update changes fields of a record and gives the record after it.
func (f *fixture) update(r *calendar.Record, fields calendar.Fields) *calendar.Record {
	f.Helper()
	d, after := f.draft(r, changed(r, fields))
	f.mustWrite(f.appendOf(d))
	return after
}

// load gives one state.
func (f *fixture) load(id calendar.ID) eventstore.State {
	f.Helper()
	states, err := f.store.Load(f.ctx, id)
	if err != nil || len(states) != 1 {
		f.Fatalf("Load(%d) gave %d states, error %v", id, len(states), err)
	}
	return states[0]
}

func (f *fixture) head() calendar.Position {
	f.Helper()
	head, err := f.store.Head(f.ctx)
	if err != nil {
		f.Fatalf("Head: %v", err)
	}
	return head
}

// all reads the whole log by small pages.
func (f *fixture) all() []eventstore.Entry {
	f.Helper()
	var out []eventstore.Entry
	for {
		page, err := f.store.ReadAll(f.ctx, calendar.Position(len(out)), 7)
		if err != nil {
			f.Fatalf("ReadAll: %v", err)
		}
		if len(page) == 0 {
			return out
		}
		for i := range page {
			if want := calendar.Position(len(out)) + 1; page[i].Position != want {
				f.Fatalf("ReadAll gave position %d, want %d", page[i].Position, want)
			}
			out = append(out, page[i])
		}
	}
}

// holder gives who holds a claim.
func (f *fixture) holder(c calendar.Claim) calendar.ID {
	f.Helper()
	holders, _, err := f.store.Find(f.ctx, []calendar.Claim{c}, nil)
	if err != nil || len(holders) != 1 {
		f.Fatalf("Find(%v) gave %d holders, error %v", c, len(holders), err)
	}
	return holders[0]
}

func nameOf(k calendar.Kind, slug string) calendar.Name {
	return calendar.Name{Space: "name/" + k.String(), Key: calendar.Fold("Name of " + slug)}
}

// same fails the test when got differs from want; secrets that are empty and
// those that are nil differ too.
func (f *fixture) same(what string, got, want any) {
	f.Helper()
	if reflect.DeepEqual(want, got) { // a hundred times as fast
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
		f.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// together runs n functions at the same time and waits for them.
func together(n int, do func(i int)) {
	start := make(chan struct{})
	done := make(chan struct{})
	for i := range n {
		go func() {
			defer func() { done <- struct{}{} }()
			<-start
			do(i)
		}()
	}
	close(start)
	for range n {
		<-done
	}
}

// wins counts the results without an error, and fails the test for errors that
// are not allowed.
func (f *fixture) wins(results []eventstore.Result, allowed func(error) bool) int {
	f.Helper()
	n := 0
	for _, r := range results {
		switch {
		case r.Err == nil:
			n++
		case !allowed(r.Err):
			f.Errorf("a loser got %v", r.Err)
		}
	}
	return n
}

func isConflict(err error) bool { return errors.Is(err, eventstore.ErrConflict) }

func numbered(prefix string, n int) string { return fmt.Sprintf("%s-%d", prefix, n) }
