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
	return highlighter.marked(name, lang, len(name))
}

// Snippet returns the part of a text with its first mark, of at most length characters, as
// HTML with its marks; "" without any. A run of white space in the text counts as a space.
func (highlighter *Highlighter) Snippet(text string, lang calendar.Lang, length int) string {
	return highlighter.marked(strings.Join(strings.Fields(text), " "), lang, length)
}

func (highlighter *Highlighter) marked(text string, lang calendar.Lang, length int) string {
	marked := highlighter.mark(text, lang)
	if len(marked.marks) == 0 {
		return ""
	}
	part := marked.snippet(length)
	out := marked.html(part)
	if part.from > 0 {
		out = "…" + out
	}
	if part.to < len(marked.letters) {
		out += "…"
	}
	return out
}

// markedText is a text with places of it, in characters.
type markedText struct {
	letters []rune
	words   []textSpan // of its tokens
	ends    []int      // of its grapheme clusters (Unicode UAX 29, extended), 0 included
	marks   []textSpan // that a search fits, in order and apart; they hold whole clusters
}

// mark finds the marks of a text.
func (highlighter *Highlighter) mark(text string, lang calendar.Lang) *markedText {
	out := &markedText{letters: []rune(text), ends: clusterEnds(text)}
	var tokens []string
	eachToken(text, func(token string, span textSpan) { tokens, out.words = append(tokens, token), append(out.words, span) })
	var all []textSpan
	for _, piece := range highlighter.pieces {
		piece.eachFit(tokens, lang, highlighter.spelling, func(at, n int) bool {
			from, _ := out.clusterAt(out.words[at].from)
			_, to := out.clusterAt(out.words[at+n-1].to)
			all = append(all, textSpan{from, to})
			return true
		})
	}
	slices.SortFunc(all, func(a, b textSpan) int { return a.from - b.from })
	for _, span := range all {
		if n := len(out.marks); n > 0 && span.from <= out.marks[n-1].to {
			out.marks[n-1].to = max(out.marks[n-1].to, span.to)
		} else {
			out.marks = append(out.marks, span)
		}
	}
	return out
}

// clusterEnds returns the ends of the grapheme clusters of a text, 0 included.
func clusterEnds(text string) []int {
	ends := make([]int, 1, len(text)+1)
	for at, n := 0, 0; at < len(text); ends = append(ends, n) {
		if at+1 < len(text) && text[at] < utf8.RuneSelf && text[at+1] < utf8.RuneSelf {
			at, n = at+1, n+1
			continue
		}
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[at:], -1)
		at, n = at+len(cluster), n+utf8.RuneCountInString(cluster)
	}
	return ends
}

// clusterAt returns the ends of the grapheme cluster that a place lies inside of; between two
// of them both are the place itself.
func (marked *markedText) clusterAt(at int) (from, to int) {
	i, isBetween := slices.BinarySearch(marked.ends, at)
	if isBetween {
		return at, at
	}
	return marked.ends[i-1], marked.ends[i]
}

// beforeMark is how far ahead of the first mark a snippet begins.
const beforeMark = 60

// snippet returns the part of a text that is shown.
func (marked *markedText) snippet(length int) textSpan {
	size, first := len(marked.letters), marked.marks[0]
	if size <= length {
		return textSpan{0, size}
	}
	from := 0
	to, _ := marked.clusterAt(length)
	if first.to > to {
		// A mark that would lie behind the end moves the beginning.
		least := max(first.from-beforeMark, 0)
		if marked.wordFrom(least, first.from)+length < first.to {
			least = min(first.from, max(least, first.to-length))
		}
		_, from = marked.clusterAt(marked.wordFrom(least, first.from))
		to, _ = marked.clusterAt(min(from+length, size))
	}
	if i := slices.IndexFunc(marked.words, func(word textSpan) bool { return word.to > to && word.from > from }); i >= 0 {
		to, _ = marked.clusterAt(min(to, marked.words[i].from))
	}
	for to > from && marked.letters[to-1] == ' ' {
		to--
	}
	return textSpan{from, to}
}

// wordFrom returns the beginning of the first word that begins at a place or behind it, at
// most otherwise.
func (marked *markedText) wordFrom(least, otherwise int) int {
	i, _ := slices.BinarySearchFunc(marked.words, least, func(word textSpan, least int) int { return word.from - least })
	if i < len(marked.words) {
		return min(marked.words[i].from, otherwise)
	}
	return otherwise
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// EscapeHTML gives a text as HTML, as highlights have it.
func EscapeHTML(text string) string { return escapeHTML.Replace(text) }

// html returns a part of the text with the marks in it.
func (marked *markedText) html(part textSpan) string {
	var builder strings.Builder
	write := func(from, to int) { builder.WriteString(EscapeHTML(string(marked.letters[from:to]))) }
	at := part.from
	for _, mark := range marked.marks {
		from, to := max(mark.from, part.from), min(mark.to, part.to)
		if from >= to {
			continue
		}
		write(at, from)
		builder.WriteString("<mark>")
		write(from, to)
		builder.WriteString("</mark>")
		at = to
	}
	write(at, part.to)
	return builder.String()
}
