package query

import (
	"context"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// typos tells when words of a search may have some (LISTINGS 3.3).
type typos uint8

const (
	typosOff typos = iota
	typosAuto
	typosOn
)

func readTypos(_ context.Context, q *parser, p *Param) {
	word, ok := q.text(p.Name, 0)
	if !ok {
		return
	}
	q.Typos = true
	if word == "auto" {
		q.run.typos = typosAuto
		return
	}
	on, ok := calendar.ParseBool(word)
	switch {
	case !ok:
		q.bad.Add(p.Name, calendar.ReasonWord, strings.Join(p.Enum, ","))
	case on:
		q.run.typos = typosOn
	}
}

// What typos and highlights cost a request more.
func costOfTypos(q *parser) int {
	if q.run.typos == typosOff {
		return 0
	}
	return 3
}

func costOfHighlight(q *parser) int {
	if !q.Highlight {
		return 0
	}
	return 1
}

// steps are the typos that a word may have in the searches that are made, one after the
// other, until one finds something.
func (r *criteria) steps() []int {
	switch {
	case r.search.Query == "" || r.typos == typosOff:
	case r.typos == typosOn:
		return []int{readmodel.MaxTypos}
	case r.walk != nil && r.walk.content != nil: // that of its beginning
		return []int{min(int(r.walk.step), readmodel.MaxTypos)}
	default:
		return []int{0, 1, readmodel.MaxTypos}
	}
	return []int{0}
}

// stepped calls try with the criteria of each step until one finds something, and gives
// those of the last call; of the first where none does. Steps that find what the one
// before them does are left out.
func (s *Service) stepped(c *Criteria, try func(*Criteria) (total int, err error)) (*Criteria, error) {
	steps := c.run.steps()
	for i, step := range steps {
		if i > 0 && step > c.run.search.Most() {
			break
		}
		at := *c
		at.run.step = step
		total, err := try(&at)
		if total > 0 || err != nil || len(steps) == 1 {
			return &at, err
		}
	}
	return c, nil
}

// Highlighter marks what the search of the list fits in shown texts; nil where no marks
// are asked for.
func (c *Criteria) Highlighter(typos int) *readmodel.Highlighter {
	if !c.Highlight || c.run.search.Query == "" {
		return nil
	}
	return readmodel.NewHighlighter(c.run.search, typos)
}
