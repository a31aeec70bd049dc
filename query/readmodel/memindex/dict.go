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
	ids   table[string]
	pairs map[[2]uint32]uint32 // by the numbers of two characters
	words []word
	roots []uint32 // by word: its stem; beside the words, as searches for rows run over it
	hints []hint   // by word: what it can be near to
	order byText   // words that are found by beginning

	stemIDs   table[string]
	stems     []stem
	stemOrder byText // stems that are found by beginning

	freeWords, freeStems []uint32
	unused               []uint32 // words that lost their last document
}

type word struct {
	text string // "": the number is free
	uses uint32 // in how many texts of documents it stands
	next uint32 // another word of the stem; breakWord, which has one of its own: none
	char bool   // a character that is compared by pairs
}

// stem is what some words have in common.
type stem struct {
	text  string
	first uint32 // of its words
}

// breakWord is the number of readmodel.Break in every dict.
const breakWord = 0

func newDict(l calendar.Lang) *dict {
	d := &dict{lang: l}
	d.empty()
	d.intern(readmodel.Break)
	return d
}

func (d *dict) empty() {
	*d = dict{lang: d.lang, pairs: map[[2]uint32]uint32{}}
	d.ids, d.order.textOf = table[string]{keyOf: d.textOf, hash: hashText}, d.textOf
	d.stemIDs, d.stemOrder.textOf = table[string]{keyOf: d.stemTextOf, hash: hashText}, d.stemTextOf
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
	if id, ok := d.ids.get(text); ok {
		return id
	}
	return d.add(strings.Clone(text))
}

// add makes a word.
func (d *dict) add(text string) uint32 {
	id, s := d.name(text)
	if !whole(text) {
		d.order.insert(id)
		if d.words[id].next == breakWord { // the stem is new
			d.stemOrder.insert(s)
		}
	}
	return id
}

// name gives a new word its number, and that of its stem; the orders lack it.
func (d *dict) name(text string) (id, s uint32) {
	id = d.number()
	d.words[id], d.hints[id] = word{text: text, char: isChar(text)}, hintOf(text)
	d.ids.put(id)
	root := text
	if !whole(text) {
		root = readmodel.Stem(text, d.lang)
	}
	s, ok := d.stemIDs.get(root)
	if ok {
		d.words[id].next = d.stems[s].first
		d.stems[s].first = id
	} else {
		s = d.newStem(root, id)
	}
	d.roots[id] = s
	return id, s
}

func (d *dict) newStem(root string, first uint32) uint32 {
	s := uint32(len(d.stems))
	if n := len(d.freeStems); n > 0 {
		s = d.freeStems[n-1]
		d.freeStems = d.freeStems[:n-1]
	} else {
		d.stems = append(d.stems, stem{})
	}
	if text := d.words[first].text; root == text {
		root = text // one memory for both
	} else {
		root = strings.Clone(root)
	}
	d.stems[s] = stem{root, first}
	d.stemIDs.put(s)
	return s
}

// wordsOf gives the words of a stem.
func (d *dict) wordsOf(s uint32) []uint32 {
	out := []uint32{d.stems[s].first}
	for id := d.words[out[0]].next; id != breakWord; id = d.words[id].next {
		out = append(out, id)
	}
	return out
}

// single tells whether a stem has one word only.
func (d *dict) single(s uint32) bool { return d.words[d.stems[s].first].next == breakWord }

// number gives the number of a new word.
func (d *dict) number() uint32 {
	if n := len(d.freeWords); n > 0 {
		id := d.freeWords[n-1]
		d.freeWords = d.freeWords[:n-1]
		return id
	}
	d.words, d.roots, d.hints = append(d.words, word{}), append(d.roots, 0), append(d.hints, 0)
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

// settle ends a batch: words that no document has are forgotten. Until then numbers
// stay what they are, so a word may go and come back within a batch.
func (d *dict) settle() {
	if len(d.unused) == 0 {
		return
	}
	slices.Sort(d.unused)
	gone := slices.DeleteFunc(slices.Compact(d.unused), func(id uint32) bool { return d.words[id].uses > 0 }) // it came back
	for _, id := range gone {
		if text := d.words[id].text; isPair(text) {
			delete(d.pairs, d.charsOf(text)) // both characters are still known
		}
	}
	for _, id := range gone {
		d.forget(id)
	}
	d.unused = d.unused[:0]
}

// charsOf gives the numbers of the characters of a pair.
func (d *dict) charsOf(pair string) [2]uint32 {
	a, b := ofPair(pair)
	first, _ := d.ids.get(a)
	second, _ := d.ids.get(b)
	return [2]uint32{first, second}
}

func (d *dict) textOf(id uint32) string    { return d.words[id].text }
func (d *dict) stemTextOf(s uint32) string { return d.stems[s].text }

// forget takes out a word, and its stem when that was its last one.
func (d *dict) forget(id uint32) {
	w := d.words[id]
	d.order.remove(id)
	d.ids.remove(w.text)
	s := d.roots[id]
	if at := &d.stems[s].first; d.single(s) {
		d.stemOrder.remove(s)
		d.stemIDs.remove(d.stems[s].text)
		d.stems[s] = stem{}
		d.freeStems = append(d.freeStems, s)
	} else {
		for *at != id {
			at = &d.words[*at].next
		}
		*at = w.next
	}
	d.words[id], d.roots[id], d.hints[id] = word{}, 0, 0
	d.freeWords = append(d.freeWords, id)
}

func isChar(token string) bool { return token != "" && token[0] >= 0x80 && readmodel.IsCJKToken(token) }

// internPair makes the word of two characters that stand in a row when it is new.
func (d *dict) internPair(a, b uint32) {
	if _, ok := d.pairs[[2]uint32{a, b}]; !ok {
		d.pairs[[2]uint32{a, b}] = d.add(pairOf(d.words[a].text, d.words[b].text))
	}
}

// beginning gives the numbers of the words that a word of a query fits: those
// that begin with it, and those whose stem begins with its stem. The second list
// may repeat words of the first.
func (d *dict) beginning(text string) []uint32 {
	out := d.order.beginning(text)
	for _, s := range d.stemOrder.beginning(readmodel.Stem(text, d.lang)) {
		for id := d.stems[s].first; ; id = d.words[id].next {
			if !strings.HasPrefix(d.words[id].text, text) {
				out = append(out, id)
			}
			if d.words[id].next == breakWord {
				break
			}
		}
	}
	return out
}
