package readmodel

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"daybook/calendar"
)

// Highlighter marks in shown texts what a search fits (LISTINGS 3.4).
type Highlighter struct {
	pieces   []Piece
	spelling Spelling
}

// NewHighlighter returns one for a search with the spelling that it allows.
func NewHighlighter(expression Expression, spelling Spelling) *Highlighter {
	return &Highlighter{expression.Must, spelling}
}

// Name gives a name in a language as HTML with its marks, "" without any.
func (highlighter *Highlighter) Name(name string, lang calendar.Lang) string {
	marks := highlighter.marks(wordsOf(name), clusters(name), lang)
	if len(marks) == 0 {
		return ""
	}
	return marked(name, textSpan{0, len(name)}, marks)
}

// before is how far ahead of the first mark a snippet begins, in characters.
const before = 60

// Snippet returns the part of a text with its first mark, of at most length characters, as
// HTML with its marks; "" without any. A run of white space in the text counts as a space.
func (highlighter *Highlighter) Snippet(text string, lang calendar.Lang, length int) string {
	text = strings.Join(strings.Fields(text), " ")
	words, places := wordsOf(text), clusters(text)
	marks := highlighter.marks(words, places, lang)
	if len(marks) == 0 {
		return ""
	}
	part := snippet(text, words, places, marks[0], length)
	out := marked(text, part, marks)
	if part.from > 0 {
		out = "…" + out
	}
	if part.to < len(text) {
		out += "…"
	}
	return out
}

// snippet returns the part of a text that is shown.
func snippet(text string, words []textWord, places []int, first textSpan, length int) textSpan {
	end := forward(text, 0, length)
	if end == len(text) {
		return textSpan{0, len(text)}
	}
	end, _ = clusterAt(places, end)
	from := 0
	if first.to > end {
		// A mark that would lie behind the end moves the beginning.
		least := backward(text, first.from, before)
		if forward(text, wordFrom(words, least, first.from), length) < first.to {
			least = min(first.from, max(least, backward(text, first.to, length)))
		}
		_, from = clusterAt(places, wordFrom(words, least, first.from))
		end, _ = clusterAt(places, forward(text, from, length))
	}
	to := end
	for _, textWord := range words {
		if textWord.to > end && textWord.from > from {
			to, _ = clusterAt(places, min(to, textWord.from))
			break
		}
	}
	for to > from && text[to-1] == ' ' {
		to--
	}
	return textSpan{from, to}
}

// wordFrom returns the beginning of the first word that begins at a place or behind it, at
// most otherwise.
func wordFrom(words []textWord, least, otherwise int) int {
	i, _ := slices.BinarySearchFunc(words, least, func(word textWord, least int) int { return word.from - least })
	if i < len(words) {
		return min(words[i].from, otherwise)
	}
	return otherwise
}

// clusters returns the places between the grapheme clusters (Unicode UAX 29, extended) of a
// text, both its ends included.
func clusters(text string) []int {
	places := make([]int, 1, len(text)+1)
	for at := 0; at < len(text); places = append(places, at) {
		if at+1 < len(text) && text[at] < utf8.RuneSelf && text[at+1] < utf8.RuneSelf {
			at++
			continue
		}
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[at:], -1)
		at += len(cluster)
	}
	return places
}

// clusterAt returns the ends of the grapheme cluster that a place lies inside of; between two
// of them both are the place itself.
func clusterAt(clusters []int, at int) (from, to int) {
	i, isBetween := slices.BinarySearch(clusters, at)
	if isBetween {
		return at, at
	}
	return clusters[i-1], clusters[i]
}

// forward returns the place n characters behind another one, or the end.
func forward(text string, from, n int) int {
	for ; n > 0 && from < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// backward returns the place n characters ahead of another one, or the beginning.
func backward(text string, from, n int) int {
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	return from
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// EscapeHTML gives a text as HTML, as highlights have it.
func EscapeHTML(text string) string { return escapeHTML.Replace(text) }

// marked writes a part of a text with the marks in it.
func marked(text string, part textSpan, marks []textSpan) string {
	var builder strings.Builder
	at := part.from
	for _, span := range marks {
		span = textSpan{max(span.from, part.from), min(span.to, part.to)}
		if span.from >= span.to {
			continue
		}
		_, _ = escapeHTML.WriteString(&builder, text[at:span.from]) // a Builder takes all
		builder.WriteString("<mark>")
		_, _ = escapeHTML.WriteString(&builder, text[span.from:span.to])
		builder.WriteString("</mark>")
		at = span.to
	}
	_, _ = escapeHTML.WriteString(&builder, text[at:part.to])
	return builder.String()
}

// marks returns the places of a text that the search fits, in order and apart. They hold
// whole grapheme clusters, of which places are the ends.
func (highlighter *Highlighter) marks(words []textWord, places []int, lang calendar.Lang) []textSpan {
	var out []textSpan
	tokens := make([]string, len(words))
	for i := range words {
		tokens[i] = words[i].token
	}
	for _, piece := range highlighter.pieces {
		piece.eachFit(tokens, lang, highlighter.spelling, func(at, n int) bool {
			from, _ := clusterAt(places, words[at].from)
			_, to := clusterAt(places, words[at+n-1].to)
			out = append(out, textSpan{from, to})
			return true
		})
	}
	slices.SortFunc(out, func(a, b textSpan) int { return a.from - b.from })
	apart := out[:0]
	for _, span := range out {
		if n := len(apart); n > 0 && span.from <= apart[n-1].to {
			apart[n-1].to = max(apart[n-1].to, span.to)
		} else {
			apart = append(apart, span)
		}
	}
	return apart
}

// textWord is a token with the place of its word in the text.
type textWord struct {
	token string
	textSpan
}

// wordsOf returns the tokens of a text with their places.
func wordsOf(text string) (words []textWord) {
	eachToken(text, func(token string, span textSpan) { words = append(words, textWord{token, span}) })
	return words
}
