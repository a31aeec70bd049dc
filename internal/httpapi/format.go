package httpapi

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/render"
	"daybook/query"
)

// format is a format of lists and its encoder: the rest (negotiation, keys, tags, headers,
// encodings, documentation) follows.
type format struct {
	*formats.Format

	header []string // value of Content-Type
	open   func(a *api, l *listing) encoder
}

// listing is a list that is to be written.
type listing struct {
	root     *root
	criteria *query.Criteria
	list     *query.List // without views, where these come one after the other
	links    pageSet
	original string // the links before those of the pages, of lists of the past
	address  string // of the list, without its query

	// Of events in other formats than JSON.
	feed formats.Feed
	name string // of the file
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

// allFormats are the formats of lists; the first is the default.
var allFormats = newFormats()

func newFormats() (all []*format) {
	for _, row := range formats.All {
		f := &format{row, []string{row.Header}, openFeed(row)}
		switch row {
		case &formats.JSON:
			f.open = openJSON
		case &formats.NDJSON:
			f.open = openNDJSON
		}
		all = append(all, f)
	}
	return all
}

// exports reports whether the format is an extension for events.
func (f *format) exports() bool { return f.Disposition != "" }

// fits reports whether lists or single records of a kind may be answered in the format.
func (f *format) fits(kind calendar.Kind, single bool) bool {
	return !f.exports() || kind == calendar.KindEvent && (f.Single || !single)
}

// formatOf returns the format in which a request is answered: that of the ending of the
// path, else that of the parameter, else of those that Accept names the one that it weighs
// most, of equals the first. What is wrong with the parameter is found when it is read.
func (c *call) formatOf(header http.Header) *format {
	route := c.route
	best, most := c.formats[0], 0
	if len(c.formats) == 1 {
		return best
	}
	word := ""
	if route.Ended {
		word = c.chi.URLParam("format")
	} else if route.kind == calendar.KindEvent {
		word = calendar.Trim(lastOf(c.query, "format"))
	}
	for _, f := range c.formats {
		if f.Name == word && f.fits(route.kind, route.Single) {
			return f
		}
	}
	for media, weight := range accepted(header) {
		if weight <= most {
			continue
		}
		for _, f := range c.formats {
			if f.fits(route.kind, route.Single) && slices.Contains(f.Media, media) {
				best, most = f, weight
			}
		}
	}
	return best
}

// accepted yields the media types of Accept, in lower case, with their weights.
func accepted(header http.Header) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, text := range header["Accept"] {
			for member := range strings.SplitSeq(text, ",") {
				media, params, _ := strings.Cut(member, ";")
				weight, ok := weightOf(params)
				if ok && !yield(strings.ToLower(strings.TrimSpace(media)), weight) {
					return
				}
			}
		}
	}
}

// lastOf returns the value of a name in a query, the last one where there are several.
func lastOf(pairs []pair, name string) string {
	for _, p := range slices.Backward(pairs) {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// facets reports whether the format shows facets.
func (f *format) facets() bool { return f.Format == &formats.JSON || f.Schema == "JSONFeed" }

// feed reports whether events are answered in another format than JSON.
func (c *call) feed() bool { return c.format != nil && c.format.exports() }

// weightIn returns the greatest weight that Accept has for one of some media types, in lower
// case: 0 where it has none.
func weightIn(header http.Header, media []string) (greatest int) {
	for member, weight := range accepted(header) {
		if weight > greatest && slices.Contains(media, member) {
			greatest = weight
		}
	}
	return greatest
}

// encode writes a list in the format of the request, with the headers that all lists have.
func (c *call) encode(l *listing, etag string) (*answer, error) {
	l.links = pageLinks(l.address, l.criteria, l.list)
	if c.feed() {
		l.feed.Next, l.feed.Previous, l.feed.Total = l.links.next, l.links.previous, l.list.Total
		l.feed.Facets = appendFacets(nil, l.list.Facets, l.criteria.Lang)
		if c.format.Surveys {
			for i := range l.list.Views {
				l.feed.Zones.Add(new(c.timesOf(l.list.Views[i].Record, l.list.Views[i].Blanked)))
			}
			c.closeSurvey(&l.feed, len(l.list.Views))
		}
	}
	encoder := c.format.open(c.api, l)
	body, err := written(func(data []byte) ([]byte, error) { return c.appendList(data, encoder, l.list) })
	if err != nil {
		return nil, err
	}
	return c.listAnswer(l, body, etag), nil
}

// appendList writes a list; no answer is larger than it may be.
func (a *api) appendList(data []byte, e encoder, list *query.List) (_ []byte, err error) {
	data = e.begin(data)
	for i := range list.Views {
		if data, err = e.item(data, &list.Views[i]); err != nil {
			return data, err
		}
		if len(data) > a.o.MaxAnswer {
			return data, query.ErrTooLarge
		}
	}
	return e.end(data), nil
}

// listAnswer makes the answer of a list that is written, with its headers.
func (c *call) listAnswer(l *listing, body []byte, etag string) *answer {
	ans := newAnswer(body, c.format.header, etag, l.criteria.Lang)
	ans.show(l.list.Position)
	total, pages := strconv.Itoa(l.list.Total), strconv.Itoa(l.list.TotalPages)
	for _, names := range c.totals {
		ans.add(names[0], total)
		ans.add(names[1], pages)
	}
	if header := l.links.with(l.original); header != "" {
		ans.add(headerLink, header)
	}
	if c.feed() {
		ans.modified = l.feed.Modified
		ans.add(headerDisposition, c.format.disposition(l.name))
	}
	return ans
}

// disposition is the value of Content-Disposition.
func (f *format) disposition(name string) string {
	return f.Disposition + `; filename="` + name + "." + f.Extension + `"`
}

// jsonList writes the envelope of section 4.1.
type jsonList struct {
	*listing
	w *render.Writer
	n int // records so far
}

func openJSON(a *api, l *listing) encoder {
	return &jsonList{listing: l, w: l.writer(a, l.criteria.Fields)}
}

func (l *listing) writer(a *api, fields []string) *render.Writer {
	return a.renderer.Writer(render.Answer{
		Links: &l.root.Links, Lang: l.criteria.Lang, Fields: fields, Limit: a.o.MaxAnswer,
		Highlighter: l.criteria.Highlighter(l.list.Spelling), HighlightLength: l.criteria.HighlightLength,
	})
}

func (e *jsonList) begin(data []byte) []byte {
	return append(append(append(data, `{"`...), e.criteria.Kind.Collection()...), `":[`...)
}

func (e *jsonList) item(data []byte, view *query.View) ([]byte, error) {
	data = formats.AppendComma(data, e.n)
	e.n++
	return e.w.Record(data, view)
}

func (e *jsonList) end(data []byte) []byte {
	data = formats.AppendMembers(append(data, ']'), formats.Object{
		"rest_url", e.links.self, "next_rest_url", formats.Filled(e.links.next), "next_cursor", formats.Filled(e.list.Next),
		"previous_rest_url", formats.Filled(e.links.previous), "total", e.list.Total, "total_pages", e.list.TotalPages,
	})
	if e.criteria.Typos {
		data = formats.AppendMembers(data, formats.Object{"typos", e.list.Typos, "joined", e.list.Joined})
	}
	return append(appendFacets(data, e.list.Facets, e.criteria.Lang), '}')
}
