package memindex

import (
	"encoding/binary"
	"slices"

	"daybook/calendar"
	"daybook/internal/cachekey"
	"daybook/query/readmodel"
)

// texts is the text index of a kind. A text is indexed by its field and the
// language that it is in; what is shown under a language is found by the sets of
// documents that have a text in it and by the home languages.
type texts struct {
	dicts    [len(calendar.Langs)]*dict
	fields   map[string]*textField
	byNumber []*textField
	home     [len(calendar.Langs)]bitset
	fits     fits
}

type textField struct {
	number byte // in the schema
	langs  [len(calendar.Langs)]inLang
}

type inLang struct {
	postings []posting // by number of the word
	docs     bitset    // documents with a text
}

func newTexts(s *readmodel.Schema) *texts {
	t := &texts{fields: map[string]*textField{}, byNumber: make([]*textField, len(s.Fields))}
	for _, l := range calendar.Langs {
		t.dicts[l] = newDict(l)
	}
	for i := range s.Fields {
		if s.Fields[i].Type == readmodel.TypeText {
			f := &textField{number: byte(i)}
			t.fields[s.Fields[i].Name], t.byNumber[i] = f, f
		}
	}
	return t
}

// section is the text of a field in a language as it is kept with its document:
// the numbers of its words in order.
type section struct {
	field  byte
	lang   calendar.Lang
	stream []byte
}

// appendSection keeps a text. Layout: field, language, length of the stream,
// stream of variable-length numbers.
func (t *texts) appendSection(b []byte, field byte, l calendar.Lang, tokens []string) []byte {
	d := t.dicts[l]
	stream := make([]byte, 0, 2*len(tokens))
	last := uint32(breakWord)
	for _, token := range tokens {
		id := d.intern(token)
		stream = binary.AppendUvarint(stream, uint64(id))
		if d.words[id].char && d.words[last].char {
			d.internPair(last, id)
		}
		last = id
	}
	b = append(b, field, byte(l))
	b = binary.AppendUvarint(b, uint64(len(stream)))
	return append(b, stream...)
}

// nextSection reads a section and gives the rest.
func nextSection(b []byte) (s section, rest []byte) {
	n, size := binary.Uvarint(b[2:])
	at := 2 + size
	end := at + int(n)
	return section{field: b[0], lang: calendar.Lang(b[1]), stream: b[at:end]}, b[end:]
}

