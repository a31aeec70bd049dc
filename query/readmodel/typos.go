package readmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTypos is the most typos that a word may have (LISTINGS 3.3).
const MaxTypos = 2

// lettersPerTypo is how many characters a word of a search has for each typo that it may have:
// from four on one, from eight on two.
const lettersPerTypo = 4

// Typos gives how many typos lie between two tokens: a letter put in, left out, replaced,
// or swapped with its neighbour, of which no letter is part of two (optimal string
// alignment). Above most, which is not negative, it is most + 1.
func Typos(first, second string, most int) int {
	x, y := []rune(first), []rune(second) // at most maxTokenRunes
	if count := len(x) - len(y); count > most || -count > most {
		return most + 1
	}
	var rows [3][maxTokenRunes + 1]uint8
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range len(y) + 1 {
		above[j] = uint8(j)
	}
	for i := 1; i <= len(x); i++ {
		row[0] = uint8(i)
		least := row[0]
		for j := 1; j <= len(y); j++ {
			d := above[j-1]
			if x[i-1] != y[j-1] {
				d = min(d, above[j], row[j-1]) + 1
				if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
					d = min(d, before[j-2]+1)
				}
			}
			row[j] = d
			least = min(least, d)
		}
		if int(least) > most { // and so are all rows below
			return most + 1
		}
		before, above, row = above, row, before
	}
	return min(int(above[len(y)]), most+1)
}

// Most returns how many typos a piece may have where a word may have so many: 0 except for
// a single word of letters.
func (piece Piece) Most(step int) int {
	if step == 0 || !piece.IsWord() || strings.ContainsFunc(piece.Tokens[0], unicode.IsDigit) {
		return 0
	}
	return min(step, MaxTypos, utf8.RuneCountInString(piece.Tokens[0])/lettersPerTypo)
}

// Spellings are those of the steps of typos=auto; the last one is that of typos=on.
var Spellings = [...]Spelling{{}, {Joined: true}, {Typos: 1, Joined: true}, {Typos: MaxTypos, Joined: true}}

// Steps are the places in Spellings of those of a search, each with what the ones before it
// allow, that may find more than the one before.
func (expression Expression) Steps() (steps []int) {
	for step, spelling := range Spellings {
		more := func(piece Piece) bool {
			if spelling.Typos > 0 {
				return piece.Most(spelling.Typos) == spelling.Typos
			}
			return len(piece.Joined()) > 0
		}
		if step == 0 || slices.ContainsFunc(expression.Must, more) {
			steps = append(steps, step)
		}
	}
	return steps
}
