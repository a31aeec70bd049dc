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

func viewOf(c calendar.Caller) view {
	switch {
	case c.ReadsAll():
		return viewAll
	case c.ReadsOwn() && c.ID != 0:
		return viewOwn
	default:
		return viewPublic
	}
}

// mayListTrashed tells whether the caller may list a trashed post.
func mayListTrashed(c calendar.Caller, r *calendar.Record) bool {
	v := viewOf(c)
	return v == viewAll || v == viewOwn && r.Author() == c.ID
}

// links makes the parameters that links carry, in the order of the table: what was sent, and
// that with the effective per_page and the defaults of the window.
func (q *parser) links(params Parameters) (sent, all []LinkParam) {
	sent, all = make([]LinkParam, 0, len(q.in)), make([]LinkParam, 0, len(q.in)+3)
	for i := range params {
		p := &params[i]
		v, wasSent := q.in[p.Name]
		carried := wasSent
		if p.link != nil {
			v, carried = p.link(q, v, wasSent)
		}
		if !carried {
			continue
		}
		if text, ok := v.(string); ok && p.IsList() {
			v = withoutEmpty(text)
		}
		before := len(all)
		all = appendSent(all, p.Name, v)
		if wasSent {
			sent = append(sent, all[before:]...)
		}
	}
	return sent, all
}

// A page has links of its own.
func linkNothing(*parser, any, bool) (any, bool) { return nil, false }

func linkPerPage(q *parser, _ any, sent bool) (any, bool) {
	return strconv.Itoa(q.PerPage), sent || q.Kind.IsPost()
}

// The point is a moment by now, and may have been named in a header.
func linkPoint(q *parser, v any, sent bool) (any, bool) {
	if q.past.AsOf != "" {
		return q.past.AsOf, true
	}
	return v, sent
}

func linkFields(q *parser, v any, _ bool) (any, bool) { return v, q.Fields != nil }

func linkStart(q *parser, v any, sent bool) (any, bool) { return orDefault(v, sent, q.startDefault) }
func linkEnd(q *parser, v any, sent bool) (any, bool)   { return orDefault(v, sent, q.endDefault) }

func orDefault(v any, sent bool, w calendar.Wall) (any, bool) {
	if w != calendar.NoWall {
		return w.String(), true
	}
	return v, sent
}

// withoutEmpty takes the elements out of a comma text that say nothing: a client
// that sends thousands of them would get each back, percent-encoded, in every link.
func withoutEmpty(text string) string {
	empty := func(e string) bool { return calendar.Trim(e) == "" }
	for e := range strings.SplitSeq(text, ",") {
		if empty(e) && len(e) < len(text) {
			return strings.Join(slices.DeleteFunc(strings.Split(text, ","), empty), ",")
		}
	}
	return text
}

// appendSent adds a parameter as it was sent: an array as one comma text, or
// element by element where one of them holds a comma.
func appendSent(out []LinkParam, name string, v any) []LinkParam {
	if text, ok := v.(string); ok {
		return append(out, LinkParam{name, text})
	}
	list, _ := param.Texts(v)
	if !slices.ContainsFunc(list, func(e string) bool { return strings.Contains(e, ",") }) {
		return append(out, LinkParam{name, strings.Join(list, ",")})
	}
	for _, e := range list {
		out = append(out, LinkParam{name + "[]", e})
	}
	return out
}

// makeKey makes the key of the criteria. What was sent stands in it as in the
// links; beside it what depends on the moment (dates) and on the store (names,
// slugs, the links of an event).
func (q *parser) makeKey() string {
	v, owner := viewOf(q.Caller), calendar.ID(0)
	switch {
	case q.Kind.IsTerm(): // terms are the same for everybody
		v = viewPublic
	case v == viewOwn:
		owner = q.Caller.ID
	}
	var bounds [2]window
	if q.run.sheet != (Sheet{}) {
		bounds = [...]window{q.run.window, q.run.lap}
	}
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %d %q %q",
		q.Kind, q.Lang, v, owner, q.withdrawn.sum(), q.Page, q.PerPage, q.run.of, bounds, q.Links, []byte(q.resolved))
}
