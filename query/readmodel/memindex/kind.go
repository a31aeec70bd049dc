package memindex

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// kindIndex is the index of the documents of one kind. A document has a dense
// ordinal; the ordinal of one that goes is used again.
type kindIndex struct {
	number uint64 // of the image, see Stamp
	schema *readmodel.Schema
	docs   []doc
	ids    []calendar.ID // by ordinal; 0: free
	free   []uint32
	live   bitset
	blocks []block // of the documents that came from a snapshot

	keywords map[string]*keywords
	bools    map[string]*bitset
	links    map[string]*links
	numbers  map[string]*order[int64]
	texts    *texts
	places   map[string]*places
	sorters  map[string]sorter
	fieldAt  map[string]int // in the schema
	kept     *keptResults
	columns  columns

	seq     uint64              // number of changes so far
	changes [keptChanges]uint32 // the last documents that changed, by number of the change
}

// keptChanges is how many changes an answer that is under way can catch up with.
const keptChanges = 4096

// note remembers that a document changes.
func (k *kindIndex) note(o uint32) {
	k.changes[k.seq%keptChanges] = o
	k.seq++
}

// doc is what is kept of a document beside the index. Its bytes are never
// changed, so they may be read without the lock.
type doc struct {
	position calendar.Position
	version  int64
	sum      uint64 // calendar.Record.Sum
	data     []byte // row, sections, packed body
	textAt   uint32 // where the sections begin
	bodyAt   uint32 // where the body begins
	home     calendar.Lang
}

func (d *doc) row() []byte   { return d.data[:d.textAt] }
func (d *doc) texts() []byte { return d.data[d.textAt:d.bodyAt] }
func (d *doc) body() []byte  { return d.data[d.bodyAt:] }

// block are documents that came from a snapshot, whose bytes lie in one piece of memory.
type block struct {
	docs       [blockDocs / 64]uint64
	held, gone int // bytes
}

// leaveBlock notes that a document does not need its bytes any more. When half of those
// of a block are of no use, what is left of it moves out, so that it can go.
func (k *kindIndex) leaveBlock(o uint32) {
	at := int(o) / blockDocs
	if at >= len(k.blocks) || !bitset(k.blocks[at].docs[:]).has(o%blockDocs) {
		return
	}
	b := &k.blocks[at]
	set := bitset(b.docs[:])
	set.clear(o % blockDocs)
	if b.gone += len(k.docs[o].data); 2*b.gone < b.held {
		return
	}
	set.each(func(i uint32) bool {
		d := &k.docs[uint32(at*blockDocs)+i]
		d.data = bytes.Clone(d.data)
		return true
	})
	*b = block{}
}

// keywords is a keyword field: the documents of each value, and the order by
// value where the field is sortable.
type keywords struct {
	values map[string]*posting
	has    bitset
	order  *order[string] // nil: not sortable
}

// links is an id field.
type links struct {
	values map[calendar.ID]*posting
	has    bitset
}

func newKindIndex(s *readmodel.Schema) *kindIndex {
	k := &kindIndex{
		number: stamps.Add(1), schema: s, keywords: map[string]*keywords{}, bools: map[string]*bitset{}, links: map[string]*links{},
		numbers: map[string]*order[int64]{}, texts: newTexts(s), places: map[string]*places{}, sorters: map[string]sorter{},
		fieldAt: map[string]int{}, kept: &keptResults{}, columns: columns{of: map[string]*column{}},
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		k.fieldAt[f.Name] = i
		switch f.Type {
		case readmodel.TypeKeyword:
			w := &keywords{values: map[string]*posting{}}
			if f.Sort {
				w.order = &order[string]{ids: &k.ids, kept: k.kept}
				k.sorters[f.Name] = w.order
			}
			k.keywords[f.Name] = w
		case readmodel.TypeBool:
			k.bools[f.Name] = &bitset{}
		case readmodel.TypeIDs:
			if f.Name != readmodel.FieldID {
				k.links[f.Name] = &links{values: map[calendar.ID]*posting{}}
				continue
			}
			fallthrough // the id is ordered as a number
		case readmodel.TypeNumber:
			o := &order[int64]{ids: &k.ids, kept: k.kept}
			k.numbers[f.Name] = o
			if f.Sort {
				k.sorters[f.Name] = o
			}
		case readmodel.TypePoint:
			k.places[f.Name] = &places{}
		case readmodel.TypeText, readmodel.TypeComputed:
		}
	}
	return k
}

