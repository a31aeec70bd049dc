package memindex

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// segment holds documents of one kind, events in the order of start, publication and id,
// others by id. It never changes.
type segment struct {
	schema   *readmodel.Schema
	Docs     []doc
	Home     [len(calendar.Langs)]bitset
	Keywords map[string]*column[string] // booleans too: "true" or none
	Numbers  map[string]*column[int64]  // ids too
	Texts    map[string]*textColumn
	Words    [len(calendar.Langs)]*dictionary
}

// doc is what a segment holds of a document besides its columns.
type doc struct {
	ID       calendar.ID
	Position calendar.Position
	Version  int64
	Sum      uint64 // calendar.Record.Sum
	Home     calendar.Lang
	body     []byte // packed
}

// entry is a document that was analysed and is in no segment yet.
type entry struct {
	doc
	record   *calendar.Record
	keywords values[string]
	numbers  values[int64]
	texts    map[string][]language // by field
	leaf     [32]byte
}

// values are those of a document in the fields of a schema, one field after the other. They
// are read from its record at once, while that is in the cache of the processor.
type values[V any] struct {
	all  []V
	ends []uint32 // by field
}

func (v *values[V]) endField() { v.ends = append(v.ends, uint32(len(v.all))) }

// of returns the values of a field, by its place in the schema.
func (v *values[V]) of(field int) []V {
	from := uint32(0)
	if field > 0 {
		from = v.ends[field-1]
	}
	return v.all[from:v.ends[field]]
}

// language is the text of a field in one language.
type language struct {
	lang   calendar.Lang
	tokens []string
}

// analyse prepares a document for a segment.
func analyse(s *readmodel.Schema, d *readmodel.Document, texts bool) entry {
	r := d.Record
	e := entry{doc: doc{ID: r.ID, Position: d.Position, Version: r.Version, Sum: r.Sum, Home: r.Home}, record: r}
	if r.Deleted {
		return e
	}
	e.body, e.leaf = compact.Pack(d.Body), readmodel.Leaf(r.Kind, r.ID, r.Version, d.Body)
	e.keywords.ends, e.numbers.ends = make([]uint32, 0, len(s.Fields)), make([]uint32, 0, len(s.Fields))
	for i := range s.Fields {
		e.addValues(&s.Fields[i])
	}
	if !texts {
		return e
	}
	e.texts = map[string][]language{}
	for _, name := range s.Texts() {
		text := s.Field(name).Text(r)
		for _, l := range calendar.Langs {
			if text[l] != "" {
				e.texts[name] = append(e.texts[name], language{l, readmodel.Tokens(text[l])})
			}
		}
	}
	return e
}

// addValues adds the values of the next field.
func (e *entry) addValues(f *readmodel.Field) {
	switch f.Type {
	case readmodel.TypeBool:
		if f.Bool(e.record) {
			e.keywords.all = append(e.keywords.all, "true")
		}
	case readmodel.TypeKeyword:
		if v := f.Keyword(e.record); v != "" {
			e.keywords.all = append(e.keywords.all, strings.Clone(v)) // it may lie in the text of the whole record
		}
	case readmodel.TypeIDs:
		first := len(e.numbers.all)
		for _, id := range f.IDs(e.record) {
			if !slices.Contains(e.numbers.all[first:], int64(id)) { // a record may name one twice
				e.numbers.all = append(e.numbers.all, int64(id))
			}
		}
	case readmodel.TypeNumber, readmodel.TypeComputed:
		if n, has := f.Number(e.record); has {
			e.numbers.all = append(e.numbers.all, n)
		}
	}
	e.keywords.endField()
	e.numbers.endField()
}

// part is a document of a segment, or an entry, on its way into another segment.
type part struct {
	from  *segment
	at    uint32 // in from
	entry *entry
	place [len(naturalOrder)]readmodel.Key // in the order of the segment, before the id
}

func (p *part) doc() *doc {
	if p.entry != nil {
		return &p.entry.doc
	}
	return &p.from.Docs[p.at]
}

// source is a segment with those of its documents that are still current.
type source struct {
	*segment
	live bitset
}

// naturalOrder are the fields by which the events of a segment are ordered, before the id.
var naturalOrder = [...]string{readmodel.FieldStart, readmodel.FieldDate}

