package memindex

import (
	"slices"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// dict names the words of the texts of one language by small numbers, and finds
// them by their beginning and by the beginning of their stem. A word stays known
// when the last document that has it goes; only Reset forgets it.
type dict struct {
	lang  calendar.Lang
	ids   map[string]uint32
	pairs map[[2]uint32]uint32 // by the numbers of two characters
	words []word
	roots []uint32 // by word: its stem; beside the words, as searches for rows run over it
	order []uint32 // words that are found by beginning, by text

	stemIDs   map[string]uint32
	stems     []stem
	stemOrder []uint32 // stems that are found by beginning, by text
}

type word struct {
	text string
	char bool // a character that is compared by pairs
}

type stem struct {
	text  string
	words []uint32
}

// breakWord is the number of readmodel.Break in every dict.
const breakWord = 0

func newDict(l calendar.Lang) *dict {
	d := &dict{lang: l, ids: map[string]uint32{}, pairs: map[[2]uint32]uint32{}, stemIDs: map[string]uint32{}}
	d.intern(readmodel.Break)
	return d
}

// whole tells whether a word is found as a whole only: a character or a pair of
// characters that are compared by pairs, and the break between them.
func whole(text string) bool {
	return text == readmodel.Break || isPair(text) || readmodel.IsCJKToken(text)
}

// isPair tells whether a word is one that pairOf made.
func isPair(text string) bool { return len(text) > 0 && text[0] == pairMark }

const pairMark = '+' // no letter and no digit: no token begins with it

// pairOf names two characters that stand in a row.
func pairOf(a, b string) string { return string(pairMark) + a + b }

// intern gives the number of a word and makes one when it is new.
func (d *dict) intern(text string) uint32 {
	if id, ok := d.ids[text]; ok {
		return id
	}
	return d.add(strings.Clone(text))
}

func (d *dict) add(text string) uint32 {
	id := uint32(len(d.words))
	d.ids[text] = id
	root := text
	if !whole(text) {
		root = readmodel.Stem(text, d.lang)
		d.order = insertByText(d.order, id, text, func(id uint32) string { return d.words[id].text })
	}
	s, ok := d.stemIDs[root]
	if !ok {
		s = uint32(len(d.stems))
		if root != text {
			root = strings.Clone(root)
		}
		d.stemIDs[root] = s
		if !whole(text) {
			d.stemOrder = insertByText(d.stemOrder, s, root, func(id uint32) string { return d.stems[id].text })
		}
		d.stems = append(d.stems, stem{text: root})
	}
	d.stems[s].words = append(d.stems[s].words, id)
	d.words = append(d.words, word{text: text, char: isChar(text)})
	d.roots = append(d.roots, s)
	return id
}

func isChar(token string) bool { return token != "" && token[0] >= 0x80 && readmodel.IsCJKToken(token) }

// internPair gives the number of two characters that stand in a row.
func (d *dict) internPair(a, b uint32) uint32 {
	id, ok := d.pairs[[2]uint32{a, b}]
	if !ok {
		id = d.add(pairOf(d.words[a].text, d.words[b].text))
		d.pairs[[2]uint32{a, b}] = id
	}
	return id
}

func insertByText(order []uint32, id uint32, text string, textOf func(uint32) string) []uint32 {
	i, _ := slices.BinarySearchFunc(order, text, func(id uint32, text string) int {
		return strings.Compare(textOf(id), text)
	})
	return slices.Insert(order, i, id)
}

// fill makes an empty dict of many words at once, in the order of their numbers.
func (d *dict) fill(texts []string) {
	*d = dict{
		lang: d.lang, ids: make(map[string]uint32, len(texts)), stemIDs: make(map[string]uint32, len(texts)),
		pairs: map[[2]uint32]uint32{}, words: make([]word, 0, len(texts)),
	}
	for i, text := range texts {
		id := uint32(i)
		d.ids[text] = id
		root := text
		if !whole(text) {
			root = readmodel.Stem(text, d.lang)
			d.order = append(d.order, id)
		}
		s, ok := d.stemIDs[root]
		if !ok {
			s = uint32(len(d.stems))
			d.stemIDs[root] = s
			if !whole(text) {
				d.stemOrder = append(d.stemOrder, s)
			}
			d.stems = append(d.stems, stem{text: root})
		}
		d.stems[s].words = append(d.stems[s].words, id)
		d.words = append(d.words, word{text: text, char: isChar(text)})
		d.roots = append(d.roots, s)
		if isPair(text) {
			_, size := utf8.DecodeRuneInString(text[1:])
			d.pairs[[2]uint32{d.ids[text[1:1+size]], d.ids[text[1+size:]]}] = id
		}
	}
	slices.SortFunc(d.order, func(a, b uint32) int { return strings.Compare(d.words[a].text, d.words[b].text) })
	slices.SortFunc(d.stemOrder, func(a, b uint32) int { return strings.Compare(d.stems[a].text, d.stems[b].text) })
}

// beginning gives the numbers of the words that a word of a query fits: those
// that begin with it, and those whose stem begins with its stem. The second list
// may repeat words of the first.
func (d *dict) beginning(text string) []uint32 {
	out := slices.Clone(withPrefix(d.order, text, func(id uint32) string { return d.words[id].text }))
	root := readmodel.Stem(text, d.lang)
	for _, s := range withPrefix(d.stemOrder, root, func(id uint32) string { return d.stems[id].text }) {
		for _, id := range d.stems[s].words {
			if !strings.HasPrefix(d.words[id].text, text) {
				out = append(out, id)
			}
		}
	}
	return out
}

func withPrefix(order []uint32, prefix string, textOf func(uint32) string) []uint32 {
	lo, _ := slices.BinarySearchFunc(order, prefix, func(id uint32, p string) int { return strings.Compare(textOf(id), p) })
	n, _ := slices.BinarySearchFunc(order[lo:], prefix, func(id uint32, p string) int {
		if strings.HasPrefix(textOf(id), p) {
			return -1
		}
		return 1
	})
	return order[lo : lo+n]
}
