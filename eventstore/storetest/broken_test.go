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

// broken is the store in memory with some methods replaced.
type broken struct {
	*memstore.Store

	reopened bool       // with entries
	mu       sync.Mutex // for what the replacements keep

	append   func(ctx context.Context, appends []eventstore.Append) []eventstore.Result
	load     func(ctx context.Context, ids []calendar.ID) ([]eventstore.State, error)
	versions func(ctx context.Context, ids []calendar.ID) ([]int64, error)
	history  func(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error)
	readAll  func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error)
	records  func(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error)
	wait     func(ctx context.Context, after calendar.Position) (calendar.Position, error)
	head     func(ctx context.Context) (calendar.Position, error)
	find     func(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error)
	newIDs   func(ctx context.Context, n int) (calendar.ID, error)
	commits  func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error)
	leaves   func(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error)
	mark     func(ctx context.Context, p calendar.Position) (eventstore.Mark, error)
	close    func() error
	stored   func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error)

	holdings func(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error)

	at            func(ctx context.Context, p eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error)
	counted       func(ctx context.Context, p eventstore.Point) (eventstore.Counted, error)
	slugAt        func(ctx context.Context, kind calendar.Kind, slug string, p eventstore.Point) (calendar.ID, error)
	former        func(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error)
	erase         func(ctx context.Context, e eventstore.Erasure) eventstore.Result
	putCheckpoint func(ctx context.Context, c eventstore.Checkpoint) error
	uuid          func(ctx context.Context) ([16]byte, error)
}

func (b *broken) UUID(ctx context.Context) ([16]byte, error) {
	if b.uuid != nil {
		return b.uuid(ctx)
	}
	return b.Store.UUID(ctx)
}

func (b *broken) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	if b.at != nil {
		return b.at(ctx, p, ids)
	}
	return b.Store.At(ctx, p, ids...)
}

func (b *broken) Counted(ctx context.Context, p eventstore.Point) (eventstore.Counted, error) {
	if b.counted != nil {
		return b.counted(ctx, p)
	}
	return b.Store.Counted(ctx, p)
}

func (b *broken) SlugAt(ctx context.Context, kind calendar.Kind, slug string, p eventstore.Point) (calendar.ID, error) {
	if b.slugAt != nil {
		return b.slugAt(ctx, kind, slug, p)
	}
	return b.Store.SlugAt(ctx, kind, slug, p)
}

func (b *broken) Former(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
	if b.former != nil {
		return b.former(ctx, kind, slug)
	}
	return b.Store.Former(ctx, kind, slug)
}

func (b *broken) Erase(ctx context.Context, e eventstore.Erasure) eventstore.Result {
	if b.erase != nil {
		return b.erase(ctx, e)
	}
	return b.Store.Erase(ctx, e)
}

func (b *broken) PutCheckpoint(ctx context.Context, c eventstore.Checkpoint) error {
	if b.putCheckpoint != nil {
		return b.putCheckpoint(ctx, c)
	}
	return b.Store.PutCheckpoint(ctx, c)
}

func (b *broken) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if b.append != nil {
		return b.append(ctx, slices.Clone(appends))
	}
	return b.Store.Append(ctx, appends)
}

func (b *broken) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	if b.load != nil {
		return b.load(ctx, ids)
	}
	return b.Store.Load(ctx, ids...)
}

func (b *broken) Versions(ctx context.Context, ids ...calendar.ID) ([]int64, error) {
	if b.versions != nil {
		return b.versions(ctx, ids)
	}
	return b.Store.Versions(ctx, ids...)
}

func (b *broken) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	if b.history != nil {
		return b.history(ctx, id, after, limit)
	}
	return b.Store.History(ctx, id, after, limit)
}

func (b *broken) ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	if b.readAll != nil {
		return b.readAll(ctx, after, limit)
	}
	return b.Store.ReadAll(ctx, after, limit)
}

func (b *broken) ReadStored(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	if b.stored != nil {
		return b.stored(ctx, after, limit)
	}
	return b.Store.ReadStored(ctx, after, limit)
}

func (b *broken) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
	if b.records != nil {
		return b.records(ctx, kind, after, limit)
	}
	return b.Store.Records(ctx, kind, after, limit)
}

func (b *broken) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	if b.wait != nil {
		return b.wait(ctx, after)
	}
	return b.Store.Wait(ctx, after)
}

func (b *broken) Head(ctx context.Context) (calendar.Position, error) {
	if b.head != nil {
		return b.head(ctx)
	}
	return b.Store.Head(ctx)
}

func (b *broken) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error) {
	if b.find != nil {
		return b.find(ctx, claims, names)
	}
	return b.Store.Find(ctx, claims, names)
}

func (b *broken) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if b.newIDs != nil {
		return b.newIDs(ctx, n)
	}
	return b.Store.NewIDs(ctx, n)
}

func (b *broken) Commits(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
	if b.commits != nil {
		return b.commits(ctx, after, limit)
	}
	return b.Store.Commits(ctx, after, limit)
}

