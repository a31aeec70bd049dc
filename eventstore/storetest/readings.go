package storetest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// readings returns the log of a store that nobody writes to. It checks that the log is
// whole, goes on from what was read before, and is what every other way of reading gives.
func (f *fixture) readings() []eventstore.Entry {
	f.Helper()
	position := func(_ int, e *eventstore.Entry) calendar.Position { return e.Position }
	log := pages(f, "ReadAll", f.store.ReadAll, position)
	if len(log) < len(f.log) {
		f.Fatalf("the log has %d entries, it had %d", len(log), len(f.log))
	}
	if len(f.log) > 0 {
		f.equal("the log of before", log[:len(f.log)], f.log)
	}
	f.log = log
	f.equal("the log on the medium", pages(f, "ReadStored", f.store.ReadStored, position), log)

	leaves := pages(f, "Leaves", f.store.Leaves, func(n int, _ *[32]byte) calendar.Position { return calendar.Position(n) })
	if len(leaves) != len(log) {
		f.Fatalf("%d entries have %d leaves", len(log), len(leaves))
	}
	history := map[calendar.ID][]eventstore.Entry{}
	states := map[calendar.ID]eventstore.State{}
	for i := range log {
		e := &log[i]
		history[e.ID] = append(history[e.ID], *e)
		if e.Position != calendar.Position(i+1) || e.Version != int64(len(history[e.ID])) || leaves[i] != eventstore.Leaf(e) {
			f.Fatalf("entry %d has position %d, version %d, or does not fit its leaf", i+1, e.Position, e.Version)
		}
		s := eventstore.State{Kind: e.Kind, ID: e.ID, Version: e.Version, Position: e.Position, Record: e.State, Secret: states[e.ID].Secret}
		if e.Secret != nil {
			s.Secret = append([]byte(nil), e.Secret...) // an empty one is none
		}
		states[e.ID] = s
	}
	f.states(slices.Sorted(maps.Keys(states)), states)
	for id, want := range history {
		got := pages(f, "History", func(ctx context.Context, after int64, limit int) ([]eventstore.Entry, error) {
			return f.store.History(ctx, id, after, limit)
		}, func(_ int, e *eventstore.Entry) int64 { return e.Version })
		f.equal("the history of record "+id.String(), got, want)
	}
	f.chain(leaves)
	f.checkpoints()
	return log
}

// states checks what is read of records, which have these states.
func (f *fixture) states(ids []calendar.ID, states map[calendar.ID]eventstore.State) {
	f.Helper()
	for _, kind := range []calendar.Kind{0, calendar.KindTag, calendar.KindVenue} {
		var want []eventstore.State
		for _, id := range ids {
			if kind == 0 || kind == states[id].Kind {
				want = append(want, states[id])
			}
		}
		got := pages(f, "Records", func(ctx context.Context, after calendar.ID, limit int) ([]eventstore.State, error) {
			return f.store.Records(ctx, kind, after, limit)
		}, func(_ int, s *eventstore.State) calendar.ID { return s.ID })
		f.equal("the records of kind "+kind.String(), got, want)
	}
	held := pages(f, "Holdings", f.store.Holdings, func(_ int, h *eventstore.Holding) calendar.ID { return h.ID })
	f.equal("the number of holdings", len(held), len(ids))
	f.must("Inspect", f.store.Inspect(f.ctx))

	// In any order, twice, and with unknown ones; more than one statement asks for.
	asked := append(slices.Clone(ids), 1<<40)
	slices.Reverse(asked)
	asked = slices.Concat(asked, make([]calendar.ID, 200), ids)
	want, versions := make([]eventstore.State, len(asked)), make([]int64, len(asked))
	for i, id := range asked {
		want[i], versions[i] = states[id], states[id].Version
	}
	loaded, err := f.store.Load(f.ctx, asked...)
	f.must("Load", err)
	f.equal("states", loaded, want)
	got, err := f.store.Versions(f.ctx, asked...)
	f.must("Versions", err)
	f.equal("versions", got, versions)
}

