package pages

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the comparison of two texts.
const (
	longText  = 100  // characters from which on only what changed in a text is shown
	mostWords = 4000 // of a text that are compared
	mostSteps = 400  // words that came or went; of texts that differ in more, all between their ends is shown
	mostShown = 300  // changed words of a text that are shown
)

// isLong tells whether of a change between two texts only what changed is shown.
func isLong(texts ...string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return utf8.RuneCountInString(s) > longText })
}

// alone tells that a character is a word of its own: of scripts without spaces.
func alone(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// wordsOf are the words of a text.
func wordsOf(text string) (out []string) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			out, start = append(out, text[start:at]), -1
		}
	}
	for i, r := range text {
		switch {
		case len(out) >= mostWords:
			return out
		case unicode.IsSpace(r):
			end(i)
		case alone(r):
			end(i)
			out = append(out, string(r))
		case start < 0:
			start = i
		}
	}
	end(len(text))
	return out
}

// differ gives the words that went from a text, and those that came: a run for words that
// stand together.
func differ(before, after string) (went, came []string) {
	begin := 0 // of the first word that may differ
	for i, r := range before {
		if next, _ := utf8.DecodeRuneInString(after[min(i, len(after)):]); next != r {
			break
		}
		if unicode.IsSpace(r) || alone(r) {
			begin = i
		}
	}
	a, b := wordsOf(before[begin:]), wordsOf(after[begin:])
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	inA, inB := common(a, b)
	return runsOf(a, inA), runsOf(b, inB)
}

// common marks the words that two lists have in the same order (Myers, An O(ND) Difference
// Algorithm, 1986); none where they differ in more than mostSteps.
func common(a, b []string) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	most := min(len(a)+len(b), mostSteps)
	middle := most + 1
	reach := make([]int, 2*most+3) // by diagonal: how far into a
	var trace [][]int              // reach before each step
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(reach[middle-d-1:middle+d+2]))
		for k := -d; k <= d; k += 2 {
			x := reach[from(reach, middle, d, k)+middle]
			if from(reach, middle, d, k) < k {
				x++
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			if reach[middle+k] = x; x >= len(a) && x-k >= len(b) {
				mark(trace, inA, inB)
				return inA, inB
			}
		}
	}
	return inA, inB
}

// from is the diagonal from which a diagonal is reached in a step.
func from(reach []int, middle, d, k int) int {
	if k == -d || k != d && reach[middle+k-1] < reach[middle+k+1] {
		return k + 1
	}
	return k - 1
}

// mark goes the way back.
func mark(trace [][]int, inA, inB []bool) {
	x, y := len(inA), len(inB)
	for d, reach := range slices.Backward(trace) {
		before := from(reach, d+1, d, x-y)
		toX := reach[d+1+before]
		for x > toX && y > toX-before {
			x, y = x-1, y-1
			inA[x], inB[y] = true, true
		}
		x, y = toX, toX-before
	}
}

// runsOf gives the words that are not in common, as many as are shown.
func runsOf(words []string, inCommon []bool) (out []string) {
	var run strings.Builder
	last, shown := ' ', 0
	for i, w := range words {
		if inCommon[i] {
			if run.Len() > 0 {
				out = append(out, run.String())
				run.Reset()
			}
			continue
		}
		if shown++; shown > mostShown {
			run.WriteString(" …")
			break
		}
		if next, _ := utf8.DecodeRuneInString(w); run.Len() > 0 && (!alone(last) || !alone(next)) {
			run.WriteByte(' ')
		}
		run.WriteString(w)
		last, _ = utf8.DecodeLastRuneInString(w)
	}
	if run.Len() > 0 {
		out = append(out, run.String())
	}
	return out
}