// prepared is a document with all that can be made of it without the index.
type prepared struct {
	doc    readmodel.Document
	values []value
	texts  []preparedText
	body   []byte // packed
	leaf   [sha256.Size]byte
}

type preparedText struct {
	field  byte
	lang   calendar.Lang
	tokens []string
}

func prepare(s *readmodel.Schema, d readmodel.Document) *prepared {
	p := &prepared{
		doc: d, values: valuesOf(s, d.Record), body: compact.Pack(d.Body),
		leaf: readmodel.Leaf(s.Kind, d.Record.ID, d.Record.Version, d.Body),
	}
	for i := range s.Fields {
		if s.Fields[i].Type != readmodel.TypeText {
			continue
		}
		for l, text := range s.Fields[i].Text(d.Record) {
			if text != "" {
				p.texts = append(p.texts, preparedText{byte(i), calendar.Lang(l), readmodel.Tokens(text)})
			}
		}
	}
	return p
}

// insert adds a document under a free ordinal.
func (k *kindIndex) insert(p *prepared) uint32 {
	o := k.take()
	k.note(o)
	k.ids[o] = p.doc.Record.ID
	k.live = k.live.set(o)
	d := k.docOf(p)
	k.docs[o] = d
	k.texts.home[d.home] = k.texts.home[d.home].set(o)
	k.numbers[readmodel.FieldID].insert(o, int64(p.doc.Record.ID))
	for i := range p.values {
		k.addValue(o, i, &p.values[i])
	}
	var buf []uint32
	for rest := d.texts(); len(rest) > 0; {
		var s section
		s, rest = nextSection(rest)
		buf = k.texts.addSection(o, s, buf)
	}
	k.follow(o, p.values)
	k.join(o)
	return o
}

func (k *kindIndex) take() uint32 {
	if n := len(k.free); n > 0 {
		o := k.free[n-1]
		k.free = k.free[:n-1]
		return o
	}
	o := uint32(len(k.docs))
	k.docs = append(k.docs, doc{})
	k.ids = append(k.ids, 0)
	return o
}

// docOf makes what is kept of a document; new words get their numbers.
func (k *kindIndex) docOf(p *prepared) doc {
	data := appendRow(make([]byte, 0, 1024+len(p.body)), k.schema, p.values)
	textAt := len(data)
	for _, t := range p.texts {
		data = k.texts.appendSection(data, t.field, t.lang, t.tokens)
	}
	bodyAt := len(data)
	return doc{
		position: p.doc.Position, version: p.doc.Record.Version, home: p.doc.Record.Home, sum: calendar.SumOf(p.doc.Body),
		textAt: uint32(textAt), bodyAt: uint32(bodyAt),
		data: bytes.Clone(append(data, p.body...)),
	}
}

// replace puts a newer document in the place of an older one; what did not
// change is not touched.
func (k *kindIndex) replace(o uint32, p *prepared) {
	k.note(o)
	was := k.docs[o]
	old := make([]value, len(k.schema.Fields))
	if err := readRow(was.row(), k.schema, old); err != nil {
		panic(err) // rows are checked when they come in
	}
	k.leave(o)
	d := k.docOf(p)
	k.leaveBlock(o)
	k.docs[o] = d
	if was.home != d.home {
		k.texts.home[was.home].clear(o)
		k.texts.home[d.home] = k.texts.home[d.home].set(o)
	}
	for i := range old {
		if !old[i].equal(&p.values[i]) {
			k.removeValue(o, i, &old[i])
			k.addValue(o, i, &p.values[i])
		}
	}
	before, after := was.texts(), d.texts()
	k.eachMissing(before, after, func(s section) { k.texts.removeSection(o, s) })
	k.eachMissing(after, before, func(s section) { k.texts.addSection(o, s, nil) })
	k.follow(o, p.values)
	k.join(o)
}

// eachMissing calls f for the sections of a that b does not have.
func (k *kindIndex) eachMissing(a, b []byte, f func(section)) {
	for len(a) > 0 {
		var s section
		s, a = nextSection(a)
		if t, ok := findSection(b, s.field, s.lang); !ok || !bytes.Equal(s.stream, t.stream) {
			f(s)
		}
	}
}

