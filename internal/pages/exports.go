package pages

import (
	"cmp"
	"html"
	"net/url"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// export is the selection of a page in a format (PAGES.md P3.4): a URL, or a text that
// people copy. Single is that of one event.
type export struct {
	Format, Label, URL, Text string
	Single                   bool
}

// feedFormats are the formats of a selection by their ending, with the media types that
// heads of pages name.
var feedFormats = []feed{
	{"ics", "text/calendar", "iCalendar", ""},
	{"rss", "application/rss+xml", "RSS", ""},
	{"atom", "application/atom+xml", "Atom", ""},
	{"jsonfeed", "application/feed+json", "JSON Feed", ""},
	{"geojson", "application/geo+json", "GeoJSON", ""},
	{"csv", "", "CSV", ""},
}

// listAddress is where the interface lists the events of the selection, below the
// namespace and without a slash.
func (s *selection) listAddress() string {
	if s.of.ID == 0 {
		return "/events"
	}
	return "/" + s.of.Kind.Collection() + "/" + s.of.ID.String() + "/events"
}

// sentParams are those of the interface for the selection: the window of the page is in
// them, its zone is not.
func (s *selection) sentParams() params {
	if s.only == nil {
		return s.criteria.Sent
	}
	ids := make([]string, len(s.only))
	for i, id := range s.only {
		ids[i] = id.String()
	}
	return append(slices.Clone(params(s.criteria.Sent)), query.LinkParam{Name: "include", Value: cmp.Or(strings.Join(ids, ","), noEvent)})
}

// noEvent is an id that no event has.
const noEvent = "9007199254740991"

// lasting are the parameters without a window that the page has put, so that a
// subscription goes on.
func (s *selection) lasting() params {
	out := params(s.criteria.Sent).without(shapes...)
	switch {
	case s.home:
		return out.without(window...).with(paramOverlap, "true")
	case s.over.set:
		return out.without(window...)
	case s.zone != nil && !s.dated() && !s.past:
		return out.without(paramStart, paramEnd, paramStrict)
	}
	return out
}

// listURL is the selection as the interface lists it.
func (l *look) listURL(params []query.LinkParam, page int) string {
	links := query.LinksTo(l.absolute(l.lang, l.o.Namespace+l.sel.listAddress()+"/"), params)
	return links.Page(page)
}

// feeds are the links in the head for the selection of the page (PAGES.md P3.3).
func (l *look) feeds() []feed {
	lasting := l.sel.lasting()
	out := make([]feed, 0, len(feedFormats)+1)
	address := l.absolute(l.lang, l.o.Namespace+l.sel.listAddress())
	for _, f := range feedFormats {
		if f.Media != "" {
			f.URL = address + "." + f.Format + linkQuery(lasting)
			out = append(out, f)
		}
	}
	return append(out, feed{"json", "application/json", "JSON", l.listURL(lasting, 1)})
}

// exports are the selection of the page in all formats.
func (l *look) exports() []export {
	if l.Embedded() {
		return nil
	}
	sent := l.sel.sentParams()
	json := l.listURL(sent, l.sel.page)
	return l.exportsOf(json, l.absolute(l.lang, l.o.Namespace+l.sel.listAddress()), sent.without(shaping...).String(), l.calendarURL(), l.element())
}

// exportsOf makes the list of formats from the URL of the list, the address of the formats
// without their ending, their query, the source of calendar widgets ("" for none) and the
// tag of the embedded calendar.
func (l *look) exportsOf(json, address, query, source, element string) []export {
	out := []export{{Format: "json", URL: json}}
	for _, f := range feedFormats {
		at := address + "." + f.Format + query
		out = append(out, export{Format: f.Format, URL: at})
		if f.Format == "ics" {
			out = append(out, export{Format: "webcal", URL: webcal(at)})
		}
	}
	if source != "" {
		out = append(out, export{Format: "fullcalendar", URL: source})
	}
	out = append(out, export{Format: "curl", Text: "curl '" + json + "'"}, export{Format: "embed", Text: element})
	for i := range out {
		out[i].Label, out[i].Single = word("selection."+out[i].Format, l.lang), l.Page == pageEvent
	}
	return out
}

// webcal is the same feed for programs that subscribe to it.
func webcal(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	return "webcal://" + rest
}

// notOfSource are the parameters that the source of calendar widgets does not take.
var notOfSource = slices.Concat(shapes, dates, []string{paramStrict, paramOverlap})

// calendarURL is the selection as the source of calendar widgets; "" where its route
// cannot tell it.
func (l *look) calendarURL() string {
	s := l.sel
	switch overlap, _ := calendar.ParseBool(s.asked.value(paramOverlap)); {
	case s.past, s.from == "", s.until < s.from, s.only != nil && s.zone == nil, s.asked.value("include") != "", s.asked.value("collapse") != "", s.asked.value(paramOverlap) != "" && !overlap, !s.over.set && s.dated():
		return ""
	case slices.ContainsFunc(dates, func(name string) bool { return name != paramStart && name != paramEnd && s.asked.value(name) != "" }):
		return ""
	}
	source := append(params{{Name: "start", Value: s.inZone(s.from)}, {Name: "end", Value: afterSecond(s.inZone(s.until))}}, s.ofRecord()...)
	return l.absolute(l.lang, l.o.Namespace+"/events/calendar") + linkQuery(append(source, params(s.criteria.Sent).without(notOfSource...)...))
}

// inZone writes an instant as the clock of the zone shows it: by its digits all-day events
// are in the window or not.
func (s *selection) inZone(bound string) string {
	if t, err := time.Parse(time.RFC3339, bound); err == nil && s.zone != nil {
		return t.In(s.zone.Location).Format(time.RFC3339)
	}
	return bound
}

// ofRecord is the parameter that selects the events of a record.
func (s *selection) ofRecord() params {
	switch k := s.of.Kind; {
	case s.of.ID == 0:
		return nil
	case k.IsTerm():
		return params{{Name: k.Collection(), Value: s.of.ID.String()}}
	default:
		return params{{Name: k.String(), Value: s.of.ID.String()}}
	}
}

// afterSecond is the bound that lies one second after another, for windows without their
// end, with the same offset: a day ends at 24:00:00, also where the next one begins later.
func afterSecond(bound string) string {
	for _, layout := range []string{calendar.WallLayout, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, bound, time.UTC); err == nil {
			if next := t.Add(time.Second); next.Year() <= 9999 {
				return next.Format(layout)
			}
		}
	}
	return bound
}

