package memindex

import (
	"daybook/calendar"
	"daybook/query/readmodel"
)

// tally answers a tally about what was found.
func (f *finding) tally(tally *readmodel.Tally) readmodel.TallyAnswer {
	out := readmodel.TallyAnswer{Values: map[calendar.ID]int{}, Parts: make([]int, len(tally.Parts))}
	for at, evaluation := range f.layers {
		docs := f.results[at]
		if f.counts[at] == 0 {
			continue
		}
		if tally.Field != "" {
			count(evaluation.Numbers[tally.Field], docs, out.Values)
		}
		for part, filter := range tally.Parts {
			some := scratchOf(docs)
			evaluation.narrow(some, filter)
			out.Parts[part] += some.count()
			release(some)
		}
	}
	return out
}

// count adds how many of some documents have each value of a column.
func count(column *column[int64], docs bitset, to map[calendar.ID]int) {
	if docs.count() < len(column.Values) {
		for ordinal := range docs.each {
			for _, number := range column.of(ordinal) {
				to[calendar.ID(column.Values[number])]++
			}
		}
		return
	}
	counts := make([]int, len(column.Values))
	for ordinal := range docs.each {
		for _, number := range column.of(ordinal) {
			counts[number]++
		}
	}
	for number, n := range counts {
		if n > 0 {
			to[calendar.ID(column.Values[number])] += n
		}
	}
}
