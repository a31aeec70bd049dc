package memindex

import (
	"encoding/binary"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// appendHead adds what all other frames need, and what is of no kind.
func (x *Index) appendHead(b []byte) []byte {
	mark := fingerprint()
	b = append(b, mark[:]...)
	for _, at := range [...]calendar.Mark{x.marks.All, x.marks.Reach} {
		b = binary.AppendUvarint(b, uint64(at.Position))
		b = append(b, at.Hash[:]...)
	}
	b = append(b, x.digest.Sum[:]...)
	b = binary.AppendUvarint(b, uint64(len(x.quarantined)))
	for _, p := range x.sortedQuarantine() {
		b = binary.AppendVarint(b, int64(p.ID))
		b = binary.AppendUvarint(b, uint64(p.Position))
		b = appendText(b, p.Reason)
	}
	b = binary.AppendUvarint(b, uint64(len(x.gone)))
	for id, p := range x.gone {
		b = binary.AppendVarint(b, int64(id))
		b = binary.AppendUvarint(b, uint64(p))
	}
	for _, k := range x.kinds[calendar.KindEvent:] {
		b = binary.AppendUvarint(b, uint64(x.digest.Counts[k.schema.Kind]))
		b = binary.AppendUvarint(b, uint64(len(k.docs)))
		b = appendList(b, k.free)
		for _, d := range k.texts.dicts {
			b = binary.AppendUvarint(b, uint64(len(d.words)))
		}
		k.eachInLang(func(in *inLang) { b = binary.AppendUvarint(b, uint64(len(in.postings))) })
	}
	return b
}

func (x *Index) readHead(r *reader) {
	for _, at := range [...]*calendar.Mark{&x.marks.All, &x.marks.Reach} {
		at.Position = calendar.Position(r.uvarint())
		copy(at.Hash[:], r.bytes(uint64(len(at.Hash))))
	}
	copy(x.digest.Sum[:], r.bytes(uint64(len(x.digest.Sum))))
	for range r.count() {
		id := calendar.ID(r.varint())
		p := calendar.Position(r.uvarint())
		x.quarantined[id] = readmodel.Quarantined{ID: id, Position: p, Reason: r.text()}
	}
	for range r.count() {
		id := calendar.ID(r.varint())
		x.gone[id] = calendar.Position(r.uvarint())
	}
	all := 0
	for _, k := range x.kinds[calendar.KindEvent:] {
		if n := int(r.uvarint()); n > 0 {
			x.digest.Counts[k.schema.Kind] = n
			all += n
		}
		n := int(r.uvarint())
		k.docs, k.ids, k.free = make([]doc, n), make([]calendar.ID, n), r.list()
		k.blocks = make([]block, (n+blockDocs-1)/blockDocs)
		k.live = make(bitset, wordsFor(n))
		for l, d := range k.texts.dicts {
			k.texts.home[l] = make(bitset, wordsFor(n))
			words := int(r.uvarint())
			d.words, d.roots, d.hints = make([]word, words), make([]uint32, words), make([]hint, words)
		}
		k.eachInLang(func(in *inLang) {
			if n := r.uvarint(); n > 0 {
				in.postings = make([]posting, n)
			}
		})
	}
	x.places.room(all)
}

// eachInLang calls f for each text field in each language.
func (k *kindIndex) eachInLang(f func(*inLang)) {
	for _, field := range k.texts.byNumber {
		if field != nil {
			for l := range field.langs {
				f(&field.langs[l])
			}
		}
	}
}

// builders add the frames of what is built of a kind, but of its documents: the largest
// first, each some that no other one adds.
func (k *kindIndex) builders() (all []func(m *image)) {
	kind := k.schema.Kind
	for l, d := range k.texts.dicts {
		all = append(all, func(m *image) { m.add(frame{what: frameWords, kind: kind, lang: byte(l)}, d.append(nil)) })
	}
	for i := range k.schema.Fields {
		f := &k.schema.Fields[i]
		if f.Type != readmodel.TypeText {
			all = append(all, func(m *image) { m.add(frame{what: frameField, kind: kind, field: byte(i)}, k.appendField(nil, f)) })
			continue
		}
		for l := range calendar.Langs {
			all = append(all, func(m *image) {
				k.texts.byNumber[i].langs[l].addFrames(m, frame{what: frameText, kind: kind, field: byte(i), lang: byte(l)})
			})
		}
	}
	return all
}

// addFrames adds what is built of a kind.
func (k *kindIndex) addFrames(m *image) {
	for _, add := range k.builders() {
		add(m)
	}
	for from := 0; from < len(k.docs); from += blockDocs {
		m.add(frame{what: frameDocuments, kind: k.schema.Kind, from: uint32(from)}, k.appendDocuments(nil, from))
	}
}

// readFrame reads a frame; no two of them fill the same.
func (k *kindIndex) readFrame(f frame, r *reader, data []byte) {
	switch f.what {
	case frameWords:
		k.texts.dicts[f.lang].read(r)
	case frameField:
		k.readField(&k.schema.Fields[f.field], r)
	case frameText:
		k.texts.byNumber[f.field].langs[f.lang].read(r, f.from)
	case frameDocuments:
		k.readDocuments(r, int(f.from), data)
	default:
		r.bad = true
	}
}

func (k *kindIndex) appendDocuments(b []byte, from int) []byte {
	for o := from; o < min(len(k.docs), from+blockDocs); o++ {
		b = binary.AppendVarint(b, int64(k.ids[o]))
		if k.ids[o] == 0 {
			continue
		}
		d := &k.docs[o]
		b = binary.AppendUvarint(b, uint64(d.position))
		b = binary.AppendVarint(b, d.version)
		b = binary.LittleEndian.AppendUint64(b, d.sum)
		b = append(b, byte(d.home))
		b = binary.AppendUvarint(b, uint64(d.textAt))
		b = binary.AppendUvarint(b, uint64(d.bodyAt))
		b = binary.AppendUvarint(b, uint64(len(d.data)))
	}
	return b
}

func (k *kindIndex) readDocuments(r *reader, from int, data []byte) {
	k.blocks[from/blockDocs] = block{held: len(data)}
	all := reader{b: data}
	for o := from; o < min(len(k.docs), from+blockDocs); o++ {
		id := calendar.ID(r.varint())
		if id == 0 {
			continue
		}
		d := doc{
			position: calendar.Position(r.uvarint()), version: r.varint(), sum: r.fixed(), home: calendar.Lang(r.byte()),
			textAt: uint32(r.uvarint()), bodyAt: uint32(r.uvarint()),
		}
		d.data = all.bytes(r.uvarint())
		if r.bad || all.bad || int(d.home) >= len(calendar.Langs) || d.textAt > d.bodyAt || int(d.bodyAt) > len(d.data) {
			r.bad = true
			return
		}
		k.docs[o], k.ids[o] = d, id
		k.blocks[from/blockDocs].docs[(o%blockDocs)/64] |= 1 << (o % 64)
		k.live.put(uint32(o))
		k.texts.home[d.home].put(uint32(o))
	}
}

func (k *kindIndex) appendField(b []byte, f *readmodel.Field) []byte {
	switch f.Type {
	case readmodel.TypeKeyword:
		w := k.keywords[f.Name]
		b = appendSet(b, w.has)
		b = binary.AppendUvarint(b, uint64(len(w.values)))
		for text, p := range w.values {
			b = appendPosting(appendText(b, text), p)
		}
		if w.order != nil {
			b = w.order.append(b)
		}
	case readmodel.TypeBool:
		b = appendSet(b, *k.bools[f.Name])
	case readmodel.TypeIDs:
		if f.Name == readmodel.FieldID {
			return appendNumbers(b, k.numbers[f.Name])
		}
		w := k.links[f.Name]
		b = appendSet(b, w.has)
		b = binary.AppendUvarint(b, uint64(len(w.values)))
		for id, p := range w.values {
			b = appendPosting(binary.AppendVarint(b, int64(id)), p)
		}
	case readmodel.TypeNumber:
		return appendNumbers(b, k.numbers[f.Name])
	case readmodel.TypePoint:
		p := k.places[f.Name]
		b = binary.AppendUvarint(b, uint64(p.in.count()))
		p.in.each(func(o uint32) bool {
			b = binary.AppendUvarint(b, uint64(o))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.lat[o]))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.lng[o]))
			return true
		})
	case readmodel.TypeText, readmodel.TypeComputed:
	}
	return b
}

