package memindex

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// word is a word of texts in one language, with its stem.
type word struct{ Text, Stem string }

// dictionary holds the words of a segment in one language. A word is named by its place.
type dictionary struct {
	Lang  calendar.Lang
	Words []word // by text

	stemsOnce sync.Once
	byStem    []uint32 // words by stem and text

	hintsOnce sync.Once
	hints     []hint
}

// find returns the number of a word.
func (d *dictionary) find(text string) (uint32, bool) {
	at, found := slices.BinarySearchFunc(d.Words, text, func(w word, text string) int { return strings.Compare(w.Text, text) })
	return uint32(at), found
}

// exactly returns the range of a word, nil when it is not there.
func (d *dictionary) exactly(text string) []wordRange {
	if w, found := d.find(text); found {
		return []wordRange{{w, w + 1}}
	}
	return nil
}

// beginning returns the range of the words with a prefix.
func (d *dictionary) beginning(prefix string) wordRange {
	at, _ := d.find(prefix)
	n, _ := slices.BinarySearchFunc(d.Words[at:], prefix, func(w word, prefix string) int {
		if strings.HasPrefix(w.Text, prefix) {
			return -1
		}
		return 1
	})
	return wordRange{at, at + uint32(n)}
}

// withStem returns the words with a stem.
func (d *dictionary) withStem(stem string) []uint32 {
	d.stemsOnce.Do(func() {
		d.byStem = make([]uint32, len(d.Words))
		for i := range d.byStem {
			d.byStem[i] = uint32(i)
		}
		slices.SortStableFunc(d.byStem, func(a, b uint32) int { return strings.Compare(d.Words[a].Stem, d.Words[b].Stem) })
	})
	at, _ := slices.BinarySearchFunc(d.byStem, stem, func(w uint32, stem string) int { return strings.Compare(d.Words[w].Stem, stem) })
	end := at
	for end < len(d.byStem) && d.Words[d.byStem[end]].Stem == stem {
		end++
	}
	return d.byStem[at:end]
}

// hint is what a word can be near to, at a glance: its length in the highest bits, and a
// bit for each of its letters, of which some share one. A typo changes the length by one at
// most, and two bits. So only a few words are compared letter by letter.
type hint uint32

const (
	hintBits    = 27
	hintLetters = 1<<hintBits - 1
	maxLength   = 1<<(32-hintBits) - 1
)

func hintOf(text string) hint {
	letters := hint(0)
	for _, r := range text {
		letters |= 1 << (uint32(r) % hintBits)
	}
	return hint(min(utf8.RuneCountInString(text), maxLength))<<hintBits | letters
}

// near returns the words with one to so many typos to a text, by the number of typos.
func (d *dictionary) near(text string, typos int) (out [readmodel.MaxTypos + 1][]uint32) {
	d.hintsOnce.Do(func() {
		d.hints = make([]hint, len(d.Words))
		for i := range d.Words {
			d.hints[i] = hintOf(d.Words[i].Text)
		}
	})
	of := hintOf(text)
	length := int(of >> hintBits)
	for i, h := range d.hints {
		n := int(h >> hintBits)
		if n < length-typos || n > length+typos && length < maxLength || bits.OnesCount32(uint32((h^of)&hintLetters)) > 2*typos {
			continue
		}
		if t := readmodel.Typos(text, d.Words[i].Text, typos); t > 0 && t <= typos {
			out[t] = append(out[t], uint32(i))
		}
	}
	return out
}

// vocabulary makes the dictionaries of a new segment out of those of its sources and of the
// words of entries.
type vocabulary struct {
	dictionaries [len(calendar.Langs)]*dictionary
	numbers      [len(calendar.Langs)]map[string]uint32      // of the words of entries
	renamed      map[*segment]*[len(calendar.Langs)][]uint32 // new number by old one, of words in use
}

func newVocabulary(layers []layer, entries []*entry) *vocabulary {
	v := &vocabulary{numbers: wordsOf(entries), renamed: map[*segment]*[len(calendar.Langs)][]uint32{}}
	used := make([][len(calendar.Langs)]bitset, len(layers))
	for i, l := range layers {
		used[i] = l.usedWords()
		v.renamed[l.segment] = &[len(calendar.Langs)][]uint32{}
	}
	for lang := range v.dictionaries {
		d := &dictionary{Lang: calendar.Lang(lang)}
		v.dictionaries[lang] = d
		for i, l := range layers {
			some := make([]word, 0, used[i][lang].count())
			for w := range used[i][lang].each {
				some = append(some, l.Words[lang].Words[w])
			}
			d.Words = union(d.Words, some)
		}
		d.add(v.numbers[lang])
		for i, l := range layers {
			renamed := make([]uint32, len(l.Words[lang].Words))
			at := 0
			for w := range used[i][lang].each {
				for d.Words[at].Text != l.Words[lang].Words[w].Text {
					at++
				}
				renamed[w] = uint32(at)
			}
			v.renamed[l.segment][lang] = renamed
		}
	}
	return v
}

