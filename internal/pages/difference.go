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
	first, second := words.FindAllString(before, -1), words.FindAllString(after, -1)
	for range 2 { // from both ends
		for len(first) > 0 && len(second) > 0 && first[0] == second[0] {
			first, second = first[1:], second[1:]
		}
		slices.Reverse(first)
		slices.Reverse(second)
	}
	first, second = first[:min(len(first), maxWords)], second[:min(len(second), maxWords)]
	if len(first)*len(second) > maxPairs {
		return runs(first), runs(second)
	}
	width := len(second) + 1
	longest := make([]uint16, (len(first)+1)*width) // of the words from one of a and one of b on
	for i, left := range slices.Backward(first) {
		for j, right := range slices.Backward(second) {
			index := i*width + j
			if longest[index] = max(longest[index+1], longest[index+width]); left == right {
				longest[index] = longest[index+width+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(first) && j < len(second) {
		switch index := i*width + j; {
		case first[i] == second[j]:
			went, came = append(went, ""), append(came, "")
			i, j = i+1, j+1
		case longest[index+width] >= longest[index+1]:
			went = append(went, first[i])
			i++
		default:
			came = append(came, second[j])
			j++
		}
	}
	return runs(append(went, first[i:]...)), runs(append(came, second[j:]...))
}

// runs joins words that stand together, as many as are shown; "" is between those that do not.
func runs(words []string) (names []string) {
	last, shown := "", 0
	for _, text := range words {
		if text != "" {
			shown++
		}
		switch {
		case text == "":
		case shown > maxShown:
			names[len(names)-1] += " …"
			return names
		case last == "":
			names = append(names, strings.Clone(text))
		case character.MatchString(text) && character.MatchString(last):
			names[len(names)-1] += text
		default:
			names[len(names)-1] += " " + text
		}
		last = text
	}
	return names
}