// distinct gives the numbers of the words, and of the pairs of characters, that
// a section holds, each once and ascending.
func (d *dict) distinct(stream []byte, buf []uint32) []uint32 {
	out := buf[:0]
	last := uint32(breakWord)
	for len(stream) > 0 {
		id, n := nextWord(stream)
		stream = stream[n:]
		if id != breakWord {
			out = append(out, id)
			if d.words[id].char && d.words[last].char {
				out = append(out, d.pairs[[2]uint32{last, id}])
			}
		}
		last = id
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (t *texts) addSection(o uint32, s section, buf []uint32) []uint32 {
	in := &t.byNumber[s.field].langs[s.lang]
	in.docs = in.docs.set(o)
	d := t.dicts[s.lang]
	if n := len(d.words) - len(in.postings); n > 0 {
		in.postings = append(in.postings, make([]posting, n)...)
	}
	buf = d.distinct(s.stream, buf)
	for _, id := range buf {
		in.postings[id].add(o)
	}
	return buf
}

func (t *texts) removeSection(o uint32, s section) {
	in := &t.byNumber[s.field].langs[s.lang]
	in.docs.clear(o)
	for _, id := range t.dicts[s.lang].distinct(s.stream, nil) {
		in.postings[id].remove(o)
	}
}

// hasInto adds the documents that have a text in a field to dst.
func (t *texts) hasInto(dst bitset, field string) {
	for l := range t.fields[field].langs {
		dst.or(t.fields[field].langs[l].docs)
	}
}

// searchInto makes dst the documents among within that fit a search.
func (k *kindIndex) searchInto(dst bitset, f readmodel.Text, within bitset) {
	e := readmodel.ParseSearch(f.Query, f.Lang)
	if e.IsZero() {
		clear(dst)
		return
	}
	dst.copyFrom(within)
	fit := k.scratch()
	defer k.release(fit)
	for _, inRow := range []bool{false, true} { // rows look into documents: into those that are left
		for _, p := range e.Must {
			if p.InRow == inRow {
				clear(fit)
				k.fitInto(fit, f, p, dst)
				dst.and(fit)
			}
		}
	}
	if len(e.Not) == 0 {
		return
	}
	all := k.scratch()
	defer k.release(all)
	for _, group := range e.Not {
		all.copyFrom(dst)
		for _, p := range group {
			clear(fit)
			k.fitInto(fit, f, p, all)
			all.and(fit)
		}
		dst.andNot(all)
	}
}

// fitInto adds to dst, which is empty, the documents in whose shown texts a piece
// fits. Documents outside of within may be added or not.
func (k *kindIndex) fitInto(dst bitset, f readmodel.Text, p readmodel.Piece, within bitset) {
	if p.InRow {
		for _, l := range calendar.Langs {
			k.eachShown(dst, f, l, func(found bitset, field *textField) { k.rowInto(found, field, l, p, within) })
		}
		return
	}
	key := fitKey{f.Lang, cachekey.Key(nil).Texts(f.Fields).String(), p.Tokens[0]}
	if known := k.texts.fits.get(key); known != nil {
		dst.copyFrom(known)
		return
	}
	words := 0
	for _, l := range calendar.Langs {
		ids := k.texts.dicts[l].beginning(p.Tokens[0])
		if words += len(ids); len(ids) > 0 {
			k.eachShown(dst, f, l, func(found bitset, field *textField) { k.unionInto(found, &field.langs[l], ids) })
		}
	}
	if words >= manyWords {
		k.texts.fits.put(key, dst)
	}
}

// eachShown adds to dst what find finds in the texts of a language, field by
// field, where they are the ones that are shown.
func (k *kindIndex) eachShown(dst bitset, f readmodel.Text, l calendar.Lang, find func(found bitset, field *textField)) {
	found := k.scratch()
	defer k.release(found)
	for _, name := range f.Fields {
		field := k.texts.fields[name]
		if len(field.langs[l].postings) == 0 {
			continue
		}
		clear(found)
		find(found, field)
		if l != f.Lang {
			found.and(k.texts.home[l])
			found.andNot(field.langs[f.Lang].docs)
		}
		dst.or(found)
	}
}

// unionInto adds the documents that have one of the words.
func (k *kindIndex) unionInto(dst bitset, in *inLang, ids []uint32) {
	scratch := k.scratch()
	clear(scratch)
	for _, id := range ids {
		if int(id) < len(in.postings) {
			in.postings[id].orInto(dst, scratch)
		}
	}
	k.release(scratch)
}

// rowInto makes dst the documents among within that have the tokens in a row, by
// stem.
func (k *kindIndex) rowInto(dst bitset, field *textField, l calendar.Lang, p readmodel.Piece, within bitset) {
	d := k.texts.dicts[l]
	in := &field.langs[l]
	stems := make([]uint32, len(p.Tokens))
	for i, token := range p.Tokens {
		root := token
		if !whole(token) {
			root = readmodel.Stem(token, l)
		}
		id, ok := d.stemIDs[root]
		if !ok {
			return
		}
		stems[i] = id
	}
	dst.copyFrom(within)
	dst.and(in.docs)
	one := k.scratch()
	defer k.release(one)
	for i, token := range p.Tokens {
		ids := d.stems[stems[i]].words
		if isChar(token) && i+1 < len(p.Tokens) && isChar(p.Tokens[i+1]) {
			pair, ok := d.ids[pairOf(token, p.Tokens[i+1])]
			if !ok {
				clear(dst)
				return
			}
			ids = []uint32{pair}
		} else if token == readmodel.Break || i > 0 && isChar(token) && isChar(p.Tokens[i-1]) {
			continue
		}
		clear(one)
		k.unionInto(one, in, ids)
		dst.and(one)
	}
	if len(p.Tokens) == 1 || len(p.Tokens) == 2 && isChar(p.Tokens[0]) && isChar(p.Tokens[1]) {
		return // the postings alone decide
	}
	dst.each(func(o uint32) bool {
		if !d.inRow(k.stream(o, field.number, l), stems) {
			dst.clear(o)
		}
		return true
	})
}

// inRow tells whether the words of a stream hold the stems in a row.
func (d *dict) inRow(stream []byte, stems []uint32) bool {
	first := stems[0]
	for len(stream) > 0 {
		id, n := nextWord(stream)
		stream = stream[n:]
		if d.roots[id] == first && d.continues(stream, stems[1:]) {
			return true
		}
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
