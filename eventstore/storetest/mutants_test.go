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
	*memstore.Store

	reopened bool       // with entries
	mutex    sync.Mutex // of what the replacements remember

	call          func(ctx context.Context, appends []eventstore.Append) []eventstore.Result
	each          func(a eventstore.Append) eventstore.Result // instead of a call of one Append
	erase         func(e eventstore.Erasure) eventstore.Result
	putCheckpoint func(c eventstore.Checkpoint) error
	newIDs        func(n int) (calendar.ID, error)
	wait          func(ctx context.Context, after calendar.Position) (calendar.Position, error)
	readAll       func(after calendar.Position, limit int) ([]eventstore.Entry, error)
	history       func(id calendar.ID, after int64, limit int) ([]eventstore.Entry, error)
	records       func(kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error)
	holdings      func(after calendar.ID, limit int) ([]eventstore.Holding, error)
	mark          func(p calendar.Position) (eventstore.Mark, error)
	at            func(p eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error)
	slugAt        func(kind calendar.Kind, slug string) (calendar.ID, error)

	// These edit what a method returns.
	entry    func(e *eventstore.Entry) // of ReadAll and ReadStored
	stored   func(page []eventstore.Entry) []eventstore.Entry
	leaves   func(page [][32]byte) [][32]byte
	commits  func(page []eventstore.Commit) []eventstore.Commit
	states   func(page []eventstore.State) []eventstore.State // of Load
	versions func(ids []calendar.ID, page []int64)
	holders  func(page []calendar.ID) []calendar.ID
	named    func(page []calendar.ID) []calendar.ID
	former   func(claim calendar.Claim, ids []calendar.ID) []calendar.ID
	counted  func(p eventstore.Point, c *eventstore.Counted)
	head     func(p calendar.Position) calendar.Position
	uuid     func(id *[16]byte)

	open bool // Close does nothing
}

var background = context.Background()

func (m *mutant) one(a eventstore.Append) eventstore.Result {
	return m.Store.Append(background, []eventstore.Append{a})[0]
}

func (m *mutant) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	switch {
	case m.call != nil:
		return m.call(ctx, slices.Clone(appends))
	case m.each == nil:
		return m.Store.Append(ctx, appends)
	}
	results := make([]eventstore.Result, len(appends))
	for i, a := range appends {
		a.Drafts = slices.Clone(a.Drafts)
		if a.Receipt != nil {
			r := *a.Receipt
			a.Receipt = &r
		}
		results[i] = m.each(a)
	}
	return results
}

func (m *mutant) Erase(ctx context.Context, e eventstore.Erasure) eventstore.Result {
	if m.erase != nil {
		return m.erase(e)
	}
	return m.Store.Erase(ctx, e)
}

func (m *mutant) PutCheckpoint(ctx context.Context, c eventstore.Checkpoint) error {
	if m.putCheckpoint != nil {
		return m.putCheckpoint(c)
	}
	return m.Store.PutCheckpoint(ctx, c)
}

func (m *mutant) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if m.newIDs != nil {
		return m.newIDs(n)
	}
	return m.Store.NewIDs(ctx, n)
}

func (m *mutant) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	if m.wait != nil {
		return m.wait(ctx, after)
	}
	return m.Store.Wait(ctx, after)
}

func (m *mutant) ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	if m.readAll != nil {
		return m.readAll(after, limit)
	}
	page, err := m.Store.ReadAll(ctx, after, limit)
	for i := range page {
		if m.entry != nil {
			m.entry(&page[i])
		}
	}
	return page, err
}

func (m *mutant) ReadStored(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	page, err := m.ReadAll(ctx, after, limit)
	return edited(m.stored, page), err
}

func (m *mutant) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	if m.history != nil {
		return m.history(id, after, limit)
	}
	return m.Store.History(ctx, id, after, limit)
}

func (m *mutant) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
	if m.records != nil {
		return m.records(kind, after, limit)
	}
	return m.Store.Records(ctx, kind, after, limit)
}

func (m *mutant) Holdings(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error) {
	if m.holdings != nil {
		return m.holdings(after, limit)
	}
	return m.Store.Holdings(ctx, after, limit)
}

