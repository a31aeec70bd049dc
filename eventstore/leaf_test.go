package eventstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
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
		Salts:    filled(1, 2, 3, 4, 5),
	}
}

// example is the entry of HISTORY 13.
func example() eventstore.Entry {
	return eventstore.Entry{
		Kind: calendar.KindTag, ID: 45, Version: 1, Time: time.UnixMilli(1772460900000), Actor: 7,
		Cause: eventstore.Cause{Client: "curl", Request: "r1"}, Change: "tag.created",
		Fields: []byte(`{"name":{"en":"Jazz"},"slug":"jazz"}`),
		State:  []byte(`{"changed":"2026-03-02T14:15:00.000Z","fields":{"name":{"en":"Jazz"},"slug":"jazz"},"home":"en","id":45,"kind":"tag","version":1}`),
		Salts:  filled(1, 2, 3, 4),
	}
}

// filled are salts, each of one byte again and again.
func filled(bytes ...byte) (salts eventstore.Salts) {
	for body, b := range bytes {
		for i := range salts.Of(body) {
			salts.Of(body)[i] = b
		}
	}
	return salts
}

// TestLeafIsFrozen is the vector of HISTORY 13, of the whole entry and of what an erasure
// leaves of it, and that of a chain: what is stored never changes.
func TestLeafIsFrozen(t *testing.T) {
	t.Parallel()
	entry := example()
	check := func() {
		t.Helper()
		bodies, leaf := eventstore.BodyHashes(&entry), eventstore.Leaf(&entry)
		node := sha256.Sum256(append([]byte{0}, leaf[:]...))
		for _, tt := range []struct {
			name, want string
			got        [32]byte
		}{
			{"H_actor", "8aec26d5bc69e86a33e551f52f8a66b0d5f6acd915e19c67936e0345956ae835", bodies[0]},
			{"H_state", "7359cc2385f0c0b87affe8ce1c974c627932b7791562af6a03efeb4f5daa6875", bodies[3]},
			{"H_secret", strings.Repeat("00", 32), bodies[4]},
			{"leaf", "095274efd5ebb0556f5c4d0e7ec0b548ea948de3d3062dcdbc73e65e51fa3222", leaf},
			{"node", "a912d26170204cf394de98c09c8edc9d2dc73c460f8cdcdde68bf314bf9329e9", node},
		} {
			if got := hex.EncodeToString(tt.got[:]); got != tt.want {
				t.Errorf("%s is %s, want %s", tt.name, got, tt.want)
			}
		}
	}
	check()
	entry.Redact(9)
	if entry.Fields != nil || entry.State != nil || entry.Cause != (eventstore.Cause{}) || [16]byte(entry.Salts.Of(1)) != [16]byte{} || entry.Redacted.By != 9 {
		t.Errorf("redacted: %+v", entry)
	}
	check()
	entry.Redacted.Hashes[2][5]++
	if leaf := eventstore.Leaf(&entry); hex.EncodeToString(leaf[:4]) == "095274ef" {
		t.Error("another kept hash gives the same leaf")
	}
	whole := wholeEntry() // with a secret
	leaf := eventstore.Leaf(&whole)
	if got, want := hex.EncodeToString(leaf[:]), "5c937de83c3415cdaab67686526e67277e21459beb3fc3977fe86a2e621207c0"; got != want {
		t.Errorf("leaf is %s, want %s", got, want)
	}
	first := eventstore.ChainHash([32]byte{}, []eventstore.Entry{{Position: 1, Leaf: leaf}})
	second := eventstore.ChainHash(first, []eventstore.Entry{{Position: 2, Leaf: leaf}, {Leaf: [32]byte{1}}})
	if got, want := hex.EncodeToString(second[:]), "a41d26964326da3bf46a99e95f7f2354856dd548885f2545a5ed8d3cbb1b7c08"; got != want {
		t.Errorf("chain is %s, want %s", got, want)
	}
}

// TestSalts: no two bodies share a salt, no matter who draws at the same time (HISTORY
// 20.33), and stores keep them in order.
func TestSalts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[[16]byte]bool{}
	var drawing sync.WaitGroup
	a := eventstore.Append{Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
		Kind:    calendar.KindTag,
		Secret:  []byte{},
		Version: 1,
	}}}}
	for range 8 {
		drawing.Go(func() {
			for range 200 {
				entry := &eventstore.NewItem(a).Drafts[0].Entry
				mu.Lock()
				for body := range 5 {
					seen[[16]byte(entry.Salts.Of(body))] = true
				}
				mu.Unlock()
			}
		})
	}
	drawing.Wait()
	if len(seen) != 8*200*5 || seen[[16]byte{}] {
		t.Errorf("%d salts, a zero one: %t", len(seen), seen[[16]byte{}])
	}
	entry := example()
	data := entry.Salts[:]
	var back eventstore.Entry
	if back.Complete("tag", data, nil, nil, 0, nil); back.Salts != entry.Salts || len(data) != 80 || data[16] != 2 {
		t.Errorf("%x is read as %v", data, back.Salts)
	}
	if back.Complete("tag", data[1:], nil, nil, 0, nil); eventstore.Leaf(&back) == eventstore.Leaf(&entry) {
		t.Error("damaged salts fit the leaf")
	}
}
