package httpapi

import (
	"net/http"
	"slices"
	"strconv"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/render"
	"daybook/query"
)

// listing is a list that is to be written.
type listing struct {
	formats.Feed

	list  *query.List // without views, where these come one after the other
	links string      // value of Link
	name  string      // of the file
}

// formatOf returns the format in which a request is answered: that of the ending of the
// path, else that of the parameter, else one that Accept names. What is wrong with the parameter is
// found when it is read.
func (call *call) formatOf() *formats.Format {
	route, name := call.route, ""
	if route.Ended {
		name = call.chi.URLParam("format")
	} else if route.Kind == calendar.KindEvent {
		name = calendar.Trim(call.query.Last("format"))
	}
	return formats.Choose(name, weighted(call.request.Header["Accept"]), route.Kind, route.Single)
}

// feed reports whether events are answered in another format than JSON.
func (call *call) feed() bool { return call.format != nil && call.format.Exports() }

// weightIn returns the greatest weight that Accept has for one of some media types, in lower
// case: 0 where it has none.
func weightIn(header http.Header, media ...string) (greatest int) {
	for member, weight := range weighted(header["Accept"]) {
		if weight > greatest && slices.Contains(media, member) {
			greatest = weight
		}
	}
	return greatest
}

// prefers reports whether a client weighs a media type more than JSON.
func (call *call) prefers(media string) bool {
	header := call.request.Header
	return weightIn(header, media) > weightIn(header, formats.JSON.Media...)
}

// encode writes a list in the format of the request, with the headers that all lists have.
func (call *call) encode(listing *listing, etag string) (*answer, error) {
	if call.format.Surveys {
		for i := range listing.list.Views {
			listing.Zones.Add(new(call.renderer.Times(listing.list.Views[i].Record, listing.list.Views[i].Blanked)))
		}
		if len(listing.list.Views) == 0 {
			listing.Zones.AddSite(call.Site, call.Now())
		}
	}
	body, err := call.write(func(data []byte) ([]byte, error) { return call.appendList(data, listing) })
	if err != nil {
		return nil, err
	}
	return call.listAnswer(listing, body, etag), nil
}

// encoder writes one list: Begin once, item for each record in the order of the list, End once.
// None looks back at what was written, which may have been sent.
type encoder struct {
	formats.Writer
	records *render.Writer
	whole   bool // records are written, not events
	event   formats.Event
}

// open begins to write a list.
func (call *call) open(listing *listing) encoder {
	criteria, list, fields := call.criteria, listing.list, call.criteria.Fields
	listing.Collection, listing.Total, listing.TotalPages, listing.Cursor = criteria.Kind.Collection(), list.Total, list.TotalPages, list.Next
	if listing.Facets = appendFacets(nil, list.Facets, criteria.Lang); criteria.Typos {
		listing.Typos = formats.Object{"typos", list.Typos, "joined", list.Joined}
	}
	if !call.format.Records {
		fields = nil
	}
	return encoder{Writer: call.format.Open(&listing.Feed), whole: call.format.Records, records: call.renderer.Writer(render.Answer{
		Store: &listing.Store, Links: &call.root.Links, Lang: criteria.Lang, Fields: fields, Limit: call.MaxAnswer,
		Highlighter: criteria.Highlighter(list.Spelling), HighlightLength: criteria.HighlightLength,
	})}
}

// item gives query.ErrTooLarge for a record that cannot fit into an answer.
func (encoder *encoder) item(data []byte, view *query.View) ([]byte, error) {
	if encoder.whole {
		return encoder.records.Record(encoder.Item(data, nil), view)
	}
	encoder.records.Event(&encoder.event, view)
	return encoder.Item(data, &encoder.event), nil
}

// appendList writes a list with its links; no answer is larger than it may be.
func (call *call) appendList(data []byte, listing *listing) (_ []byte, err error) {
	call.link(listing)
	encoder := call.open(listing)
	data = encoder.Begin(data)
	for i := range listing.list.Views {
		if data, err = encoder.item(data, &listing.list.Views[i]); err != nil {
			return data, err
		}
		if len(data) > call.MaxAnswer {
			return data, query.ErrTooLarge
		}
	}
	return encoder.End(data), nil
}

// listAnswer makes the answer of a list that is written, with its headers.
func (call *call) listAnswer(listing *listing, body []byte, etag string) *answer {
	answer := call.newAnswer(body, call.format.Header, etag)
	answer.show(listing.list.Position)
	switch {
	case listing.Single:
	case call.format == &formats.Calendar:
		call.addTotals(answer, listing.list.Total, "")
	default:
		call.addTotals(answer, listing.list.Total, strconv.Itoa(listing.list.TotalPages))
	}
	if listing.links != "" {
		answer.add(headerLink, listing.links)
	}
	if call.feed() {
		answer.modified = listing.Modified
		answer.add(headerDisposition, call.format.Disposition+`; filename="`+listing.name+"."+call.format.Extension+`"`)
	}
	return answer
}