// add adds words that are not there with their stems, and sets the number of each.
func (d *dictionary) add(numbers map[string]uint32) {
	words := make([]word, 0, len(numbers))
	for text := range numbers {
		words = append(words, word{Text: text})
	}
	slices.SortFunc(words, func(a, b word) int { return strings.Compare(a.Text, b.Text) })
	d.Words = union(d.Words, words)
	for i := range d.Words {
		if w := &d.Words[i]; w.Stem == "" {
			w.Text = strings.Clone(w.Text) // without the text that it is from
			if w.Stem = readmodel.Stem(w.Text, d.Lang); w.Stem == w.Text {
				w.Stem = w.Text // one memory for both
			}
		}
	}
	for text := range numbers {
		numbers[text], _ = d.find(text)
	}
}

// wordsOf returns the words of entries by language, without numbers.
func wordsOf(entries []*entry) (words [len(calendar.Langs)]map[string]uint32) {
	for l := range words {
		words[l] = map[string]uint32{}
	}
	for _, e := range entries {
		for _, texts := range e.texts {
			for lang, tokens := range texts {
				for _, token := range tokens {
					words[lang][token] = 0
				}
			}
		}
	}
	return words
}

// union merges sorted words, each once.
func union(a, b []word) []word {
	out := make([]word, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0].Text, b[0].Text); {
		case c == 0:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// usedWords returns the words of the current documents, by language.
func (l layer) usedWords() (used [len(calendar.Langs)]bitset) {
	for lang, dictionary := range l.Words {
		used[lang] = newBitset(len(dictionary.Words))
		for w := range dictionary.Words {
			if l.n == len(l.Docs) { // so are all words
				used[lang].set(uint32(w))
			}
		}
	}
	for _, column := range l.Texts {
		for lang := range column {
			if column[lang].Starts == nil || l.n == len(l.Docs) {
				continue
			}
			for o := range l.live.each {
				for stream := column[lang].of(o); len(stream) > 0; {
					w, size := nextWord(stream)
					used[lang].set(w)
					stream = stream[size:]
				}
			}
		}
	}
	return used
}

// textColumn is the column of a text field, by language.
type textColumn [len(calendar.Langs)]texts

// texts are the texts of a field in one language: the numbers of their words in order,
// and where each word occurs.
type texts struct {
	Has    bitset
	Starts []uint32 // by document; one more than documents; nil: no document has a text
	Stream []byte   // numbers of words, of variable length

	words postings
}

// of returns the words of a document.
func (t *texts) of(o uint32) []byte { return t.Stream[t.Starts[o]:t.Starts[o+1]] }

// addTo adds the documents with one of some words.
func (t *texts) addTo(docs bitset, words []wordRange) {
	for _, r := range words {
		t.words.addTo(docs, int(r.from), int(r.to))
	}
}

// fill makes a column of the texts of parts.
func (c *textColumn) fill(name string, parts []part, v *vocabulary) {
	for _, lang := range calendar.Langs {
		t := &c[lang]
		t.Has, t.Starts = newBitset(len(parts)), make([]uint32, 1, len(parts)+1)
		var stream []byte
		for i := range parts {
			if p := &parts[i]; p.has(name, lang) {
				t.Has.set(uint32(i))
				stream = p.appendText(stream, name, lang, v)
			}
			t.Starts = append(t.Starts, uint32(len(stream)))
		}
		if t.Has.empty() {
			t.Starts = nil
		}
		t.Stream = bytes.Clone(stream) // without the room that it grew into
	}
}

// has reports whether a part has a text in a language.
func (p *part) has(name string, lang calendar.Lang) bool {
	if p.entry == nil {
		return p.from.Texts[name][lang].Has.has(p.at)
	}
	return p.entry.texts[name][lang] != nil
}

// appendText appends the words of a text by their new numbers.
func (p *part) appendText(to []byte, name string, lang calendar.Lang, v *vocabulary) []byte {
	if p.entry == nil {
		renamed := v.renamed[p.from][lang]
		for stream := p.from.Texts[name][lang].of(p.at); len(stream) > 0; {
			w, size := nextWord(stream)
			to = binary.AppendUvarint(to, uint64(renamed[w]))
			stream = stream[size:]
		}
		return to
	}
	for _, token := range p.entry.texts[name][lang] {
		to = binary.AppendUvarint(to, uint64(v.numbers[lang][token]))
	}
	return to
}

// invert finds out where each word occurs.
func (t *texts) invert(words int) {
	if t.Starts == nil {
		return
	}
	t.words = newPostings(len(t.Starts)-1, words, func(add func(w, o uint32)) {
		last := make([]uint32, words) // the document + 1 that has a word, to count it once
		for o := range uint32(len(t.Starts) - 1) {
			for stream := t.of(o); len(stream) > 0; {
				w, size := nextWord(stream)
				stream = stream[size:]
				if last[w] != o+1 {
					last[w] = o + 1
					add(w, o)
				}
			}
		}
	})
}

// nextWord reads the first number of a stream that is not empty; most have one or two
// bytes.
func nextWord(stream []byte) (w uint32, size int) {
	if stream[0] < 0x80 {
		return uint32(stream[0]), 1
	}
	if len(stream) > 1 && stream[1] < 0x80 {
		return uint32(stream[0]&0x7f) | uint32(stream[1])<<7, 2
	}
	v, n := binary.Uvarint(stream)
	return uint32(v), n
}