// partsOf returns what a segment is made of, in the order of the segment.
func partsOf(s *readmodel.Schema, sources []source, entries []*entry) (parts []part) {
	n := len(entries)
	for _, src := range sources {
		n += src.live.count()
	}
	parts = make([]part, 0, n)
	for _, src := range sources {
		src.live.each(func(o uint32) bool {
			parts = append(parts, part{from: src.segment, at: o})
			return true
		})
	}
	for _, e := range entries {
		parts = append(parts, part{entry: e})
	}
	for i := range parts {
		p := &parts[i]
		for key, name := range naturalOrder {
			switch {
			case s.Kind != calendar.KindEvent:
			case p.entry != nil:
				p.place[key].N, p.place[key].Has = s.Field(name).Number(p.entry.record)
			default:
				p.place[key].N, p.place[key].Has = p.from.Numbers[name].first(p.at)
			}
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		var ascending readmodel.Sort
		for key := range naturalOrder {
			if c := ascending.Compare(a.place[key], b.place[key]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.doc().ID, b.doc().ID)
	})
	return parts
}

// build makes a segment of the current documents of others or of new ones.
func build(schema *readmodel.Schema, sources []source, entries []*entry) *segment {
	parts := partsOf(schema, sources, entries)
	s := &segment{
		schema: schema, Docs: make([]doc, len(parts)), Texts: map[string]*textColumn{},
		Keywords: map[string]*column[string]{}, Numbers: map[string]*column[int64]{},
	}
	for l := range s.Home {
		s.Home[l] = newBitset(len(parts))
	}
	for i := range parts {
		s.Docs[i] = *parts[i].doc()
		s.Home[s.Docs[i].Home].set(uint32(i))
	}
	v := newVocabulary(sources, entries)
	s.Words = v.dictionaries
	var tasks []func()
	for i := range schema.Fields {
		f := &schema.Fields[i]
		switch f.Type {
		case readmodel.TypeText:
			c := new(textColumn)
			s.Texts[f.Name] = c
			tasks = append(tasks, func() { c.fill(f.Name, parts, v) })
		case readmodel.TypeKeyword, readmodel.TypeBool:
			c := new(column[string])
			s.Keywords[f.Name] = c
			tasks = append(tasks, func() {
				*c = *newColumn(parts, func(s *segment) *column[string] { return s.Keywords[f.Name] }, func(e *entry) []string { return e.keywords.of(i) })
			})
		case readmodel.TypeIDs, readmodel.TypeNumber, readmodel.TypeComputed:
			c := new(column[int64])
			s.Numbers[f.Name] = c
			tasks = append(tasks, func() {
				*c = *newColumn(parts, func(s *segment) *column[int64] { return s.Numbers[f.Name] }, func(e *entry) []int64 { return e.numbers.of(i) })
			})
		}
	}
	do(len(parts) >= inParallel, tasks)
	s.finish()
	return s
}

func numbersOf(ids []calendar.ID) []int64 {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	return numbers
}

// finish makes what follows from the stored columns: where each value and word occurs.
func (s *segment) finish() {
	var tasks []func()
	for _, c := range s.Keywords {
		tasks = append(tasks, func() { c.invert(len(s.Docs), false) })
	}
	for name, c := range s.Numbers {
		tasks = append(tasks, func() { c.invert(len(s.Docs), s.schema.Field(name).Sort) })
	}
	for _, c := range s.Texts {
		for l := range c {
			tasks = append(tasks, func() { c[l].invert(len(s.Words[l].Words)) })
		}
	}
	do(len(s.Docs) >= inParallel, tasks)
}

// inParallel is the number of documents from which on the columns of a segment are made by
// all processors.
const inParallel = 2000

// do does tasks, on all processors where they are large.
func do(large bool, tasks []func()) {
	if !large {
		for _, task := range tasks {
			task()
		}
		return
	}
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, task := range tasks {
		workers.Go(func() error {
			task()
			return nil
		})
	}
	_ = workers.Wait() // none returns an error
}

// ordinal returns the ordinal of an id.
func (s *segment) ordinal(id calendar.ID) (uint32, bool) {
	ids := s.Numbers[readmodel.FieldID]
	at, found := slices.BinarySearch(ids.Values, int64(id))
	if !found {
		return 0, false
	}
	return ids.documents.docs[at], true // each has one
}

// wall returns the wall clock of a document in a field.
func (s *segment) wall(field string, o uint32) calendar.Wall {
	if n, has := s.Numbers[field].first(o); has {
		return calendar.Wall(n)
	}
	return calendar.NoWall
}
