package httpapi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"daybook/calendar"
)

// rendered makes up the bytes of a piece; equal keys have equal bytes.
func rendered(b []byte, key pieceKey) ([]byte, [3]int) {
	rng := rand.New(rand.NewPCG(uint64(key.id), uint64(key.version)))
	b = fmt.Appendf(b, `{"id":%d,"status":"publish","description":"`, key.id)
	words := []string{"jazz ", "river ", "night ", "market ", "été ", "\\\" "}
	for range rng.IntN(300) {
		b = append(b, words[rng.IntN(len(words))]...)
	}
	var ends [3]int
	for i := range ends {
		ends[i] = len(b)
		b = fmt.Appendf(b, `"part":%d`, rng.IntN(1000))
	}
	return b, ends
}

// TestPieces: what is found is what was kept under the key, from all goroutines,
// within the limit of bytes; and most of what fits into the limit is found.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, form := range []pieceForm{formEvent, formPost} {
		table := newPieceTable(1 << 20)
		var wg sync.WaitGroup
		for worker := range uint64(4) {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(worker, 7))
				var buffer, scratch []byte
				for range 5000 {
					key := pieceKey{id: calendar.ID(1 + rng.IntN(3000)), version: int64(1 + rng.IntN(2)), form: form}
					var ends [3]int
					buffer, ends = rendered(buffer[:0], key)
					want := cut(buffer, &ends)
					got, ok := table.get(key, &scratch)
					if !ok {
						table.set(key, buffer, ends)
						continue
					}
					for i := range want {
						if !bytes.Equal(got[i], want[i]) {
							t.Errorf("part %d of %v: got %q, want %q", i, key, got[i], want[i])
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if n := table.bytes.Load(); n > table.limit {
			t.Errorf("%d bytes are kept, %d at most wanted", n, table.limit)
		}
	}
	table := newPieceTable(4 << 20)
	const all = 4000
	found := 0
	var scratch []byte
	for _, check := range []bool{false, true} {
		for id := range calendar.ID(all) {
			key := pieceKey{id: id, form: formEvent}
			if check {
				if _, ok := table.get(key, &scratch); ok {
					found++
				}
				continue
			}
			b, ends := rendered(nil, key)
			table.set(key, b, ends)
		}
	}
	if found < all*9/10 {
		t.Errorf("%d of %d pieces that fit are found", found, all)
	}
}

// TestNoPieces: without a table nothing is kept.
func TestNoPieces(t *testing.T) {
	t.Parallel()
	table := newPieceTable(-1)
	table.set(pieceKey{id: 1}, []byte("x"), [3]int{1, 1, 1})
	if _, ok := table.get(pieceKey{id: 1}, nil); ok {
		t.Error("a piece is found")
	}
}
