package query

import (
	"daybook/calendar"
	"daybook/query/readmodel"
)

// typosOn is a word of typos, of which "off" is "" here (LISTINGS 3.3).
const typosOn = "on"

func (parser *parser) readTypos() {
	value := parser.parameter("typos")
	word, sent := value.Text()
	if parser.Typos = sent; !sent {
		word = value.Standard()
	}
	switch on, known := calendar.ParseBool(word); {
	case on:
		parser.typos = typosOn
	case !known && word != "" && value.Known(word):
		parser.typos = word
	}
	if parser.typos != "" {
		parser.Cost += 3
	}
}

// spelling returns the one of the step of the search.
func (plan *listPlan) spelling() readmodel.Spelling { return readmodel.Spellings[plan.step] }

// steps are the places in readmodel.Spellings of the searches that are made, one after the
// other, until one finds something.
func (criteria *Criteria) steps() []int {
	last := len(readmodel.Spellings) - 1
	switch {
	case criteria.Search.Query == "" || criteria.typos == "":
		return []int{0}
	case criteria.typos == typosOn:
		return []int{last}
	case criteria.Walk != nil && criteria.Walk.sent != "": // that of its beginning
		return []int{min(int(criteria.Walk.Step), last)}
	}
	return criteria.Search.Steps()
}

// stepped calls try in each step until one finds something, and leaves the plan in that one; in
// the first step where none does.
func (plan *listPlan) stepped(try func() (total int)) {
	steps := plan.steps()
	for _, plan.step = range steps {
		if try() > 0 || plan.err != nil {
			return
		}
	}
	plan.step = steps[0]
}

// Highlighter marks what the search of the list fits in shown texts; nil where no marks
// are wanted.
func (criteria *Criteria) Highlighter(spelling readmodel.Spelling) *readmodel.Highlighter {
	if !criteria.Highlight || criteria.Search.Query == "" {
		return nil
	}
	return &readmodel.Highlighter{Search: criteria.Search, Spelling: spelling}
}
