package memindex

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// dictionary holds the words of a segment in one language. A word is named by its place.
// Numbers, most of which occur once, come last, so that other words have short names.
type dictionary struct {
	Lang  calendar.Lang
	Words []string // descending

	stemsOnce sync.Once
	stems     []string
	byStem    []uint32 // words by stem and text

	hintsOnce sync.Once
	hints     []letterMask
}

// find returns the number of a word.
func (dictionary *dictionary) find(text string) (uint32, bool) {
	index, found := slices.BinarySearchFunc(dictionary.Words, text, descending)
	return uint32(index), found
}

// exactly returns the range of a word, nil when it is not there.
func (dictionary *dictionary) exactly(text string) []wordRange {
	if word, found := dictionary.find(text); found {
		return []wordRange{{word, word + 1}}
	}
	return nil
}

// beginning returns the range of the words with a prefix.
func (dictionary *dictionary) beginning(prefix string) wordRange {
	from, _ := dictionary.find(prefix + "\xff") // no word has this byte
	to, found := dictionary.find(prefix)
	if found {
		to++
	}
	return wordRange{from, to}
}

func descending(a, b string) int { return strings.Compare(b, a) }

// withStem returns the words with a stem. Stems are found when they are asked for: most young
// segments are merged before that.
func (dictionary *dictionary) withStem(stem string) []uint32 {
	dictionary.stemsOnce.Do(func() {
		dictionary.stems, dictionary.byStem = make([]string, len(dictionary.Words)), make([]uint32, len(dictionary.Words))
		for i, word := range dictionary.Words {
			dictionary.stems[i], dictionary.byStem[i] = readmodel.Stem(word, dictionary.Lang), uint32(i)
		}
		slices.SortStableFunc(dictionary.byStem, func(a, b uint32) int { return strings.Compare(dictionary.stems[a], dictionary.stems[b]) })
	})
	index, _ := slices.BinarySearchFunc(dictionary.byStem, stem, func(word uint32, stem string) int { return strings.Compare(dictionary.stems[word], stem) })
	end := index
	for end < len(dictionary.byStem) && dictionary.stems[dictionary.byStem[end]] == stem {
		end++
	}
	return dictionary.byStem[index:end]
}

// letterMask is what a word can be near to, at a glance: its length in the highest bits, and a
// bit for each of its letters, of which some share one. A typo changes the length by one at
// most, and two bits. So only a few words are compared letter by letter.
type letterMask uint32

const (
	hintBits    = 27
	hintLetters = 1<<hintBits - 1
	maxLength   = 1<<(32-hintBits) - 1
)

func hintOf(text string) letterMask {
	letters := letterMask(0)
	for _, letter := range text {
		letters |= 1 << (uint32(letter) % hintBits)
	}
	return letterMask(min(utf8.RuneCountInString(text), maxLength))<<hintBits | letters
}

// near returns the words with one to so many typos to a text, by the number of typos.
func (dictionary *dictionary) near(text string, typos int) (result [readmodel.MaxTypos + 1][]uint32) {
	dictionary.hintsOnce.Do(func() {
		dictionary.hints = make([]letterMask, len(dictionary.Words))
		for i := range dictionary.Words {
			dictionary.hints[i] = hintOf(dictionary.Words[i])
		}
	})
	letters, mask := []rune(text), hintOf(text)
	length := int(mask >> hintBits)
	for i, h := range dictionary.hints {
		count := int(h >> hintBits)
		if count < length-typos || count > length+typos && length < maxLength || bits.OnesCount32(uint32((h^mask)&hintLetters)) > 2*typos {
			continue
		}
		if t := readmodel.Typos(letters, []rune(dictionary.Words[i]), typos); t > 0 && t <= typos {
			result[t] = append(result[t], uint32(i))
		}
	}
	return result
}

// vocabulary makes the dictionaries of a new segment out of those of its sources and of the
// words of entries.
type vocabulary struct {
	dictionaries byLanguage[*dictionary]
	numbers      byLanguage[map[string]uint32]      // of the words of entries
	renamed      map[*segment]*byLanguage[[]uint32] // new number by old one, of words in use
}

func newVocabulary(layers []liveSegment, entries []*entry) *vocabulary {
	v := &vocabulary{numbers: wordsOf(entries), renamed: map[*segment]*byLanguage[[]uint32]{}}
	used := make([]byLanguage[bitset], len(layers))
	for i, layer := range layers {
		used[i] = layer.usedWords()
		v.renamed[layer.segment] = &byLanguage[[]uint32]{}
	}
	for language := range v.dictionaries {
		d := &dictionary{Lang: calendar.Lang(language)}
		v.dictionaries[language] = d
		for i, layer := range layers {
			some := make([]string, 0, used[i][language].count())
			for word := range used[i][language].each {
				some = append(some, layer.Words[language].Words[word])
			}
			d.Words = union(d.Words, some)
		}
		d.add(v.numbers[language])
		for i, layer := range layers {
			renamed := make([]uint32, len(layer.Words[language].Words))
			index := 0
			for word := range used[i][language].each {
				for d.Words[index] != layer.Words[language].Words[word] {
					index++
				}
				renamed[word] = uint32(index)
			}
			v.renamed[layer.segment][language] = renamed
		}
	}
	return v
}

