package memindex

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// byLanguage holds a value for each language.
type byLanguage[T any] [len(calendar.Langs)]T

// segment holds documents of one kind, events in the order of start, publication and id,
// others by id. It never changes.
type segment struct {
	schema   *readmodel.Schema
	Docs     []doc
	Home     byLanguage[bitset]
	Keywords map[string]*column[string] // booleans too: "true" or none
	Numbers  map[string]*column[int64]  // ids too
	Texts    map[string]*textColumn
	Words    byLanguage[*dictionary]
}

// doc is what a segment holds of a document besides its columns.
type doc struct {
	ID       calendar.ID
	Position calendar.Position
	Sum      uint64 // calendar.Record.Sum
	Home     calendar.Lang
	Body     []byte // packed
}

// entry is a document that was analysed and is in no segment yet. Its values are read from
// its record at once, while that is in the cache of the processor.
type entry struct {
	doc
	record   calendar.Record                  // without fields
	place    []readmodel.Key                  // in the order of the segment
	keywords []string                         // by field of the schema, "": none
	numbers  []int64                          // of all fields
	ends     []int                            // by field of the schema + 1: where its numbers end
	texts    map[string]*byLanguage[[]string] // tokens by language, nil: no text
}

// analyse prepares a document for a segment.
func analyse(schema *readmodel.Schema, document *readmodel.Document, options *Options) entry {
	record := document.Record
	if options.Once != nil {
		record = options.Once(document)
	}
	e := entry{doc: doc{ID: record.ID, Position: document.Position, Sum: record.Sum, Home: record.Home}, record: *record}
	e.record.Fields = nil // they take most of the memory
	if record.Deleted {
		return e
	}
	if e.Body = document.Body; options.Once == nil {
		e.Body = compact.PackSmall(document.Body)
	}
	e.place = readmodel.Place(naturalOrder(schema.Kind), record)
	e.keywords, e.texts = make([]string, len(schema.Fields)), map[string]*byLanguage[[]string]{}
	e.numbers, e.ends = make([]int64, 0, len(schema.Fields)), make([]int, 1, len(schema.Fields)+1)
	for i := range schema.Fields {
		field := &schema.Fields[i]
		switch {
		case field.Keyword != nil:
			e.keywords[i] = strings.Clone(field.Keyword(record)) // it may lie in the text of the whole record
		case field.Numbers != nil:
			e.numbers = append(e.numbers, field.Numbers(record)...)
		case !options.NoTexts:
			tokens := new(byLanguage[[]string])
			e.texts[field.Name] = tokens
			for language, text := range field.Text(record) {
				if text != "" {
					tokens[language] = readmodel.Tokens(text)
				}
			}
		}
		e.ends = append(e.ends, len(e.numbers))
	}
	return e
}

// part is a document of a segment, or an entry, on its way into another segment.
type part struct {
	from  *segment
	at    uint32 // in from
	entry *entry
	doc   *doc
	place []readmodel.Key // in the order of the segment
}

// naturalOrder returns the order of the documents in a segment.
func naturalOrder(kind calendar.Kind) []readmodel.Sort {
	if kind == calendar.KindEvent {
		return readmodel.By(false, readmodel.FieldStart, readmodel.FieldDate, readmodel.FieldID)
	}
	return readmodel.By(false, readmodel.FieldID)
}

// partsOf returns what a segment is made of, in the order of the segment.
func partsOf(schema *readmodel.Schema, layers []liveSegment, entries []*entry) (parts []part) {
	order := naturalOrder(schema.Kind)
	for _, layer := range layers {
		places := make([]readmodel.Key, 0, len(order)*layer.number)
		for ordinal := range layer.live.each {
			for _, sort := range order {
				places = append(places, layer.Numbers[sort.Field].key(ordinal))
			}
			parts = append(parts, part{layer.segment, ordinal, nil, &layer.Docs[ordinal], places[len(places)-len(order):]})
		}
	}
	for _, entry := range entries {
		parts = append(parts, part{entry: entry, doc: &entry.doc, place: entry.place})
	}
	slices.SortFunc(parts, func(a, b part) int { return readmodel.ComparePlaces(order, a.place, b.place) })
	return parts
}

