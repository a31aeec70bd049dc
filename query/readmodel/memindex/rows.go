package memindex

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// rowPart is a row in the texts of one field in one language.
type rowPart struct {
	row   *piece
	field byte
	lang  calendar.Lang
	in    bitset   // documents that show the text and have all the words in it
	stems []uint32 // of the words

	// A text is searched for the bytes of some of the words; only where they stand,
	// the words around are read.
	patterns [][]byte // one for each form of the words
	from, to int      // the words that the patterns are made of
	roots    []uint32 // the stem of each word, as the streams name them; nil: not needed
}

// prepare finds the documents that have all the words of a row, and those for
// which that is enough.
func (p *piece) prepare(r *reading) {
	k := r.k
	p.set, p.maybe, p.wanted = k.emptyScratch(), k.emptyScratch(), k.emptyScratch()
	for _, l := range calendar.Langs {
		stems := k.texts.dicts[l].stemsOf(p.tokens)
		if stems == nil {
			continue
		}
		for _, name := range p.fields {
			field := k.texts.fields[name]
			if len(field.langs[l].postings) == 0 {
				continue
			}
			part := &rowPart{row: p, field: field.number, lang: l, stems: stems, in: k.scratch()}
			exact := part.candidates(r, &field.langs[l])
			k.onlyShown(part.in, field, l, p.lang)
			p.maybe.or(part.in)
			r.steps += 4 * len(part.in)
			if exact {
				p.set.or(part.in)
				k.release(part.in)
			} else {
				p.parts = append(p.parts, part)
			}
		}
	}
}

// candidates makes in the documents that have all the words; it tells whether
// that alone decides.
func (part *rowPart) candidates(r *reading, in *inLang) (exact bool) {
	d := r.k.texts.dicts[part.lang]
	tokens := part.row.tokens
	part.in.copyFrom(in.docs)
	one, scratch := r.k.emptyScratch(), r.k.emptyScratch()
	defer func() {
		r.k.release(one)
		r.k.release(scratch)
	}()
	fewest, rarest := -1, 0
	for i, token := range tokens {
		if slices.Contains(part.stems[:i], part.stems[i]) && !isChar(token) {
			continue // the word was there before
		}
		ids := d.wordsOf(part.stems[i])
		if isChar(token) && i+1 < len(tokens) && isChar(tokens[i+1]) {
			pair, ok := d.ids.get(pairOf(token, tokens[i+1]))
			if !ok {
				clear(part.in)
				return true
			}
			ids = []uint32{pair}
		} else if token == readmodel.Break || i > 0 && isChar(token) && isChar(tokens[i-1]) {
			continue
		}
		clear(one)
		for _, id := range ids {
			if int(id) < len(in.postings) {
				r.steps += in.postings[id].orInto(one, scratch)
			}
		}
		part.in.and(one)
		n := one.count()
		r.steps += 3 * len(one)
		if n == 0 {
			return true
		}
		if fewest < 0 || n < fewest {
			fewest, rarest = n, i
		}
	}
	if len(tokens) == 1 || len(tokens) == 2 && isChar(tokens[0]) && isChar(tokens[1]) {
		return true
	}
	part.makePatterns(d, rarest)
	return false
}

// makePatterns takes the longest run of words that have one form only, or the
// rarest word in all its forms.
func (part *rowPart) makePatterns(d *dict, rarest int) {
	for i := 0; i < len(part.stems); {
		end := i
		for end < len(part.stems) && d.single(part.stems[end]) {
			end++
		}
		if end-i > part.to-part.from {
			part.from, part.to = i, end
		}
		i = max(end, i+1)
	}
	if part.to-part.from < 2 {
		part.from, part.to = rarest, rarest+1
	}
	if part.to-part.from == 1 {
		for _, id := range d.wordsOf(part.stems[part.from]) {
			part.patterns = append(part.patterns, binary.AppendUvarint(nil, uint64(id)))
		}
		return
	}
	var pattern []byte
	for _, s := range part.stems[part.from:part.to] {
		pattern = binary.AppendUvarint(pattern, uint64(d.stems[s].first))
	}
	part.patterns = [][]byte{pattern}
}

// stemsOf gives the stems of tokens, nil when no text has one of them.
func (d *dict) stemsOf(tokens []string) []uint32 {
	out := make([]uint32, len(tokens))
	for i, token := range tokens {
		root := token
		if !whole(token) {
			root = readmodel.Stem(token, d.lang)
		}
		id, ok := d.stemIDs.get(root)
		if !ok {
			return nil
		}
		out[i] = id
	}
	return out
}

// scan looks for the rows in texts. Each text is read once, however many rows
// there are.
func (r *reading) scan(ctx context.Context, texts []docTexts) error {
	var scanners [256][len(calendar.Langs)]*scanner
	for _, p := range r.order {
		for _, part := range p.parts {
			at := &scanners[part.field][part.lang]
			if *at == nil {
				*at = &scanner{}
			}
			(*at).add(part)
		}
	}
	for i := range texts {
		if i%scanBlock == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for rest := texts[i].texts; len(rest) > 0; {
			var s section
			s, rest = nextSection(rest)
			if in := scanners[s.field][s.lang]; in != nil {
				r.work += in.scan(s.stream, texts[i].ordinal)
			}
		}
	}
	return nil
}

// scanner looks for rows in the texts of one field in one language. A part has a
// bit; when there are more than 64, some share one.
type scanner struct {
	parts         []*rowPart
	first, second [256]uint64 // the parts that have a pattern with this byte
	single        uint64      // the parts that have a pattern of one byte
}

