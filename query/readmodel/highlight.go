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

// Name gives a name in a language as HTML with its marks, "" without any.
func (highlighter *Highlighter) Name(name string, language calendar.Lang) string {
	return highlighter.marked(name, language, len(name))
}

// Snippet returns the part of a text with its first mark, of at most length characters, as
// HTML with its marks; "" without any. A run of white space in the text counts as a space.
func (highlighter *Highlighter) Snippet(text string, language calendar.Lang, length int) string {
	return highlighter.marked(strings.Join(strings.Fields(text), " "), language, length)
}

// marked returns the part of a text that is shown, as HTML with its marks; "" without any.
func (highlighter *Highlighter) marked(text string, language calendar.Lang, length int) string {
	marked := highlighter.mark(text, language)
	if len(marked.marks) == 0 {
		return ""
	}
	part := marked.snippet(length)
	var builder strings.Builder
	write := func(from, until int) { builder.WriteString(htmltext.Escape(string(marked.letters[from:until]))) }
	if part.from > 0 {
		builder.WriteString("…")
	}
	index := part.from
	for _, mark := range marked.marks { // none begins before the part
		if mark.from >= part.until {
			break
		}
		write(index, mark.from)
		index = min(mark.until, part.until)
		builder.WriteString("<mark>")
		write(mark.from, index)
		builder.WriteString("</mark>")
	}
	write(index, part.until)
	if part.until < len(marked.letters) {
		builder.WriteString("…")
	}
	return builder.String()
}

// markedText is a text with places of it, in characters.
type markedText struct {
	letters []rune
	words   []textSpan // of its tokens
	ends    []int      // of its grapheme clusters (Unicode UAX 29, extended), 0 included
	marks   []textSpan // that a search fits, in order and apart; they hold whole clusters
}

// mark finds the marks of a text.
func (highlighter *Highlighter) mark(text string, language calendar.Lang) *markedText {
	result, shown := &markedText{letters: []rune(text), ends: clusterEnds(text)}, shownText{language: language}
	eachToken(text, func(token string, span textSpan) {
		shown.tokens, result.words = append(shown.tokens, token), append(result.words, span)
	})
	var all []textSpan
	for _, piece := range highlighter.Search.Must {
		for _, place := range shown.places(piece, highlighter.Spelling) {
			from, _ := result.clusterAt(result.words[place.from].from)
			_, until := result.clusterAt(result.words[place.until-1].until)
			all = append(all, textSpan{from, until})
		}
	}
	slices.SortFunc(all, func(a, b textSpan) int { return a.from - b.from })
	for _, span := range all {
		if count := len(result.marks); count > 0 && span.from <= result.marks[count-1].until {
			result.marks[count-1].until = max(result.marks[count-1].until, span.until)
		} else {
			result.marks = append(result.marks, span)
		}
	}
	return result
}

// clusterEnds returns the ends of the grapheme clusters of a text, 0 included.
func clusterEnds(text string) []int {
	ends := make([]int, 1, len(text)+1)
	for index, count := 0, 0; index < len(text); ends = append(ends, count) {
		if index+1 < len(text) && text[index] < utf8.RuneSelf && text[index+1] < utf8.RuneSelf {
			index, count = index+1, count+1
			continue
		}
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[index:], -1)
		index, count = index+len(cluster), count+utf8.RuneCountInString(cluster)
	}
	return ends
}

// clusterAt returns the ends of the grapheme cluster that a place lies inside of; between two
// of them both are the place itself.
func (marked *markedText) clusterAt(index int) (from, until int) {
	i, isBetween := slices.BinarySearch(marked.ends, index)
	if isBetween {
		return index, index
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
	until, _ := marked.clusterAt(length)
	if first.until > until { // a mark that would lie behind the end moves the beginning
		least := min(max(first.from-beforeMark, first.until-length), first.from)
		word := slices.IndexFunc(marked.words, func(word textSpan) bool { return word.from >= least })
		_, from = marked.clusterAt(min(marked.words[word].from, first.from))
		until, _ = marked.clusterAt(min(from+length, size))
	}
	if word := slices.IndexFunc(marked.words, func(word textSpan) bool { return word.until > until && word.from > from }); word >= 0 {
		until, _ = marked.clusterAt(min(until, marked.words[word].from))
	}
	for until > from && marked.letters[until-1] == ' ' {
		until--
	}
	return textSpan{from, until}
}