func (m *mutant) Mark(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
	if m.mark != nil {
		return m.mark(p)
	}
	return m.Store.Mark(ctx, p)
}

func (m *mutant) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if m.at != nil {
		return m.at(p, ids)
	}
	return m.Store.At(ctx, p, ids...)
}

func (m *mutant) SlugAt(ctx context.Context, kind calendar.Kind, slug string, p eventstore.Point) (calendar.ID, error) {
	if m.slugAt != nil {
		return m.slugAt(kind, slug)
	}
	return m.Store.SlugAt(ctx, kind, slug, p)
}

func (m *mutant) Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	page, err := m.Store.Leaves(ctx, after, limit)
	return edited(m.leaves, page), err
}

func (m *mutant) Commits(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
	page, err := m.Store.Commits(ctx, after, limit)
	return edited(m.commits, page), err
}

func (m *mutant) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	page, err := m.Store.Load(ctx, ids...)
	return edited(m.states, page), err
}

func (m *mutant) Versions(ctx context.Context, ids ...calendar.ID) ([]int64, error) {
	page, err := m.Store.Versions(ctx, ids...)
	if m.versions != nil {
		m.versions(ids, page)
	}
	return page, err
}

func (m *mutant) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error) {
	holders, found, err := m.Store.Find(ctx, claims, names)
	for i := range found {
		found[i] = edited(m.named, found[i])
	}
	return edited(m.holders, holders), found, err
}

func (m *mutant) Former(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
	ids, err := m.Store.Former(ctx, kind, slug)
	if m.former != nil {
		ids = m.former(eventstore.SlugClaim(kind, slug), ids)
	}
	return ids, err
}

func (m *mutant) Counted(ctx context.Context, p eventstore.Point) (eventstore.Counted, error) {
	c, err := m.Store.Counted(ctx, p)
	if m.counted != nil {
		m.counted(p, &c)
	}
	return c, err
}

func (m *mutant) Head(ctx context.Context) (calendar.Position, error) {
	p, err := m.Store.Head(ctx)
	if m.head != nil {
		p = m.head(p)
	}
	return p, err
}

func (m *mutant) UUID(ctx context.Context) ([16]byte, error) {
	id, err := m.Store.UUID(ctx)
	if m.uuid != nil {
		m.uuid(&id)
	}
	return id, err
}

func (m *mutant) Close() error {
	if m.open {
		return nil
	}
	return m.Store.Close()
}

func edited[T any](edit func(page []T) []T, page []T) []T {
	if edit == nil {
		return page
	}
	return edit(page)
}

// asked breaks a store by another Append than the one that was asked for.
func asked(edit func(a *eventstore.Append)) func(m *mutant) {
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
			if res.Receipt != nil { // which the store keeps
				r := *res.Receipt
				res.Receipt = &r
			}
			m.mutex.Lock()
			defer m.mutex.Unlock()
			edit(m, a, &res)
			return res
		}
	}
}

// onEntry breaks a store by entries that are read otherwise than they were written.
func onEntry(edit func(e *eventstore.Entry)) func(m *mutant) {
	return func(m *mutant) { m.entry = edit }
}

// lookUp returns the receipt that is there for an Append.
func (m *mutant) lookUp(a eventstore.Append) *eventstore.Receipt {
	r := *a.Receipt
	r.Record, r.Answer = 0, nil
	return m.one(eventstore.Append{Receipt: &r}).Receipt
}

