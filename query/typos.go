package query

import (
	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// The words of typos, of which "off" is "" here (LISTINGS 3.3).
const (
	typosAuto = "auto"
	typosOn   = "on"
)

func readTypos(q *parser, value *param.Value) {
	word, ok := value.Text(0)
	if !ok {
		return
	}
	q.Typos = true
	on, ok := calendar.ParseBool(word)
	switch {
	case word == typosAuto:
		q.typos = typosAuto
	case !ok:
		value.Known(word)
	case on:
		q.typos = typosOn
	}
	if q.typos != "" {
		q.Cost += 3
	}
}

func readHighlight(q *parser, value *param.Value) {
	if q.Highlight, _ = value.Bool(); q.Highlight {
		q.Cost++
	}
}

func readCollapse(q *parser, value *param.Value) {
	if q.collapse = word(value) != ""; q.collapse {
		q.Cost += 2
	}
}

// spelling returns the one of the step of the search.
func (c *Criteria) spelling() readmodel.Spelling { return readmodel.Spellings[c.step] }

// steps are the places in readmodel.Spellings of the searches that are made, one after the
// other, until one finds something.
func (c *Criteria) steps() []int {
	last := len(readmodel.Spellings) - 1
	switch {
	case c.search.Query == "" || c.typos == "":
		return []int{0}
	case c.typos == typosOn:
		return []int{last}
	case c.walk != nil && c.walk.sent != "": // that of its beginning
		return []int{min(int(c.walk.Step), last)}
	}
	return c.search.Steps()
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
func (c *Criteria) Highlighter(spelling readmodel.Spelling) *readmodel.Highlighter {
	if !c.Highlight || c.search.Query == "" {
		return nil
	}
	return readmodel.NewHighlighter(c.search, spelling)
}
