package query

import (
	"daybook/calendar"
	"daybook/query/readmodel"
)

// The words of typos, of which "off" is "" here (LISTINGS 3.3).
const (
	typosAuto = "auto"
	typosOn   = "on"
)

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
		parser.typos = typosAuto
	}
	if parser.typos != "" {
		parser.Cost += 3
	}
}

// spelling returns the one of the step of the search.
func (criteria *Criteria) spelling() readmodel.Spelling { return readmodel.Spellings[criteria.step] }

// steps are the places in readmodel.Spellings of the searches that are made, one after the
// other, until one finds something.
func (criteria *Criteria) steps() []int {
	last := len(readmodel.Spellings) - 1
	switch {
	case criteria.search.Query == "" || criteria.typos == "":
		return []int{0}
	case criteria.typos == typosOn:
		return []int{last}
	case criteria.walk != nil && criteria.walk.sent != "": // that of its beginning
		return []int{min(int(criteria.walk.Step), last)}
	}
	return criteria.search.Steps()
}

// stepped calls try with the criteria of each step until one finds something, and returns
// those of the last call; of the first where none does.
func stepped(criteria *Criteria, try func(*Criteria) (total int, err error)) (*Criteria, error) {
	steps := criteria.steps()
	for _, step := range steps {
		at := *criteria
		at.step = step
		total, err := try(&at)
		if total > 0 || err != nil || len(steps) == 1 {
			return &at, err
		}
	}
	return criteria, nil
}

// Highlighter marks what the search of the list fits in shown texts; nil where no marks
// are wanted.
func (criteria *Criteria) Highlighter(spelling readmodel.Spelling) *readmodel.Highlighter {
	if !criteria.Highlight || criteria.search.Query == "" {
		return nil
	}
	return readmodel.NewHighlighter(criteria.search, spelling)
}
