package memindex

import (
	"daybook/calendar"
	"daybook/query/readmodel"
)

// tally answers a tally about what was found.
func (f *finding) tally(t *readmodel.Tally) readmodel.Tallied {
	out := readmodel.Tallied{Values: map[calendar.ID]int{}, Parts: make([]int, len(t.Parts))}
	for at, evaluation := range f.layers {
		docs := f.results[at]
		if t.Field != "" {
			count(evaluation.Numbers[t.Field], docs, out.Values)
		}
		for part, filter := range t.Parts {
			some := scratchOf(docs)
			evaluation.narrow(some, filter)
			out.Parts[part] += some.count()
			release(some)
		}
	}
	return out
}

// count adds how many of some documents have each value of a column.
func count(c *column[int64], docs bitset, to map[calendar.ID]int) {
	if docs.count() < len(c.Values) {
		for o := range docs.each {
			for _, number := range c.of(o) {
				to[calendar.ID(c.Values[number])]++
			}
		}
		return
	}
	counts := make([]int, len(c.Values))
	for o := range docs.each {
		for _, number := range c.of(o) {
			counts[number]++
		}
	}
	for number, n := range counts {
		if n > 0 {
			to[calendar.ID(c.Values[number])] += n
		}
	}
}
