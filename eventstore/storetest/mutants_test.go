package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
)

// mutant is the store in memory with some methods replaced, or with what they return
// edited.
type mutant struct {
	eventstore.Store

	memory   *memstore.Store
	reopened bool // with entries
	strays   []calendar.ID
	mutex    sync.Mutex // of what the replacements remember

	group func(ctx context.Context, appends []eventstore.Append) []eventstore.Result
	call  func(ctx context.Context, a eventstore.Append) eventstore.Result
	each  func(a eventstore.Append) eventstore.Result // of what is not the caller's
	newID func() (calendar.ID, error)
	read  func(r eventstore.Range) ([]eventstore.Entry, error)
	at    func(point eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error)

	// These edit what a method returns.
	entry   func(e *eventstore.Entry) // of Read
	states  func(page []eventstore.State) []eventstore.State
	records func(kind calendar.Kind, page []eventstore.Held) []eventstore.Held
	found   func(lookup eventstore.Lookup, f *eventstore.Found)
	head    func(point eventstore.Point, h *eventstore.Head)
	receipt func(r *eventstore.Receipt) *eventstore.Receipt
	epoch   func(e *eventstore.Epoch)

	open   bool // Close does nothing
	trusts bool // Records does not look for claims and names of no record
}

var background = context.Background()

func (mutant *mutant) one(a eventstore.Append) eventstore.Result {
	return mutant.Store.Append(background, a)
}

func (mutant *mutant) Append(ctx context.Context, a eventstore.Append) eventstore.Result {
	switch {
	case mutant.call != nil:
		return mutant.call(ctx, a)
	case mutant.each == nil:
		return mutant.Store.Append(ctx, a)
	}
	a.Drafts = slices.Clone(a.Drafts)
	if a.Receipt != nil {
		receipt := *a.Receipt
		a.Receipt = &receipt
	}
	return mutant.each(a)
}

// Together implements grouping; the store in memory takes a group one after the other.
func (mutant *mutant) Together(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if mutant.group != nil {
		return mutant.group(ctx, slices.Clone(appends))
	}
	return all(ctx, struct{ eventstore.Store }{mutant}, appends)
}

func (mutant *mutant) NewID(ctx context.Context) (calendar.ID, error) {
	if mutant.newID != nil {
		return mutant.newID()
	}
	return mutant.Store.NewID(ctx)
}

func (mutant *mutant) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if mutant.read != nil {
		return mutant.read(r)
	}
	page, err := mutant.Store.Read(ctx, r)
	for i := range page {
		if mutant.entry != nil {
			mutant.entry(&page[i])
		}
	}
	return page, err
}

func (mutant *mutant) At(ctx context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if mutant.at != nil {
		return mutant.at(point, ids)
	}
	return mutant.Store.At(ctx, point, ids...)
}

func (mutant *mutant) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	page, err := mutant.Store.Load(ctx, ids...)
	if mutant.states != nil {
		page = mutant.states(page)
	}
	return page, err
}

func (mutant *mutant) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	page, err := mutant.Store.Records(ctx, kind, after, limit)
	for _, id := range mutant.strays {
		if id > after && (len(page) < limit || id <= page[len(page)-1].ID) {
			err = eventstore.ErrDamaged
		}
	}
	if mutant.records != nil {
		page = mutant.records(kind, page)
	}
	return page, err
}

func (mutant *mutant) Find(ctx context.Context, lookup eventstore.Lookup) (eventstore.Found, error) {
	found, err := mutant.Store.Find(ctx, lookup)
	if mutant.found != nil {
		mutant.found(lookup, &found)
	}
	return found, err
}

func (mutant *mutant) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	head, err := mutant.Store.Head(ctx, point)
	if mutant.head != nil && err == nil {
		mutant.head(point, &head)
	}
	return head, err
}

func (mutant *mutant) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := mutant.Store.Receipt(ctx, user, key)
	if mutant.receipt != nil {
		receipt = mutant.receipt(receipt)
	}
	return receipt, err
}

func (mutant *mutant) Epoch() eventstore.Epoch {
	epoch := mutant.Store.Epoch()
	if mutant.epoch != nil {
		mutant.epoch(&epoch)
	}
	return epoch
}

// stray makes Records find claims and names of no record, unless the store does not look
// for them.
func (mutant *mutant) stray(held eventstore.Held) {
	if !mutant.trusts {
		mutant.strays = append(mutant.strays, held.ID)
	}
}

func (mutant *mutant) Close() error {
	if mutant.open {
		return nil
	}
	return mutant.memory.Close()
}

