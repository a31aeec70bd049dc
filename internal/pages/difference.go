package pages

import (
	"regexp"
	"slices"
	"unicode/utf8"
)

// Bounds of the comparison of two texts.
const (
	longText = 100     // characters from which on only what changed in a text is shown
	maxWords = 4000    // that are compared, from the first one that differs on
	maxPairs = 1 << 20 // words of one times words of the other; of texts that differ in more, all between their ends is shown
	maxShown = 300     // changed words of a text that are shown
)

// isLong tells whether of a change between two texts only what changed is shown.
func isLong(texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return utf8.RuneCountInString(s) > longText })
}

// Characters of scripts without spaces are words of their own.
var (
	words     = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}]|[^\s\p{Z}\p{Han}\p{Hiragana}\p{Katakana}]+`)
	character = regexp.MustCompile(`^[\p{Han}\p{Hiragana}\p{Katakana}]$`)
)

// differ gives the words that went from a text, and those that came: a run for words that
// stand together.
func differ(before, after string) (went, came []string) {
	a, b := words.FindAllString(before, -1), words.FindAllString(after, -1)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	a, b = a[:min(len(a), maxWords)], b[:min(len(b), maxWords)]
	inA, inB := common(a, b)
	return runsOf(a, inA), runsOf(b, inB)
}

// common marks the words of a longest list that two have in the same order; none of lists
// that are too long for that.
func common(a, b []string) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	if len(a)*len(b) > maxPairs {
		return inA, inB
	}
	width := len(b) + 1
	longest := make([]uint16, (len(a)+1)*width) // by what is left of both
	for i, left := range slices.Backward(a) {
		for j, right := range slices.Backward(b) {
			at := i*width + j
			if longest[at] = max(longest[at+1], longest[at+width]); left == right {
				longest[at] = longest[at+width+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// runsOf gives the words that are not in common, as many as are shown.
func runsOf(words []string, inCommon []bool) (out []string) {
	last, shown := -2, 0
	for i, w := range words {
		if inCommon[i] {
			continue
		}
		if shown++; shown > maxShown+1 {
			break
		} else if shown > maxShown {
			w = "…"
		}
		switch {
		case last != i-1:
			out = append(out, w)
		case character.MatchString(w) && character.MatchString(words[last]):
			out[len(out)-1] += w
		default:
			out[len(out)-1] += " " + w
		}
		last = i
	}
	return out
}
