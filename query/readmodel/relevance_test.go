package readmodel_test

import (
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// LISTINGS 3.2, 8.31: the ranks, each over all that are below it.
func TestRelevance(t *testing.T) {
	t.Parallel()
	rank := func(query string, step int) *readmodel.Relevance {
		return &readmodel.Relevance{Text: readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(query, calendar.LangEN), Spelling: readmodel.Spellings[step]}}
	}
	var query, title, text, nextTitle, nextText string
	var step int
	var equal bool
	eachRow(t, "relevance.txt", func() {
		relevance := rank(query, step)
		a, b := relevance.Score(event(title, text, calendar.LangEN)), relevance.Score(event(nextTitle, nextText, calendar.LangEN))
		if equal && a != b || !equal && a <= b {
			t.Errorf("%s: %d for %q, %q, %d for %q, %q", query, a, title, text, b, nextTitle, nextText)
		}
	}, &query, &step, &title, &text, &nextTitle, &nextText, &equal)
	// Of more than ten pieces the first ten count.
	many := "one two three four five six seven eight nine ten eleven"
	relevance := rank(many, 0)
	if a, b := relevance.Score(event("ten", many, calendar.LangEN)), relevance.Score(event("eleven", many, calendar.LangEN)); a <= b {
		t.Errorf("the tenth word scores %d, the eleventh %d", a, b)
	}
	// What is ranked by its title: the other texts do not help it.
	relevance = rank("jazz", 0)
	relevance.Title = readmodel.Term{Field: readmodel.FieldProtected, Value: "true"}
	record := event("jazzy", "jazz", calendar.LangEN)
	open := relevance.Score(record)
	record.Fields["protected"] = true
	if blanked := relevance.Score(record); blanked >= open {
		t.Errorf("blanked scores %d, open %d", blanked, open)
	}
}

// Weights do not reach each other, and their sum is exact in a float of 24 bits.
func TestWeights(t *testing.T) {
	t.Parallel()
	weights := []int{readmodel.WeightWhole, readmodel.WeightName, readmodel.WeightRow, readmodel.WeightExact, readmodel.WeightTypo}
	times := []int{readmodel.MaxRanked, readmodel.MaxRanked, 1, 1, readmodel.MaxRanked * readmodel.MaxTypos}
	sum := 0
	for i, w := range weights {
		if w <= sum {
			t.Errorf("rank %d weighs %d, all below it %d", len(weights)-i, w, sum)
		}
		sum += w * times[i]
	}
	if sum >= 1<<24 {
		t.Errorf("the greatest score is %d", sum)
	}
}