// chain checks head, commits and marks by the leaves.
func (f *fixture) chain(leaves [][32]byte) {
	f.Helper()
	head, err := f.store.Head(f.ctx)
	f.must("Head", err)
	f.equal("the head", head, calendar.Position(len(leaves)))
	last := eventstore.Mark{}
	for _, c := range pages(f, "Commits", f.store.Commits, func(_ int, c *eventstore.Commit) calendar.Position { return c.First }) {
		if c.First != last.Position+1 || c.Last < c.First || c.Last > head {
			f.Fatalf("commit %d to %d follows entry %d of %d", c.First, c.Last, last.Position, head)
		}
		last = eventstore.Mark{Position: c.Last, Hash: eventstore.ChainHash(last.Hash, c.First, leaves[c.First-1:c.Last])}
		f.equal("the hash of a commit", c.Hash, last.Hash)
		for _, p := range slices.Compact([]calendar.Position{c.First, (c.First + c.Last) / 2, c.Last}) {
			f.must("CheckMark", eventstore.CheckMark(f.ctx, f.store, eventstore.Mark{Position: p, Hash: last.Hash}))
		}
	}
	f.equal("the end of the last commit", last.Position, head)
	f.must("CheckMark of the start", eventstore.CheckMark(f.ctx, f.store, eventstore.Mark{}))
	if _, err := f.store.Mark(f.ctx, head+1); !errors.Is(err, eventstore.ErrAhead) || !errors.Is(err, eventstore.ErrHistory) {
		f.Errorf("mark ahead of the head: %v", err)
	}
}

// checkpoints checks that those are there that were stored.
func (f *fixture) checkpoints() {
	f.Helper()
	var want []eventstore.Checkpoint //nolint:prealloc // nil when there are none
	for _, size := range slices.Sorted(maps.Keys(f.signed)) {
		want = append(want, f.signed[size])
		got, err := f.store.Checkpoint(f.ctx, size)
		f.must("Checkpoint", err)
		f.equal("a checkpoint", got, f.signed[size])
	}
	got := pages(f, "Checkpoints", f.store.Checkpoints, func(_ int, c *eventstore.Checkpoint) calendar.Position { return c.Size })
	f.equal("checkpoints", got, want)
	newest, err := f.store.Checkpoint(f.ctx, 0)
	if n := len(want); n > 0 {
		f.equal("the newest checkpoint", newest, want[n-1])
		_, err = f.store.Checkpoint(f.ctx, want[n-1].Size+1)
	}
	if !errors.Is(err, eventstore.ErrNotFound) {
		f.Errorf("checkpoint of a size that was not signed: %v", err)
	}
}

// pages reads all that a method returns page by page. It checks that keys ascend, that
// no page goes beyond its limits, and that none but the last is shorter.
func pages[T any, K cmp.Ordered](f *fixture, method string, read func(context.Context, K, int) ([]T, error), key func(n int, of *T) K) []T {
	f.Helper()
	var all []T
	var zero, after K
	if f.limit < manyPerPage {
		for _, limit := range []int{0, -1} {
			if none, err := read(f.ctx, zero, limit); err != nil || len(none) > 0 {
				f.Errorf("%s with limit %d: %d elements, %v", method, limit, len(none), err)
			}
		}
	}
	for full := true; ; {
		page, err := read(f.ctx, after, f.limit)
		f.must(method, err)
		if len(page) == 0 {
			return all
		}
		if !full {
			f.Errorf("%s: a page ended at %v without need", method, after)
		}
		bytes := 0
		for i := range page {
			next := key(len(all)+1, &page[i])
			if next <= after || i >= f.limit || bytes >= eventstore.PageBytes {
				f.Fatalf("%s: %v follows %v after %d elements of %d bytes, limit %d", method, next, after, i, bytes, f.limit)
			}
			if sized, ok := any(&page[i]).(interface{ Size() int }); ok {
				bytes += sized.Size()
			}
			after, all = next, append(all, page[i])
		}
		if full = len(page) == f.limit || bytes >= eventstore.PageBytes; !full && f.limit == manyPerPage {
			return all // which another limit makes sure of
		}
	}
}
