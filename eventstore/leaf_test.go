package eventstore_test

import (
	"encoding/hex"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

func wholeEntry() eventstore.Entry {
	return eventstore.Entry{
		Position: 5,
		Kind:     calendar.KindEvent,
		ID:       412,
		Version:  3,
		Time:     time.Date(2026, 5, 1, 9, 30, 0, 123_000_000, time.UTC),
		Actor:    7,
		Cause:    eventstore.Cause{Client: "curl/8", Request: "r-1", Reason: "règle"},
		Change:   "event.updated",
		Fields:   []byte(`{"title":{"en":"Jazz"}}`),
		State:    []byte(`{"id":412}`),
		Secret:   []byte("hash"),
	}
}

// TestLeafIsFrozen: leaves of stored entries never change, so neither does what
// they are made from.
func TestLeafIsFrozen(t *testing.T) {
	t.Parallel()
	e := wholeEntry()
	leaf := eventstore.Leaf(&e)
	if got, want := hex.EncodeToString(leaf[:]), "8865e8a65db1df3292bd175d2a7dad510934c4ba4314a15740182f817a3bf01d"; got != want {
		t.Errorf("leaf is %s, want %s", got, want)
	}
	first := eventstore.ChainHash([32]byte{}, 1, [][32]byte{leaf})
	second := eventstore.ChainHash(first, 2, [][32]byte{leaf, {1}})
	if got, want := hex.EncodeToString(second[:]), "cff6f96ee17e1fb594671d3bd3e9839e2f83381bb5dc6068abc7964d62eb95df"; got != want {
		t.Errorf("chain is %s, want %s", got, want)
	}
}

// TestLeafHoldsEverything: every part of an entry but its position changes the
// leaf, and what moves from one part to the next does too.
func TestLeafHoldsEverything(t *testing.T) {
	t.Parallel()
	leaves := map[[32]byte]string{}
	for _, tt := range []struct {
		name string
		edit func(e *eventstore.Entry)
	}{
		{"nothing", func(*eventstore.Entry) {}},
		{"kind", func(e *eventstore.Entry) { e.Kind = calendar.KindVenue }},
		{"id", func(e *eventstore.Entry) { e.ID++ }},
		{"version", func(e *eventstore.Entry) { e.Version++ }},
		{"id and version", func(e *eventstore.Entry) { e.ID, e.Version = 3, 412 }},
		{"time", func(e *eventstore.Entry) { e.Time = e.Time.Add(time.Millisecond) }},
		{"actor", func(e *eventstore.Entry) { e.Actor = 0 }},
		{"client", func(e *eventstore.Entry) { e.Cause.Client = "" }},
		{"request", func(e *eventstore.Entry) { e.Cause.Request = "r-2" }},
		{"reason", func(e *eventstore.Entry) { e.Cause.Reason = "regle" }},
		{"a letter moves", func(e *eventstore.Entry) { e.Cause.Client, e.Cause.Request = "curl/8r", "-1" }},
		{"change", func(e *eventstore.Entry) { e.Change = "event.trashed" }},
		{"fields", func(e *eventstore.Entry) { e.Fields = []byte(`{}`) }},
		{"state", func(e *eventstore.Entry) { e.State = []byte(`{"id":413}`) }},
		{"secret", func(e *eventstore.Entry) { e.Secret = []byte("hasj") }},
		{"secret removed", func(e *eventstore.Entry) { e.Secret = []byte{} }},
		{"no secret", func(e *eventstore.Entry) { e.Secret = nil }},
	} {
		e := wholeEntry()
		tt.edit(&e)
		leaf := eventstore.Leaf(&e)
		if other, ok := leaves[leaf]; ok {
			t.Errorf("%s and %s have one leaf", tt.name, other)
		}
		leaves[leaf] = tt.name
	}
	moved, here := wholeEntry(), wholeEntry()
	moved.Position, moved.Time = 6, moved.Time.In(time.FixedZone("", 3600))
	if eventstore.Leaf(&moved) != eventstore.Leaf(&here) {
		t.Error("the position or the zone changes the leaf")
	}
}

func TestChainHashHoldsEverything(t *testing.T) {
	t.Parallel()
	seen := map[[32]byte]bool{}
	hashes := [][32]byte{
		eventstore.ChainHash([32]byte{}, 1, [][32]byte{{1}, {2}}),
		eventstore.ChainHash([32]byte{1}, 1, [][32]byte{{1}, {2}}),
		eventstore.ChainHash([32]byte{}, 2, [][32]byte{{1}, {2}}),
		eventstore.ChainHash([32]byte{}, 1, [][32]byte{{2}, {1}}),
		eventstore.ChainHash([32]byte{}, 1, [][32]byte{{1}}),
	}
	for _, h := range hashes {
		seen[h] = true
	}
	if len(seen) != len(hashes) {
		t.Errorf("%d hashes of %d chains", len(seen), len(hashes))
	}
}

func BenchmarkLeaf(b *testing.B) {
	e := wholeEntry()
	e.State = make([]byte, 1000)
	for b.Loop() {
		eventstore.Leaf(&e)
	}
}
