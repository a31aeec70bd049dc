package memindex

import "daybook/query/readmodel"

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
