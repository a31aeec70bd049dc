package readmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"daybook/calendar"
)

// Expression is a parsed search (interface 4.7).
type Expression struct {
	Query string        // as sent
	Lang  calendar.Lang // of the request

	// Must are the pieces that have to fit, each somewhere; what is said twice is there
	// once.
	Must []Piece
	// Ranked are those that count in the ranks 1, 4 and 5, in the order sent, at most
	// MostRanked; what is said twice counts twice.
	Ranked []Piece
	// Not are groups of pieces; a record in which all pieces of a group fit is
	// left out. A group has more than one piece only where the text after the
	// minus is joined without white space, as in -hip-hop.
	Not [][]Piece
	// Full are all tokens of the search in order but those after a minus, with Break
	// between two runs of characters.
	Full []string
}

// The limits of a search (interface 9). What a search costs an index grows with
// them, so they hold whatever is in the index.
const (
	MaxWords = 32 // pieces
	MaxRows  = 8  // pieces of several words or characters in a row
)

// Within tells whether the search keeps the limits.
func (e Expression) Within() bool {
	words, rows := 0, 0
	count := func(pieces []Piece) {
		words += len(pieces)
		for _, p := range pieces {
			if len(p.Tokens) > 1 {
				rows++
			}
		}
	}
	count(e.Must)
	for _, group := range e.Not {
		count(group)
	}
	return words <= MaxWords && rows <= MaxRows
}

// Piece is what has to fit in one field: a word, a run of Chinese, Japanese or
// Korean characters, or quoted words in a row.
type Piece struct {
	// Tokens are as Tokens gives them: one for a word, one per character of a
	// run, all of a quoted text.
	Tokens []string
	// InRow: the tokens have to stand in a row, whole or by stem. Otherwise the
	// piece is one word, which fits by its beginning or the beginning of its stem.
	InRow bool
}

// IsZero tells whether the search has no word; it finds nothing then.
func (e Expression) IsZero() bool { return len(e.Must) == 0 && len(e.Not) == 0 }

// ParseSearch reads a search as sent. Single Latin letters and the common words
// of l, the language of the request, are left out unless nothing else remains;
// that holds for words after a minus too, and never for quoted ones. A minus
// counts at the start or after white space, directly before a word or a quote; a
// quote without a partner, and every other character, separates.
func ParseSearch(query string, l calendar.Lang) Expression {
	p := searchParser{rest: query, quotes: strings.Count(query, `"`)}
	p.parse()
	all := Expression{Query: query, Lang: l}
	kept := all
	var full []string
	for _, g := range p.groups {
		if !g.not {
			full = appendTokens(full, g.pieces)
		}
		all.add(g.not, g.pieces)
		left := make([]Piece, 0, len(g.pieces))
		for _, piece := range g.pieces {
			if !piece.leftOut(l) {
				left = append(left, piece)
			}
		}
		kept.add(g.not, left)
	}
	if kept.IsZero() {
		kept = all
	}
	kept.Full = full
	return kept
}

// appendTokens appends the tokens of pieces as Tokens would give them.
func appendTokens(to []string, pieces []Piece) []string {
	for _, p := range pieces {
		if n := len(to); n > 0 && IsCJKToken(to[n-1]) && IsCJKToken(p.Tokens[0]) {
			to = append(to, Break)
		}
		to = append(to, p.Tokens...)
	}
	return to
}

func (e *Expression) add(not bool, pieces []Piece) {
	switch {
	case len(pieces) == 0:
	case not:
		if !slices.ContainsFunc(e.Not, func(known []Piece) bool { return slices.EqualFunc(known, pieces, Piece.equal) }) {
			e.Not = append(e.Not, pieces)
		}
	default:
		for _, p := range pieces {
			if !slices.ContainsFunc(e.Must, p.equal) {
				e.Must = append(e.Must, p)
			}
			if len(e.Ranked) < MostRanked {
				e.Ranked = append(e.Ranked, p)
			}
		}
	}
}

