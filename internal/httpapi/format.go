package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// format is a form in which lists are answered. It is one row here and an encoder: the
// rest (negotiation, keys, tags, headers, encodings, documentation) follows.
type format struct {
	name   string          // in keys, and so in tags
	media  []string        // the members of Accept that ask for it, in lower case; the first is its own
	header []string        // value of Content-Type
	kinds  []calendar.Kind // whose lists it can write; nil: all
	schema func(calendar.Kind) object
	open   func(a *api, l *listing) encoder
}

// listing is a list that is to be written.
type listing struct {
	root     *root
	criteria *query.Criteria
	list     *query.List
	links    pageSet
	original string // the links before those of the pages, of lists of the past
}

// encoder writes one list: begin once, item for each record in the order of the list, end
// once. Each appends to b and gives it back. What b holds may have been sent between two
// calls, so none of them looks back. item gives query.ErrTooLarge for a record that
// cannot fit into an answer.
type encoder interface {
	begin(b []byte) []byte
	item(b []byte, v *query.View) ([]byte, error)
	end(b []byte) []byte
}

// formats are the formats of lists; the first is for who asks for none.
var formats = []*format{{
	name:   "json",
	media:  []string{"application/json", "application/*", "*/*"},
	header: valueJSON,
	schema: func(k calendar.Kind) object { return schemaRef(title(k.String()) + "List") },
	open:   openJSON,
}}

func (f *format) writes(k calendar.Kind) bool { return f.kinds == nil || slices.Contains(f.kinds, k) }

// formatOf gives the format in which a list is answered: of those that Accept names the
// one that it weighs most, of equals the first.
func (a *api) formatOf(k calendar.Kind, h http.Header) *format {
	best, most := a.formats[0], 0
	if len(a.formats) == 1 {
		return best
	}
	for _, f := range a.formats {
		if !f.writes(k) {
			continue
		}
		if weight := weightIn(h, f.media); weight > most {
			best, most = f, weight
		}
	}
	return best
}

// weightIn gives the greatest weight that Accept gives to one of some members, in lower
// case: 0 where it names none.
func weightIn(h http.Header, members []string) (most int) {
	for _, v := range h["Accept"] {
		for member := range strings.SplitSeq(v, ",") {
			media, params, _ := strings.Cut(member, ";")
			if weight, ok := weightOf(params); ok && weight > most && slices.Contains(members, strings.ToLower(strings.TrimSpace(media))) {
				most = weight
			}
		}
	}
	return most
}

// encode writes a list in the format of the request, with the headers that all lists have.
func (a *api) encode(c *call, l *listing, etag string) (ans *answer, err error) {
	buffer := c.buffer()
	l.links = pageLinks(l.root, l.criteria, l.list)
	e := c.format.open(a, l)
	b := e.begin((*buffer)[:0])
	for i := range l.list.Views {
		if b, err = e.item(b, &l.list.Views[i]); err != nil {
			return nil, err
		}
		if len(b) > a.o.MaxAnswer {
			return nil, query.ErrTooLarge
		}
	}
	*buffer = e.end(b)
	ans = newAnswer(*buffer, c.format.header, etag, l.criteria.Lang)
	ans.add(headerPosition, l.list.Position.String())
	total, pages := strconv.Itoa(l.list.Total), strconv.Itoa(l.list.TotalPages)
	for _, names := range a.totals {
		ans.add(names[0], total)
		ans.add(names[1], pages)
	}
	if header := l.links.with(l.original); header != "" {
		ans.add(headerLink, header)
	}
	return ans, nil
}

// jsonList writes the envelope of section 4.1.
type jsonList struct {
	*listing
	p renderer
	n int // records so far
}

func openJSON(a *api, l *listing) encoder {
	return &jsonList{listing: l, p: renderer{a: a, root: l.root, lang: l.criteria.Lang, fields: fieldSet(l.criteria.Fields)}}
}

func (e *jsonList) begin(b []byte) []byte {
	return append(append(append(b, `{"`...), e.criteria.Kind.Collection()...), `":[`...)
}

func (e *jsonList) item(b []byte, v *query.View) ([]byte, error) {
	b = appendComma(b, e.n)
	e.n++
	from := len(b)
	e.p.limit = e.p.a.o.MaxAnswer
	if e.p.fields != nil {
		e.p.limit += from // most of the record goes again
	}
	b = e.p.appendView(b, v)
	if e.p.fields != nil {
		b = append(b[:from], keepFields(b[from:], e.p.fields)...)
	}
	if e.p.over {
		return b, query.ErrTooLarge
	}
	return b, nil
}

func (e *jsonList) end(b []byte) []byte {
	b = append(b, `],"rest_url":`...)
	b = appendString(b, e.links.self)
	b = appendFilled(b, `,"next_rest_url":`, e.links.next, plainText)
	b = appendFilled(b, `,"previous_rest_url":`, e.links.previous, plainText)
	b = append(b, `,"total":`...)
	b = strconv.AppendInt(b, int64(e.list.Total), 10)
	b = append(b, `,"total_pages":`...)
	b = strconv.AppendInt(b, int64(e.list.TotalPages), 10)
	return append(b, '}')
}
