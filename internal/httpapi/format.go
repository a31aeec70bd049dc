package httpapi

import (
	"iter"
	"net/http"
	"slices"
	"strconv"

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
	begin(data []byte) []byte
	item(data []byte, view *query.View) ([]byte, error)
	end(data []byte) []byte
}

// allFormats are the formats of lists; the first is the default. calendarFormat is that of
// calendar widgets.
var (
	allFormats     = newFormats()
	calendarFormat = newFormat(&formats.Calendar)
)

func newFormat(row *formats.Format) *format { return &format{row, []string{row.Header}, openFeed(row)} }

func newFormats() (all []*format) {
	for _, row := range formats.All {
		f := newFormat(row)
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
func (format *format) exports() bool { return format.Disposition != "" }

// fits reports whether lists or single records of a kind may be answered in the format.
func (format *format) fits(kind calendar.Kind, single bool) bool {
	return !format.exports() || kind == calendar.KindEvent && (format.Single || !single)
}

// formatOf returns the format in which a request is answered: that of the ending of the
// path, else that of the parameter, else of those that Accept names the one that it weighs
// most, of equals the first. What is wrong with the parameter is found when it is read.
func (call *call) formatOf() *format {
	route := call.route
	best, most := call.formats[0], 0
	if len(call.formats) == 1 {
		return best
	}
	word := ""
	if route.Ended {
		word = call.chi.URLParam("format")
	} else if route.kind == calendar.KindEvent {
		word = calendar.Trim(call.query.Last("format"))
	}
	for _, format := range call.formats {
		if format.Name == word && format.fits(route.kind, route.Single) {
			return format
		}
	}
	for media, weight := range accepted(call.request.Header) {
		if weight <= most {
			continue
		}
		for _, format := range call.formats {
			if format.fits(route.kind, route.Single) && slices.Contains(format.Media, media) {
				best, most = format, weight
			}
		}
	}
	return best
}

// accepted yields the media types of Accept, in lower case, with their weights.
func accepted(header http.Header) iter.Seq2[string, int] { return weighted(header["Accept"]) }

// feed reports whether events are answered in another format than JSON.
func (call *call) feed() bool { return call.format != nil && call.format.exports() }

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
func (call *call) encode(listing *listing, etag string) (*answer, error) {
	listing.links = pageLinks(listing.address, listing.criteria, listing.list)
	if call.feed() {
		listing.feed.Next, listing.feed.Previous, listing.feed.Total = listing.links.next, listing.links.previous, listing.list.Total
		listing.feed.Facets = appendFacets(nil, listing.list.Facets, listing.criteria.Lang)
		if call.format.Surveys {
			for i := range listing.list.Views {
				listing.feed.Zones.Add(new(call.renderer.Times(listing.list.Views[i].Record, listing.list.Views[i].Blanked)))
			}
			call.closeSurvey(&listing.feed, len(listing.list.Views))
		}
	}
	encoder := call.format.open(call.api, listing)
	body, err := written(func(data []byte) ([]byte, error) { return call.appendList(data, encoder, listing.list) })
	if err != nil {
		return nil, err
	}
	return call.listAnswer(listing, body, etag), nil
}

// appendList writes a list; no answer is larger than it may be.
func (api *api) appendList(data []byte, encoder encoder, list *query.List) (_ []byte, err error) {
	data = encoder.begin(data)
	for i := range list.Views {
		if data, err = encoder.item(data, &list.Views[i]); err != nil {
			return data, err
		}
		if len(data) > api.o.MaxAnswer {
			return data, query.ErrTooLarge
		}
	}
	return encoder.end(data), nil
}

// listAnswer makes the answer of a list that is written, with its headers.
func (call *call) listAnswer(listing *listing, body []byte, etag string) *answer {
	ans := newAnswer(body, call.format.header, etag, listing.criteria.Lang)
	ans.show(listing.list.Position)
	switch {
	case listing.feed.Single:
	case call.format == calendarFormat:
		call.addTotals(ans, listing.list.Total, "")
	default:
		call.addTotals(ans, listing.list.Total, strconv.Itoa(listing.list.TotalPages))
	}
	if header := listing.links.with(listing.original); header != "" {
		ans.add(headerLink, header)
	}
	if call.feed() {
		ans.modified = listing.feed.Modified
		ans.add(headerDisposition, call.format.disposition(listing.name))
	}
	return ans
}

// disposition is the value of Content-Disposition.
func (format *format) disposition(name string) string {
	return format.Disposition + `; filename="` + name + "." + format.Extension + `"`
}

// jsonList writes the envelope of section 4.1.
type jsonList struct {
	*listing
	w *render.Writer
	n int // records so far
}

func openJSON(api *api, listing *listing) encoder {
	return &jsonList{listing: listing, w: listing.writer(api, listing.criteria.Fields)}
}

func (listing *listing) writer(api *api, fields []string) *render.Writer {
	return api.renderer.Writer(render.Answer{
		Store: api.storeID.Load(),
		Links: &listing.root.Links, Lang: listing.criteria.Lang, Fields: fields, Limit: api.o.MaxAnswer,
		Highlighter: listing.criteria.Highlighter(listing.list.Spelling), HighlightLength: listing.criteria.HighlightLength,
	})
}

func (jsonList *jsonList) begin(data []byte) []byte {
	return append(append(append(data, `{"`...), jsonList.criteria.Kind.Collection()...), `":[`...)
}

func (jsonList *jsonList) item(data []byte, view *query.View) ([]byte, error) {
	data = formats.AppendComma(data, jsonList.n)
	jsonList.n++
	return jsonList.w.Record(data, view)
}

func (jsonList *jsonList) end(data []byte) []byte {
	data = formats.AppendMembers(append(data, ']'), formats.Object{
		"rest_url", jsonList.links.self, "next_rest_url", formats.OptionalText(jsonList.links.next), "next_cursor", formats.OptionalText(jsonList.list.Next),
		"previous_rest_url", formats.OptionalText(jsonList.links.previous), "total", jsonList.list.Total, "total_pages", jsonList.list.TotalPages,
	})
	if jsonList.criteria.Typos {
		data = formats.AppendMembers(data, formats.Object{"typos", jsonList.list.Typos, "joined", jsonList.list.Joined})
	}
	return append(appendFacets(data, jsonList.list.Facets, jsonList.criteria.Lang), '}')
}
