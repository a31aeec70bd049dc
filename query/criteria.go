package query

import (
	"strconv"
	"strings"

	"daybook/calendar"
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

// links makes the parameters that links carry: what was sent, in the order of
// the table, with the effective per_page and the defaults of the window.
func (q *parser) links(params []Param, c *Criteria) []LinkParam {
	out := make([]LinkParam, 0, len(q.in)+3)
	for i := range params {
		p := &params[i]
		v, sent := q.in[p.Name]
		switch p.Name {
		case "page":
			continue
		case "per_page":
			if sent || c.Kind.IsPost() {
				out = append(out, LinkParam{p.Name, strconv.Itoa(c.PerPage)})
			}
			continue
		case "_fields":
			sent = c.Fields != nil
		case "start_date":
			if q.startDefault != calendar.NoWall {
				out = append(out, LinkParam{p.Name, q.startDefault.String()})
				continue
			}
		case "end_date":
			if q.endDefault != calendar.NoWall {
				out = append(out, LinkParam{p.Name, q.endDefault.String()})
				continue
			}
		}
		if sent {
			out = appendSent(out, p.Name, v)
		}
	}
	return out
}

// appendSent adds a parameter as it was sent: an array as one comma text, or
// element by element where one of them holds a comma.
func appendSent(out []LinkParam, name string, v any) []LinkParam {
	if text, ok := v.(string); ok {
		return append(out, LinkParam{name, text})
	}
	list, _ := elements(v)
	for _, e := range list {
		if strings.Contains(e, ",") {
			for _, e := range list {
				out = append(out, LinkParam{name + "[]", e})
			}
			return out
		}
	}
	return append(out, LinkParam{name, strings.Join(list, ",")})
}

// makeKey makes the key of the criteria. What was sent stands in it as in the
// links; beside it what depends on the moment (dates) and on the store (names,
// slugs, the links of an event).
func (c *Criteria) makeKey() string {
	b := make([]byte, 0, 192)
	b = append(b, c.Kind.Collection()...)
	b = append(b, ' ')
	b = append(b, c.Lang.String()...)
	switch v := viewOf(c.Caller); {
	case c.Kind.IsTerm() || v == viewPublic: // terms are the same for everybody
		b = append(b, " public "...)
	case v == viewOwn:
		b = append(b, " u"...)
		b = strconv.AppendInt(b, int64(c.Caller.ID), 10)
		b = append(b, ' ')
	default:
		b = append(b, " all "...)
	}
	b = strconv.AppendInt(b, int64(c.Page), 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(c.PerPage), 10)
	b = append(b, '?')
	b = appendLinks(b, c.Links)
	r := &c.run
	if c.Kind == calendar.KindEvent {
		b = append(b, " w"...)
		b = r.window.key(b)
	}
	b = appendIDs(b, " c", r.categories)
	b = appendIDs(b, " t", r.tags)
	if c.Kind.IsTerm() {
		b = appendIDs(b, " i", r.include)
		b = appendIDs(b, " x", r.exclude)
	}
	if r.ofEvent {
		b = appendIDs(append(b, " of"...), "", r.linked)
	}
	if r.onlyUpcoming {
		b = append(b, " up"...)
		b = strconv.AppendInt(b, int64(r.upcomingAt), 10)
	}
	return string(b)
}

func appendIDs(b []byte, name string, ids []calendar.ID) []byte {
	if ids == nil {
		return b
	}
	b = append(b, name...)
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return b
}