// newSegment returns a segment with empty columns.
func newSegment(schema *readmodel.Schema) *segment {
	part := &segment{schema: schema, Keywords: map[string]*column[string]{}, Numbers: map[string]*column[int64]{}, Texts: map[string]*textColumn{}}
	for _, field := range schema.Fields {
		switch {
		case field.Keyword != nil:
			part.Keywords[field.Name] = new(column[string])
		case field.Numbers != nil:
			part.Numbers[field.Name] = new(column[int64])
		case field.Text != nil:
			part.Texts[field.Name] = new(textColumn)
		}
	}
	return part
}

// build makes a segment of the current documents of others and of new ones.
func build(schema *readmodel.Schema, layers []liveSegment, entries []*entry) *segment {
	parts := partsOf(schema, layers, entries)
	part := newSegment(schema)
	part.Docs = make([]doc, len(parts))
	for language := range part.Home {
		part.Home[language] = newBitset(len(parts))
	}
	for i := range parts {
		part.Docs[i] = *parts[i].doc
		part.Home[part.Docs[i].Home].set(uint32(i))
	}
	vocabulary := newVocabulary(layers, entries)
	part.Words = vocabulary.dictionaries
	tasks := make([]func(), len(schema.Fields))
	for i := range tasks {
		name := schema.Fields[i].Name
		tasks[i] = func() {
			switch field := &schema.Fields[i]; {
			case field.Text != nil:
				part.Texts[name].fill(name, parts, vocabulary)
			case field.Keyword != nil:
				part.Keywords[name].fill(parts, func(s *segment) *column[string] { return s.Keywords[name] }, func(e *entry) []string {
					return e.keywords[i : i+min(len(e.keywords[i]), 1)]
				})
			case field.Numbers != nil:
				part.Numbers[name].fill(parts, func(s *segment) *column[int64] { return s.Numbers[name] }, func(e *entry) []int64 { return e.numbers[e.ends[i]:e.ends[i+1]] })
			}
		}
	}
	do(len(parts) >= inParallel, tasks)
	part.finish()
	return part
}

func numbersOf(ids []calendar.ID) []int64 {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	return numbers
}

// finish makes what follows from the stored columns: where each value and word occurs. In
// smaller segments it is found when it is asked for: they are merged soon, most often unread.
func (segment *segment) finish() {
	var tasks []func() // the largest first
	made := func(invert func() postings) func() postings {
		invert = sync.OnceValue(invert)
		tasks = append(tasks, func() { invert() })
		return invert
	}
	for _, textColumn := range segment.Texts {
		for language := range textColumn {
			textColumn[language].words = made(func() postings { return textColumn[language].invert(len(segment.Words[language].Words)) })
		}
	}
	for _, column := range segment.Keywords {
		column.documents = made(func() postings { return column.invert(len(segment.Docs), false) })
	}
	for name, column := range segment.Numbers {
		column.documents = made(func() postings { return column.invert(len(segment.Docs), segment.schema.Field(name).Sort) })
	}
	if len(segment.Docs) >= inParallel {
		do(true, tasks)
	}
}

// inParallel is the number of documents from which on the columns of a segment are made by
// all processors.
const inParallel = 2000

// do does tasks, on all processors where they are large. A goroutine does many of them, as its
// stack has to grow first.
func do(large bool, tasks []func()) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1); i <= int64(len(tasks)); i = next.Add(1) {
			tasks[i-1]()
		}
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		if large {
			workers.Go(work)
		}
	}
	work()
	workers.Wait()
}

// ordinal returns the ordinal of an id.
func (segment *segment) ordinal(id calendar.ID) (uint32, bool) {
	ids := segment.Numbers[readmodel.FieldID]
	index, found := slices.BinarySearch(ids.Values, int64(id))
	if !found {
		return 0, false
	}
	return ids.documents().docs[index], true // each has one
}
