package memindex

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"daybook/calendar"
)

// TestOrderAgainstSorting puts values into an order and takes them out, in bursts at one
// place so that chunks and cuts come and go, and compares with sorting them.
func TestOrderAgainstSorting(t *testing.T) {
	t.Parallel()
	const most = 12_000
	rng := rand.New(rand.NewPCG(7, 1))
	ids := make([]calendar.ID, most)
	var free []uint32
	for o := range ids {
		ids[o] = calendar.ID(1 + (o*7919)%most)
		free = append(free, uint32(o))
	}
	rng.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	s := &order[int64]{ids: &ids, kept: &keptResults{}}
	r := &kept{key: "some", set: make(bitset, wordsFor(most))}
	s.kept.keep(r)
	ranked := &ranking{by: s, counts: s.rank(r.set)}
	r.ranked = []*ranking{ranked}
	other := &order[int64]{ids: &ids, kept: s.kept}
	for o := range uint32(most) {
		if rng.IntN(9) > 0 {
			other.insert(o, rng.Int64N(1000))
		}
	}
	r.spansOf(ranked, s, other)

	var held []uint32
	for round := range 60 {
		burst := rng.Int64N(1000)
		grow := round < 30 && len(free) > 0 || len(held) < 100
		for range 600 {
			if grow && len(free) > 0 {
				o := free[len(free)-1]
				free = free[:len(free)-1]
				s.insert(o, burst+rng.Int64N(5))
				held = append(held, o)
				if rng.IntN(3) == 0 {
					r.set.put(o)
					ranked.join(o)
				}
			} else if len(held) > 0 {
				i := rng.IntN(len(held))
				if rng.IntN(4) > 0 { // mostly the least ones, so that whole chunks go
					i = slices.Index(held, s.chunks[0][0])
				}
				o := held[i]
				if r.set.has(o) {
					ranked.leave(o)
					r.set.clear(o)
				}
				s.remove(o)
				held = slices.Delete(held, i, i+1)
				free = append(free, o)
			}
		}
		if round < 10 { // nobody asks: there are no cuts
			if len(s.cuts) > 0 {
				t.Fatalf("%d cuts of an order that is not asked for", len(s.cuts))
			}
			continue
		}
		checkOrder(t, s, r, held, rng)
		if round == 10 && len(s.cuts) < 3 {
			t.Fatalf("%d cuts of %d ordinals", len(s.cuts), s.n)
		}
	}
}

func checkOrder(t *testing.T, s *order[int64], r *kept, held []uint32, rng *rand.Rand) {
	t.Helper()
	sorted := slices.Clone(held)
	slices.SortFunc(sorted, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.keys[a], s.keys[b]), cmp.Compare((*s.ids)[a], (*s.ids)[b]))
	})
	if got := slices.Concat(s.chunks...); !slices.Equal(got, sorted) || s.n != len(sorted) || s.in.count() != len(sorted) {
		t.Fatalf("%d ordinals in order, want %d", len(got), len(sorted))
	}
	if limit := 2*wantedCuts + 1; len(s.cuts) > limit {
		t.Fatalf("%d cuts of %d ordinals, want at most %d", len(s.cuts), s.n, limit)
	}
	last := 0
	for _, at := range s.cuts {
		if at.chunk <= last || at.chunk >= len(s.chunks) {
			t.Fatalf("cut at chunk %d of %d behind %d", at.chunk, len(s.chunks), last)
		}
		last = at.chunk
		before := slices.Concat(s.chunks[:at.chunk]...)
		if at.before.count() != len(before) || int(countOf(at.before, before)) != len(before) {
			t.Fatalf("cut at chunk %d has %d ordinals, want %d", at.chunk, at.before.count(), len(before))
		}
	}
	if got, want := r.ranked[0].counts, s.rank(r.set); !slices.Equal(got, want) {
		t.Fatalf("ranking %v, want %v", got, want)
	}
	for c, ords := range s.chunks {
		have, of := r.ranked[0].spans[0].by[c], r.ranked[0].spans[0].of
		if least := spanOf(r.set, of, ords); have.least > least.least || have.most < least.most || !have.lacks && least.lacks {
			t.Fatalf("chunk %d: span %v, has to hold %v", c, have, least)
		}
	}
	var in []uint32
	for _, o := range sorted {
		if r.set.has(o) {
			in = append(in, o)
		}
	}
	for range 20 {
		if len(in) == 0 {
			break
		}
		from, desc := rng.IntN(len(in)), rng.IntN(2) == 0
		want := slices.Clone(in)
		if desc {
			slices.Reverse(want)
		}
		want = want[from:min(from+5, len(in))]
		for name, res := range map[string]result{"kept": {bitset: r.set, of: r}, "not kept": {bitset: r.set}} {
			var got []uint32
			s.each(res, len(in), from, desc, func(o uint32) bool {
				got = append(got, o)
				return len(got) < 5
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%s: from %d, descending %t: %v, want %v", name, from, desc, got, want)
			}
		}
		lo := rng.Int64N(1004)
		hi := lo + rng.Int64N(50) - 2
		dst := slices.Clone(s.in)
		s.narrow(dst, &lo, &hi)
		for _, o := range sorted {
			if inside := lo <= s.keys[o] && s.keys[o] <= hi; dst.has(o) != inside {
				t.Fatalf("[%d, %d]: %d is in it: %t, want %t", lo, hi, s.keys[o], dst.has(o), inside)
			}
		}
	}
}
