package query

import (
	"fmt"
	"slices"
	"strconv"

	"daybook/calendar"
	"daybook/internal/param"
)

// The owners besides single callers.
const (
	nobody    calendar.ID = 0
	everybody calendar.ID = -1
)

// ownerOf returns whose posts of every status a caller sees in lists, besides all published ones
// (interface 4.4).
func ownerOf(caller calendar.Caller) calendar.ID {
	switch {
	case caller.ReadsAll():
		return everybody
	case caller.ReadsOwn():
		return caller.ID
	default:
		return nobody
	}
}

// link makes the parameters that links carry, in the order of the table: what was sent, and
// that with the effective per_page and the defaults of the window.
func (parser *parser) link() {
	parser.Sent, parser.Links = make([]LinkParam, 0, len(parser.Input)), make([]LinkParam, 0, len(parser.Input)+3)
	for i := range parser.Params {
		parameter := &parser.Params[i].Param
		_, sent := parser.Input[parameter.Name]
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
	value, carried = parser.Input[name]
	switch name {
	case "page":
		return nil, false
	case "per_page":
		return strconv.Itoa(parser.PerPage), carried || parser.Kind.IsPost()
	case "_fields":
		carried = parser.Fields != nil
	case param.AsOf: // the point is a moment by now, and may have been named in a header
		if parser.Past.AsOf != "" {
			return parser.Past.AsOf, true
		}
	case "start_date", "end_date":
		if text := parser.defaults[slices.Index(DateParams, name)]; text != "" {
			return text, true
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
	owner := ownerOf(parser.Caller)
	if parser.Kind.IsTerm() { // terms are the same for everybody
		owner = nobody
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %q %s",
		parser.Kind, parser.Lang, owner, parser.Page, parser.PerPage, parser.Of, parser.window, parser.Links, parser.resolved)
}