func (s *scanner) add(part *rowPart) {
	bit := uint64(1) << (len(s.parts) & 63)
	s.parts = append(s.parts, part)
	for _, pattern := range part.patterns {
		s.first[pattern[0]] |= bit
		if len(pattern) > 1 {
			s.second[pattern[1]] |= bit
			continue
		}
		s.single |= bit
		for b := range s.second {
			s.second[b] |= bit
		}
	}
}

// scan takes a document into the rows that its text holds, and gives the number
// of bytes that it read.
func (s *scanner) scan(stream []byte, o uint32) int {
	open := uint64(0)
	for i, part := range s.parts {
		if part.open(o) {
			open |= 1 << (i & 63)
		}
	}
	if open == 0 || len(stream) == 0 {
		return 0
	}
	// One branch for each byte: which words stand in a text cannot be foreseen.
	last := len(stream) - 1
	for i, next := range stream[1:] {
		mask := s.first[stream[i]] & s.second[next] & open
		// A number begins behind the last byte of the one before.
		if mask != 0 && (i == 0 || stream[i-1] < 0x80) {
			if open &^= s.try(mask, stream, i, o); open == 0 {
				return i
			}
		}
	}
	if mask := s.first[stream[last]] & s.single & open; mask != 0 && (last == 0 || stream[last-1] < 0x80) {
		s.try(mask, stream, last, o)
	}
	return len(stream)
}

// try looks for the rows of some bits at a place and gives the bits of which no
// row is open any more.
func (s *scanner) try(mask uint64, stream []byte, at int, o uint32) (done uint64) {
	for ; mask != 0; mask &= mask - 1 {
		closed := true
		for i := bits.TrailingZeros64(mask); i < len(s.parts); i += 64 {
			switch part := s.parts[i]; {
			case !part.open(o):
			case part.standsAt(stream, at):
				part.row.set.put(o)
			default:
				closed = false
			}
		}
		if closed {
			done |= mask & -mask
		}
	}
	return done
}

// open tells whether a document still has to be looked into.
func (part *rowPart) open(o uint32) bool {
	return part.in.has(o) && part.row.wanted.has(o) && !part.row.set.has(o)
}

func (part *rowPart) standsAt(stream []byte, at int) bool {
	for _, pattern := range part.patterns {
		if bytes.HasPrefix(stream[at:], pattern) && part.around(stream, at, at+len(pattern)) {
			return true
		}
	}
	return false
}

// around compares the words before and behind a pattern that stands at [from, to).
func (part *rowPart) around(stream []byte, from, to int) bool {
	for i := part.from - 1; i >= 0; i-- {
		if from == 0 {
			return false
		}
		end := from
		for from--; from > 0 && stream[from-1] >= 0x80; from-- { //nolint:revive // to the first byte of the number
		}
		if id, _ := nextWord(stream[from:end]); part.roots[id] != part.stems[i] {
			return false
		}
	}
	for _, s := range part.stems[part.to:] {
		if to == len(stream) {
			return false
		}
		id, n := nextWord(stream[to:])
		if part.roots[id] != s {
			return false
		}
		to += n
	}
	return true
}

// fits tells whether a piece fits in what a document shows.
func (k *kindIndex) fits(o uint32, p *piece) bool {
	if !k.live.has(o) {
		return false
	}
	d := &k.docs[o]
	for _, name := range p.fields {
		field := k.texts.fields[name].number
		s, ok := findSection(d.texts(), field, p.lang)
		if !ok {
			s, ok = findSection(d.texts(), field, d.home)
		}
		if ok && k.texts.dicts[s.lang].fits(s.stream, p) {
			return true
		}
	}
	return false
}

func (d *dict) fits(stream []byte, p *piece) bool {
	if p.form == formRow {
		stems := d.stemsOf(p.tokens)
		return stems != nil && d.inRow(stream, stems)
	}
	word := p.tokens[0]
	stem := readmodel.Stem(word, d.lang)
	for len(stream) > 0 {
		id, n := nextWord(stream)
		stream = stream[n:]
		switch text := d.words[id].text; {
		case text == word:
			return true
		case p.form == formWhole:
		case strings.HasPrefix(text, word) || strings.HasPrefix(d.stems[d.roots[id]].text, stem):
			return true
		case p.typos > 0 && readmodel.Typos(word, text, p.typos) <= p.typos:
			return true
		}
	}
	return false
}

// inRow tells whether the words of a stream hold the stems in a row.
func (d *dict) inRow(stream []byte, stems []uint32) bool {
	for len(stream) > 0 {
		if d.continues(stream, stems) {
			return true
		}
		_, n := nextWord(stream)
		stream = stream[n:]
	}
	return false
}

func (d *dict) continues(stream []byte, stems []uint32) bool {
	for _, s := range stems {
		if len(stream) == 0 {
			return false
		}
		id, n := nextWord(stream)
		if d.roots[id] != s {
			return false
		}
		stream = stream[n:]
	}
	return true
}

// nextWord reads the first number of a stream that is not empty; most have one
// or two bytes.
func nextWord(stream []byte) (id uint32, size int) {
	if stream[0] < 0x80 {
		return uint32(stream[0]), 1
	}
	if len(stream) > 1 && stream[1] < 0x80 {
		return uint32(stream[0]&0x7f) | uint32(stream[1])<<7, 2
	}
	v, n := binary.Uvarint(stream)
	return uint32(v), n
}