func findSection(b []byte, field byte, l calendar.Lang) (section, bool) {
	for len(b) > 0 {
		var s section
		if s, b = nextSection(b); s.field == field && s.lang == l {
			return s, true
		}
	}
	return section{}, false
}

func (k *kindIndex) delete(o uint32) {
	k.note(o)
	was := k.docs[o]
	old := make([]value, len(k.schema.Fields))
	if err := readRow(was.row(), k.schema, old); err != nil {
		panic(err) // rows are checked when they come in
	}
	k.leave(o)
	for i := range old {
		k.removeValue(o, i, &old[i])
	}
	for rest := was.texts(); len(rest) > 0; {
		var s section
		s, rest = nextSection(rest)
		k.texts.removeSection(o, s)
	}
	k.numbers[readmodel.FieldID].remove(o)
	k.texts.home[was.home].clear(o)
	k.live.clear(o)
	k.leaveBlock(o)
	k.docs[o] = doc{}
	k.ids[o] = 0
	k.free = append(k.free, o)
}

func (k *kindIndex) addValue(o uint32, field int, v *value) {
	if !v.has {
		return
	}
	f := &k.schema.Fields[field]
	switch f.Type {
	case readmodel.TypeKeyword:
		w := k.keywords[f.Name]
		addTo(w.values, v.text, o)
		w.has = w.has.set(o)
		if w.order != nil {
			w.order.insert(o, v.text)
		}
	case readmodel.TypeBool:
		b := k.bools[f.Name]
		*b = b.set(o)
	case readmodel.TypeIDs:
		w := k.links[f.Name]
		for _, id := range v.ids {
			addTo(w.values, id, o)
		}
		w.has = w.has.set(o)
	case readmodel.TypeNumber:
		k.numbers[f.Name].insert(o, v.number)
	case readmodel.TypePoint:
		k.places[f.Name].add(o, v.lat, v.lng)
	case readmodel.TypeText, readmodel.TypeComputed:
	}
}

func addTo[K comparable](m map[K]*posting, key K, o uint32) {
	p := m[key]
	if p == nil {
		p = &posting{}
		m[key] = p
	}
	p.add(o)
}

func removeFrom[K comparable](m map[K]*posting, key K, o uint32) {
	if p := m[key]; p != nil {
		if p.remove(o); p.empty() {
			delete(m, key)
		}
	}
}

func (k *kindIndex) removeValue(o uint32, field int, v *value) {
	if !v.has {
		return
	}
	f := &k.schema.Fields[field]
	switch f.Type {
	case readmodel.TypeKeyword:
		w := k.keywords[f.Name]
		removeFrom(w.values, v.text, o)
		w.has.clear(o)
		if w.order != nil {
			w.order.remove(o)
		}
	case readmodel.TypeBool:
		k.bools[f.Name].clear(o)
	case readmodel.TypeIDs:
		w := k.links[f.Name]
		for _, id := range v.ids {
			removeFrom(w.values, id, o)
		}
		w.has.clear(o)
	case readmodel.TypeNumber:
		k.numbers[f.Name].remove(o)
	case readmodel.TypePoint:
		k.places[f.Name].remove(o)
	case readmodel.TypeText, readmodel.TypeComputed:
	}
}

// result are the documents that a filter admits.
type result struct {
	bitset // in a window: and others

	of     *kept   // where it is that of a kept result
	within *kept   // where it was made from a kept result
	window *window // where it is part of one
	begin  int     // none lies in a chunk before this one, in the order that is asked for
}

func (r *result) has(o uint32) bool {
	return r.bitset.has(o) && (r.window == nil || r.window.admits(o))
}

func (r *result) count() int {
	switch {
	case r.window != nil:
		return r.window.total
	case r.of != nil:
		return r.of.n
	}
	return r.bitset.count()
}

// pageOf gives the ordinals of res that a query asks for.
func (e *evaluation) pageOf(res result, total int, q *readmodel.Query) []uint32 {
	k := e.k
	switch {
	case q.Limit == 0:
		return nil
	case e.r.rank != nil:
		return e.rankedPage(res, total, q)
	case len(q.Sort) > 0 && q.Sort[0].Least != nil:
		return k.pageByLeast(res, q)
	case q.After != nil:
		return k.pageBehind(res, total, q.Sort, q.After, q.Limit)
	default:
		return k.page(res, total, q.Sort, q.Offset, q.Limit)
	}
}

