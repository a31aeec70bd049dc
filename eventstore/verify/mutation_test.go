package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
	"daybook/eventstore/verify"
)

// medium is a store whose log lies open to anyone who wants to change it.
type medium struct {
	eventstore.Store

	entries []eventstore.Entry
	leaves  [][32]byte
	commits []eventstore.Commit // without leaves
}

func openMedium(t *testing.T, s eventstore.Store) *medium {
	t.Helper()
	m := &medium{Store: s}
	var errs [2]error
	m.entries, errs[0] = s.Read(t.Context(), eventstore.Range{Limit: 10_000})
	m.commits, errs[1] = s.Commits(t.Context(), 1, 10_000)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	for i := range m.commits {
		m.leaves = append(m.leaves, m.commits[i].Leaves...)
		m.commits[i].Leaves = nil
	}
	return m
}

func (m *medium) clone() *medium {
	c := &medium{Store: m.Store, entries: slices.Clone(m.entries), leaves: slices.Clone(m.leaves), commits: slices.Clone(m.commits)}
	for i := range c.entries {
		e := &c.entries[i]
		e.Fields, e.State, e.Secret = slices.Clone(e.Fields), slices.Clone(e.State), slices.Clone(e.Secret)
		if e.Redacted != nil {
			redacted := *e.Redacted
			e.Redacted = &redacted
		}
	}
	return c
}

func (m *medium) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	h, err := m.Store.Head(ctx, p)
	h.Position = calendar.Position(len(m.entries))
	return h, err
}

func (m *medium) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if r.Record != 0 {
		return m.Store.Read(ctx, r)
	}
	from := min(int(r.After), len(m.entries))
	return slices.Clone(m.entries[from:min(from+r.Limit, len(m.entries))]), nil
}

func (m *medium) At(_ context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	out := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		for _, e := range m.entries {
			if e.ID == id && p.Counts(&e) {
				out[i] = e
			}
		}
	}
	return out, nil
}

func (m *medium) Commits(_ context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error) {
	at := slices.IndexFunc(m.commits, func(c eventstore.Commit) bool { return c.Last >= from })
	if at < 0 {
		return nil, nil
	}
	found := slices.Clone(m.commits[at:min(at+limit, len(m.commits))])
	for i := range found {
		c := &found[i]
		if first, end := int(c.First)-1, min(int(c.Last), len(m.leaves)); first < end {
			c.Leaves = m.leaves[first:end]
		}
	}
	return found, nil
}

// chain computes all commits again, so that they fit the leaves.
func (m *medium) chain() {
	var hash [32]byte
	for i := range m.commits {
		c := &m.commits[i]
		c.Last = min(c.Last, calendar.Position(len(m.leaves)))
		hash = eventstore.ChainHash(hash, c.First, m.leaves[c.First-1:c.Last])
		c.Hash = hash
	}
}

// flip changes one bit of an entry, its leaf or its commit, and says where.
func (m *medium) flip(dice *rand.Rand) string {
	i := dice.IntN(len(m.entries))
	e := &m.entries[i]
	bit := func(b []byte) bool {
		if len(b) == 0 {
			return false
		}
		b[dice.IntN(len(b))] ^= 1 << dice.IntN(8)
		return true
	}
	parts := []struct {
		name string
		flip func() bool
	}{
		{"kind", func() bool { e.Kind ^= 1; return true }},
		{"id", func() bool { e.ID ^= 1 << dice.IntN(8); return true }},
		{"version", func() bool { e.Version ^= 1 << dice.IntN(8); return true }},
		{"time", func() bool { e.Time = time.UnixMilli(e.Time.UnixMilli() ^ 1<<dice.IntN(30)).UTC(); return true }},
		{"actor", func() bool { e.Actor ^= 1 << dice.IntN(8); return true }},
		{"change", func() bool { b := []byte(e.Change); bit(b); e.Change = string(b); return true }},
		{"reason", func() bool { b := []byte(e.Cause.Reason); ok := bit(b); e.Cause.Reason = string(b); return ok }},
		{"fields", func() bool { return bit(e.Fields) }},
		{"state", func() bool { return bit(e.State) }},
		{"secret", func() bool { return bit(e.Secret) }},
		{"salts", func() bool {
			n := 5
			if e.Redacted != nil {
				n = 1
			} else if e.Secret == nil {
				n = 4
			}
			return bit(e.Salts[dice.IntN(n)][:])
		}},
		{"kept hash", func() bool { return e.Redacted != nil && bit(e.Redacted.Hashes[dice.IntN(4)][:]) }},
		{"erased by", func() bool {
			if e.Redacted != nil {
				e.Redacted.By ^= 1 << dice.IntN(8)
			}
			return e.Redacted != nil
		}},
		{"leaf", func() bool { return bit(m.leaves[i][:]) }},
		{"hash of a commit", func() bool { return bit(m.commits[dice.IntN(len(m.commits))].Hash[:]) }},
		{"end of a commit", func() bool { m.commits[dice.IntN(len(m.commits))].Last ^= 1; return true }},
	}
	for {
		if p := parts[dice.IntN(len(parts))]; p.flip() {
			return fmt.Sprintf("flip %s of entry %d", p.name, i+1)
		}
	}
}

