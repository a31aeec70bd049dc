package memindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTextsAgainstMaps puts texts into a table and an order and takes them out, so many
// that chunks come and go, and compares with a map.
func TestTextsAgainstMaps(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	texts := make([]string, 6000)
	for i := range texts {
		texts[i] = fmt.Sprintf("%c%d", 'a'+rune(rng.IntN(4)), i)
	}
	textOf := func(id uint32) string { return texts[id] }
	numbers, order := table[string]{keyOf: textOf, hash: hashText}, byText{textOf: textOf}
	held := map[string]uint32{}
	put := func(id uint32) {
		held[texts[id]] = id
		numbers.put(id)
	}
	var first []uint32
	for id := range uint32(1500) {
		put(id)
		first = append(first, id)
	}
	slices.SortFunc(first, func(a, b uint32) int { return strings.Compare(texts[a], texts[b]) })
	order.chunks = chunked(first)
	for round := range 40 {
		for range 700 {
			id := uint32(rng.IntN(len(texts)))
			_, known := held[texts[id]]
			switch {
			case !known && round < 20:
				put(id)
				order.insert(id)
			case known && round >= 20:
				order.remove(id)
				numbers.remove(texts[id])
				delete(held, texts[id])
			}
		}
		for id, text := range texts {
			want, known := held[text]
			if got, found := numbers.get(text); found != known || got != want {
				t.Fatalf("round %d: %s is %d, %t; want %d, %t", round, text, got, found, want, known)
			}
			if known && want != uint32(id) {
				t.Fatalf("%s is held as %d", text, want)
			}
		}
		if numbers.n != len(held) {
			t.Fatalf("round %d: %d texts, want %d", round, numbers.n, len(held))
		}
		for _, prefix := range []string{"", "a", "b1", "c59", "d999999", "e", "A"} {
			var want []uint32
			for text, id := range held {
				if strings.HasPrefix(text, prefix) {
					want = append(want, id)
				}
			}
			slices.SortFunc(want, func(a, b uint32) int { return strings.Compare(texts[a], texts[b]) })
			if got := order.beginning(prefix); !slices.Equal(got, want) {
				t.Fatalf("round %d: %d texts begin with %q, want %d", round, len(got), prefix, len(want))
			}
		}
	}
}