func (k *kindIndex) readField(f *readmodel.Field, r *reader) {
	switch f.Type {
	case readmodel.TypeKeyword:
		w := k.keywords[f.Name]
		w.has = r.set()
		var keys []string
		if w.order != nil {
			keys = make([]string, len(k.docs))
		}
		for range r.count() {
			text, p := r.text(), r.posting()
			w.values[text] = &p
			if w.order != nil {
				p.each(func(o uint32) { keys[o] = text })
			}
		}
		if w.order != nil {
			w.order.build(keys, r.ordinals())
		}
	case readmodel.TypeBool:
		*k.bools[f.Name] = r.set()
	case readmodel.TypeIDs:
		if f.Name == readmodel.FieldID {
			readNumbers(r, k.numbers[f.Name], len(k.docs))
			return
		}
		w := k.links[f.Name]
		w.has = r.set()
		for range r.count() {
			id, p := calendar.ID(r.varint()), r.posting()
			w.values[id] = &p
		}
	case readmodel.TypeNumber:
		readNumbers(r, k.numbers[f.Name], len(k.docs))
	case readmodel.TypePoint:
		for range r.count() {
			o := uint32(r.uvarint())
			k.places[f.Name].add(o, r.float(), r.float())
		}
	case readmodel.TypeText, readmodel.TypeComputed:
	}
}

