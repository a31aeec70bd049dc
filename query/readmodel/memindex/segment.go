package memindex

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

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
	Keywords map[string]*terms[string]
	IDs      map[string]*terms[calendar.ID]
	Numbers  map[string]*numbers
	Bools    map[string]bitset
	Texts    map[string]*textColumn
	Words    [len(calendar.Langs)]*dictionary

	byID []uint32
	lazy map[string]*lazyTerms // computed fields
}

type lazyTerms struct {
	once  sync.Once
	terms *terms[int64]
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
	record *calendar.Record
	texts  map[string][]language // by field
	leaf   [32]byte
}

// language is the text of a field in one language.
type language struct {
	lang   calendar.Lang
	tokens []string
}

// analyse prepares a document for a segment.
func analyse(s *readmodel.Schema, d *readmodel.Document) *entry {
	r := d.Record
	e := &entry{
		doc:    doc{r.ID, d.Position, r.Version, r.Sum, r.Home, compact.Pack(d.Body)},
		record: r,
		texts:  map[string][]language{},
		leaf:   readmodel.Leaf(r.Kind, r.ID, r.Version, d.Body),
	}
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

// part is a document of a segment, or an entry, on its way into another segment.
type part struct {
	from  *segment
	at    uint32 // in from
	entry *entry
	place [2]readmodel.Key // in the order of the segment, before the id
	id    calendar.ID
}

// source is a segment with those of its documents that are still current.
type source struct {
	*segment
	live bitset
}

// partsOf returns what a segment is made of, in the order of the segment.
func partsOf(s *readmodel.Schema, sources []source, entries []*entry) []part {
	var out []part
	events := s.Kind == calendar.KindEvent
	for _, src := range sources {
		src.live.each(func(o uint32) bool {
			p := part{from: src.segment, at: o, id: src.Docs[o].ID}
			if events {
				for i, name := range naturalOrder {
					column := src.Numbers[name]
					p.place[i] = readmodel.Key{N: column.Keys[o], Has: column.Has.has(o)}
				}
			}
			out = append(out, p)
			return true
		})
	}
	for _, e := range entries {
		p := part{entry: e, id: e.ID}
		if events {
			for i, name := range naturalOrder {
				p.place[i].N, p.place[i].Has = s.Field(name).Number(e.record)
			}
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b part) int {
		return cmp.Or(naturally.Compare(a.place[0], b.place[0]), naturally.Compare(a.place[1], b.place[1]), cmp.Compare(a.id, b.id))
	})
	return out
}

// naturalOrder are the fields by which the events of a segment are ordered, before the id.
var naturalOrder = [2]string{readmodel.FieldStart, readmodel.FieldDate}

var naturally readmodel.Sort // ascending

// build makes a segment of the current documents of others and of new ones.
func build(schema *readmodel.Schema, sources []source, entries []*entry) *segment {
	parts := partsOf(schema, sources, entries)
	n := len(parts)
	s := &segment{
		schema: schema, Docs: make([]doc, n), Keywords: map[string]*terms[string]{}, IDs: map[string]*terms[calendar.ID]{},
		Numbers: map[string]*numbers{}, Bools: map[string]bitset{},
		Texts: map[string]*textColumn{},
	}
	for l := range s.Home {
		s.Home[l] = newBitset(n)
	}
	for i, p := range parts {
		if p.entry != nil {
			s.Docs[i] = p.entry.doc
		} else {
			s.Docs[i] = p.from.Docs[p.at]
		}
		s.Home[s.Docs[i].Home].set(uint32(i))
	}
	vocabulary := newVocabulary(sources, entries)
	s.Words = vocabulary.dictionaries
	s.addColumns(parts, vocabulary)
	s.finish()
	return s
}

// inParallel is the number of documents from which on the columns of a segment are made by
// all processors.
const inParallel = 2000

func each[T any](n int, tasks []T, do func(T)) {
	if n < inParallel {
		for _, task := range tasks {
			do(task)
		}
		return
	}
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, task := range tasks {
		workers.Go(func() error {
			do(task)
			return nil
		})
	}
	_ = workers.Wait() // none returns an error
}

// addColumns makes the columns: what is stored of a segment.
func (s *segment) addColumns(parts []part, v *vocabulary) {
	n := len(parts)
	s.makeColumns(n)
	fields := make([]*readmodel.Field, len(s.schema.Fields))
	for i := range fields {
		fields[i] = &s.schema.Fields[i]
	}
	each(n, fields, func(f *readmodel.Field) {
		switch f.Type {
		case readmodel.TypeKeyword:
			var value [1]string
			*s.Keywords[f.Name] = *newTerms(n, func(i int) []string {
				p := &parts[i]
				if p.entry == nil {
					return p.from.Keywords[f.Name].valuesOf(value[:0], p.at)
				}
				if value[0] = f.Keyword(p.entry.record); value[0] == "" {
					return nil
				}
				value[0] = strings.Clone(value[0]) // it may lie in the text of the whole record
				return value[:]
			})
		case readmodel.TypeIDs:
			if f.Name == readmodel.FieldID {
				return
			}
			var buffer []calendar.ID
			*s.IDs[f.Name] = *newTerms(n, func(i int) []calendar.ID {
				p := &parts[i]
				if p.entry != nil {
					return f.IDs(p.entry.record)
				}
				buffer = p.from.IDs[f.Name].valuesOf(buffer[:0], p.at)
				return buffer
			})
		case readmodel.TypeBool:
			for i, p := range parts {
				if p.entry != nil && f.Bool(p.entry.record) || p.entry == nil && p.from.Bools[f.Name].has(p.at) {
					s.Bools[f.Name].set(uint32(i))
				}
			}
		case readmodel.TypeNumber:
			c := s.Numbers[f.Name]
			for i, p := range parts {
				var has bool
				if p.entry != nil {
					c.Keys[i], has = f.Number(p.entry.record)
				} else {
					from := p.from.Numbers[f.Name]
					c.Keys[i], has = from.Keys[p.at], from.Has.has(p.at)
				}
				if has {
					c.Has.set(uint32(i))
				}
			}
		case readmodel.TypeText:
			s.Texts[f.Name].fill(f.Name, parts, v)
		case readmodel.TypeComputed:
		}
	})
}

// makeColumns makes empty columns for n documents.
func (s *segment) makeColumns(n int) {
	for i := range s.schema.Fields {
		f := &s.schema.Fields[i]
		switch f.Type {
		case readmodel.TypeKeyword:
			s.Keywords[f.Name] = new(terms[string])
		case readmodel.TypeIDs:
			if f.Name != readmodel.FieldID {
				s.IDs[f.Name] = new(terms[calendar.ID])
			}
		case readmodel.TypeBool:
			s.Bools[f.Name] = newBitset(n)
		case readmodel.TypeNumber:
			s.Numbers[f.Name] = &numbers{Keys: make([]int64, n), Has: newBitset(n)}
		case readmodel.TypeText:
			s.Texts[f.Name] = new(textColumn)
		case readmodel.TypeComputed:
		}
	}
	s.addLazy()
}

// addLazy makes room for the columns that are made when they are asked for.
func (s *segment) addLazy() {
	s.lazy = map[string]*lazyTerms{}
	for i := range s.schema.Fields {
		if f := &s.schema.Fields[i]; f.Type == readmodel.TypeComputed {
			s.lazy[f.Name] = new(lazyTerms)
		}
	}
}

// finish makes what follows from the columns: orders and postings.
func (s *segment) finish() {
	tasks := []func(){func() {
		s.byID = make([]uint32, len(s.Docs))
		for i := range s.byID {
			s.byID[i] = uint32(i)
		}
		slices.SortFunc(s.byID, func(a, b uint32) int { return cmp.Compare(s.Docs[a].ID, s.Docs[b].ID) })
	}}
	for i := range s.schema.Fields {
		f := &s.schema.Fields[i]
		switch {
		case f.Type == readmodel.TypeNumber:
			tasks = append(tasks, func() { s.Numbers[f.Name].sort(s.Docs) })
		case f.Type == readmodel.TypeIDs && f.Name != readmodel.FieldID:
			tasks = append(tasks, s.IDs[f.Name].invert)
		case f.Type == readmodel.TypeKeyword:
			tasks = append(tasks, func() {
				if s.Keywords[f.Name].invert(); f.Sort {
					s.Keywords[f.Name].sort(s.Docs)
				}
			})
		case f.Type == readmodel.TypeText:
			for l := range calendar.Langs {
				tasks = append(tasks, func() { s.Texts[f.Name][l].invert(len(s.Words[l].Words)) })
			}
		}
	}
	each(len(s.Docs), tasks, func(task func()) { task() })
}

// ordinal returns the ordinal of an id.
func (s *segment) ordinal(id calendar.ID) (uint32, bool) {
	at, found := slices.BinarySearchFunc(s.byID, id, func(o uint32, id calendar.ID) int { return cmp.Compare(s.Docs[o].ID, id) })
	if !found {
		return 0, false
	}
	return s.byID[at], true
}