// page gives the ordinals of res from an offset on, at most limit, in an order;
// total is their number.
func (k *kindIndex) page(res result, total int, by []readmodel.Sort, offset, limit int) []uint32 {
	if limit == 0 || offset >= total {
		return nil
	}
	if len(by) == 0 {
		by = []readmodel.Sort{{Field: readmodel.FieldID}}
	}
	limit = min(limit, total-offset)
	if total*total < len(k.docs)/16 && res.window == nil {
		return k.pageOfFew(res, total, by, offset, limit)
	}
	first := k.sorters[by[0].Field]
	inOrder := total
	if first.size() < len(k.docs)-len(k.free) { // some have no value
		inOrder = res.countAnd(first.members())
	}
	var out []uint32
	if offset < inOrder {
		out = k.pageInOrder(first, res, inOrder, by, offset, limit)
	}
	if len(out) < limit {
		// Those without a value come last, by the keys that are left.
		rest := k.scratch()
		rest.copyFrom(res.bitset)
		rest.andNot(first.members())
		var more []uint32
		if len(by) == 1 || by[0].Tail {
			more = k.page(result{bitset: rest}, total-inOrder, nil, max(0, offset-inOrder), limit-len(out))
		} else {
			more = k.page(result{bitset: rest}, total-inOrder, by[1:], max(0, offset-inOrder), limit-len(out))
		}
		k.release(rest)
		out = append(out, more...)
	}
	return out
}

// pageOfFew is page where so few are found that it is faster to sort them than to look
// for them in an order.
func (k *kindIndex) pageOfFew(res result, total int, by []readmodel.Sort, offset, limit int) []uint32 {
	ords := make([]uint32, 0, total)
	res.each(func(o uint32) bool {
		ords = append(ords, o)
		return true
	})
	k.sortBy(ords, by)
	return ords[offset : offset+limit]
}

// pageInOrder is page for those that have a value of the first key.
func (k *kindIndex) pageInOrder(first sorter, res result, count int, by []readmodel.Sort, offset, limit int) []uint32 {
	out := make([]uint32, 0, min(limit, count-offset))
	desc := by[0].Desc
	// The order itself breaks ties by id, descending when it is walked down.
	if len(by) == 1 && !desc || by[0].Field == readmodel.FieldID || len(by) > 1 && by[1].Field == readmodel.FieldID && by[1].Desc == desc {
		first.each(res, count, offset, desc, func(o uint32) bool {
			out = append(out, o)
			return len(out) < cap(out)
		})
		return out
	}
	// Equal values are a group that the other keys order: walk from the beginning
	// of the group at the offset to the end of the group at the limit.
	start := offset
	group := make([]uint32, 0, 8)
	rest := by[1:]
	flush := func() {
		k.sortBy(group, rest)
		for _, o := range group {
			if start >= offset && len(out) < cap(out) {
				out = append(out, o)
			}
			start++
		}
		group = group[:0]
	}
	step := func(o uint32) bool {
		if len(group) > 0 && first.compare(group[0], o, false) != 0 {
			flush()
			if len(out) == cap(out) {
				return false
			}
		}
		group = append(group, o)
		return true
	}
	// The walk goes on from the offset unless the group there begins before it.
	begun := false
	first.each(res, count, offset, desc, func(o uint32) bool {
		if !begun {
			begun = true
			if start -= first.tiesBefore(res, o, desc); start < offset {
				return false
			}
		}
		return step(o)
	})
	if start < offset {
		first.each(res, count, start, desc, step)
	}
	flush()
	return out
}

func (k *kindIndex) sortBy(ords []uint32, by []readmodel.Sort) {
	if len(ords) < 2 {
		return
	}
	sorters := make([]sorter, len(by))
	for i := range by {
		sorters[i] = k.sorters[by[i].Field]
	}
	byID := k.sorters[readmodel.FieldID]
	slices.SortFunc(ords, func(a, b uint32) int {
		for i, s := range sorters {
			if c := s.compare(a, b, by[i].Desc); c != 0 {
				return c
			}
			if by[i].Tail && !s.members().has(a) {
				break
			}
		}
		return byID.compare(a, b, false)
	})
}
