package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// readings returns the log of a store that no one writes to. It checks that the log is
// whole, goes on from what was read before, and is what every other way of reading gives.
func (f *fixture) readings() []eventstore.Entry {
	f.Helper()
	log := pages(f, "Read", func(ctx context.Context, after uint64, limit int) ([]eventstore.Entry, error) {
		return f.store.Read(ctx, eventstore.Range{After: after, Limit: limit})
	}, func(_ int, entry *eventstore.Entry) uint64 { return uint64(entry.Position) })
	if len(log) < len(f.log) {
		f.Fatalf("the log has %d entries, it had %d", len(log), len(f.log))
	}
	if len(f.log) > 0 {
		f.equal("the log of before", log[:len(f.log)], f.log)
	}
	f.log = log

	history := map[calendar.ID][]eventstore.Entry{}
	states := map[calendar.ID]eventstore.State{}
	for i := range log {
		entry := &log[i]
		history[entry.ID] = append(history[entry.ID], *entry)
		if entry.Position != calendar.Position(i+1) || entry.Version != int64(len(history[entry.ID])) {
			f.Fatalf("entry %d has position %d, version %d", i+1, entry.Position, entry.Version)
		}
		state := eventstore.State{Kind: entry.Kind, ID: entry.ID, Version: entry.Version, Position: entry.Position, Record: entry.State, Secret: states[entry.ID].Secret}
		if entry.Secret != nil {
			state.Secret = append([]byte(nil), entry.Secret...) // an empty one is none
		}
		states[entry.ID] = state
	}
	f.states(slices.Sorted(maps.Keys(states)), states)
	for id, want := range history {
		got := pages(f, "Read of a record", func(ctx context.Context, after uint64, limit int) ([]eventstore.Entry, error) {
			return f.store.Read(ctx, eventstore.Range{Record: id, After: after, Limit: limit})
		}, func(_ int, entry *eventstore.Entry) uint64 { return uint64(entry.Version) })
		f.equal("the history of record "+id.String(), got, want)
	}
	f.holdings(states)
	f.chain(log)
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
		held := pages(f, "Records", func(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Held, error) {
			return f.store.Records(ctx, kind, after, limit)
		}, func(_ int, h *eventstore.Held) calendar.ID { return h.ID })
		var got []eventstore.State
		for _, h := range held {
			got = append(got, h.State)
		}
		f.equal("the records of kind "+kind.String(), got, want)
	}

	// In any order, twice, and with unknown ones; more than one statement asks for.
	asked := append(slices.Clone(ids), 1<<40)
	slices.Reverse(asked)
	asked = slices.Concat(asked, make([]calendar.ID, 200), ids)
	want := make([]eventstore.State, len(asked))
	for i, id := range asked {
		want[i] = states[id]
	}
	loaded, err := f.store.Load(f.ctx, asked...)
	f.must("Load", err)
	f.equal("states", loaded, want)
}

// holdings checks that what records hold is found: they are its holders, no others have
// a name of theirs, and an erased one has none.
func (f *fixture) holdings(states map[calendar.ID]eventstore.State) {
	f.Helper()
	held, err := f.store.Records(f.ctx, 0, 0, len(states)+1)
	f.must("Records", err)
	var lookup eventstore.Lookup
	var holders []calendar.ID
	named := map[calendar.Name][]calendar.ID{}
	erased := map[calendar.ID]bool{}
	for i := range f.log {
		entry := &f.log[i]
		erased[entry.ID] = entry.Change == eventstore.ErasedChange(entry.Kind)
	}
	for _, h := range held {
		f.equal("whether a record is erased", h.Erased, erased[h.ID])
		for _, claim := range h.Claims {
			lookup.Claims, holders = append(lookup.Claims, claim), append(holders, h.ID)
		}
		for _, n := range h.Names {
			if named[n] == nil {
				lookup.Names = append(lookup.Names, n)
			}
			named[n] = append(named[n], h.ID)
		}
	}
	found, err := f.store.Find(f.ctx, lookup)
	f.must("Find", err)
	for i, claim := range lookup.Claims {
		f.equal(fmt.Sprint("the holder of ", claim), found.Holders[i], holders[i])
	}
	for i, n := range lookup.Names {
		f.equal(fmt.Sprint("the records of ", n), found.Named[i], named[n])
	}
}