// element is the tag that embeds the selection into a page of another site (PAGES.md P8.1).
func (l *look) element() string {
	s := l.sel
	attributes := s.ofRecord()
	selecting := s.sentParams().without(append(slices.Clone(shapes), paramOverlap)...)
	if !s.over.set && !s.dated() && !s.past {
		selecting = selecting.without(paramStart, paramEnd, paramStrict) // its own window is the same
	}
	if l.Page == pageMonth {
		selecting = selecting.without(window...)
		attributes = append(attributes, query.LinkParam{Name: "view", Value: "month"}, query.LinkParam{Name: "date", Value: s.over.first.Format(time.DateOnly)})
	} else if s.over.set {
		selecting = selecting.with(paramOverlap, "true")
	}
	return l.elementOf(append(attributes, selecting...), l.CanonicalURL())
}

// elementOf writes the tag with its attributes, and a link for those without scripts.
func (l *look) elementOf(attributes []query.LinkParam, page string) string {
	if l.lang != calendar.LangEN {
		attributes = append([]query.LinkParam{{Name: "lang", Value: l.lang.Tag()}}, attributes...)
	}
	var b strings.Builder
	b.WriteString(`<script type="module" src="` + html.EscapeString(l.Base+"/embed/v1/daybook-calendar.js") + `"></script><daybook-calendar`)
	for _, a := range attributes {
		b.WriteString(" " + baseName(a.Name) + `="` + html.EscapeString(a.Value) + `"`)
	}
	b.WriteString(`><a href="` + html.EscapeString(page) + `">` + html.EscapeString(l.Heading) + `</a></daybook-calendar>`)
	return b.String()
}

// subscribe are the ways to follow the selection in a calendar (PAGES.md P3.3).
func (l *look) subscribe() []link {
	if l.Embedded() {
		return nil
	}
	plain := l.absolute(l.lang, l.o.Namespace+l.sel.listAddress()) + ".ics" + linkQuery(l.sel.lasting())
	out := make([]link, 0, 4)
	out = append(out, link{Href: webcal(plain), Label: l.text("subscribe.calendar")}, link{Href: plain, Label: l.text("subscribe.url")})
	if l.o.NoExternalLinks {
		return out
	}
	return append(out,
		link{Href: "https://calendar.google.com/calendar/render?cid=" + url.QueryEscape(webcal(plain)), Label: "Google Calendar", External: true},
		link{Href: "https://outlook.live.com/calendar/0/addfromweb?url=" + url.QueryEscape(plain) + "&name=" + url.PathEscape(l.Title), Label: "Outlook.com", External: true})
}
