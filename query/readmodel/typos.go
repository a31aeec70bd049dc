package readmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTypos is the most typos that a word may have (LISTINGS 3.3).
const MaxTypos = 2

// Typos returns how many typos lie between the letters of two tokens: a letter put in, left out, replaced,
// or swapped with its neighbour, of which no letter is part of two (optimal string
// alignment). Above most, which is small and not negative, it is most + 1.
func Typos(first, second []rune, most int) int {
	if count := len(first) - len(second); count > most || -count > most {
		return most + 1
	}
	for len(first) > 0 && len(second) > 0 && first[0] == second[0] {
		first, second = first[1:], second[1:]
	}
	if len(first)+len(second) == 0 {
		return 0
	}
	least := most // typos of what stands behind the first one
	edit := func(inFirst, inSecond int) {
		if least > 0 && inFirst <= len(first) && inSecond <= len(second) {
			least = min(least, Typos(first[inFirst:], second[inSecond:], least-1))
		}
	}
	edit(0, 1)
	edit(1, 0)
	edit(1, 1)
	if len(first) > 1 && len(second) > 1 && first[0] == second[1] && first[1] == second[0] {
		edit(2, 2)
	}
	return least + 1
}

// Most returns how many typos a piece may have where a word may have so many: 0 except for
// a single word of letters, which has four characters or more for each.
func (piece Piece) Most(step int) int {
	if step == 0 || !piece.IsWord() || strings.ContainsFunc(piece.Tokens[0], unicode.IsDigit) {
		return 0
	}
	return min(step, MaxTypos, utf8.RuneCountInString(piece.Tokens[0])/4)
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
			return len(piece.Spelled(spelling)) > 1
		}
		if step == 0 || slices.ContainsFunc(expression.Must, more) {
			steps = append(steps, step)
		}
	}
	return steps
}
