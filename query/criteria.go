package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// mayListTrashed reports whether the caller may list a trashed post.
func mayListTrashed(caller calendar.Caller, record *calendar.Record) bool {
	view := viewOf(caller)
	return view == viewAll || view == viewOwn && record.Author() == caller.ID
}

// paramPoint names a point of the past; a header may have named it, too.
const paramPoint = "as_of"

// links makes the parameters that links carry, in the order of the table: what was sent, and
// that with the effective per_page and the defaults of the window.
func (parser *parser) links(params Parameters) (sent, all []LinkParam) {
	sent, all = make([]LinkParam, 0, len(parser.input)), make([]LinkParam, 0, len(parser.input)+3)
	for i := range params {
		param := &params[i]
		_, wasSent := parser.input[param.Name]
		value, carried := parser.carried(param)
		if !carried {
			continue
		}
		if text, ok := value.(string); ok && param.IsList() {
			value = withoutEmpty(text)
		}
		before := len(all)
		all = appendSent(all, param.Name, value)
		if wasSent || param.Name == paramPoint {
			sent = append(sent, all[before:]...)
		}
	}
	return sent, all
}

// carried returns what links carry of a parameter: what was sent when nothing else is said.
func (parser *parser) carried(param *Param) (value any, carried bool) {
	value, carried = parser.input[param.Name]
	switch param.Name {
	case "per_page":
		value, carried = strconv.Itoa(parser.PerPage), carried || parser.Kind.IsPost()
	case "_fields":
		carried = parser.Fields != nil
	case paramPoint: // it is a moment by now
		if parser.past.AsOf != "" {
			value, carried = parser.past.AsOf, true
		}
	case "start_date":
		value, carried = orDefault(value, parser.startDefault)
	case "end_date":
		value, carried = orDefault(value, parser.endDefault)
	case "bbox": // with equal numbers
		value = strings.Join(sentElements(value), ",")
	case "order":
		carried = carried && (parser.Kind.IsTerm() || parser.sent("sort"))
	}
	return value, carried && !param.Unlinked
}

func orDefault(value any, wall calendar.Wall) (any, bool) {
	if wall != calendar.NoWall {
		return wall.String(), true
	}
	return value, value != nil
}

// withoutEmpty takes the elements out of a comma text that say nothing: a client
// that sends thousands of them would get each back, percent-encoded, in every link.
func withoutEmpty(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, ","), func(e string) bool { return calendar.Trim(e) == "" }), ",")
}

// appendSent adds a parameter as it was sent: an array as one comma text, or
// element by element where one of them holds a comma.
func appendSent(out []LinkParam, name string, value any) []LinkParam {
	if text, ok := value.(string); ok {
		return append(out, LinkParam{name, text})
	}
	list, _ := param.Texts(value)
	if !slices.ContainsFunc(list, func(e string) bool { return strings.Contains(e, ",") }) {
		return append(out, LinkParam{name, strings.Join(list, ",")})
	}
	for _, e := range list {
		out = append(out, LinkParam{name + "[]", e})
	}
	return out
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
	var withdrawn calendar.Hash
	for _, id := range parser.withdrawn {
		withdrawn = withdrawn.Number(uint64(id))
	}
	var bounds [2]window
	if parser.sheet != (Sheet{}) {
		bounds = [...]window{parser.window, parser.lap}
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %d %q %q",
		parser.Kind, parser.Lang, view, owner, withdrawn, parser.Page, parser.PerPage, parser.of, bounds, parser.Links, []byte(parser.resolved))
}
