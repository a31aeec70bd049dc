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
func (fixture *fixture) readings() []eventstore.Entry {
	fixture.Helper()
	log := pages(fixture, "Read", func(ctx context.Context, after uint64, limit int) ([]eventstore.Entry, error) {
		return fixture.store.Read(ctx, eventstore.Range{After: after, Limit: limit})
	}, func(entry *eventstore.Entry) uint64 { return uint64(entry.Position) })
	if len(log) < len(fixture.log) {
		fixture.Fatalf("the log has %d entries, it had %d", len(log), len(fixture.log))
	}
	if len(fixture.log) > 0 {
		fixture.equal("the log of before", log[:len(fixture.log)], fixture.log)
	}
	fixture.log = log

	history := map[calendar.ID][]eventstore.Entry{}
	states := map[calendar.ID]*eventstore.Held{0: {}, unknown: {}}
	for i := range log {
		entry := &log[i]
		history[entry.ID] = append(history[entry.ID], *entry)
		if entry.Position != calendar.Position(i+1) {
			fixture.Fatalf("entry %d has position %d", i+1, entry.Position)
		}
		state, err := entry.After(states[entry.ID])
		fixture.must("entry "+entry.Position.String(), err)
		states[entry.ID] = state
	}
	fixture.states(slices.Sorted(maps.Keys(history)), states)
	for id, want := range history {
		got := pages(fixture, "Read of a record", func(ctx context.Context, after uint64, limit int) ([]eventstore.Entry, error) {
			return fixture.store.Read(ctx, eventstore.Range{Record: id, After: after, Limit: limit})
		}, func(entry *eventstore.Entry) uint64 { return uint64(entry.Version) })
		fixture.equal("the history of record "+id.String(), got, want)
	}
	fixture.holdings()
	fixture.chain(log)
	fixture.checkpoints()
	return log
}

// unknown is the id of no record.
const unknown calendar.ID = 1 << 40

// states checks what is read of records, which have these states.
func (fixture *fixture) states(ids []calendar.ID, states map[calendar.ID]*eventstore.Held) {
	fixture.Helper()
	for _, kind := range []calendar.Kind{0, calendar.KindTag, calendar.KindVenue} {
		var want []eventstore.Held
		for _, id := range ids {
			if kind == 0 || kind == states[id].Kind {
				want = append(want, *states[id])
			}
		}
		held := pages(fixture, "Records", func(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Held, error) {
			return fixture.store.Records(ctx, kind, after, limit)
		}, func(h *eventstore.Held) calendar.ID { return h.ID })
		for i := range held {
			held[i].Claims, held[i].Names = nil, nil // see holdings
		}
		fixture.equal("the records of kind "+kind.String(), held, want)
	}

	// In any order, twice, and with unknown ones; more than one statement asks for.
	asked := append(slices.Clone(ids), unknown)
	slices.Reverse(asked)
	asked = slices.Concat(asked, make([]calendar.ID, 200), ids)
	want := make([]eventstore.State, len(asked))
	for i, id := range asked {
		want[i] = states[id].State
	}
	loaded, err := fixture.store.Load(fixture.ctx, asked...)
	fixture.must("Load", err)
	fixture.equal("states", loaded, want)
}

// holdings checks that what records hold is found: they are its holders, no others have
// a name of theirs.
func (fixture *fixture) holdings() {
	fixture.Helper()
	held, err := fixture.store.Records(fixture.ctx, 0, 0, len(fixture.log)+1)
	fixture.must("Records", err)
	var lookup eventstore.Lookup
	var holders []calendar.ID
	named := map[calendar.Name][]calendar.ID{}
	for _, h := range held {
		for _, claim := range h.Claims {
			lookup.Claims, holders = append(lookup.Claims, claim), append(holders, h.ID)
		}
		for _, name := range h.Names {
			if named[name] == nil {
				lookup.Names = append(lookup.Names, name)
			}
			named[name] = append(named[name], h.ID)
		}
	}
	found, err := fixture.store.Find(fixture.ctx, lookup)
	fixture.must("Find", err)
	for i, claim := range lookup.Claims {
		fixture.equal(fmt.Sprint("the holder of ", claim), found.Holders[i], holders[i])
	}
	for i, name := range lookup.Names {
		fixture.equal(fmt.Sprint("the records of ", name), found.Named[i], named[name])
	}
}