// asked breaks a store by another Append than the one that was asked for.
func asking(edit func(a *eventstore.Append)) func(m *mutant) {
	return func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			edit(&a)
			return m.one(a)
		}
	}
}

// answered breaks a store by another answer than the right one.
func answered(edit func(m *mutant, a eventstore.Append, res *eventstore.Result)) func(m *mutant) {
	return func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			res := m.one(a)
			m.mutex.Lock()
			defer m.mutex.Unlock()
			edit(m, a, &res)
			return res
		}
	}
}

// mutants are stores that are broken in one way each, with the cases that have to find
// it.
var mutants = []struct {
	name  string
	cases []string
	brk   func(m *mutant)
}{
	// Entries.
	{"the cause is lost", []string{"entries are stored whole"}, asking(func(a *eventstore.Append) { a.Cause = eventstore.Cause{} })},
	{"an entry is lost", []string{"readers and writers at the same time"}, func(m *mutant) {
		m.read = func(r eventstore.Range) ([]eventstore.Entry, error) {
			page, err := m.Store.Read(background, r)
			return slices.DeleteFunc(page, func(entry eventstore.Entry) bool { return entry.Position == 100 }), err
		}
	}},
	{"an entry that is larger than a page is left out", []string{"pages are bounded by bytes"}, func(m *mutant) {
		m.read = func(r eventstore.Range) ([]eventstore.Entry, error) {
			page, err := m.Store.Read(background, r)
			return slices.DeleteFunc(page, func(entry eventstore.Entry) bool { return entry.Size() > eventstore.PageBytes }), err
		}
	}},
	{"the entries of a record are those of the log", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.read = func(r eventstore.Range) ([]eventstore.Entry, error) {
			r.Record = 0
			return m.Store.Read(background, r)
		}
	}},
	{"reading ignores the limit", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.read = func(r eventstore.Range) ([]eventstore.Entry, error) {
			r.Limit = 1000
			return m.Store.Read(background, r)
		}
	}},
	{"a leaf was written again", []string{"appends follow each other"}, func(m *mutant) {
		m.read = func(r eventstore.Range) ([]eventstore.Entry, error) {
			page, err := m.Store.Read(background, r)
			for i := range page {
				if r.Leaves {
					page[i].Leaf[31] ^= 1
				}
			}
			return page, err
		}
	}},
	{"leaves begin behind the first", []string{"appends of nothing", "pages are bounded by their number"}, func(m *mutant) {
		m.read = func(r eventstore.Range) ([]eventstore.Entry, error) {
			page, err := m.Store.Read(background, r)
			if r.Leaves {
				page = page[min(1, len(page)):]
			}
			return page, err
		}
	}},

	// Decisions.
	{"versions are not checked", []string{"one writer wins each version", "versions and kinds are checked", "checks come in order"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			res := m.one(a)
			for errors.Is(res.Err, eventstore.ErrConflict) && len(a.Drafts) > 0 {
				states, _ := m.Store.Load(background, a.Drafts[0].ID)
				if a.Guards = nil; a.Drafts[0].Version == states[0].Version+1 {
					break
				}
				if a.Drafts[0].Version = states[0].Version + 1; states[0].Version > 0 {
					a.Drafts[0].Kind = states[0].Kind
				}
				res = m.one(a)
			}
			return res
		}
	}},
	{"claims are not checked", []string{"one record wins a claim", "claims are released before they are claimed"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			res := m.one(a)
			if _, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok {
				for i := range a.Drafts {
					a.Drafts[i].Claims = nil
				}
				res = m.one(a)
			}
			return res
		}
	}},
	{"claims of one group are not compared", []string{"a loser does not harm its group"}, func(m *mutant) {
		m.group = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			asked := map[calendar.Claim]bool{}
			for i := range appends {
				appends[i].Drafts = slices.Clone(appends[i].Drafts)
				for j := range appends[i].Drafts {
					draft := &appends[i].Drafts[j]
					draft.Claims = slices.DeleteFunc(slices.Clone(draft.Claims), func(claim calendar.Claim) bool { return asked[claim] })
				}
				for _, draft := range appends[i].Drafts {
					for _, claim := range draft.Claims {
						asked[claim] = true
					}
				}
			}
			return all(ctx, m.Store, appends)
		}
	}},
	{"guards are ignored", []string{"guards hold", "guards are read before the append", "an append is whole or not at all"}, asking(func(a *eventstore.Append) { a.Guards = nil })},
	{"receipts are ignored", []string{"equal requests write once", "equal requests at the same time write once", "receipts are looked up"}, asking(func(a *eventstore.Append) { a.Receipt = nil })},
	{"fingerprints are not compared", []string{"equal requests write once", "receipts of records that are there"}, asking(func(a *eventstore.Append) {
		if a.Receipt != nil {
			a.Receipt.Fingerprint = [32]byte{1}
		}
	})},
	{"receipts of others are found", []string{"receipts are looked up"}, func(m *mutant) {
		var last *eventstore.Receipt
		m.receipt = func(receipt *eventstore.Receipt) *eventstore.Receipt {
			if receipt != nil {
				last = receipt
			}
			return last
		}
	}},
	{"a receipt is answered before it is durable", []string{"receipts are looked up", "receipts of records that are there"}, func(m *mutant) {
		if m.reopened {
			m.receipt = func(*eventstore.Receipt) *eventstore.Receipt { return nil }
		}
	}},
	{"the first receipt is not answered", []string{"receipts of records that are there"}, answered(func(_ *mutant, a eventstore.Append, res *eventstore.Result) {
		if len(a.Drafts) == 0 {
			res.Receipt = nil
		}
	})},
	{"an epoch is not looked at", []string{"appends of another epoch are refused"}, asking(func(a *eventstore.Append) { a.Epoch = eventstore.Epoch{} })},
	{"a secret is never removed", []string{"secrets are kept and removed"}, asking(func(a *eventstore.Append) {
		for i := range a.Drafts {
			a.Drafts[i].Secret = append([]byte(nil), a.Drafts[i].Secret...)
		}
	})},
	{"a loser takes its group along", []string{"a loser does not harm its group"}, func(m *mutant) {
		m.group = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			results := all(ctx, m.Store, appends)
			if i := slices.IndexFunc(results, func(result eventstore.Result) bool { return result.Err != nil }); i >= 0 {
				return slices.Repeat(results[i:i+1], len(results))
			}
			return results
		}
	}},
	{"a group is written from its end", []string{"appends follow each other", "a group may have many appends"}, func(m *mutant) {
		m.group = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			slices.Reverse(appends)
			results := all(ctx, m.Store, appends)
			slices.Reverse(results)
			return results
		}
	}},
	{"contexts are ignored", []string{"ended contexts"}, func(m *mutant) {
		m.call = func(ctx context.Context, a eventstore.Append) eventstore.Result {
			return m.Store.Append(context.WithoutCancel(ctx), a)
		}
	}},
	{"ids are given twice", []string{"ids are given once"}, func(m *mutant) {
		m.newID = func() (calendar.ID, error) {
			id, err := m.Store.NewID(background)
			return id - id%2 + 1, err
		}
	}},

	// States.
	{"unknown records are left out", []string{"appends follow each other"}, func(m *mutant) {
		m.states = func(page []eventstore.State) []eventstore.State {
			return slices.DeleteFunc(page, func(state eventstore.State) bool { return state.Version == 0 })
		}
	}},
	{"records have no names", []string{"claims and names are found", "everything is there after a restart"}, func(m *mutant) {
		m.records = func(_ calendar.Kind, page []eventstore.Held) []eventstore.Held {
			for i := range page {
				page[i].Names = nil
			}
			return page
		}
	}},
	{"claims and names of no record are left", []string{"claims and names of no record are damage"}, func(m *mutant) { m.trusts = true }},
	{"no record is erased", []string{"an erasure leaves the leaves"}, func(m *mutant) {
		m.records = func(_ calendar.Kind, page []eventstore.Held) []eventstore.Held {
			for i := range page {
				page[i].Erased = false
			}
			return page
		}
	}},
	{"one record of a name is found", []string{"claims and names are found"}, func(m *mutant) {
		m.found = func(_ eventstore.Lookup, found *eventstore.Found) {
			for i, ids := range found.Named {
				found.Named[i] = ids[:min(1, len(ids))]
			}
		}
	}},
	{"a present secret is lost", []string{"the log verifies"}, func(m *mutant) {
		m.records = func(_ calendar.Kind, page []eventstore.Held) []eventstore.Held {
			for i := range page {
				page[i].Secret = nil
			}
			return page
		}
	}},
	{"a present state is ahead of its entry", []string{"the log verifies while others write"}, func(m *mutant) {
		m.records = func(_ calendar.Kind, page []eventstore.Held) []eventstore.Held {
			for i := range page {
				page[i].Version++
			}
			return page
		}
	}},

	// The store as a whole.
	{"all stores have one UUID", []string{"a store has a UUID and a history of its own"}, func(m *mutant) {
		m.head = func(_ eventstore.Point, head *eventstore.Head) { head.UUID = [16]byte{1} }
	}},
	{"the head never moves", []string{"the head moves"}, func(m *mutant) {
		m.head = func(_ eventstore.Point, head *eventstore.Head) { head.Moved = make(chan struct{}) }
	}},
	{"a restart loses everything", []string{"everything is there after a restart"}, func(m *mutant) {
		if m.reopened {
			m.memory = memstore.New()
			m.Store = m.memory
		}
	}},
	{"closing does nothing", []string{"closed stores refuse"}, func(m *mutant) { m.open = true }},

	// The past, erasures, checkpoints.
	{"a moment counts only what is before it", []string{"records at points of the past", "slugs of the past"}, func(m *mutant) {
		m.at = func(point eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error) {
			if !point.Time.IsZero() && point.Position == 0 {
				point.Time = point.Time.Add(-time.Millisecond)
			}
			return m.Store.At(background, point, ids...)
		}
	}},
	{"the last entry counted has the greatest time", []string{"what counts at points of the past"}, func(m *mutant) {
		m.head = func(point eventstore.Point, head *eventstore.Head) {
			if point != (eventstore.Point{}) && head.Position > 0 {
				last, _ := m.Store.Read(background, eventstore.Range{After: uint64(head.Position - 1), Limit: 1})
				head.Time = last[0].Time
			}
		}
	}},
	{"takings come in order", []string{"slugs of the past"}, func(m *mutant) {
		m.found = func(_ eventstore.Lookup, found *eventstore.Found) {
			slices.Reverse(found.Taken)
		}
	}},
	{"an erasure is a change like others", []string{"an erasure leaves the leaves", "erasures are refused or done again"}, asking(func(a *eventstore.Append) { a.Redact = nil })},
	{"a record that lives is not redacted", []string{"erasures are refused or done again"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			if res := m.one(a); !errors.Is(res.Err, eventstore.ErrConflict) || len(a.Drafts) > 0 {
				return res
			}
			a.Redact = nil
			return m.one(a)
		}
	}},
	{"an erasure leaves what is cached", []string{"records are erased together"}, func(m *mutant) {
		m.epoch = func(epoch *eventstore.Epoch) { epoch.Erasures = 0 }
	}},
	{"a checkpoint loses its keys", []string{"checkpoints are kept and gain lines"}, asking(func(a *eventstore.Append) {
		if a.Checkpoint != nil {
			checkpoint := *a.Checkpoint
			checkpoint.Keys = ""
			a.Checkpoint = &checkpoint
		}
	})},
}

