package pages

import (
	"regexp"
	"slices"
	"strings"
)

// Bounds of the comparison of two texts.
const (
	longText = 100      // characters from which on only what changed in a text is shown
	maxText  = 64 << 10 // bytes of a text that are looked at
	maxWords = 4000     // that are compared, from the first one that differs on
	maxPairs = 1 << 20  // words of one times words of the other; of texts that differ in more, all between their ends is shown
	maxShown = 300      // changed words of a text that are shown
)

// Characters of scripts without spaces are words of their own.
var (
	words     = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}]|[^\s\p{Z}\p{Han}\p{Hiragana}\p{Katakana}]+`)
	character = regexp.MustCompile(`^[\p{Han}\p{Hiragana}\p{Katakana}]$`)
)

// differ returns the words that went from a text, and those that came: a run for words that
// stand together. What stays is a longest list of words that both have in the same order;
// nothing of texts that are too long for that.
func differ(before, after string) (went, came []string) {
	a, b := words.FindAllString(before, -1), words.FindAllString(after, -1)
	for range 2 { // from both ends
		for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
			a, b = a[1:], b[1:]
		}
		slices.Reverse(a)
		slices.Reverse(b)
	}
	a, b = a[:min(len(a), maxWords)], b[:min(len(b), maxWords)]
	if len(a)*len(b) > maxPairs {
		return runs(a), runs(b)
	}
	width := len(b) + 1
	longest := make([]uint16, (len(a)+1)*width) // of the words from one of a and one of b on
	for i, left := range slices.Backward(a) {
		for j, right := range slices.Backward(b) {
			at := i*width + j
			if longest[at] = max(longest[at+1], longest[at+width]); left == right {
				longest[at] = longest[at+width+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch at := i*width + j; {
		case a[i] == b[j]:
			went, came = append(went, ""), append(came, "")
			i, j = i+1, j+1
		case longest[at+width] >= longest[at+1]:
			went = append(went, a[i])
			i++
		default:
			came = append(came, b[j])
			j++
		}
	}
	return runs(append(went, a[i:]...)), runs(append(came, b[j:]...))
}

// runs joins words that stand together, as many as are shown; "" is between those that do not.
func runs(words []string) (out []string) {
	last, shown := "", 0
	for _, text := range words {
		if text != "" {
			shown++
		}
		switch {
		case text == "":
		case shown > maxShown:
			out[len(out)-1] += " …"
			return out
		case last == "":
			out = append(out, strings.Clone(text))
		case character.MatchString(text) && character.MatchString(last):
			out[len(out)-1] += text
		default:
			out[len(out)-1] += " " + text
		}
		last = text
	}
	return out
}
