package memindex

import (
	"slices"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// dict names the words of the texts of one language by small numbers, and finds
// them by their beginning and by the beginning of their stem. The number of a word
// that no document has any more is given to another one; so is that of a stem.
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

	freeWords, freeStems   []uint32
	freshWords, freshStems []uint32 // that are not in the orders yet
	unused                 []uint32 // words that lost their last document
}

type word struct {
	text string // "": the number is free
	uses uint32 // in how many texts of documents it stands
	char bool   // a character that is compared by pairs
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

// ofPair gives the characters of a pair.
func ofPair(text string) (a, b string) {
	_, size := utf8.DecodeRuneInString(text[1:])
	return text[1 : 1+size], text[1+size:]
}

// intern gives the number of a word and makes one when it is new.
func (d *dict) intern(text string) uint32 {
	if id, ok := d.ids[text]; ok {
		return id
	}
	return d.add(strings.Clone(text))
}

// add makes a word; settle takes it into the orders.
func (d *dict) add(text string) uint32 {
	id := d.number()
	d.ids[text] = id
	root := text
	if !whole(text) {
		root = readmodel.Stem(text, d.lang)
		d.freshWords = append(d.freshWords, id)
	}
	s, ok := d.stemIDs[root]
	if !ok {
		if s = uint32(len(d.stems)); len(d.freeStems) > 0 {
			s = d.freeStems[len(d.freeStems)-1]
			d.freeStems = d.freeStems[:len(d.freeStems)-1]
		} else {
			d.stems = append(d.stems, stem{})
		}
		if root != text {
			root = strings.Clone(root)
		}
		d.stemIDs[root] = s
		if !whole(text) {
			d.freshStems = append(d.freshStems, s)
		}
		d.stems[s] = stem{text: root}
	}
	d.stems[s].words = append(d.stems[s].words, id)
	d.words[id] = word{text: text, char: isChar(text)}
	d.roots[id] = s
	return id
}

// number gives the number of a new word.
func (d *dict) number() uint32 {
	if n := len(d.freeWords); n > 0 {
		id := d.freeWords[n-1]
		d.freeWords = d.freeWords[:n-1]
		return id
	}
	d.words, d.roots = append(d.words, word{}), append(d.roots, 0)
	return uint32(len(d.words) - 1)
}

// use counts a text that has a word.
func (d *dict) use(id uint32) { d.words[id].uses++ }

// disuse takes a text back that has a word.
func (d *dict) disuse(id uint32) {
	if d.words[id].uses--; d.words[id].uses == 0 {
		d.unused = append(d.unused, id)
	}
}

// settle ends a batch: words that no document has are forgotten, new ones come into
// the orders. Until then numbers stay what they are, so a word may go and come back
// within a batch.
func (d *dict) settle() {
	if len(d.unused) > 0 {
		d.forgetUnused()
	}
	if len(d.freshWords) > 0 {
		d.order = with(d.order, d.freshWords, d.textOf)
		d.stemOrder = with(d.stemOrder, d.freshStems, d.stemTextOf)
		d.freshWords, d.freshStems = d.freshWords[:0], d.freshStems[:0]
	}
}

// forgetNeverUsed forgets the words that came from a snapshot without a document.
func (d *dict) forgetNeverUsed() {
	for id := range d.words {
		if w := &d.words[id]; w.uses == 0 && w.text != "" && id != breakWord {
			d.unused = append(d.unused, uint32(id))
		}
	}
	d.settle()
}

func (d *dict) textOf(id uint32) string    { return d.words[id].text }
func (d *dict) stemTextOf(s uint32) string { return d.stems[s].text }

func (d *dict) forgetUnused() {
	var words, stems []uint32
	slices.Sort(d.unused)
	for _, id := range slices.Compact(d.unused) {
		if d.words[id].uses > 0 {
			continue // it came back
		}
		words = append(words, id)
		s := &d.stems[d.roots[id]]
		if s.words = slices.DeleteFunc(s.words, func(w uint32) bool { return w == id }); len(s.words) == 0 {
			stems = append(stems, d.roots[id])
		}
		if text := d.words[id].text; isPair(text) {
			a, b := ofPair(text)
			delete(d.pairs, [2]uint32{d.ids[a], d.ids[b]}) // both characters are still known
		}
	}
	d.unused = d.unused[:0]
	d.order = without(d.order, words, &d.freshWords, d.textOf)
	d.stemOrder = without(d.stemOrder, stems, &d.freshStems, d.stemTextOf)
	for _, id := range words {
		delete(d.ids, d.words[id].text)
		d.words[id], d.roots[id] = word{}, 0
	}
	for _, s := range stems {
		delete(d.stemIDs, d.stems[s].text)
		d.stems[s] = stem{}
	}
	d.freeWords = append(d.freeWords, words...)
	d.freeStems = append(d.freeStems, stems...)
}

// without takes what goes out of an order, and out of what is not in it yet.
func without(order, gone []uint32, fresh *[]uint32, textOf func(uint32) string) []uint32 {
	slices.Sort(gone)
	*fresh = slices.DeleteFunc(*fresh, func(id uint32) bool {
		_, found := slices.BinarySearch(gone, id)
		return found
	})
	places := make([]int, 0, len(gone))
	for _, id := range gone {
		if i, found := seekText(order, textOf(id), textOf); found && order[i] == id {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return order
	}
	slices.Sort(places)
	to := places[0]
	for n, at := range places {
		end := len(order)
		if n+1 < len(places) {
			end = places[n+1]
		}
		to += copy(order[to:], order[at+1:end])
	}
	return order[:to]
}

// with puts new ones into an order.
func with(order, fresh []uint32, textOf func(uint32) string) []uint32 {
	slices.SortFunc(fresh, func(a, b uint32) int { return strings.Compare(textOf(a), textOf(b)) })
	end := len(order)
	order = append(order, fresh...)
	for n, id := range slices.Backward(fresh) {
		i, _ := seekText(order[:end], textOf(id), textOf)
		copy(order[i+n+1:], order[i:end])
		order[i+n] = id
		end = i
	}
	return order
}

func seekText(order []uint32, text string, textOf func(uint32) string) (int, bool) {
	return slices.BinarySearchFunc(order, text, func(id uint32, text string) int { return strings.Compare(textOf(id), text) })
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

// fill makes an empty dict of many words at once, in the order of their numbers;
// free numbers have no text.
func (d *dict) fill(texts []string) {
	*d = dict{
		lang: d.lang, ids: make(map[string]uint32, len(texts)), stemIDs: make(map[string]uint32, len(texts)),
		pairs: map[[2]uint32]uint32{}, words: make([]word, 0, len(texts)), roots: make([]uint32, 0, len(texts)),
	}
	var free []uint32
	for _, text := range texts {
		if text != "" {
			d.add(text) // nothing is free yet, so it gets the next number
			continue
		}
		free = append(free, d.number())
	}
	d.freeWords = free
	for i, text := range texts {
		if isPair(text) {
			a, b := ofPair(text)
			d.pairs[[2]uint32{d.ids[a], d.ids[b]}] = uint32(i)
		}
	}
	d.settle()
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