// chain checks head, commits and marks by the leaves of entries.
func (f *fixture) chain(log []eventstore.Entry) {
	f.Helper()
	head, err := f.store.Head(f.ctx, eventstore.Point{})
	f.must("Head", err)
	f.equal("the head", head.Position, calendar.Position(len(log)))
	last := eventstore.Mark{}
	commits := pages(f, "Commits", func(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
		return f.store.Commits(ctx, after+1, limit)
	}, func(_ int, commit *eventstore.Commit) calendar.Position { return commit.Last })
	for i := range commits {
		commit := &commits[i]
		if commit.First != last.Position+1 || commit.Last < commit.First || commit.Last > calendar.Position(len(log)) || len(commit.Leaves) != int(commit.Last-last.Position) {
			f.Fatalf("commit %d to %d with %d leaves follows entry %d of %d", commit.First, commit.Last, len(commit.Leaves), last.Position, head.Position)
		}
		for n, leaf := range commit.Leaves {
			if entry := &log[last.Position:][n]; leaf != eventstore.Leaf(entry) {
				f.Errorf("entry %d does not fit its leaf", entry.Position)
			}
		}
		last = eventstore.Mark{Position: commit.Last, Hash: eventstore.ChainHash(last.Hash, commit.First, commit.Leaves)}
		f.equal("the hash of a commit", commit.Hash, last.Hash)
		for _, position := range slices.Compact([]calendar.Position{commit.First, (commit.First + commit.Last) / 2, commit.Last}) {
			f.must("CheckMark", eventstore.CheckMark(f.ctx, f.store, eventstore.Mark{Position: position, Hash: last.Hash}))
			got, err := f.store.Commits(f.ctx, position, 2)
			f.must("Commits", err)
			f.equal("the commit of an entry and the next one", got, commits[i:min(i+2, len(commits))])
		}
	}
	f.equal("the mark of the head", head.Mark, last)
	f.must("CheckMark of the start", eventstore.CheckMark(f.ctx, f.store, eventstore.Mark{}))
	if _, err := f.store.Head(f.ctx, eventstore.Point{Position: head.Position + 1}); !errors.Is(err, eventstore.ErrAhead) || !errors.Is(err, eventstore.ErrHistory) {
		f.Errorf("mark ahead of the head: %v", err)
	}
	if none, err := f.store.Commits(f.ctx, head.Position+1, 1); err != nil || len(none) > 0 {
		f.Errorf("commits ahead of the head: %v, %v", none, err)
	}
}

// checkpoints checks that those are there that were stored.
func (f *fixture) checkpoints() {
	f.Helper()
	var want []eventstore.Checkpoint //nolint:prealloc // nil when there are none
	for _, size := range slices.Sorted(maps.Keys(f.signed)) {
		want = append(want, f.signed[size])
		got, err := eventstore.CheckpointAt(f.ctx, f.store, size)
		f.must("Checkpoint", err)
		f.equal("a checkpoint", got, f.signed[size])
	}
	got := pages(f, "Find of checkpoints", func(ctx context.Context, after uint64, limit int) ([]eventstore.Checkpoint, error) {
		found, err := f.store.Find(ctx, eventstore.Lookup{Signed: eventstore.Range{After: after, Limit: limit}})
		return found.Signed, err
	}, func(_ int, checkpoint *eventstore.Checkpoint) uint64 { return uint64(checkpoint.Size) })
	f.equal("checkpoints", got, want)
	newest, err := eventstore.CheckpointAt(f.ctx, f.store, 0)
	if n := len(want); n > 0 {
		f.equal("the newest checkpoint", newest, want[n-1])
		newest, err = eventstore.CheckpointAt(f.ctx, f.store, want[n-1].Size+1)
	}
	f.must("Checkpoint", err)
	f.equal("a checkpoint of a size that was not signed", newest, eventstore.Checkpoint{})
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
