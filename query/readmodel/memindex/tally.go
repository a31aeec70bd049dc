package memindex

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// tally answers tallies about what was found.
func (f *finding) tally(of []readmodel.Tally) []readmodel.Tallied {
	out := make([]readmodel.Tallied, len(of))
	for i := range of {
		t := &of[i]
		out[i] = readmodel.Tallied{Groups: make([]int, len(t.Groups)), Parts: make([]int, len(t.Parts))}
		counts := map[int64]int{}
		for at, e := range f.layers {
			docs := f.results[at]
			if t.Field != "" {
				e.Numbers[t.Field].count(counts, docs)
			}
			for part, filter := range t.Parts {
				some := scratchOf(docs)
				e.narrow(some, filter)
				out[i].Parts[part] += some.count()
				release(some)
			}
			for group, values := range t.Groups {
				some := scratchOf(docs)
				e.Numbers[t.Field].narrow(some, numbersOf(values))
				out[i].Groups[group] += some.count()
				release(some)
			}
		}
		for value, n := range counts {
			out[i].Values = append(out[i].Values, readmodel.Value{Value: value, N: n})
		}
		readmodel.SortValues(out[i].Values)
	}
	return out
}

// Counts implements readmodel.View.
func (v *view) Counts(ctx context.Context, kind calendar.Kind, field string, f readmodel.Filter, ids []calendar.ID) (map[calendar.ID]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := readmodel.CheckCounts(kind, field, f); err != nil {
		return nil, err
	}
	counts := map[int64]int{}
	found := v.find(ctx, kind, f)
	for i, e := range found.layers {
		if ids == nil {
			e.Numbers[field].count(counts, found.results[i])
		}
		for _, id := range ids {
			some := scratchOf(found.results[i])
			e.Numbers[field].narrow(some, []int64{int64(id)})
			counts[int64(id)] += some.count()
			release(some)
		}
	}
	out := make(map[calendar.ID]int, len(counts))
	for value, n := range counts {
		if n > 0 {
			out[calendar.ID(value)] = n
		}
	}
	return out, found.close()
}

// Titles implements readmodel.Index.
func (x *Index) Titles(ctx context.Context, q readmodel.Titles) ([]readmodel.Title, calendar.Position, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := readmodel.CheckTitles(q); err != nil {
		return nil, 0, err
	}
	s := x.state(ctx)
	found := s.find(ctx, q.Kind, q.Filter)
	titles := found.titles(&q)
	for i := range titles {
		titles[i].count = found.named(titles[i].words, q.Lang)
	}
	if err := found.close(); err != nil {
		return nil, 0, err
	}
	out := make([]readmodel.Title, len(titles))
	for i, t := range titles {
		r, err := x.some(t.first.doc(), q.Fields)
		if err != nil {
			return nil, 0, err
		}
		out[i] = readmodel.Title{Record: r, Count: t.count}
	}
	return out, s.marks.All.Position, nil
}

// title is a name by the first document that has it.
type title struct {
	first hit
	words []string
	count int
}

// titles returns the first names in order. Most are those of a few of the first documents;
// where these have few names, it looks at many more.
func (f *finding) titles(q *readmodel.Titles) (out []title) {
	for limit := 2 * q.Limit; len(out) < q.Limit; limit *= 8 {
		out = out[:0]
		for _, h := range f.hits(newOrdering(q.Sort, nil), min(limit, f.total)) {
			e := evaluation{layer: h.of.layer}
			words := e.wordsOf(e.name(h.at, q.Lang))
			if !slices.ContainsFunc(out, func(t title) bool { return slices.Equal(t.words, words) }) {
				if out = append(out, title{first: h, words: words}); len(out) == q.Limit {
					break
				}
			}
		}
		if limit >= f.total {
			break
		}
	}
	return out
}

// named counts the documents whose shown name has these words.
func (f *finding) named(words []string, request calendar.Lang) (n int) {
	for i, e := range f.layers {
		some := scratchOf(f.results[i])
		if len(words) > 0 {
			e.narrowToNames(some, words)
		}
		some.each(func(o uint32) bool {
			if e.isName(o, request, words) {
				n++
			}
			return true
		})
		release(some)
	}
	return n
}

// narrowToNames keeps the documents that have all of some words in a name.
func (e *evaluation) narrowToNames(docs bitset, words []string) {
	one := scratch(len(docs) * 64)
	defer release(one)
	narrowToAny(docs, calendar.Langs[:], func(some bitset, l calendar.Lang) {
		t := &e.Texts[readmodel.TextName][l]
		for _, text := range words {
			if text == readmodel.Break {
				continue
			}
			clear(one)
			if t.Starts != nil {
				t.addTo(one, e.Words[l].exactly(text))
			}
			some.and(one)
		}
	})
}