func (b *broken) Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	if b.leaves != nil {
		return b.leaves(ctx, after, limit)
	}
	return b.Store.Leaves(ctx, after, limit)
}

func (b *broken) Mark(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
	if b.mark != nil {
		return b.mark(ctx, p)
	}
	return b.Store.Mark(ctx, p)
}

func (b *broken) Holdings(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error) {
	if b.holdings != nil {
		return b.holdings(ctx, after, limit)
	}
	return b.Store.Holdings(ctx, after, limit)
}

func (b *broken) Close() error {
	if b.close != nil {
		return b.close()
	}
	return b.Store.Close()
}

// eachAppend replaces Append by one that deals with each Append alone.
func (b *broken) eachAppend(one func(ctx context.Context, a eventstore.Append) eventstore.Result) {
	b.append = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
		results := make([]eventstore.Result, len(appends))
		for i, a := range appends {
			a.Drafts = slices.Clone(a.Drafts)
			results[i] = one(ctx, a)
		}
		return results
	}
}

// one is the right Append of one.
func (b *broken) one(ctx context.Context, a eventstore.Append) eventstore.Result {
	return b.Store.Append(ctx, []eventstore.Append{a})[0]
}

// eachEntry edits what ReadAll gives.
func (b *broken) eachEntry(edit func(ctx context.Context, e *eventstore.Entry)) {
	b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
		entries, err := b.Store.ReadAll(ctx, after, limit)
		for i := range entries {
			edit(ctx, &entries[i])
		}
		return entries, err
	}
}

// ownIDs gives ids from a counter that knows nothing of the store.
func (b *broken) ownIDs() {
	last := calendar.ID(0)
	b.newIDs = func(_ context.Context, n int) (calendar.ID, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		first := last + 1
		last += calendar.ID(n)
		return first, eventstore.CheckCount(n)
	}
}