// add adds words, and sets the number of each.
func (dictionary *dictionary) add(numbers map[string]uint32) {
	words := slices.SortedFunc(maps.Keys(numbers), descending)
	dictionary.Words = union(dictionary.Words, words)
	var index uint32
	for _, text := range words {
		for dictionary.Words[index] != text {
			index++
		}
		numbers[text], dictionary.Words[index] = index, strings.Clone(text) // without the text that it is from
	}
}

// wordsOf returns the words of entries by language, without numbers.
func wordsOf(entries []*entry) (words byLanguage[map[string]uint32]) {
	for language := range words {
		words[language] = map[string]uint32{}
	}
	for _, entry := range entries {
		for _, texts := range entry.texts {
			for language, tokens := range texts {
				for _, token := range tokens {
					words[language][token] = 0
				}
			}
		}
	}
	return words
}

// union merges descending words, each once.
func union(first, second []string) []string {
	names := make([]string, 0, len(first)+len(second))
	for len(first) > 0 && len(second) > 0 {
		switch count := descending(first[0], second[0]); {
		case count == 0:
			names, first, second = append(names, first[0]), first[1:], second[1:]
		case count < 0:
			names, first = append(names, first[0]), first[1:]
		default:
			names, second = append(names, second[0]), second[1:]
		}
	}
	return append(append(names, first...), second...)
}

// usedWords returns the words of the current documents, by language.
func (layer liveSegment) usedWords() (used byLanguage[bitset]) {
	for language, dictionary := range layer.Words {
		used[language] = newBitset(len(dictionary.Words))
		for word := range dictionary.Words {
			if layer.number == len(layer.Docs) { // so are all words
				used[language].set(uint32(word))
			}
		}
	}
	for _, column := range layer.Texts {
		for language := range column {
			if column[language].Starts == nil || layer.number == len(layer.Docs) {
				continue
			}
			for ordinal := range layer.live.each {
				for stream := column[language].of(ordinal); len(stream) > 0; {
					word, rest := nextWord(stream)
					used[language].set(word)
					stream = rest
				}
			}
		}
	}
	return used
}

// textColumn is the column of a text field, by language.
type textColumn byLanguage[texts]

// texts are the texts of a field in one language: the numbers of their words in order,
// and where each word occurs.
type texts struct {
	Has    bitset
	Starts []uint32 // by document; one more than documents; nil: no document has a text
	Stream []byte   // numbers of words, of variable length

	words func() postings // by number, when they are first asked for, see segment.finish
}

// of returns the words of a document.
func (texts *texts) of(ordinal uint32) []byte {
	return texts.Stream[texts.Starts[ordinal]:texts.Starts[ordinal+1]]
}

// addTo adds the documents with one of some words.
func (texts *texts) addTo(docs bitset, words []wordRange) {
	postings := texts.words()
	for _, wordRange := range words {
		postings.addTo(docs, int(wordRange.from), int(wordRange.to))
	}
}

// streams are rooms for texts on their way into a column.
var streams = sync.Pool{New: func() any { return new([]byte) }}

// fill makes a column of the texts of parts.
func (textColumn *textColumn) fill(name string, parts []part, vocabulary *vocabulary) {
	room := streams.Get().(*[]byte)
	if len(parts) < inParallel { // else it is large
		defer streams.Put(room)
	}
	for _, language := range calendar.Langs {
		texts := &textColumn[language]
		texts.Has, texts.Starts = newBitset(len(parts)), make([]uint32, 1, len(parts)+1)
		stream := (*room)[:0]
		for i := range parts {
			if part := &parts[i]; part.has(name, language) {
				texts.Has.set(uint32(i))
				stream = part.appendText(stream, name, language, vocabulary)
			}
			texts.Starts = append(texts.Starts, uint32(len(stream)))
		}
		if texts.Has.empty() {
			texts.Starts = nil
		}
		texts.Stream, *room = bytes.Clone(stream), stream // without the room that it grew into
	}
}

// has reports whether a part has a text in a language.
func (part *part) has(name string, language calendar.Lang) bool {
	if part.entry == nil {
		return part.from.Texts[name][language].Has.has(part.at)
	}
	texts := part.entry.texts[name]
	return texts != nil && texts[language] != nil
}

// appendText appends the words of a text by their new numbers.
func (part *part) appendText(target []byte, name string, language calendar.Lang, vocabulary *vocabulary) []byte {
	if part.entry == nil {
		renamed := vocabulary.renamed[part.from][language]
		for stream := part.from.Texts[name][language].of(part.at); len(stream) > 0; {
			word, rest := nextWord(stream)
			target = binary.AppendUvarint(target, uint64(renamed[word]))
			stream = rest
		}
		return target
	}
	for _, token := range part.entry.texts[name][language] {
		target = binary.AppendUvarint(target, uint64(vocabulary.numbers[language][token]))
	}
	return target
}

// invert finds out where each word occurs.
func (texts *texts) invert(words int) postings {
	docs := max(len(texts.Starts)-1, 0)
	return newPostings(docs, words, func(add func(word, ordinal uint32)) {
		for ordinal := range uint32(docs) {
			for stream := texts.of(ordinal); len(stream) > 0; {
				word, rest := nextWord(stream)
				stream = rest
				add(word, ordinal)
			}
		}
	})
}

// nextWord reads the first number of a stream that is not empty.
func nextWord(stream []byte) (word uint32, rest []byte) {
	for i, next := range stream {
		if word |= uint32(next&0x7f) << (7 * i); next < 0x80 {
			return word, stream[i+1:]
		}
	}
	return word, nil
}
