package memindex

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/internal/ground/compact"
	"daybook/query/readmodel"
)

// title is a name by the first document that has it.
type title struct {
	ordinal uint32
	words   []string
	count   int
}

// Titles does readmodel.Index. Names are told apart by the numbers of their words, which
// each text is kept as.
func (x *Index) Titles(ctx context.Context, q readmodel.Titles) ([]readmodel.Title, calendar.Position, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := readmodel.CheckTitles(q); err != nil {
		return nil, 0, err
	}
	var (
		titles   []title
		at       []found
		position calendar.Position
		first    readmodel.Sort
	)
	if len(q.Sort) > 0 {
		first = q.Sort[0]
	}
	err := x.answers(ctx, q.Kind, []readmodel.Filter{q.Filter}, first, func(e *evaluation, _ int, res result) {
		position = x.marks.All.Position
		titles = e.titles(res, &q)
		at = make([]found, len(titles))
		for i := range titles {
			titles[i].count = e.k.named(res, titles[i].words, q.Lang)
			at[i] = e.k.found(titles[i].ordinal)
		}
	})
	if err != nil {
		return nil, 0, err
	}
	out := make([]readmodel.Title, len(titles))
	for i := range titles {
		r, err := x.brief(&at[i], q.Fields)
		if err != nil {
			return nil, 0, err
		}
		out[i] = readmodel.Title{Record: r, Count: titles[i].count}
	}
	return out, position, nil
}

// mostBriefs is how many of the records are kept that names stand for: what is typed begins
// alike most of the time.
const mostBriefs = 1 << 10

// brief is a record with some of its fields.
type brief struct {
	record *calendar.Record
	fields *string // the first one of the list
}

// brief decodes some fields of a document, or finds them among the decoded ones.
func (x *Index) brief(f *found, fields []string) (*calendar.Record, error) {
	if len(fields) == 0 {
		d, err := x.document(f)
		if err != nil {
			return nil, err
		}
		return d.Record, nil
	}
	slot := &x.briefs[f.id%mostBriefs]
	if b := slot.Load(); b != nil && b.record.ID == f.id && b.record.Sum == f.sum && b.fields == &fields[0] {
		return b.record, nil
	}
	body, err := compact.Unpack(nil, f.body)
	if err != nil {
		return nil, fmt.Errorf("unpack document %d: %w", f.id, err)
	}
	r, err := calendar.DecodeSome(string(body), fields)
	if err != nil {
		return nil, fmt.Errorf("read document %d: %w", f.id, err)
	}
	slot.Store(&brief{r, &fields[0]})
	return r, nil
}

// titles gives the first names in order. Most are those of few of the first documents; where
// these have few names, it looks at many more.
func (e *evaluation) titles(res result, q *readmodel.Titles) (out []title) {
	k, total := e.k, res.count()
	for limit := 2 * q.Limit; len(out) < q.Limit; limit *= 8 {
		asked := q.Query(min(limit, total))
		out = out[:0]
		for _, o := range e.pageOf(res, total, &asked) {
			s := k.nameOf(o, q.Lang)
			if words := k.texts.dicts[s.lang].wordsIn(s.stream); !slices.ContainsFunc(out, func(t title) bool { return slices.Equal(t.words, words) }) {
				if out = append(out, title{ordinal: o, words: words}); len(out) == q.Limit {
					break
				}
			}
		}
		if limit >= total {
			break
		}
	}
	return out
}

// named counts the documents of res whose name has these words, in any language. Only those
// are looked into that have all of them.
func (k *kindIndex) named(res result, words []string, shown calendar.Lang) (n int) {
	field := k.texts.fields[readmodel.TextName]
	for _, l := range calendar.Langs {
		stream, ok := k.texts.dicts[l].streamOf(words)
		if !ok {
			continue
		}
		count := func(o uint32) bool {
			if res.has(o) {
				if s := k.nameOf(o, shown); s.lang == l && bytes.Equal(s.stream, stream) {
					n++
				}
			}
			return true
		}
		if ords, few := field.langs[l].fewWith(stream); few {
			for _, o := range ords {
				count(o)
			}
			continue
		}
		some, part := k.scratch(), k.scratch()
		some.copyFrom(res.bitset)
		field.langs[l].eachPosting(stream, func(p *posting) bool {
			clear(part)
			p.putInto(part)
			some.and(part)
			return true
		})
		some.each(count)
		k.release(some)
		k.release(part)
	}
	return n
}

// eachPosting calls f with the postings of the words of a text, until it gives false.
func (in *inLang) eachPosting(stream []byte, f func(*posting) bool) {
	for len(stream) > 0 {
		id, n := nextWord(stream)
		stream = stream[n:]
		var p *posting
		if int(id) < len(in.postings) {
			p = &in.postings[id]
		}
		if id != breakWord && !f(p) {
			return
		}
	}
}

// fewWith gives documents among which are all that have the words of a text, where one of
// the words is in few.
func (in *inLang) fewWith(stream []byte) (ords []uint32, few bool) {
	in.eachPosting(stream, func(p *posting) bool {
		var one [1]uint32
		ords, few = p.few(&one)
		return !few
	})
	return ords, few
}

// nameOf gives the shown name of a document, as the numbers of its words.
func (k *kindIndex) nameOf(o uint32, l calendar.Lang) section {
	d := &k.docs[o]
	field, texts := k.texts.fields[readmodel.TextName].number, d.texts()
	s, ok := findSection(texts, field, l)
	if !ok {
		if s, ok = findSection(texts, field, d.home); !ok {
			s.lang = d.home // without a word
		}
	}
	return s
}

// streamOf gives the numbers of words as texts have them, false where one is unknown.
func (d *dict) streamOf(words []string) ([]byte, bool) {
	out := make([]byte, 0, 3*len(words))
	for _, w := range words {
		id, ok := d.ids.get(w)
		if !ok {
			return nil, false
		}
		out = binary.AppendUvarint(out, uint64(id))
	}
	return out, true
}

// wordsIn gives the words of a text.
func (d *dict) wordsIn(stream []byte) []string {
	out := make([]string, 0, len(stream)/2+1)
	for len(stream) > 0 {
		id, n := nextWord(stream)
		stream = stream[n:]
		out = append(out, d.words[id].text)
	}
	return out
}