// twins are stores that are broken in one way each, with the cases that have to
// find it.
var twins = []struct {
	name  string
	cases []string
	brk   func(b *broken)
}{
	{"milliseconds are lost", []string{"entries are kept whole"}, func(b *broken) {
		b.eachEntry(func(_ context.Context, e *eventstore.Entry) { e.Time = e.Time.Truncate(time.Second) })
	}},
	{"all stores have one UUID", []string{"a store has a UUID of its own"}, func(b *broken) {
		b.uuid = func(context.Context) ([16]byte, error) { return [16]byte{1}, nil }
	}},
	{"the UUID is made of the newest entry", []string{"a store has a UUID of its own"}, func(b *broken) {
		b.uuid = func(ctx context.Context) (id [16]byte, err error) {
			head, err := b.Store.Head(ctx)
			id, _ = b.Store.UUID(ctx)
			id[0] += byte(head)
			return id, err
		}
	}},
	{"the cause is lost", []string{"entries are kept whole"}, func(b *broken) {
		b.eachEntry(func(_ context.Context, e *eventstore.Entry) { e.Cause = eventstore.Cause{} })
	}},
	{"an empty secret reads as none", []string{"entries are kept whole", "secrets are kept and removed"}, func(b *broken) {
		b.eachEntry(func(_ context.Context, e *eventstore.Entry) {
			if len(e.Secret) == 0 {
				e.Secret = nil
			}
		})
	}},
	{"versions are not checked", []string{"one writer wins each version", "versions and kinds are checked"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			res := b.one(ctx, a)
			for errors.Is(res.Err, eventstore.ErrConflict) {
				states, err := b.Store.Load(ctx, a.Drafts[0].ID)
				if err != nil {
					return res
				}
				a.Drafts[0].Expected = states[0].Version
				if states[0].Version > 0 {
					a.Drafts[0].Kind = states[0].Kind
				}
				res = b.one(ctx, a)
			}
			return res
		})
	}},
	{"kinds are not checked", []string{"versions and kinds are checked"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			for i := range a.Drafts {
				if s, err := b.Store.Load(ctx, a.Drafts[i].ID); err == nil && s[0].Version > 0 {
					a.Drafts[i].Kind = s[0].Kind
				}
			}
			return b.one(ctx, a)
		})
	}},
	{"an entry is lost", []string{"tail reader sees every position"}, func(b *broken) {
		b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			entries, err := b.Store.ReadAll(ctx, after, limit)
			return slices.DeleteFunc(entries, func(e eventstore.Entry) bool { return e.Position == 100 }), err
		}
	}},
	{"the head lags behind what is read", []string{"tail reader sees every position"}, func(b *broken) {
		b.head = func(ctx context.Context) (calendar.Position, error) {
			p, err := b.Store.Head(ctx)
			if p > 500 {
				p--
			}
			return p, err
		}
	}},
	{"an entry comes twice", []string{"tail reader sees every position"}, func(b *broken) {
		b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			return b.Store.ReadAll(ctx, max(after, 1)-1, limit)
		}
	}},
	{"entries come out of order", []string{"tail reader sees every position"}, func(b *broken) {
		b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			entries, err := b.Store.ReadAll(ctx, after, limit)
			if len(entries) > 1 {
				entries[0], entries[1] = entries[1], entries[0]
			}
			return entries, err
		}
	}},
	{"positions have a gap", []string{"tail reader sees every position", "the log verifies"}, func(b *broken) {
		b.eachEntry(func(_ context.Context, e *eventstore.Entry) {
			if e.Position > 20 {
				e.Position++
			}
		})
	}},
	{"claims are not checked", []string{"one record wins a claim", "claims are released before they are claimed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			res := b.one(ctx, a)
			if _, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok {
				for i := range a.Drafts {
					a.Drafts[i].Claims = nil
				}
				res = b.one(ctx, a)
			}
			return res
		})
	}},
	{"the holder is not named", []string{"one record wins a claim"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			res := b.one(ctx, a)
			if e, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok {
				res.Err = &eventstore.ClaimError{Claim: e.Claim}
			}
			return res
		})
	}},
	{"claims are claimed before others release them", []string{"claims are released before they are claimed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			for _, d := range a.Drafts {
				holders, _, err := b.Store.Find(ctx, d.Claims, nil)
				if err != nil {
					return eventstore.Result{Err: err}
				}
				for i, holder := range holders {
					if holder != 0 && holder != d.ID {
						return eventstore.Result{Err: &eventstore.ClaimError{Claim: d.Claims[i], Holder: holder}}
					}
				}
			}
			return b.one(ctx, a)
		})
	}},
	{"claims are never released", []string{"claims are released before they are claimed"}, func(b *broken) {
		held := map[calendar.ID][]calendar.Claim{}
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			b.mu.Lock()
			defer b.mu.Unlock()
			for i, d := range a.Drafts {
				a.Drafts[i].Claims = append(slices.Clone(d.Claims), held[d.ID]...)
				held[d.ID] = a.Drafts[i].Claims
			}
			return b.one(ctx, a)
		})
	}},
	{"guards are ignored", []string{"guards hold", "guards are read before the append", "an append is whole or not at all"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			a.Guards = nil
			return b.one(ctx, a)
		})
	}},
	{"names are never taken away", []string{"guards hold", "claims and names are found"}, func(b *broken) {
		held := map[calendar.ID][]calendar.Name{}
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			b.mu.Lock()
			defer b.mu.Unlock()
			for i, d := range a.Drafts {
				a.Drafts[i].Names = append(slices.Clone(d.Names), held[d.ID]...)
				held[d.ID] = a.Drafts[i].Names
			}
			return b.one(ctx, a)
		})
	}},
	{"receipts are ignored", []string{"equal requests write once", "equal requests at the same time write once"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			a.Receipt = nil
			return b.one(ctx, a)
		})
	}},
	{"fingerprints are not compared", []string{"equal requests write once", "receipts are looked up and completed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.Receipt != nil {
				r := *a.Receipt
				r.Fingerprint = [32]byte{1}
				a.Receipt = &r
			}
			return b.one(ctx, a)
		})
	}},
	{"keys are shared by users", []string{"equal requests write once"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.Receipt != nil {
				r := *a.Receipt
				r.User = 7
				a.Receipt = &r
			}
			return b.one(ctx, a)
		})
	}},
	{"receipts have no position", []string{"equal requests write once"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			res := b.one(ctx, a)
			if res.Receipt != nil {
				res.Receipt.Position = 0
			}
			return res
		})
	}},
	{"refused requests are kept", []string{"equal requests write once"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			res := b.one(ctx, a)
			if _, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok && a.Receipt != nil {
				b.one(ctx, eventstore.Append{Receipt: a.Receipt})
			}
			return res
		})
	}},
	{"receipts are looked up before the append only", []string{"equal requests at the same time write once"}, func(b *broken) {
		var looked sync.WaitGroup
		looked.Add(16)
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			look := *a.Receipt
			look.Record, look.Answer = 0, nil
			if res := b.one(ctx, eventstore.Append{Receipt: &look}); res.Err != nil || res.Receipt != nil {
				return res
			}
			looked.Done()
			looked.Wait()
			r := *a.Receipt
			a.Receipt = nil
			res := b.one(ctx, a)
			r.Position = res.Position
			b.one(ctx, eventstore.Append{Receipt: &r})
			return res
		})
	}},
	{"look-ups leave a receipt", []string{"receipts are looked up and completed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.LooksUp() {
				r := *a.Receipt
				r.Answer = []byte("x")
				a.Receipt = &r
			}
			return b.one(ctx, a)
		})
	}},
	{"answers are not replaced", []string{"receipts are looked up and completed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if len(a.Drafts) == 0 && !a.LooksUp() {
				look := *a.Receipt
				look.Record, look.Answer = 0, nil
				if res := b.one(ctx, eventstore.Append{Receipt: &look}); res.Receipt != nil {
					res.Receipt = nil
					return res
				}
			}
			return b.one(ctx, a)
		})
	}},
	{"what nobody waits for is lost", []string{"receipts are completed later"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.Later {
				a.Receipt, a.Later = nil, false
			}
			return b.one(ctx, a)
		})
	}},
	{"look-ups do not see what nobody waits for", []string{"receipts are completed later"}, func(b *broken) {
		var kept []eventstore.Append
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			b.mu.Lock()
			defer b.mu.Unlock()
			if a.Later {
				kept = append(kept, a)
				return b.one(ctx, eventstore.Append{})
			}
			res := b.one(ctx, a)
			for _, late := range kept {
				b.one(ctx, late)
			}
			kept = nil
			return res
		})
	}},
	{"what nobody waits for overtakes", []string{"receipts are completed later"}, func(b *broken) {
		seen := map[string]bool{}
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			b.mu.Lock()
			defer b.mu.Unlock()
			if a.Later && seen["two"] { // the one after it came before
				return b.one(ctx, eventstore.Append{})
			}
			if a.Later {
				seen[string(a.Receipt.Answer)] = true
			}
			return b.one(ctx, a)
		})
	}},
	{"another's answer is taken", []string{"receipts are completed later"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.Later {
				r := *a.Receipt
				r.Fingerprint, a.Receipt = [32]byte{1}, &r
			}
			return b.one(ctx, a)
		})
	}},
	{"a restart loses what nobody waited for", []string{"receipts are completed later"}, func(b *broken) {
		if b.reopened {
			b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
				res := b.one(ctx, a)
				if res.Receipt != nil && string(res.Receipt.Answer) == "four" {
					res.Receipt.Answer = []byte("three")
				}
				return res
			})
		}
	}},
	{"drafts are written one by one", []string{"an append is whole or not at all"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			var res eventstore.Result
			for _, d := range a.Drafts {
				part := a
				part.Drafts = []eventstore.Draft{d}
				if res = b.one(ctx, part); res.Err != nil {
					break
				}
			}
			return res
		})
	}},
	{"a loser takes its call along", []string{"a loser does not harm its group"}, func(b *broken) {
		b.append = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			results := b.Store.Append(ctx, appends)
			for _, r := range results {
				if r.Err != nil {
					for i := range results {
						results[i] = eventstore.Result{Err: r.Err}
					}
				}
			}
			return results
		}
	}},
	{"a loser ends its call", []string{"a loser does not harm its group"}, func(b *broken) {
		b.append = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			results := make([]eventstore.Result, len(appends))
			for i, a := range appends {
				if results[i] = b.one(ctx, a); results[i].Err != nil {
					break
				}
			}
			return results
		}
	}},
	{"a call is written from its end", []string{"appends of one call follow each other"}, func(b *broken) {
		b.append = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			slices.Reverse(appends)
			results := b.Store.Append(ctx, appends)
			slices.Reverse(results)
			return results
		}
	}},
	{"states lag behind", []string{"states are read at once"}, func(b *broken) {
		seen := map[calendar.ID]eventstore.State{}
		b.load = func(ctx context.Context, ids []calendar.ID) ([]eventstore.State, error) {
			states, err := b.Store.Load(ctx, ids...)
			b.mu.Lock()
			defer b.mu.Unlock()
			for i := range states {
				if old, ok := seen[ids[i]]; ok {
					states[i] = old
				} else if states[i].Version > 0 {
					seen[ids[i]] = states[i]
				}
			}
			return states, err
		}
	}},
	{"versions lag behind", []string{"states are read at once"}, func(b *broken) {
		seen := map[calendar.ID]int64{}
		b.versions = func(ctx context.Context, ids []calendar.ID) ([]int64, error) {
			versions, err := b.Store.Versions(ctx, ids...)
			b.mu.Lock()
			defer b.mu.Unlock()
			for i, id := range ids {
				if seen[id] == 0 {
					seen[id] = versions[i]
				}
				versions[i] = seen[id]
			}
			return versions, err
		}
	}},
	{"unknown records are left out", []string{"states are read at once"}, func(b *broken) {
		b.load = func(ctx context.Context, ids []calendar.ID) ([]eventstore.State, error) {
			states, err := b.Store.Load(ctx, ids...)
			if len(ids) == 1 {
				return states, err
			}
			return slices.DeleteFunc(states, func(s eventstore.State) bool { return s.Version == 0 }), err
		}
	}},
	{"a secret is lost by the next change", []string{"secrets are kept and removed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			for i := range a.Drafts {
				if a.Drafts[i].Secret == nil {
					a.Drafts[i].Secret = []byte{}
				}
			}
			return b.one(ctx, a)
		})
	}},
	{"a secret is never removed", []string{"secrets are kept and removed"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			for i := range a.Drafts {
				if len(a.Drafts[i].Secret) == 0 {
					a.Drafts[i].Secret = nil
				}
			}
			return b.one(ctx, a)
		})
	}},
	{"history begins one too early", []string{"history of a record"}, func(b *broken) {
		b.history = func(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
			return b.Store.History(ctx, id, after-1, limit)
		}
	}},
	{"history has entries of others", []string{"history of a record"}, func(b *broken) {
		b.history = func(ctx context.Context, _ calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
			return b.Store.ReadAll(ctx, calendar.Position(max(after, 0)), limit)
		}
	}},
	{"history ignores the limit", []string{"history of a record"}, func(b *broken) {
		b.history = func(ctx context.Context, id calendar.ID, after int64, _ int) ([]eventstore.Entry, error) {
			return b.Store.History(ctx, id, after, 1000)
		}
	}},
	{"records ignore the kind", []string{"records by kind and id"}, func(b *broken) {
		b.records = func(ctx context.Context, _ calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			return b.Store.Records(ctx, 0, after, limit)
		}
	}},
	{"records ignore the limit", []string{"records by kind and id"}, func(b *broken) {
		b.records = func(ctx context.Context, kind calendar.Kind, after calendar.ID, _ int) ([]eventstore.State, error) {
			return b.Store.Records(ctx, kind, after, 1000)
		}
	}},
	{"one record of a name is found", []string{"claims and names are found"}, func(b *broken) {
		b.find = func(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error) {
			holders, found, err := b.Store.Find(ctx, claims, names)
			for i := range found {
				found[i] = found[i][:min(1, len(found[i]))]
			}
			return holders, found, err
		}
	}},
	{"free claims are left out", []string{"claims and names are found"}, func(b *broken) {
		b.find = func(ctx context.Context, claims []calendar.Claim, names []calendar.Name) ([]calendar.ID, [][]calendar.ID, error) {
			holders, found, err := b.Store.Find(ctx, claims, names)
			return slices.DeleteFunc(holders, func(id calendar.ID) bool { return id == 0 }), found, err
		}
	}},
	{"ids are given twice", []string{"ids are given once"}, func(b *broken) {
		b.newIDs = func(ctx context.Context, n int) (calendar.ID, error) {
			first, err := b.Store.NewIDs(ctx, n)
			return first - first%2 + 1, err
		}
	}},
	{"used ids are given", []string{"ids are given once"}, func(b *broken) { b.ownIDs() }},
	{"used ids are given after a restart", []string{"ids are given once"}, func(b *broken) {
		if b.reopened {
			b.ownIDs()
		}
	}},
	{"waiting never ends", []string{"waiting for the head"}, func(b *broken) {
		b.wait = func(ctx context.Context, after calendar.Position) (calendar.Position, error) {
			if head, err := b.Head(ctx); err != nil || head > after {
				return head, err
			}
			<-ctx.Done()
			head, _ := b.Head(context.WithoutCancel(ctx))
			return head, ctx.Err()
		}
	}},
	{"waiting does not wait", []string{"waiting for the head"}, func(b *broken) {
		b.wait = func(ctx context.Context, _ calendar.Position) (calendar.Position, error) {
			return b.Head(context.WithoutCancel(ctx))
		}
	}},
	{"contexts are ignored", []string{"ended contexts"}, func(b *broken) {
		b.append = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			return b.Store.Append(context.WithoutCancel(ctx), appends)
		}
		b.load = func(ctx context.Context, ids []calendar.ID) ([]eventstore.State, error) {
			return b.Store.Load(context.WithoutCancel(ctx), ids...)
		}
	}},
	{"an ended append is answered as done", []string{"ended contexts"}, func(b *broken) {
		b.append = func(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
			results := b.Store.Append(ctx, appends)
			for i := range results {
				if errors.Is(results[i].Err, context.Canceled) {
					results[i].Err = nil
				}
			}
			return results
		}
	}},
	{"large payloads are refused", []string{"large payloads"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if len(a.Drafts) > 0 && len(a.Drafts[0].State) > 1<<16 {
				return eventstore.Result{Err: eventstore.ErrMalformed}
			}
			return b.one(ctx, a)
		})
	}},
	{"large payloads are cut", []string{"large payloads"}, func(b *broken) {
		b.load = func(ctx context.Context, ids []calendar.ID) ([]eventstore.State, error) {
			states, err := b.Store.Load(ctx, ids...)
			for i := range states {
				states[i].Record = states[i].Record[:min(1<<16, len(states[i].Record))]
			}
			return states, err
		}
	}},
	{"entries show the present state", []string{"entries never change"}, func(b *broken) {
		b.eachEntry(func(ctx context.Context, e *eventstore.Entry) {
			if states, err := b.Store.Load(ctx, e.ID); err == nil {
				e.State = states[0].Record
			}
		})
	}},
	{"malformed appends are taken", []string{"malformed appends are refused"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.Check() != nil {
				return eventstore.Result{}
			}
			return b.one(ctx, a)
		})
	}},
	{"appends of nothing are refused", []string{"appends of nothing"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			if a.Settles() {
				return eventstore.Result{Err: eventstore.ErrMalformed}
			}
			return b.one(ctx, a)
		})
	}},
	{"an entry was written anew", []string{"the log verifies"}, func(b *broken) {
		b.eachEntry(func(_ context.Context, e *eventstore.Entry) {
			if e.Position == 30 {
				e.Actor++
			}
		})
	}},
	{"a leaf was written anew", []string{"the log verifies"}, func(b *broken) {
		b.leaves = func(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
			leaves, err := b.Store.Leaves(ctx, after, limit)
			if after == 0 && len(leaves) > 10 {
				leaves[10][31] ^= 1
			}
			return leaves, err
		}
	}},
	{"an entry and its leaf were written anew", []string{"the log verifies"}, func(b *broken) {
		edit := func(e *eventstore.Entry) {
			if e.Position == 30 {
				e.Actor++
			}
		}
		b.eachEntry(func(_ context.Context, e *eventstore.Entry) { edit(e) })
		b.leaves = func(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
			entries, err := b.Store.ReadAll(ctx, after, limit)
			leaves := make([][32]byte, len(entries))
			for i := range entries {
				edit(&entries[i])
				leaves[i] = eventstore.Leaf(&entries[i])
			}
			return leaves, err
		}
	}},
	{"the mark is the position alone", []string{"marks name the history"}, func(b *broken) {
		b.mark = func(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
			m, err := b.Store.Mark(ctx, p)
			m.Hash = [32]byte{}
			return m, err
		}
	}},
	{"a mark ahead is that of the head", []string{"marks name the history"}, func(b *broken) {
		b.mark = func(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
			head, err := b.Store.Head(ctx)
			if err != nil {
				return eventstore.Mark{}, err
			}
			return b.Store.Mark(ctx, min(p, head))
		}
	}},
	{"an epoch is not looked at", []string{"appends of another epoch are refused"}, func(b *broken) {
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			a.Epoch = 0
			return b.one(ctx, a)
		})
	}},
	{"entries lag behind states", []string{"states are never beyond the entries"}, func(b *broken) {
		seen := calendar.Position(0)
		b.stored = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			entries, err := b.Store.ReadStored(ctx, after, limit)
			if n := len(entries); n > 0 && entries[n-1].Position > seen {
				seen = entries[n-1].Position
				entries = entries[:n-1]
			}
			return entries, err
		}
	}},
	{"an entry lies behind the last commit", []string{"the log verifies", "the log verifies while others write"}, func(b *broken) {
		b.stored = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			entries, err := b.Store.ReadStored(ctx, after, limit)
			if err == nil && len(entries) < limit {
				head, _ := b.Store.Head(ctx)
				entries = append(entries, eventstore.Entry{Position: head + 1, Kind: calendar.KindTag, ID: 77, Version: 1})
			}
			return entries, err
		}
	}},
	{"pages of entries are bounded by their number alone", []string{"pages are bounded by bytes"}, func(b *broken) {
		b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			return untilFull(limit, func(n int, last *eventstore.Entry) ([]eventstore.Entry, error) {
				if last != nil {
					after = last.Position
				}
				return b.Store.ReadAll(ctx, after, n)
			})
		}
	}},
	{"pages of history are bounded by their number alone", []string{"pages are bounded by bytes"}, func(b *broken) {
		b.history = func(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
			return untilFull(limit, func(n int, last *eventstore.Entry) ([]eventstore.Entry, error) {
				if last != nil {
					after = last.Version
				}
				return b.Store.History(ctx, id, after, n)
			})
		}
	}},
	{"pages of records are bounded by their number alone", []string{"pages are bounded by bytes"}, func(b *broken) {
		b.records = func(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			return untilFull(limit, func(n int, last *eventstore.State) ([]eventstore.State, error) {
				if last != nil {
					after = last.ID
				}
				return b.Store.Records(ctx, kind, after, n)
			})
		}
	}},
	{"an entry that is larger than a page is left out", []string{"pages are bounded by bytes"}, func(b *broken) {
		b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			entries, err := b.Store.ReadAll(ctx, after, limit)
			if n := len(entries); n > 0 && entries[n-1].Size() > eventstore.PageBytes {
				entries = entries[:n-1]
			}
			return entries, err
		}
	}},
	{"a commit is missing", []string{"the log verifies"}, func(b *broken) {
		b.commits = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
			commits, err := b.Store.Commits(ctx, after, limit)
			return slices.DeleteFunc(commits, func(c eventstore.Commit) bool { return c.First == 5 }), err
		}
	}},
	{"a present state is old", []string{"the log verifies"}, func(b *broken) {
		b.records = func(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			states, err := b.Store.Records(ctx, kind, after, limit)
			for i := range states {
				if h, err := b.Store.History(ctx, states[i].ID, 0, 1); err == nil && states[i].Version > 1 {
					states[i].Record = h[0].State
				}
			}
			return states, err
		}
	}},
	{"a present secret is lost", []string{"the log verifies"}, func(b *broken) {
		b.records = func(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			states, err := b.Store.Records(ctx, kind, after, limit)
			for i := range states {
				states[i].Secret = nil
			}
			return states, err
		}
	}},
	{"holdings are made from the states", []string{"claims and names of no state are found"}, func(b *broken) {
		b.holdings = func(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error) {
			states, err := b.Store.Records(ctx, 0, after, limit)
			out := make([]eventstore.Holding, len(states))
			for i := range states {
				r, err := calendar.DecodeRecord(states[i].Record)
				if err != nil {
					return nil, err
				}
				out[i] = eventstore.Holding{ID: r.ID, Claims: calendar.Claims(r), Names: calendar.Names(r)}
			}
			return out, err
		}
	}},
	{"holdings are those of one record", []string{"the log verifies"}, func(b *broken) {
		b.holdings = func(ctx context.Context, _ calendar.ID, limit int) ([]eventstore.Holding, error) {
			return b.Store.Holdings(ctx, 0, min(limit, 1))
		}
	}},
	{"a record has no present state", []string{"the log verifies"}, func(b *broken) {
		b.records = func(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
			states, err := b.Store.Records(ctx, kind, after, limit)
			return slices.DeleteFunc(states, func(s eventstore.State) bool { return s.ID == 7 }), err
		}
	}},
	{"a restart loses everything", []string{"everything is there after a restart"}, func(b *broken) {
		if b.reopened {
			b.Store = memstore.New()
		}
	}},
	{"a restart loses the last entry", []string{"everything is there after a restart"}, func(b *broken) {
		if !b.reopened {
			return
		}
		b.readAll = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			entries, err := b.Store.ReadAll(ctx, after, limit)
			return slices.DeleteFunc(entries, func(e eventstore.Entry) bool { return e.Position == 61 }), err
		}
	}},
	{"entries have no salts", []string{"leaves are salted"}, func(b *broken) {
		b.stored = func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
			entries, err := b.Store.ReadStored(ctx, after, limit)
			for i := range entries {
				entries[i].Salts = eventstore.Salts{}
			}
			return entries, err
		}
		b.readAll = b.stored
	}},
	{"the latest entry counts whatever its version", []string{"records at points of the past"}, func(b *broken) {
		b.at = func(ctx context.Context, p eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error) {
			out, err := b.Store.At(ctx, p, ids...)
			for i, id := range ids {
				entries, _ := b.History(ctx, id, 0, 1000)
				for _, e := range entries {
					if p.Counts(&e) && !e.Time.Before(out[i].Time) {
						out[i] = e
					}
				}
			}
			return out, err
		}
	}},
	{"a moment counts only what is before it", []string{"records at points of the past"}, func(b *broken) {
		b.at = func(ctx context.Context, p eventstore.Point, ids []calendar.ID) ([]eventstore.Entry, error) {
			if !p.Time.IsZero() {
				p.Time = p.Time.Add(-time.Millisecond)
			}
			return b.Store.At(ctx, p, ids...)
		}
	}},
	{"the last entry counted has the greatest time", []string{"what counts at points of the past"}, func(b *broken) {
		b.counted = func(ctx context.Context, p eventstore.Point) (eventstore.Counted, error) {
			c, err := b.Store.Counted(ctx, p)
			if err == nil && c.Position > 0 {
				entries, _ := b.ReadAll(ctx, c.Position-1, 1)
				c.Time = entries[0].Time
			}
			return c, err
		}
	}},
	{"entries behind the last block do not count", []string{"what counts at points of the past"}, func(b *broken) {
		b.counted = func(ctx context.Context, p eventstore.Point) (eventstore.Counted, error) {
			c, err := b.Store.Counted(ctx, p)
			if p.Position == 0 {
				c.Position = min(c.Position, 2047)
			}
			return c, err
		}
	}},
	{"slugs of the past are those of the present", []string{"slugs of the past"}, func(b *broken) {
		b.slugAt = func(ctx context.Context, kind calendar.Kind, slug string, _ eventstore.Point) (calendar.ID, error) {
			holders, _, err := b.Find(ctx, []calendar.Claim{eventstore.SlugClaim(kind, slug)}, nil)
			return holders[0], err
		}
	}},
	{"a slug that is held has a former record", []string{"former slugs"}, func(b *broken) {
		b.former = func(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
			ids, err := b.Store.Former(ctx, kind, slug)
			if holders, _, _ := b.Find(ctx, []calendar.Claim{eventstore.SlugClaim(kind, slug)}, nil); holders[0] != 0 {
				ids = holders
			}
			return ids, err
		}
	}},
	{"the last former record is given alone", []string{"former slugs"}, func(b *broken) {
		b.former = func(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
			ids, err := b.Store.Former(ctx, kind, slug)
			return ids[:min(len(ids), 1)], err
		}
	}},
	{"the first of the former records is given first", []string{"former slugs"}, func(b *broken) {
		b.former = func(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
			ids, err := b.Store.Former(ctx, kind, slug)
			slices.Reverse(ids)
			return ids, err
		}
	}},
	{"a record that is erased had a slug", []string{"former slugs"}, func(b *broken) {
		had := map[calendar.Claim][]calendar.ID{}
		b.former = func(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error) {
			ids, err := b.Store.Former(ctx, kind, slug)
			claim := eventstore.SlugClaim(kind, slug)
			if holders, _, _ := b.Find(ctx, []calendar.Claim{claim}, nil); len(ids) > 0 {
				had[claim] = ids
			} else if holders[0] == 0 {
				ids = had[claim]
			}
			return ids, err
		}
	}},
	{"an erasure is a change like others", []string{"an erasure leaves the leaves", "erasures are refused or done again"}, func(b *broken) {
		b.erase = func(ctx context.Context, e eventstore.Erasure) eventstore.Result { return b.one(ctx, e.Append()) }
	}},
	{"of several records the first is erased", []string{"records are erased together"}, func(b *broken) {
		b.erase = func(ctx context.Context, e eventstore.Erasure) eventstore.Result {
			e.Also = nil
			return b.Store.Erase(ctx, e)
		}
	}},
	{"records are erased one after the other", []string{"records are erased together"}, func(b *broken) {
		b.erase = func(ctx context.Context, e eventstore.Erasure) (res eventstore.Result) {
			for i, one := range e.All() {
				if next := b.Store.Erase(ctx, one); i == 0 || next.Err != nil {
					res = next
				}
			}
			return res
		}
	}},
	{"answers outlive what they name", []string{"an erasure leaves the leaves", "answers that name what was erased are not kept"}, func(b *broken) {
		answers := map[string][]byte{}
		b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
			res := b.one(ctx, a)
			b.mu.Lock()
			defer b.mu.Unlock()
			if a.Receipt != nil && len(a.Receipt.Answer) > 0 {
				answers[a.Receipt.Key] = a.Receipt.Answer
			}
			if res.Receipt != nil && a.LooksUp() {
				with := *res.Receipt
				with.Answer = answers[with.Key]
				res.Receipt = &with
			}
			return res
		})
	}},
	{"notes of checkpoints are replaced", []string{"checkpoints are kept and gain lines"}, func(b *broken) {
		b.putCheckpoint = func(ctx context.Context, c eventstore.Checkpoint) error {
			err := b.Store.PutCheckpoint(ctx, c)
			if errors.Is(err, eventstore.ErrConflict) {
				return nil
			}
			return err
		}
	}},
	{"a checkpoint loses its keys", []string{"checkpoints are kept and gain lines"}, func(b *broken) {
		b.putCheckpoint = func(ctx context.Context, c eventstore.Checkpoint) error {
			c.Keys = ""
			return b.Store.PutCheckpoint(ctx, c)
		}
	}},
	{"a restart loses receipts", []string{"everything is there after a restart"}, func(b *broken) {
		if b.reopened {
			b.eachAppend(func(ctx context.Context, a eventstore.Append) eventstore.Result {
				res := b.one(ctx, a)
				res.Receipt = nil
				return res
			})
		}
	}},
	{"closing does nothing", []string{"closed stores refuse"}, func(b *broken) {
		b.close = func() error { return nil }
	}},
}

