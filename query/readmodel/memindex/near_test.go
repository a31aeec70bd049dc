package memindex

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// The words near to a word are those that a look at each of them finds, whatever their
// letters and lengths.
func TestNear(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(5, 1))
	letters := []rune("abcdeéжя乐")
	word := func(least, most int) string {
		var b strings.Builder
		for range least + g.IntN(most-least+1) {
			b.WriteRune(letters[g.IntN(len(letters)-1)])
		}
		return b.String()
	}
	d := newDict(calendar.LangEN)
	var words []string
	for range 4000 {
		words = append(words, word(1, 10))
	}
	for _, n := range []int{30, 31, 32, 33, 60, 118, 119, 120} { // beyond what a hint tells
		w := word(n, n)
		words = append(words, w, w[:len(w)-2]+"q", "q"+w)
	}
	for _, w := range append(words, "乐", "音") {
		d.intern(w)
	}
	a, _ := d.ids.get("乐")
	b, _ := d.ids.get("音")
	d.internPair(a, b)
	found := 0
	for range 300 {
		query := words[g.IntN(len(words))]
		if r := []rune(query); g.IntN(2) == 0 {
			r[g.IntN(len(r))] = 'x'
			query = string(r)
		}
		for typos := 1; typos <= readmodel.MaxTypos; typos++ {
			want := nearWords{most: typos}
			for id := range d.words {
				if n := readmodel.Typos(query, d.words[id].text, typos); d.words[id].text != "" && n > 0 && n <= typos {
					want.words[n-1] = append(want.words[n-1], uint32(id))
					found++
				}
			}
			if got := d.near(query, typos); !reflect.DeepEqual(got, want) {
				t.Fatalf("near %q with %d typos: %v, want %v", query, typos, got, want)
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d words were near", found)
	}
}
