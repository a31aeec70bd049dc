package query

import (
	"fmt"
	"strconv"

	"daybook/calendar"
	"daybook/internal/param"
)

// view is how much of the posts a caller sees in lists (interface 4.4).
type view uint8

const (
	viewPublic view = iota // published posts
	viewOwn                // and all own ones
	viewAll                // all
)

func viewOf(caller calendar.Caller) view {
	switch {
	case caller.ReadsAll():
		return viewAll
	case caller.ReadsOwn() && caller.ID != 0:
		return viewOwn
	default:
		return viewPublic
	}
}

// link makes the parameters that links carry, in the order of the table: what was sent, and
// that with the effective per_page and the defaults of the window.
func (parser *parser) link() {
	parser.Sent, parser.Links = make([]LinkParam, 0, len(parser.input)), make([]LinkParam, 0, len(parser.input)+3)
	for i := range parser.params {
		parameter := &parser.params[i].Param
		_, sent := parser.input[parameter.Name]
		parser.hides = parser.hides || sent && parameter.Hides
		value, carried := parser.carried(parameter.Name)
		if !carried {
			continue
		}
		before := len(parser.Links)
		parser.Links = parameter.AppendTo(parser.Links, value)
		if sent || parameter.Name == param.AsOf {
			parser.Sent = append(parser.Sent, parser.Links[before:]...)
		}
	}
}

// carried returns what links carry of a parameter: what was sent when nothing else is said.
func (parser *parser) carried(name string) (value any, carried bool) {
	value, carried = parser.input[name]
	switch name {
	case "page":
		return nil, false
	case "per_page":
		return strconv.Itoa(parser.PerPage), carried || parser.Kind.IsPost()
	case "_fields":
		carried = parser.Fields != nil
	case param.AsOf: // the point is a moment by now, and may have been named in a header
		if parser.past.AsOf != "" {
			return parser.past.AsOf, true
		}
	case "start_date":
		if parser.startDefault != calendar.NoWall {
			return parser.startDefault.String(), true
		}
	case "end_date":
		if parser.endDefault != calendar.NoWall {
			return parser.endDefault.String(), true
		}
	case "order":
		carried = carried && (parser.Kind.IsTerm() || parser.sent("sort"))
	}
	return value, carried
}

// makeKey makes the key of the criteria. What was sent stands in it as in the
// links; next to it what depends on the moment (dates) and on the store (names,
// slugs, the links of an event).
func (parser *parser) makeKey() string {
	view, owner := viewOf(parser.Caller), calendar.ID(0)
	switch {
	case parser.Kind.IsTerm(): // terms are the same for everybody
		view = viewPublic
	case view == viewOwn:
		owner = parser.Caller.ID
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %d %q %s",
		parser.Kind, parser.Lang, view, owner, parser.Page, parser.PerPage, parser.kind, parser.window, parser.lap, parser.Links, parser.resolved)
}