func appendNumbers(b []byte, n *order[int64]) []byte {
	b = n.append(b)
	last := int64(0) // the differences of ascending numbers are small
	for _, ords := range n.chunks {
		for _, o := range ords {
			b = binary.AppendVarint(b, n.keys[o]-last)
			last = n.keys[o]
		}
	}
	return b
}

func readNumbers(r *reader, n *order[int64], docs int) {
	ords := r.ordinals()
	keys := make([]int64, docs)
	last := int64(0)
	for _, o := range ords {
		last += r.varint()
		keys[o] = last
	}
	n.build(keys, ords)
}

// append adds the ordinals in order.
func (s *order[K]) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(s.n))
	for _, ords := range s.chunks {
		for _, o := range ords {
			b = binary.LittleEndian.AppendUint32(b, o)
		}
	}
	return b
}

// addFrames adds the postings of a field in a language, in frames of some size.
func (in *inLang) addFrames(m *image, f frame) {
	if len(in.docs) == 0 {
		return
	}
	b := appendSet(nil, in.docs)
	for id := range in.postings {
		if len(b) > textFrame {
			m.add(f, b)
			b, f.from = nil, uint32(id)
		}
		b = appendPosting(b, &in.postings[id])
	}
	m.add(f, b)
}

func (in *inLang) read(r *reader, from uint32) {
	if from == 0 {
		in.docs = r.set()
	}
	for id := from; len(r.b) > 0; id++ {
		in.postings[id] = r.posting()
	}
}

// append adds the words with their stems, and both in order: all texts in one piece,
// then their lengths and the rest.
func (d *dict) append(b []byte) []byte {
	var texts, rest []byte
	for id := range d.words {
		w := &d.words[id]
		texts = append(texts, w.text...)
		if rest = binary.AppendUvarint(rest, uint64(len(w.text))); w.text != "" {
			rest = binary.AppendUvarint(rest, uint64(w.uses))
			rest = binary.AppendUvarint(rest, uint64(d.roots[id]))
			rest = binary.AppendUvarint(rest, uint64(w.next))
		}
	}
	rest = appendList(rest, d.freeWords)
	rest = binary.AppendUvarint(rest, uint64(len(d.stems)))
	for _, s := range d.stems {
		rest = binary.AppendUvarint(rest, uint64(s.first))
		if s.text == d.words[s.first].text {
			rest = append(rest, 0) // one memory for both
		} else {
			texts = append(texts, s.text...)
			rest = binary.AppendUvarint(rest, 1+uint64(len(s.text)))
		}
	}
	rest = d.stemOrder.append(d.order.append(appendList(rest, d.freeStems)))
	return append(append(binary.AppendUvarint(b, uint64(len(texts))), texts...), rest...)
}