// chain checks head, leaves, commits and marks.
func (fixture *fixture) chain(log []eventstore.Entry) {
	fixture.Helper()
	head, err := fixture.store.Head(fixture.ctx, eventstore.Point{})
	fixture.must("Head", err)
	fixture.equal("the head", head.Position, calendar.Position(len(log)))
	read := pages(fixture, "Read of leaves", func(ctx context.Context, after uint64, limit int) (page []eventstore.Entry, err error) {
		entries, err := fixture.store.Read(ctx, eventstore.Range{After: after, Limit: limit, Leaves: true})
		for i := range entries {
			page = append(page, eventstore.Entry{Position: entries[i].Position, Leaf: entries[i].Leaf, Commit: entries[i].Commit})
		}
		return page, err
	}, func(entry *eventstore.Entry) uint64 { return uint64(entry.Position) })
	var leaves []eventstore.Entry //nolint:prealloc // nil when there are none
	var last eventstore.Mark
	for i := range log {
		entry := &log[i]
		fixture.equal("the leaf of an entry", entry.Leaf, eventstore.Leaf(entry))
		leaves = append(leaves, eventstore.Entry{Position: entry.Position, Leaf: entry.Leaf, Commit: entry.Commit})
		last = entry.Mark()
		fixture.must("CheckMark", eventstore.CheckMark(fixture.ctx, fixture.store, last))
	}
	fixture.equal("the entries where leaves are enough", read, leaves)
	for _, err := range eventstore.Log(fixture.ctx, fixture.store, head.Position) {
		fixture.must("the chain", err)
	}
	fixture.equal("the mark of the head", head.Mark, last)
	fixture.must("CheckMark of the start", eventstore.CheckMark(fixture.ctx, fixture.store, eventstore.Mark{}))
	if _, err := fixture.store.Head(fixture.ctx, eventstore.Point{Position: head.Position + 1}); !errors.Is(err, eventstore.ErrAhead) || !errors.Is(err, eventstore.ErrHistory) {
		fixture.Errorf("mark ahead of the head: %v", err)
	}
}

// checkpoints checks that those are there that were stored.
func (fixture *fixture) checkpoints() {
	fixture.Helper()
	var want []eventstore.Checkpoint //nolint:prealloc // nil when there are none
	for _, size := range slices.Sorted(maps.Keys(fixture.signed)) {
		want = append(want, fixture.signed[size])
		got, err := eventstore.CheckpointAt(fixture.ctx, fixture.store, size)
		fixture.must("Checkpoint", err)
		fixture.equal("a checkpoint", got, fixture.signed[size])
	}
	got := pages(fixture, "Find of checkpoints", func(ctx context.Context, after uint64, limit int) ([]eventstore.Checkpoint, error) {
		found, err := fixture.store.Find(ctx, eventstore.Lookup{Signed: eventstore.Range{After: after, Limit: limit}})
		return found.Signed, err
	}, func(checkpoint *eventstore.Checkpoint) uint64 { return uint64(checkpoint.Size) })
	fixture.equal("checkpoints", got, want)
	newest, err := eventstore.CheckpointAt(fixture.ctx, fixture.store, 0)
	if count := len(want); count > 0 {
		fixture.equal("the newest checkpoint", newest, want[count-1])
		newest, err = eventstore.CheckpointAt(fixture.ctx, fixture.store, want[count-1].Size+1)
	}
	fixture.must("Checkpoint", err)
	fixture.equal("a checkpoint of a size that was not signed", newest, eventstore.Checkpoint{})
}

// pages reads all that a method returns page by page. It checks that keys ascend, that
// no page goes beyond its limits, and that none but the last is shorter.
func pages[T any, K cmp.Ordered](fixture *fixture, method string, read func(context.Context, K, int) ([]T, error), key func(of *T) K) []T {
	fixture.Helper()
	var every []T
	var zero, after K
	if fixture.limit < manyPerPage {
		for _, limit := range []int{0, -1} {
			if none, err := read(fixture.ctx, zero, limit); err != nil || len(none) > 0 {
				fixture.Errorf("%s with limit %d: %d elements, %v", method, limit, len(none), err)
			}
		}
	}
	for full := true; ; {
		page, err := read(fixture.ctx, after, fixture.limit)
		fixture.must(method, err)
		if len(page) == 0 {
			return every
		}
		if !full {
			fixture.Errorf("%s: a page ended at %v without need", method, after)
		}
		bytes := 0
		for i := range page {
			next := key(&page[i])
			if next <= after || i >= fixture.limit || bytes >= eventstore.PageBytes {
				fixture.Fatalf("%s: %v follows %v after %d elements of %d bytes, limit %d", method, next, after, i, bytes, fixture.limit)
			}
			if sized, ok := any(&page[i]).(interface{ Size() int }); ok {
				bytes += sized.Size()
			}
			after, every = next, append(every, page[i])
		}
		if full = len(page) == fixture.limit || bytes >= eventstore.PageBytes; !full && fixture.limit == manyPerPage {
			return every // which another limit makes sure of
		}
	}
}