// mutants are stores that are broken in one way each, with the cases that have to find
// it.
var mutants = []struct {
	name  string
	cases []string
	brk   func(m *mutant)
}{
	// Entries.
	{"milliseconds are lost", []string{"entries are stored whole"}, onEntry(func(e *eventstore.Entry) { e.Time = e.Time.Truncate(time.Second) })},
	{"the cause is lost", []string{"entries are stored whole"}, asked(func(a *eventstore.Append) { a.Cause = eventstore.Cause{} })},
	{"an empty secret reads as none", []string{"entries are stored whole", "secrets are kept and removed"}, onEntry(func(e *eventstore.Entry) {
		if len(e.Secret) == 0 {
			e.Secret = nil
		}
	})},
	{"entries have no salts", []string{"entries are stored whole"}, onEntry(func(e *eventstore.Entry) { e.Salts = eventstore.Salts{} })},
	{"an entry was written again", []string{"the log verifies"}, onEntry(func(e *eventstore.Entry) {
		if e.Position == 30 {
			e.Actor++
		}
	})},
	{"positions have a gap", []string{"readers and writers at the same time", "the log verifies"}, onEntry(func(e *eventstore.Entry) {
		if e.Position > 20 {
			e.Position++
		}
	})},
	{"entries show the present state", []string{"secrets are kept and removed", "a call may have many appends"}, func(m *mutant) {
		m.entry = func(e *eventstore.Entry) {
			states, _ := m.Store.Load(background, e.ID)
			e.State = states[0].Record
		}
	}},
	{"an entry comes twice", []string{"readers and writers at the same time"}, func(m *mutant) {
		m.readAll = func(after calendar.Position, limit int) ([]eventstore.Entry, error) {
			return m.Store.ReadAll(background, max(after, 1)-1, limit)
		}
	}},
	{"an entry is lost", []string{"readers and writers at the same time"}, func(m *mutant) {
		m.readAll = func(after calendar.Position, limit int) ([]eventstore.Entry, error) {
			page, err := m.Store.ReadAll(background, after, limit)
			return slices.DeleteFunc(page, func(e eventstore.Entry) bool { return e.Position == 100 }), err
		}
	}},
	{"the head lags behind what is read", []string{"readers and writers at the same time"}, func(m *mutant) {
		m.head = func(p calendar.Position) calendar.Position { return p - min(p, 1) }
	}},
	{"entries lag behind states", []string{"the log verifies while others write"}, func(m *mutant) {
		m.stored = func(page []eventstore.Entry) []eventstore.Entry {
			head, _ := m.Store.Head(background)
			return slices.DeleteFunc(page, func(e eventstore.Entry) bool { return e.Position == head })
		}
	}},
	{"an entry lies behind the last commit", []string{"the log verifies"}, func(m *mutant) {
		m.stored = func(page []eventstore.Entry) []eventstore.Entry {
			head, _ := m.Store.Head(background)
			return append(page, eventstore.Entry{Position: head + 1, Kind: calendar.KindTag, ID: 77, Version: 1})
		}
	}},
	{"pages of entries are bounded by their number alone", []string{"pages are bounded by bytes"}, func(m *mutant) {
		m.readAll = func(after calendar.Position, limit int) (all []eventstore.Entry, err error) {
			for len(all) < limit {
				page, err := m.Store.ReadAll(background, after+calendar.Position(len(all)), limit-len(all))
				if err != nil || len(page) == 0 {
					return all, err
				}
				all = append(all, page...)
			}
			return all, nil
		}
	}},
	{"an entry that is larger than a page is left out", []string{"pages are bounded by bytes"}, func(m *mutant) {
		m.readAll = func(after calendar.Position, limit int) ([]eventstore.Entry, error) {
			page, err := m.Store.ReadAll(background, after, limit)
			return slices.DeleteFunc(page, func(e eventstore.Entry) bool { return e.Size() > eventstore.PageBytes }), err
		}
	}},
	{"history begins one too early", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.history = func(id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
			return m.Store.History(background, id, after-1, limit)
		}
	}},
	{"history has entries of others", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.history = func(_ calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
			return m.Store.ReadAll(background, calendar.Position(after), limit)
		}
	}},
	{"history ignores the limit", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.history = func(id calendar.ID, after int64, _ int) ([]eventstore.Entry, error) {
			return m.Store.History(background, id, after, 1000)
		}
	}},
	{"a leaf was written again", []string{"the log verifies"}, func(m *mutant) {
		m.leaves = func(page [][32]byte) [][32]byte {
			if len(page) > 10 {
				page[10][31] ^= 1
			}
			return page
		}
	}},
	{"a commit is missing", []string{"the log verifies"}, func(m *mutant) {
		m.commits = func(page []eventstore.Commit) []eventstore.Commit {
			return slices.DeleteFunc(page, func(c eventstore.Commit) bool { return c.First <= 30 && 30 <= c.Last })
		}
	}},

	// Decisions.
	{"versions are not checked", []string{"one writer wins each version", "versions and kinds are checked"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			res := m.one(a)
			for errors.Is(res.Err, eventstore.ErrConflict) {
				states, _ := m.Store.Load(background, a.Drafts[0].ID)
				if a.Drafts[0].Expected = states[0].Version; states[0].Version > 0 {
					a.Drafts[0].Kind = states[0].Kind
				}
				res = m.one(a)
			}
			return res
		}
	}},
	{"kinds are not checked", []string{"versions and kinds are checked"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			if states, _ := m.Store.Load(background, a.Drafts[0].ID); states[0].Version > 0 {
				a.Drafts[0].Kind = states[0].Kind
			}
			return m.one(a)
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
	{"the holder is not named", []string{"one record wins a claim"}, answered(func(_ *mutant, _ eventstore.Append, res *eventstore.Result) {
		if e, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok {
			res.Err = &eventstore.ClaimError{Claim: e.Claim}
		}
	})},
	{"claims are claimed before others release them", []string{"claims are released before they are claimed"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			for _, d := range a.Drafts {
				holders, _, _ := m.Store.Find(background, d.Claims, nil)
				for i, holder := range holders {
					if holder != 0 && holder != d.ID {
						return eventstore.Result{Err: &eventstore.ClaimError{Claim: d.Claims[i], Holder: holder}}
					}
				}
			}
			return m.one(a)
		}
	}},
	{"claims and names are never released", []string{"claims are released before they are claimed", "guards hold", "claims and names are found"}, func(m *mutant) {
		held := map[calendar.ID]eventstore.Draft{}
		m.each = func(a eventstore.Append) eventstore.Result {
			for i := range a.Drafts {
				d := &a.Drafts[i]
				d.Claims = slices.Concat(d.Claims, held[d.ID].Claims)
				d.Names = slices.Concat(d.Names, held[d.ID].Names)
				held[d.ID] = *d
			}
			return m.one(a)
		}
	}},
	{"guards are ignored", []string{"guards hold", "guards are read before the append", "an append is whole or not at all"}, asked(func(a *eventstore.Append) { a.Guards = nil })},
	{"receipts are ignored", []string{"equal requests write once", "equal requests at the same time write once"}, asked(func(a *eventstore.Append) { a.Receipt = nil })},
	{"receipts are looked for after the versions", []string{"checks come in order"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			without := a
			if without.Receipt = nil; len(a.Drafts) > 0 {
				if states, _ := m.Store.Load(background, a.Drafts[0].ID); states[0].Version != a.Drafts[0].Expected {
					return m.one(without)
				}
			}
			return m.one(a)
		}
	}},
	{"fingerprints are not compared", []string{"equal requests write once", "receipts are looked up and completed"}, asked(func(a *eventstore.Append) {
		if a.Receipt != nil {
			a.Receipt.Fingerprint = [32]byte{1}
		}
	})},
	{"keys are shared by users", []string{"equal requests write once"}, asked(func(a *eventstore.Append) {
		if a.Receipt != nil {
			a.Receipt.User = 7
		}
	})},
	{"receipts have no position", []string{"equal requests write once"}, answered(func(_ *mutant, _ eventstore.Append, res *eventstore.Result) {
		if res.Receipt != nil {
			res.Receipt.Position = 0
		}
	})},
	{"refused requests are kept", []string{"equal requests write once"}, answered(func(m *mutant, a eventstore.Append, res *eventstore.Result) {
		if _, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok && a.Receipt != nil {
			m.one(eventstore.Append{Receipt: a.Receipt})
		}
	})},
	{"receipts are looked for before the append only", []string{"equal requests at the same time write once"}, func(m *mutant) {
		var looked sync.WaitGroup
		looked.Add(16)
		m.each = func(a eventstore.Append) eventstore.Result {
			if there := m.lookUp(a); there != nil {
				return eventstore.Result{Receipt: there}
			}
			looked.Done()
			looked.Wait()
			r := *a.Receipt
			a.Receipt = nil
			res := m.one(a)
			r.Position = res.Position
			m.one(eventstore.Append{Receipt: &r})
			return res
		}
	}},
	{"look-ups leave a receipt", []string{"receipts are looked up and completed"}, asked(func(a *eventstore.Append) {
		if a.LooksUp() {
			a.Receipt.Answer = []byte("x")
		}
	})},
	{"answers are not replaced", []string{"receipts are looked up and completed"}, func(m *mutant) {
		m.each = func(a eventstore.Append) eventstore.Result {
			if len(a.Drafts) == 0 && !a.LooksUp() && m.lookUp(a) != nil {
				return m.one(eventstore.Append{})
			}
			return m.one(a)
		}
	}},
	{"what nobody waits for is lost", []string{"receipts are completed later"}, asked(func(a *eventstore.Append) {
		if a.Later {
			a.Receipt, a.Later = nil, false
		}
	})},
	{"look-ups do not see what nobody waits for", []string{"receipts are completed later"}, func(m *mutant) {
		var late []eventstore.Append
		m.each = func(a eventstore.Append) eventstore.Result {
			if a.Later {
				late = append(late, a)
				return eventstore.Result{}
			}
			res := m.one(a)
			m.Store.Append(background, late)
			late = nil
			return res
		}
	}},
	{"another's answer is taken", []string{"receipts are completed later"}, asked(func(a *eventstore.Append) {
		if a.Later {
			a.Receipt.Fingerprint = [32]byte{'1'}
		}
	})},
	{"a restart loses what nobody waited for", []string{"receipts are completed later"}, answered(func(m *mutant, _ eventstore.Append, res *eventstore.Result) {
		if m.reopened && res.Receipt != nil && string(res.Receipt.Answer) == "five" {
			res.Receipt.Answer = []byte("four")
		}
	})},
	{"an epoch is not looked at", []string{"appends of another epoch are refused"}, asked(func(a *eventstore.Append) { a.Epoch = 0 })},
	{"a secret is lost by the next change", []string{"secrets are kept and removed"}, asked(func(a *eventstore.Append) {
		for i := range a.Drafts {
			a.Drafts[i].Secret = append([]byte{}, a.Drafts[i].Secret...)
		}
	})},
	{"a secret is never removed", []string{"secrets are kept and removed"}, asked(func(a *eventstore.Append) {
		for i := range a.Drafts {
			a.Drafts[i].Secret = append([]byte(nil), a.Drafts[i].Secret...)
		}
	})},
	{"drafts are written one by one", []string{"an append is whole or not at all"}, func(m *mutant) {
		m.each = func(a eventstore.Append) (res eventstore.Result) {
			drafts := a.Drafts
			for i := range drafts {
				if a.Drafts = drafts[i : i+1]; res.Err == nil {
					res = m.one(a)
				}
			}
			return res
		}
	}},
	{"a loser takes its call along", []string{"a loser does not harm its group"}, func(m *mutant) {
		m.call = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			results := m.Store.Append(ctx, appends)
			if i := slices.IndexFunc(results, func(r eventstore.Result) bool { return r.Err != nil }); i >= 0 {
				return slices.Repeat(results[i:i+1], len(results))
			}
			return results
		}
	}},
	{"a loser ends its call", []string{"a loser does not harm its group"}, func(m *mutant) {
		m.call = func(_ context.Context, appends []eventstore.Append) []eventstore.Result {
			results := make([]eventstore.Result, len(appends))
			for i, a := range appends {
				if results[i] = m.one(a); results[i].Err != nil {
					break
				}
			}
			return results
		}
	}},
	{"a call is written from its end", []string{"appends follow each other", "a call may have many appends"}, func(m *mutant) {
		m.call = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			slices.Reverse(appends)
			results := m.Store.Append(ctx, appends)
			slices.Reverse(results)
			return results
		}
	}},
	{"contexts are ignored", []string{"ended contexts"}, func(m *mutant) {
		m.call = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			return m.Store.Append(context.WithoutCancel(ctx), appends)
		}
	}},
	{"an ended append is answered as done", []string{"ended contexts"}, func(m *mutant) {
		m.call = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			results := m.Store.Append(ctx, appends)
			for i := range results {
				if errors.Is(results[i].Err, context.Canceled) {
					results[i].Err = nil
				}
			}
			return results
		}
	}},
	{"large payloads are refused", []string{"pages are bounded by bytes"}, answered(func(_ *mutant, a eventstore.Append, res *eventstore.Result) {
		if len(a.Drafts) > 0 && len(a.Drafts[0].State) > 1<<16 {
			res.Err = eventstore.ErrMalformed
		}
	})},
	{"malformed appends are taken", []string{"malformed appends are refused"}, answered(func(_ *mutant, a eventstore.Append, res *eventstore.Result) {
		if a.Check() != nil {
			res.Err = nil
		}
	})},
	{"appends of nothing are refused", []string{"appends of nothing"}, answered(func(_ *mutant, a eventstore.Append, res *eventstore.Result) {
		if a.Settles() {
			res.Err = eventstore.ErrMalformed
		}
	})},
	{"ids are given twice", []string{"ids are given once"}, func(m *mutant) {
		m.newIDs = func(n int) (calendar.ID, error) {
			first, err := m.Store.NewIDs(background, n)
			return first - first%2 + 1, err
		}
	}},
	{"used ids are given after a restart", []string{"ids are given once"}, func(m *mutant) {
		if m.reopened {
			m.newIDs = func(n int) (calendar.ID, error) { return 1, eventstore.CheckCount(n) }
		}
	}},

	// States.
	{"states lag behind", []string{"secrets are kept and removed"}, func(m *mutant) {
		seen := map[calendar.ID]eventstore.State{}
		m.states = func(page []eventstore.State) []eventstore.State {
			for i, s := range page {
				if _, there := seen[s.ID]; !there {
					seen[s.ID] = s
				}
				page[i] = seen[s.ID]
			}
			return page
		}
	}},
	{"versions lag behind", []string{"secrets are kept and removed"}, func(m *mutant) {
		seen := map[calendar.ID]int64{}
		m.versions = func(ids []calendar.ID, page []int64) {
			for i, id := range ids {
				if seen[id] == 0 {
					seen[id] = page[i]
				}
				page[i] = seen[id]
			}
		}
	}},
	{"unknown records are left out", []string{"appends follow each other"}, func(m *mutant) {
		m.states = func(page []eventstore.State) []eventstore.State {
			return slices.DeleteFunc(page, func(s eventstore.State) bool { return s.Version == 0 })
		}
	}},
	{"large payloads are cut", []string{"pages are bounded by bytes"}, func(m *mutant) {
		m.states = func(page []eventstore.State) []eventstore.State {
			for i, s := range page {
				page[i].Record = s.Record[:min(1<<16, len(s.Record))]
			}
			return page
		}
	}},
	{"records ignore the kind", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.records = func(_ calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			return m.Store.Records(background, 0, after, limit)
		}
	}},
	{"records ignore the limit", []string{"pages are bounded by their number"}, func(m *mutant) {
		m.records = func(kind calendar.Kind, after calendar.ID, _ int) ([]eventstore.State, error) {
			return m.Store.Records(background, kind, after, 1000)
		}
	}},
	{"a present state is old", []string{"the log verifies"}, func(m *mutant) {
		m.records = func(kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			page, err := m.Store.Records(background, kind, after, limit)
			for i := range page {
				first, _ := m.Store.History(background, page[i].ID, 0, 1)
				page[i].Record = first[0].State
			}
			return page, err
		}
	}},
	{"a present secret is lost", []string{"the log verifies"}, func(m *mutant) {
		m.records = func(kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			page, err := m.Store.Records(background, kind, after, limit)
			for i := range page {
				page[i].Secret = nil
			}
			return page, err
		}
	}},
	{"one record of a name is found", []string{"claims and names are found"}, func(m *mutant) {
		m.named = func(page []calendar.ID) []calendar.ID { return page[:min(1, len(page))] }
	}},
	{"free claims are left out", []string{"claims and names are found"}, func(m *mutant) {
		m.holders = func(page []calendar.ID) []calendar.ID {
			return slices.DeleteFunc(page, func(id calendar.ID) bool { return id == 0 })
		}
	}},
	{"holdings are those of one record", []string{"the log verifies"}, func(m *mutant) {
		m.holdings = func(_ calendar.ID, limit int) ([]eventstore.Holding, error) {
			return m.Store.Holdings(background, 0, min(limit, 1))
		}
	}},
	{"holdings have no names", []string{"claims and names are found", "everything is there after a restart"}, func(m *mutant) {
		m.holdings = func(after calendar.ID, limit int) ([]eventstore.Holding, error) {
			page, err := m.Store.Holdings(background, after, limit)
			for i := range page {
				page[i].Names = nil
			}
			return page, err
		}
	}},

	// The store as a whole.
	{"all stores have one UUID", []string{"a store has a UUID and a history of its own"}, func(m *mutant) {
		m.uuid = func(id *[16]byte) { *id = [16]byte{1} }
	}},
	{"the UUID is made of the newest entry", []string{"a store has a UUID and a history of its own"}, func(m *mutant) {
		m.uuid = func(id *[16]byte) {
			head, _ := m.Store.Head(background)
			id[0] += byte(head)
		}
	}},
	{"the mark is the position alone", []string{"a store has a UUID and a history of its own"}, func(m *mutant) {
		m.mark = func(p calendar.Position) (eventstore.Mark, error) {
			mark, err := m.Store.Mark(background, p)
			mark.Hash = [32]byte{}
			return mark, err
		}
	}},
	{"a mark ahead is that of the head", []string{"a store has a UUID and a history of its own"}, func(m *mutant) {
		m.mark = func(p calendar.Position) (eventstore.Mark, error) {
			head, _ := m.Store.Head(background)
			return m.Store.Mark(background, min(p, head))
		}
	}},
	{"waiting never ends", []string{"waiting for the head"}, func(m *mutant) {
		m.wait = func(ctx context.Context, after calendar.Position) (calendar.Position, error) {
			head, err := m.Store.Head(ctx)
			if err == nil && head <= after {
				<-ctx.Done()
				err = ctx.Err()
			}
			return head, err
		}
	}},
	{"waiting does not wait", []string{"waiting for the head"}, func(m *mutant) {
		m.wait = func(context.Context, calendar.Position) (calendar.Position, error) { return m.Store.Head(background) }
	}},
	{"a restart loses everything", []string{"everything is there after a restart"}, func(m *mutant) {
		if m.reopened {
			m.Store = memstore.New()
		}
	}},
	{"a restart loses receipts", []string{"everything is there after a restart"}, answered(func(m *mutant, _ eventstore.Append, res *eventstore.Result) {
		if m.reopened {
			res.Receipt = nil
		}
	})},
	{"closing does nothing", []string{"closed stores refuse"}, func(m *mutant) { m.open = true }},

	// The past, erasures, checkpoints.
	{"the latest entry counts whatever its version", []string{"records at points of the past"}, func(m *mutant) {
		m.at = func(p eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error) {
			out, err := m.Store.At(background, p, ids...)
			for i := range out {
				entries, _ := m.Store.History(background, ids[i], 0, 1000)
				for _, e := range entries {
					if p.Counts(&e) && !e.Time.Before(out[i].Time) {
						out[i] = e
					}
				}
			}
			return out, err
		}
	}},
	{"a moment counts only what is before it", []string{"records at points of the past"}, func(m *mutant) {
		m.at = func(p eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error) {
			if !p.Time.IsZero() {
				p.Time = p.Time.Add(-time.Millisecond)
			}
			return m.Store.At(background, p, ids...)
		}
	}},
	{"the last entry counted has the greatest time", []string{"what counts at points of the past"}, func(m *mutant) {
		m.counted = func(_ eventstore.Point, c *eventstore.Counted) {
			if c.Position > 0 {
				last, _ := m.Store.ReadAll(background, c.Position-1, 1)
				c.Time = last[0].Time
			}
		}
	}},
	{"entries behind the last block do not count", []string{"what counts at points of the past"}, func(m *mutant) {
		m.counted = func(p eventstore.Point, c *eventstore.Counted) {
			if p.Position == 0 {
				c.Position = min(c.Position, 2047)
			}
		}
	}},
	{"slugs of the past are those of the present", []string{"slugs of the past"}, func(m *mutant) {
		m.slugAt = func(kind calendar.Kind, slug string) (calendar.ID, error) {
			holders, _, err := m.Store.Find(background, []calendar.Claim{eventstore.SlugClaim(kind, slug)}, nil)
			return holders[0], err
		}
	}},
	{"a slug that is held has a former record", []string{"former slugs"}, func(m *mutant) {
		m.former = func(claim calendar.Claim, ids []calendar.ID) []calendar.ID {
			if holders, _, _ := m.Store.Find(background, []calendar.Claim{claim}, nil); holders[0] != 0 {
				return holders
			}
			return ids
		}
	}},
	{"the last former record is given alone", []string{"former slugs"}, func(m *mutant) {
		m.former = func(_ calendar.Claim, ids []calendar.ID) []calendar.ID { return ids[:min(len(ids), 1)] }
	}},
	{"the first of the former records is given first", []string{"former slugs"}, func(m *mutant) {
		m.former = func(_ calendar.Claim, ids []calendar.ID) []calendar.ID {
			slices.Reverse(ids)
			return ids
		}
	}},
	{"a record that is erased had a slug", []string{"former slugs"}, func(m *mutant) {
		had := map[calendar.Claim][]calendar.ID{}
		m.former = func(claim calendar.Claim, ids []calendar.ID) []calendar.ID {
			if holders, _, _ := m.Store.Find(background, []calendar.Claim{claim}, nil); holders[0] == 0 && len(ids) == 0 {
				return had[claim]
			}
			had[claim] = ids
			return ids
		}
	}},
	{"an erasure is a change like others", []string{"an erasure leaves the leaves", "erasures are refused or done again"}, func(m *mutant) {
		m.erase = func(e eventstore.Erasure) eventstore.Result { return m.one(e.Append()) }
	}},
	{"records are erased one after the other", []string{"records are erased together"}, func(m *mutant) {
		m.erase = func(e eventstore.Erasure) (res eventstore.Result) {
			for i, one := range e.All() {
				if next := m.Store.Erase(background, one); i == 0 || next.Err != nil {
					res = next
				}
			}
			return res
		}
	}},
	{"answers outlive what they name", []string{"an erasure leaves the leaves", "answers that name what was erased are not kept"}, func(m *mutant) {
		answers := map[string][]byte{}
		answered(func(_ *mutant, a eventstore.Append, res *eventstore.Result) {
			if a.Receipt != nil && len(a.Receipt.Answer) > 0 {
				answers[a.Receipt.Key] = a.Receipt.Answer
			}
			if res.Receipt != nil {
				res.Receipt.Answer = answers[a.Receipt.Key]
			}
		})(m)
	}},
	{"notes of checkpoints are replaced", []string{"checkpoints are kept and gain lines"}, func(m *mutant) {
		m.putCheckpoint = func(c eventstore.Checkpoint) error {
			err := m.Store.PutCheckpoint(background, c)
			if errors.Is(err, eventstore.ErrConflict) {
				return nil
			}
			return err
		}
	}},
	{"a checkpoint loses its keys", []string{"checkpoints are kept and gain lines"}, func(m *mutant) {
		m.putCheckpoint = func(c eventstore.Checkpoint) error {
			c.Keys = ""
			return m.Store.PutCheckpoint(background, c)
		}
	}},
}

// mutantHarness opens stores that are broken in one way; nil breaks nothing.
func mutantHarness(brk func(m *mutant)) Harness {
	wrap := func(t testing.TB, s *memstore.Store, reopened bool) Store {
		t.Helper()
		m := &mutant{Store: s, reopened: reopened}
		if brk != nil {
			brk(m)
		}
		t.Cleanup(func() { _ = m.Store.Close() })
		return m
	}
	return Harness{
		Open: func(t testing.TB) Store {
			t.Helper()
			return wrap(t, memstore.New(), false)
		},
		Reopen: func(t testing.TB, s Store) Store {
			t.Helper()
			before := s.(*mutant).Store
			head, err := before.Head(background)
			if err != nil {
				t.Fatal(err)
			}
			return wrap(t, before.Reopen(), head > 0)
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
			h := mutantHarness(nil)
			h.Patience = 0
			if reports := run(t, c, h); len(reports) > 0 {
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
