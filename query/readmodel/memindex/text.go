package memindex

import (
	"encoding/binary"
	"slices"

	"daybook/calendar"
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
	buf = d.distinct(s.stream, buf)
	if len(buf) == 0 {
		return buf
	}
	// No further than its own words: those of other fields may be many more.
	if n := int(buf[len(buf)-1]) + 1 - len(in.postings); n > 0 {
		in.postings = append(in.postings, make([]posting, n)...)
	}
	for _, id := range buf {
		in.postings[id].add(o)
		d.use(id)
	}
	return buf
}

func (t *texts) removeSection(o uint32, s section) {
	in := &t.byNumber[s.field].langs[s.lang]
	in.docs.clear(o)
	d := t.dicts[s.lang]
	for _, id := range d.distinct(s.stream, nil) {
		in.postings[id].remove(o)
		d.disuse(id)
	}
}

// settle ends a batch of changes.
func (t *texts) settle() {
	for _, d := range t.dicts {
		d.settle()
	}
}

// hasInto adds the documents that have a text in a field to dst.
func (t *texts) hasInto(dst bitset, field string) {
	for l := range t.fields[field].langs {
		dst.or(t.fields[field].langs[l].docs)
	}
}

// onlyShown keeps those of found, which have something in a field in language l,
// to which the request in another language shows it.
func (k *kindIndex) onlyShown(found bitset, field *textField, l, request calendar.Lang) {
	if l != request {
		found.and(k.texts.home[l])
		found.andNot(field.langs[request].docs)
	}
}

// search keeps those of dst that fit a search.
func (e *evaluation) search(dst bitset, f readmodel.Text) {
	s := e.r.searches[searchKey(f)]
	if len(s.must) == 0 && len(s.not) == 0 {
		clear(dst)
		return
	}
	for _, p := range s.must {
		e.fit(dst, p)
	}
	if len(s.not) == 0 {
		return
	}
	all := e.k.scratch()
	defer e.k.release(all)
	for _, group := range s.not {
		all.copyFrom(dst)
		open := false
		for _, p := range group {
			e.fit(all, p)
			open = open || len(p.parts) > 0
		}
		if !e.upper || !open {
			dst.andNot(all)
		}
	}
}

// fit keeps those of dst in which a piece fits; of an upper bound, those in which
// it may, and notes that they have to be looked into.
func (e *evaluation) fit(dst bitset, p *piece) {
	e.r.steps += len(dst)
	if !e.upper || p.form != formRow {
		dst.and(p.set)
		return
	}
	if p.maybe == nil {
		p.prepare(e.r)
	}
	dst.and(p.maybe)
	for _, part := range p.parts {
		for i := range min(len(p.wanted), len(dst)) {
			p.wanted[i] |= dst[i] & part.in[i] &^ p.set[i]
		}
		e.r.steps += len(dst)
	}
}
