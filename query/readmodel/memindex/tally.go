package memindex

import (
	"context"

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
	if ids != nil && f != nil { // few documents have them
		f = readmodel.And{readmodel.In{Field: field, IDs: ids}, f}
	}
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