func (m *medium) renumber() {
	for i := range m.entries {
		m.entries[i].Position = calendar.Position(i + 1)
	}
}

// mutate changes a log in one way; chained says that a new chain was made, so that
// perhaps only what is stored elsewhere shows it.
func (m *medium) mutate(dice *rand.Rand) (what string, chained bool) {
	n := len(m.entries)
	i, j := dice.IntN(n), dice.IntN(n)
	chained = dice.IntN(2) == 0
	switch dice.IntN(5) {
	case 0:
		return m.flip(dice), false
	case 1:
		i = dice.IntN(n - 1) // without the last one it is the log of before, but for the records
		m.entries, m.leaves = slices.Delete(m.entries, i, i+1), slices.Delete(m.leaves, i, i+1)
		m.commits[len(m.commits)-1].Last--
		what = fmt.Sprintf("drop entry %d", i+1)
	case 2:
		for i == j {
			j = dice.IntN(n)
		}
		m.entries[i], m.entries[j] = m.entries[j], m.entries[i]
		m.leaves[i], m.leaves[j] = m.leaves[j], m.leaves[i]
		what = fmt.Sprintf("swap entries %d and %d", i+1, j+1)
	case 3:
		m.entries, m.leaves = slices.Insert(m.entries, i, m.entries[j]), slices.Insert(m.leaves, i, m.leaves[j])
		m.commits[len(m.commits)-1].Last++
		what = fmt.Sprintf("insert entry %d before %d", j+1, i+1)
	default: // a tail that was written otherwise: another actor, with leaves and chain that fit
		for k := i; k < n; k++ {
			e := &m.entries[k]
			e.Actor++
			m.leaves[k] = eventstore.Leaf(e)
		}
		m.chain()
		return fmt.Sprintf("rewrite from entry %d", i+1), true
	}
	m.renumber()
	if chained {
		m.chain()
		what += ", with a new chain"
	}
	return what, chained
}

// TestMutations: of 1,000 random changes of a stored log, erasures in it included, each
// is found by verify with a position, or, where the chain was written again so that all
// fits, by the leaves, which checkpoints cover (HISTORY 20.32, the
// part of the store).
func TestMutations(t *testing.T) {
	t.Parallel()
	whole := openMedium(t, mutable(t))
	found, err := verify.Store(t.Context(), whole, nil)
	if err != nil || found.Result != verify.Redacted || found.Redacted == 0 {
		t.Fatalf("the log as it was written: %+v, %v", found, err)
	}
	dice := rand.New(rand.NewPCG(20, 32))
	ways, unseen := map[string]int{}, 0
	for range 1000 {
		m := whole.clone()
		what, chained := m.mutate(dice)
		ways[what[:4]]++
		got, err := verify.Store(t.Context(), m, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		switch {
		case chained && got.Result == verify.Redacted:
			unseen++
			if got.Head == found.Head || slices.Equal(m.leaves, whole.leaves) {
				t.Errorf("%s: %+v with the hash of before", what, got)
			}
		case got.Result != verify.Tampered && got.Result != verify.Incomplete || got.Position == 0 || got.Why == "" || got.Err() == nil:
			t.Errorf("%s: %+v", what, got)
		}
	}
	if len(ways) != 5 || unseen < 100 || unseen > 400 {
		t.Errorf("ways that were taken: %v, %d found by their leaves only", ways, unseen)
	}
}

// mutable is a store with a log of some records, one of which is erased.
func mutable(t *testing.T) eventstore.Store {
	t.Helper()
	s := memstore.New()
	var live []*calendar.Record
	for n := range 30 {
		at := moment.Add(time.Duration(n) * time.Second)
		var drafts []eventstore.Draft
		for k := range 1 + n%3 {
			id := calendar.ID(1 + (n*3+k)%8)
			var before *calendar.Record
			verb := calendar.Created
			if int(id) <= len(live) {
				before, verb = live[id-1], calendar.Updated
			} else {
				id = calendar.ID(len(live) + 1)
			}
			c := tag(id, verb)
			c.Fields["slug"] = fmt.Sprintf("%s-%d-%d", verb, id, n)
			d, r := storetest.Draft(t, before, c, at)
			if n%4 == 0 {
				d.Secret = []byte{byte(n)}
			}
			if drafts = append(drafts, d); before == nil {
				live = append(live, r)
			} else {
				live[id-1] = r
			}
		}
		a := eventstore.Append{Drafts: drafts, Time: at, Actor: 7, Cause: eventstore.Cause{Client: "suite", Reason: "because"}}
		if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
		if n == 20 {
			c, err := calendar.Erase(live[2])
			if err != nil {
				t.Fatal(err)
			}
			d, _ := storetest.Draft(t, live[2], c, at)
			d.Secret = []byte{}
			e := eventstore.Append{Drafts: []eventstore.Draft{d}, Time: at, Cause: eventstore.Cause{Reason: "asked for"}, Redact: []calendar.ID{d.ID}}
			if res := s.Append(t.Context(), []eventstore.Append{e})[0]; res.Err != nil {
				t.Fatal(res.Err)
			}
			break
		}
	}
	return s
}
