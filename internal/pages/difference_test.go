package pages

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDiffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 10*maxWords)
	for _, tt := range []struct{ name, before, after, went, came string }{
		{"equal", "a b c", "a  b\nc", "", ""},
		{"nothing before", "", "a b", "", "a b"},
		{"nothing after", "a b", "", "a b", ""},
		{"one word", "open on all days", "closed on all days", "open", "closed"},
		{"in the middle", "the quay is open from noon", "the quay is closed until noon", "open from", "closed until"},
		{"two places", "a b c d e f", "a x c d y f", "b|e", "x|y"},
		{"moved", "a b c d", "b c d a", "a", "a"},
		{"more of the same", "a a a", "a a a a", "", "a"},
		{"without spaces", "今晚七点开始", "今晚八点开始", "七", "八"},
		{"nothing in common", "a b c", "x y", "a b c", "x y"},
		{"at the end of a long one", long + "a", long + "b", "a", "b"},
	} {
		went, came := differ(tt.before, tt.after)
		if strings.Join(went, "|") != tt.went || strings.Join(came, "|") != tt.came {
			t.Errorf("%s: went %q, came %q, want %q, %q", tt.name, went, came, tt.went, tt.came)
		}
	}
	numbered := func(letter string) string {
		var builder strings.Builder
		for i := range 3000 {
			builder.WriteString(letter + strconv.Itoa(i) + " same ")
		}
		return builder.String()
	}
	went, _ := differ(numbered("a"), numbered("b"))
	if got := len(strings.Fields(strings.Join(went, " "))); got != maxShown+1 || !strings.HasSuffix(went[len(went)-1], "…") {
		t.Errorf("of texts that differ much %d words are shown", got)
	}
}

// less returns words without those of runs, which stand in them in this order.
func less(words, runs []string) (out []string) {
	gone := strings.Fields(strings.Join(runs, " "))
	for _, text := range words {
		if len(gone) > 0 && gone[0] == text {
			gone = gone[1:]
		} else {
			out = append(out, text)
		}
	}
	return out
}

// TestDifferKeepsOrder: what is common to both is the same words in both, and as many as there
// can be.
func TestDifferKeepsOrder(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(3, 4))
	words := func() []string {
		out := make([]string, dice.IntN(20))
		for i := range out {
			out[i] = string(rune('a' + dice.IntN(4)))
		}
		return out
	}
	for range 2000 {
		a, b := words(), words()
		went, came := differ(strings.Join(a, " "), strings.Join(b, " "))
		got, also := less(a, went), less(b, came)
		slices.Sort(got)
		slices.Sort(also)
		longest := make([]int, len(b)+1)
		for i := range a {
			before := 0
			for j := range b {
				here := longest[j+1]
				if a[i] == b[j] {
					longest[j+1] = before + 1
				} else {
					longest[j+1] = max(longest[j], here)
				}
				before = here
			}
		}
		if !slices.Equal(got, also) || len(got) != longest[len(b)] {
			t.Fatalf("of %q and %q: %q and %q, %d are common", a, b, got, also, longest[len(b)])
		}
	}
}
