package memindex

import (
	"daybook/calendar"
	"daybook/query/readmodel"
)

// tally answers a tally about what was found.
func (search *finding) tally(tally *readmodel.Tally) readmodel.TallyAnswer {
	tallyAnswer := readmodel.TallyAnswer{Values: map[calendar.ID]int{}, Parts: make([]int, len(tally.Parts))}
	for index, evaluation := range search.layers {
		docs := search.results[index]
		if search.counts[index] == 0 {
			continue
		}
		if tally.Field != "" {
			count(evaluation.Numbers[tally.Field], docs, tallyAnswer.Values)
		}
		for part, filter := range tally.Parts {
			subset := scratchOf(docs)
			evaluation.narrow(subset, filter)
			tallyAnswer.Parts[part] += subset.count()
			release(subset)
		}
	}
	return tallyAnswer
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
	for number, count := range counts {
		if count > 0 {
			to[calendar.ID(column.Values[number])] += count
		}
	}
}
