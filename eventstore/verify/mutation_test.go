package verify_test

import (
	"context"
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
	commits []eventstore.Commit
}

func openMedium(t *testing.T, store eventstore.Store) *medium {
	t.Helper()
	m := &medium{Store: store}
	var err error
	if m.entries, err = store.Read(t.Context(), eventstore.Range{Limit: 10_000}); err != nil {
		t.Fatal(err)
	}
	for _, entry := range m.entries {
		if entry.Position == entry.Commit.First {
			m.commits = append(m.commits, entry.Commit)
		}
	}
	return m
}

func (m *medium) leaves() (leaves [][32]byte) {
	for i := range m.entries {
		leaves = append(leaves, m.entries[i].Leaf)
	}
	return leaves
}

func (m *medium) clone() *medium {
	c := &medium{Store: m.Store, entries: slices.Clone(m.entries), commits: slices.Clone(m.commits)}
	for i := range c.entries {
		entry := &c.entries[i]
		entry.Fields, entry.State, entry.Secret = slices.Clone(entry.Fields), slices.Clone(entry.State), slices.Clone(entry.Secret)
		if entry.Redacted != nil {
			redacted := *entry.Redacted
			entry.Redacted = &redacted
		}
	}
	return c
}

func (m *medium) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	head, err := m.Store.Head(ctx, point)
	head.Position = calendar.Position(len(m.entries))
	return head, err
}

func (m *medium) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if r.Record != 0 {
		return m.Store.Read(ctx, r)
	}
	from := min(int(r.After), len(m.entries))
	page := slices.Clone(m.entries[from:min(from+r.Limit, len(m.entries))])
	for i := range page {
		for _, commit := range m.commits {
			if commit.First <= page[i].Position {
				page[i].Commit = commit
			}
		}
	}
	return page, nil
}

func (m *medium) At(_ context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	out := make([]eventstore.Entry, len(ids))
	for i, id := range ids {
		for _, entry := range m.entries {
			if entry.ID == id && point.Counts(&entry) {
				out[i] = entry
			}
		}
	}
	return out, nil
}

// chain computes all commits again, so that they fit the leaves.
func (m *medium) chain() {
	var hash [32]byte
	for i := range m.commits {
		commit := &m.commits[i]
		commit.Last = min(commit.Last, calendar.Position(len(m.entries)))
		if commit.First <= commit.Last { // else its entries are gone
			hash = eventstore.ChainHash(hash, m.entries[commit.First-1:commit.Last])
		}
		commit.Hash = hash
	}
}

// flip changes one bit of an entry, its leaf or its commit, and says where.
func (m *medium) flip(dice *rand.Rand) string {
	i := dice.IntN(len(m.entries))
	entry := &m.entries[i]
	bit := func(data []byte) bool {
		if len(data) == 0 {
			return false
		}
		data[dice.IntN(len(data))] ^= 1 << dice.IntN(8)
		return true
	}
	parts := []struct {
		name string
		flip func() bool
	}{
		{"kind", func() bool { entry.Kind ^= 1; return true }},
		{"id", func() bool { entry.ID ^= 1 << dice.IntN(8); return true }},
		{"version", func() bool { entry.Version ^= 1 << dice.IntN(8); return true }},
		{"time", func() bool { entry.Time = time.UnixMilli(entry.Time.UnixMilli() ^ 1<<dice.IntN(30)).UTC(); return true }},
		{"actor", func() bool { entry.Actor ^= 1 << dice.IntN(8); return true }},
		{"change", func() bool { data := []byte(entry.Change); bit(data); entry.Change = string(data); return true }},
		{"reason", func() bool {
			data := []byte(entry.Cause.Reason)
			ok := bit(data)
			entry.Cause.Reason = string(data)
			return ok
		}},
		{"fields", func() bool { return bit(entry.Fields) }},
		{"state", func() bool { return bit(entry.State) }},
		{"secret", func() bool { return bit(entry.Secret) }},
		{"salts", func() bool {
			n := 5
			if entry.Redacted != nil {
				n = 1
			} else if entry.Secret == nil {
				n = 4
			}
			return bit(entry.Salts.Of(dice.IntN(n)))
		}},
		{"kept hash", func() bool { return entry.Redacted != nil && bit(entry.Redacted.Hashes[dice.IntN(4)][:]) }},
		{"erased by", func() bool {
			if entry.Redacted != nil {
				entry.Redacted.By ^= 1 << dice.IntN(8)
			}
			return entry.Redacted != nil
		}},
		{"leaf", func() bool { return bit(entry.Leaf[:]) }},
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
		m.entries = slices.Delete(m.entries, i, i+1)
		m.commits[len(m.commits)-1].Last--
		what = fmt.Sprintf("drop entry %d", i+1)
	case 2:
		for i == j {
			j = dice.IntN(n)
		}
		m.entries[i], m.entries[j] = m.entries[j], m.entries[i]
		what = fmt.Sprintf("swap entries %d and %d", i+1, j+1)
	case 3:
		m.entries = slices.Insert(m.entries, i, m.entries[j])
		m.commits[len(m.commits)-1].Last++
		what = fmt.Sprintf("insert entry %d before %d", j+1, i+1)
	default: // a tail that was written otherwise: another actor, with leaves and chain that fit
		for k := i; k < n; k++ {
			entry := &m.entries[k]
			entry.Actor++
			entry.Leaf = eventstore.Leaf(entry)
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
		medium := whole.clone()
		what, chained := medium.mutate(dice)
		ways[what[:4]]++
		got, err := verify.Store(t.Context(), medium, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		switch {
		case chained && got.Result == verify.Redacted:
			unseen++
			if got.Head == found.Head || slices.Equal(medium.leaves(), whole.leaves()) {
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
	store := memstore.New()
	var live []*calendar.Record
	for n := range 30 {
		instant := moment.Add(time.Duration(n) * time.Second)
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
			change := tag(id, verb)
			change.Fields["slug"] = fmt.Sprintf("%s-%d-%d", verb, id, n)
			draft, record := storetest.Draft(t, before, change, instant)
			if n%4 == 0 {
				draft.Secret = []byte{byte(n)}
			}
			if drafts = append(drafts, draft); before == nil {
				live = append(live, record)
			} else {
				live[id-1] = record
			}
		}
		a := eventstore.Append{Drafts: drafts, Time: instant, Actor: 7, Cause: eventstore.Cause{Client: "suite", Reason: "because"}}
		if res := store.Append(t.Context(), a); res.Err != nil {
			t.Fatal(res.Err)
		}
		if n == 20 {
			change, err := calendar.Erase(live[2])
			if err != nil {
				t.Fatal(err)
			}
			draft, _ := storetest.Draft(t, live[2], change, instant)
			draft.Secret = []byte{}
			e := eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: instant, Cause: eventstore.Cause{Reason: "asked for"}, Redact: []calendar.ID{draft.ID}}
			if res := store.Append(t.Context(), e); res.Err != nil {
				t.Fatal(res.Err)
			}
			break
		}
	}
	return store
}