// read fills a dict that has room for its words already.
func (d *dict) read(r *reader) {
	words, roots, hints := d.words, d.roots, d.hints
	d.empty()
	d.words, d.roots, d.hints = words, roots, hints
	texts := r.text()
	next := func(n uint64) (text string) {
		if n > uint64(len(texts)) {
			r.b, r.bad = nil, true
			return ""
		}
		text, texts = texts[:n], texts[n:]
		return text
	}
	n := 0
	for id := range words {
		w := &words[id]
		if w.text = next(r.uvarint()); w.text != "" {
			w.uses, roots[id], w.next = uint32(r.uvarint()), uint32(r.uvarint()), uint32(r.uvarint())
			w.char, hints[id] = isChar(w.text), hintOf(w.text)
			n++
		}
	}
	d.freeWords = r.list()
	d.ids.fill(n, len(words))
	for id := range words {
		if isPair(words[id].text) {
			d.pairs[d.charsOf(words[id].text)] = uint32(id)
		}
	}
	d.stems = make([]stem, r.count())
	for i := range d.stems {
		s := &d.stems[i]
		s.first = uint32(r.uvarint())
		if n := r.uvarint(); n == 0 {
			s.text = words[s.first].text
		} else {
			s.text = next(n - 1)
		}
	}
	d.freeStems = r.list()
	for _, s := range d.freeStems {
		d.stems[s] = stem{}
	}
	d.stemIDs.fill(len(d.stems)-len(d.freeStems), len(d.stems))
	d.order.chunks, d.stemOrder.chunks = chunked(r.ordinals()), chunked(r.ordinals())
}

func (o *byText) append(b []byte) []byte {
	n := 0
	for _, ids := range o.chunks {
		n += len(ids)
	}
	b = binary.AppendUvarint(b, uint64(n))
	for _, ids := range o.chunks {
		for _, id := range ids {
			b = binary.LittleEndian.AppendUint32(b, id)
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendList(b []byte, list []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, v := range list {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b
}

func appendSet(b []byte, set bitset) []byte {
	b = binary.AppendUvarint(b, uint64(len(set)))
	for _, w := range set {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// manyOrdinals stands for the number of those of a bitmap.
const manyOrdinals = smallPosting + 1

func appendPosting(b []byte, p *posting) []byte {
	var buf [1]uint32
	list, few := p.few(&buf)
	if !few {
		b = binary.AppendUvarint(b, manyOrdinals)
		b = binary.AppendUvarint(b, p.more.big.GetSerializedSizeInBytes())
		out := appender(b)
		_, _ = p.more.big.WriteTo(&out) // it only appends
		return out
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	last := uint32(0)
	for _, o := range list {
		b = binary.AppendUvarint(b, uint64(o-last))
		last = o
	}
	return b
}

type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

func (r *reader) posting() posting {
	n := r.uvarint()
	if n < manyOrdinals {
		var buf [smallPosting]uint32
		last := uint32(0)
		for i := range buf[:n] {
			last += uint32(r.uvarint())
			buf[i] = last
		}
		return postingOf(buf[:n])
	}
	big := roaring.New()
	if _, err := big.FromBuffer(r.bytes(r.uvarint())); err != nil {
		r.b, r.bad = nil, true
	}
	big.CloneCopyOnWriteContainers() // the frame is used again
	return posting{more: &ordinals{big: big}}
}

// count reads a number of things that take at least a byte each.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

func (r *reader) text() string { return string(r.bytes(r.uvarint())) }

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) fixed() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) list() []uint32 {
	n := r.count()
	if n == 0 {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(r.uvarint())
	}
	return out
}

// ordinals reads what an order appended.
func (r *reader) ordinals() []uint32 {
	b := r.bytes(4 * r.uvarint())
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func (r *reader) set() bitset {
	b := r.bytes(8 * r.uvarint())
	out := make(bitset, len(b)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}
