package readmodel

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// Highlighter marks in shown texts what a search fits (LISTINGS 3.4).
type Highlighter struct {
	Search Expression
	Spelling
}

// Name returns a name in a language as HTML with its marks, "" without any.
func (highlighter *Highlighter) Name(name string, language calendar.Lang) string {
	return highlighter.Snippet(name, language, len(name))
}

// Snippet returns the part of a text with its first mark, of at most length characters, as
// HTML with its marks; "" without any. A run of white space in the text counts as a space.
func (highlighter *Highlighter) Snippet(text string, language calendar.Lang, length int) string {
	marked := highlighter.mark(strings.Join(strings.Fields(text), " "), language)
	from := slices.Index(marked.marks, true)
	if from < 0 {
		return ""
	}
	part := marked.snippet(textSpan{from, from + slices.Index(marked.marks[from:], false)}, length)
	var builder strings.Builder
	if part.from > 0 {
		builder.WriteString("…")
	}
	for begin, end := part.from, part.from; begin < part.until; begin = end {
		for end < part.until && marked.marks[end] == marked.marks[begin] {
			end++
		}
		shown := htmltext.Escape(string(marked.letters[begin:end]))
		if marked.marks[begin] {
			shown = "<mark>" + shown + "</mark>"
		}
		builder.WriteString(shown)
	}
	if part.until < len(marked.letters) {
		builder.WriteString("…")
	}
	return builder.String()
}

// markedText is a text with places of it, in characters.
type markedText struct {
	letters []rune
	words   []textSpan // of its tokens
	edges   []bool     // whether grapheme clusters (Unicode UAX 29, extended) begin or end there
	marks   []bool     // whether a search fits there; whole clusters, and never the end
}

// mark finds the marks of a text.
func (highlighter *Highlighter) mark(text string, language calendar.Lang) *markedText {
	letters := []rune(text)
	result, shown := &markedText{letters: letters, edges: make([]bool, len(letters)+1), marks: make([]bool, len(letters)+1)}, shownText{language: language}
	eachToken(text, func(token string, span textSpan) {
		shown.tokens, result.words = append(shown.tokens, token), append(result.words, span)
	})
	result.edges[0] = true
	for index := 0; text != ""; result.edges[index] = true {
		cluster := text[:1]
		if !isAlone(text) {
			cluster, _, _, _ = uniseg.FirstGraphemeClusterInString(text, -1)
		}
		text = text[len(cluster):]
		index += utf8.RuneCountInString(cluster)
	}
	for _, piece := range highlighter.Search.Must {
		for _, place := range shown.places(piece, highlighter.Spelling) {
			until := result.edge(result.words[place.until-1].until, 1)
			for index := result.edge(result.words[place.from].from, -1); index < until; index++ {
				result.marks[index] = true
			}
		}
	}
	return result
}

// edge returns the edge of a cluster that is next to a place in a direction, 1 or -1.
func (marked *markedText) edge(index, step int) int {
	for !marked.edges[index] {
		index += step
	}
	return index
}

// beforeMark is how far ahead of the first mark a snippet begins.
const beforeMark = 60

// snippet returns the part of a text that is shown, with its first mark.
func (marked *markedText) snippet(first textSpan, length int) textSpan {
	size := len(marked.letters)
	from := 0
	until := marked.edge(min(length, size), -1)
	if first.until > until { // a mark that would lie behind the end moves the beginning
		least := min(max(first.from-beforeMark, first.until-length), first.from)
		word := slices.IndexFunc(marked.words, func(word textSpan) bool { return word.from >= least })
		from = marked.edge(min(marked.words[word].from, first.from), 1)
		until = marked.edge(min(from+length, size), -1)
	}
	if word := slices.IndexFunc(marked.words, func(word textSpan) bool { return word.until > until && word.from > from }); word >= 0 {
		until = marked.edge(min(until, marked.words[word].from), -1)
	}
	for until > from && marked.letters[until-1] == ' ' {
		until--
	}
	return textSpan{from, until}
}
