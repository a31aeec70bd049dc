package memindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// build makes the index of documents that came from a snapshot, values and texts
// beside each other.
func (k *kindIndex) build() error {
	for o, d := range k.docs {
		k.live = k.live.set(uint32(o))
		k.texts.home[d.home] = k.texts.home[d.home].set(uint32(o))
	}
	var wg sync.WaitGroup
	var valuesErr, textsErr error
	wg.Go(func() { valuesErr = k.buildValues() })
	wg.Go(func() { textsErr = k.buildTexts() })
	wg.Wait()
	return errors.Join(valuesErr, textsErr)
}

// buildValues reads the rows. Orders are sorted once at the end.
func (k *kindIndex) buildValues() error {
	type column struct {
		numbers []int64
		texts   []string
		ords    []uint32
	}
	columns := make([]column, len(k.schema.Fields))
	for i := range k.schema.Fields {
		f := &k.schema.Fields[i]
		switch {
		case f.Type == readmodel.TypeNumber || f.Name == readmodel.FieldID:
			columns[i].numbers = make([]int64, len(k.docs))
		case f.Type == readmodel.TypeKeyword && f.Sort:
			columns[i].texts = make([]string, len(k.docs))
		}
	}
	values := make([]value, len(k.schema.Fields))
	for at := range k.docs {
		rest, err := readRow(k.docs[at].row(), k.schema, values)
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("%w: row of document %d", errDamaged, k.ids[at])
		}
		o := uint32(at)
		for i := range values {
			v, c := &values[i], &columns[i]
			switch f := &k.schema.Fields[i]; {
			case f.Name == readmodel.FieldID:
				c.numbers[o] = int64(k.ids[o])
				c.ords = append(c.ords, o)
			case !v.has:
			case f.Type == readmodel.TypeNumber:
				c.numbers[o] = v.number
				c.ords = append(c.ords, o)
			case c.texts != nil:
				c.texts[o] = v.text
				c.ords = append(c.ords, o)
				w := k.keywords[f.Name]
				addTo(w.values, v.text, o)
				w.has = w.has.set(o)
			default:
				k.addValue(o, i, v)
			}
		}
	}
	for i, c := range columns {
		switch f := &k.schema.Fields[i]; {
		case c.numbers != nil:
			k.numbers[f.Name].build(c.numbers, c.ords)
		case c.texts != nil:
			k.keywords[f.Name].order.build(c.texts, c.ords)
		}
	}
	return nil
}

// buildTexts makes the postings of all texts: first how many documents each word
// has, then their lists in one array, then a posting of its own for each word.
func (k *kindIndex) buildTexts() error {
	var lists [256][len(calendar.Langs)]*wordLists
	for o := range k.docs {
		for rest := k.docs[o].texts(); len(rest) > 0; {
			if !k.soundSection(rest) {
				return fmt.Errorf("%w: text of document %d", errDamaged, k.ids[o])
			}
			var s section
			s, rest = nextSection(rest)
			w := lists[s.field][s.lang]
			if w == nil {
				n := len(k.texts.dicts[s.lang].words)
				w = &wordLists{dict: k.texts.dicts[s.lang], ends: make([]uint32, n), seen: make([]uint32, n)}
				lists[s.field][s.lang] = w
			}
			in := &k.texts.byNumber[s.field].langs[s.lang]
			in.docs = in.docs.set(uint32(o))
			w.each(s.stream, uint32(o)+1, func(id uint32) { w.ends[id]++ })
		}
	}
	for f := range lists {
		for _, w := range lists[f] {
			w.begin()
		}
	}
	for o := range k.docs {
		for rest := k.docs[o].texts(); len(rest) > 0; {
			var s section
			s, rest = nextSection(rest)
			w := lists[s.field][s.lang]
			w.each(s.stream, uint32(o)+1, func(id uint32) {
				w.all[w.ends[id]] = uint32(o)
				w.ends[id]++
			})
		}
	}
	for f := range lists {
		for l, w := range lists[f] {
			if w != nil {
				k.texts.byNumber[f].langs[l].postings = w.postings()
			}
		}
	}
	for _, d := range k.texts.dicts {
		d.forgetNeverUsed()
	}
	return nil
}

// wordLists are the documents of each word of a field in a language, one list
// behind the other.
type wordLists struct {
	dict *dict
	ends []uint32 // by word: its number of documents, then where its list ends so far
	seen []uint32 // by word: the last document that had it
	all  []uint32
}

// each calls f for the words of a text, and its pairs of characters, each once.
// mark is another one for each document, and never 0.
func (w *wordLists) each(stream []byte, mark uint32, f func(uint32)) {
	last := uint32(breakWord)
	once := func(id uint32) {
		if w.seen[id] != mark {
			w.seen[id] = mark
			f(id)
		}
	}
	for len(stream) > 0 {
		id, n := nextWord(stream)
		stream = stream[n:]
		if id != breakWord {
			once(id)
			if w.dict.words[id].char && w.dict.words[last].char {
				once(w.dict.pairs[[2]uint32{last, id}])
			}
		}
		last = id
	}
}

// begin turns the numbers into the places where the lists begin.
func (w *wordLists) begin() {
	if w == nil {
		return
	}
	at := uint32(0)
	for id, n := range w.ends {
		w.ends[id] = at
		at += n
	}
	w.all = make([]uint32, at)
	clear(w.seen)
}

func (w *wordLists) postings() []posting {
	out := make([]posting, len(w.ends))
	from := uint32(0)
	for id, end := range w.ends {
		out[id] = postingOf(w.all[from:end])
		w.dict.words[id].uses += end - from
		from = end
	}
	return out
}

// soundSection tells whether the first section can be read: a text field, a
// language, and a stream that ends where it should. Words beyond the dictionary
// would be out of range later.
func (k *kindIndex) soundSection(b []byte) bool {
	if len(b) < 3 || int(b[0]) >= len(k.texts.byNumber) || k.texts.byNumber[b[0]] == nil || int(b[1]) >= len(calendar.Langs) {
		return false
	}
	n, size := binary.Uvarint(b[2:])
	if size <= 0 || n > uint64(len(b)-2-size) {
		return false
	}
	words := uint64(len(k.texts.dicts[b[1]].words))
	for stream := b[2+size:][:n]; len(stream) > 0; {
		id, size := binary.Uvarint(stream)
		if size <= 0 || id >= words {
			return false
		}
		stream = stream[size:]
	}
	return true
}