func (p Piece) equal(q Piece) bool { return p.InRow == q.InRow && slices.Equal(p.Tokens, q.Tokens) }

// leftOut tells whether a piece counts only when nothing else remains.
func (p Piece) leftOut(l calendar.Lang) bool {
	if p.InRow {
		return false
	}
	w := p.Tokens[0]
	r, size := utf8.DecodeRuneInString(w)
	return size == len(w) && unicode.Is(unicode.Latin, r) || IsCommon(w, l)
}

type searchGroup struct {
	not    bool
	pieces []Piece
}

type searchParser struct {
	rest   string
	quotes int // still to come
	groups []searchGroup
}

func (p *searchParser) parse() {
	atStart := true // or after white space
	not := false    // inside of a group after a minus
	words := strings.Builder{}
	flush := func() {
		p.words(not, words.String())
		words.Reset()
	}
	for p.rest != "" {
		r, size := utf8.DecodeRuneInString(p.rest)
		switch {
		case r == '"' && p.quotes >= 2:
			flush()
			quoted, rest, _ := strings.Cut(p.rest[1:], `"`)
			p.rest, p.quotes = rest, p.quotes-2
			if t := Tokens(quoted); len(t) > 0 {
				p.groups = append(p.groups, searchGroup{not, []Piece{{Tokens: t, InRow: true}}})
			}
			not, atStart = false, false
			continue
		case r == '-' && atStart && p.minusCounts(p.rest[size:]):
			flush()
			not, atStart = true, false
		case unicode.IsSpace(r):
			words.WriteByte(' ')
			if not {
				flush()
				not = false
			}
			atStart = true
		case r == '"':
			p.quotes--
			words.WriteByte(' ')
			atStart = false
		default:
			words.WriteString(p.rest[:size])
			atStart = false
		}
		p.rest = p.rest[size:]
	}
	flush()
}

// minusCounts tells whether a minus stands directly before a word or a quote
// that has a partner.
func (p *searchParser) minusCounts(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return isWordRune(r) || r == '"' && p.quotes >= 2
}

// words adds the words of a text that is not quoted: one group after a minus,
// else each by itself.
func (p *searchParser) words(not bool, text string) {
	var pieces []Piece
	tokens := Tokens(text)
	for i := 0; i < len(tokens); {
		switch {
		case tokens[i] == Break:
			i++
		case IsCJKToken(tokens[i]):
			end := i + 1
			for end < len(tokens) && IsCJKToken(tokens[end]) {
				end++
			}
			pieces = append(pieces, Piece{Tokens: tokens[i:end:end], InRow: true})
			i = end
		default:
			pieces = append(pieces, Piece{Tokens: tokens[i : i+1 : i+1]})
			i++
		}
	}
	if len(pieces) > 0 {
		p.groups = append(p.groups, searchGroup{not, pieces})
	}
}

// begins gives the test whether a word of a text of language l fits a piece that is a
// single word.
func (p Piece) begins(l calendar.Lang) func(token string) bool {
	word := p.Tokens[0]
	stem := Stem(word, l)
	return func(token string) bool {
		// A stem has the first letter of its word.
		return strings.HasPrefix(token, word) || token[0] == stem[0] && strings.HasPrefix(Stem(token, l), stem)
	}
}

// fits tells whether a piece fits in the tokens of a text of language l.
func (p Piece) fits(tokens []string, l calendar.Lang) bool {
	if !p.InRow {
		return slices.ContainsFunc(tokens, p.begins(l))
	}
	for i := 0; i+len(p.Tokens) <= len(tokens); i++ {
		if p.fitsAt(tokens[i:], l) {
			return true
		}
	}
	return false
}

// fitsAt compares by stem only: equal words have equal stems.
func (p Piece) fitsAt(tokens []string, l calendar.Lang) bool {
	for i, q := range p.Tokens {
		if q != tokens[i] && Stem(q, l) != Stem(tokens[i], l) {
			return false
		}
	}
	return true
}