// brokenHarness gives stores that are broken in one way; nil breaks nothing.
func brokenHarness(brk func(b *broken)) Harness {
	wrap := func(t testing.TB, m *memstore.Store, reopened bool) Store {
		t.Helper()
		b := &broken{Store: m, reopened: reopened}
		if brk != nil {
			brk(b)
		}
		t.Cleanup(func() { _ = b.Store.Close() })
		return b
	}
	return Harness{
		Open: func(t testing.TB) Store {
			t.Helper()
			return wrap(t, memstore.New(), false)
		},
		Reopen: func(t testing.TB, s Store) Store {
			t.Helper()
			kept := s.(*broken).Store
			head, err := kept.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return wrap(t, kept.Reopen(), head > 0)
		},
	}
}

// TestCasesFail: each case fails on a store that is broken in its way.
func TestCasesFail(t *testing.T) {
	t.Parallel()
	cases := map[string]Case{}
	for _, c := range Cases() {
		cases[c.Name] = c
	}
	found := map[string]bool{}
	for _, twin := range twins {
		for _, name := range twin.cases {
			c, ok := cases[name]
			if !ok {
				t.Fatalf("%s: no case %q", twin.name, name)
			}
			found[name] = true
			t.Run(twin.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				h := brokenHarness(twin.brk)
				h.Patience = time.Second
				failed, reports := outcome(t, c, h)
				if !failed {
					t.Errorf("the case does not find that %s", twin.name)
				}
				for _, r := range reports[:min(1, len(reports))] {
					t.Log(r)
				}
			})
		}
	}
	for name := range cases {
		if !found[name] {
			t.Errorf("case %q has no store that it fails on", name)
		}
	}
}

// TestCasesPass: what finds the broken stores passes the one that is whole.
func TestCasesPass(t *testing.T) {
	t.Parallel()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if failed, reports := outcome(t, c, brokenHarness(nil)); failed {
				t.Errorf("the case fails on a whole store: %q", reports)
			}
		})
	}
}

// untilFull makes pages of their number alone.
func untilFull[T any](limit int, next func(n int, last *T) ([]T, error)) ([]T, error) {
	var out []T
	for len(out) < limit {
		var last *T
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		page, err := next(limit-len(out), last)
		if err != nil || len(page) == 0 {
			return out, err
		}
		out = append(out, page...)
	}
	return out, nil
}