// mutantHarness opens stores that are broken in one way; nil breaks nothing.
func mutantHarness(brk func(m *mutant)) Harness {
	wrap := func(t testing.TB, store *memstore.Store, reopened bool) Store {
		t.Helper()
		m := &mutant{Store: store, memory: store, reopened: reopened}
		if brk != nil {
			brk(m)
		}
		t.Cleanup(func() { _ = store.Close() })
		return m
	}
	return Harness{
		Open: func(t testing.TB) Store {
			t.Helper()
			return wrap(t, memstore.New(), false)
		},
		Reopen: func(t testing.TB, store Store) Store {
			t.Helper()
			before := store.(*mutant).memory
			head, err := before.Head(background, eventstore.Point{})
			if err != nil {
				t.Fatal(err)
			}
			return wrap(t, before.Reopen(), head.Position > 0)
		},
		Stray: func(_ testing.TB, store Store, held eventstore.Held) {
			store.(*mutant).stray(held)
		},
		Patience: time.Second,
	}
}

// TestCasesFail: each case fails on a store that is broken in its way, and passes the
// one that is whole.
func TestCasesFail(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for _, c := range Cases() {
		found[c.Name] = 0
		for _, broken := range mutants {
			if !slices.Contains(broken.cases, c.Name) {
				continue
			}
			found[c.Name]++
			t.Run(broken.name+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				reports := run(t, c, mutantHarness(broken.brk))
				if len(reports) == 0 {
					t.Fatalf("the case does not find that %s", broken.name)
				}
				t.Log(reports[0])
			})
		}
		t.Run("whole/"+c.Name, func(t *testing.T) {
			t.Parallel()
			harness := mutantHarness(nil)
			harness.Patience = 0
			if reports := run(t, c, harness); len(reports) > 0 {
				t.Errorf("the case fails on a whole store: %q", reports)
			}
		})
		if found[c.Name] == 0 {
			t.Errorf("case %q has no store that it fails on", c.Name)
		}
	}
	for _, broken := range mutants {
		for _, name := range broken.cases {
			if _, there := found[name]; !there {
				t.Errorf("%s: no case %q", broken.name, name)
			}
		}
	}
}
