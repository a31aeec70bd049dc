package pages

import (
	"cmp"
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/internal/render"
	"daybook/query"
)

// place is a venue with what leads to it.
type place struct {
	named

	Lat, Lng template.JS // numbers, "" for no point
	ShowMap  bool
	Linked   bool // to a map
}

// place makes a venue, of an event too: both may leave out its map.
func (builder *pageBuilder) place(linkedView query.LinkedView, records ...*calendar.Record) place {
	at := place{named: builder.named(linkedView.Record, linkedView.Status)}
	latitude, hasLat := at.Fields.Number("geo_lat")
	longitude, hasLng := at.Fields.Number("geo_lng")
	if hasLat && hasLng {
		at.Lat, at.Lng = degrees(latitude), degrees(longitude)
	}
	wanted := func(field string) bool {
		return !slices.ContainsFunc(append(records, linkedView.Record), func(record *calendar.Record) bool { return !record.Fields.BoolOr(field, true) })
	}
	at.ShowMap = at.Lat != "" && builder.options.Tiles != "" && wanted("show_map")
	at.Linked = wanted("show_map_link") || builder.options.Tiles == "" && wanted("show_map")
	return at
}

func degrees(number float64) template.JS {
	return template.JS(strconv.FormatFloat(number, 'f', -1, 64)) //nolint:gosec // a number
}

// Region is the state or the province.
func (place place) Region() string {
	return cmp.Or(place.Field("stateprovince"), place.Field("province"), place.Field("state"))
}

// String is the name and the address in one line.
func (place place) String() string {
	texts := []string{place.Label, place.Field("address"), place.Field("city"), place.Region(), place.Field("zip"), place.Field("country")}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// richText is a text as it stands on the page of its record, and its language where that is
// not the one of the page.
type richText struct {
	HTML template.HTML
	Lang string
}

// recordBody is the page of a record.
type recordBody struct {
	named

	History string // path, "" for none
	Places  []place
	List    *listBody // of its events, nil for none
	Below   []named   // categories

	// Of events only:
	Card                         card
	When                         whenText
	Zone                         *calendar.Zone // that times are told in, nil for its own
	Start, End                   string         // by its own clock
	Begins, Ends                 time.Time      // of all-day events the day after the last
	Before                       string         // Start before it was moved, "" for never
	Cost                         calendar.Cost
	Free, Locked                 bool // Locked: it is protected and was not opened
	Organizers, Categories, Tags []named
	Parent, Children, Near       []card // Near: coming ones at the same venue
	Drawer                       *exportAddresses
	Then                         *history.Version // it is as it was
}

// Text is a text of the record as it stands on its page, nil for none. Headings in it begin
// with a level.
func (named named) Text(field string, highest int) (*richText, error) {
	text, language := render.HTML(named.Record, field, named.builder.language)
	html, err := named.builder.OnPage(text, highest)
	if html == "" {
		return nil, err
	}
	return &richText{html, named.builder.other(language)}, err
}

// Plain is the first of some texts that there is, without its form.
func (named named) Plain(fields ...string) string {
	for _, field := range fields {
		if text, _ := render.HTML(named.Record, field, named.builder.language); text != "" {
			return htmltext.PlainText(text)
		}
	}
	return ""
}

// Host is where the website is.
func (named named) Host() string { return strings.TrimPrefix(hostOf(named.Field("website")), "www.") }

func hostOf(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" {
		return text
	}
	return parsed.Host
}

// head begins the page of a record.
func (builder *pageBuilder) head(record *calendar.Record) *recordBody {
	body := &recordBody{named: builder.named(record, calendar.StatusPublish), History: builder.historyHref(record)} // by its slug
	builder.Record, builder.Title, builder.Heading, builder.Body = &body.named, body.Label, body.Label, body
	builder.Canonical, builder.Langs, builder.NoIndex = recordPath(record), record.Langs(), builder.parametered()
	for up := record.Fields.ID("parent"); len(builder.Crumbs) < maxAncestors; {
		view, ok := builder.above(record.Kind, up)
		if !ok {
			break
		}
		builder.Crumbs = append(builder.Crumbs, builder.named(view.Record, ""))
		up = view.Record.Fields.ID("parent")
	}
	slices.Reverse(builder.Crumbs)
	return body
}

// maxAncestors bounds the way to a category.
const maxAncestors = 50

// above reads a category that may stand above another one, false if none exists.
func (builder *pageBuilder) above(kind calendar.Kind, id calendar.ID) (view query.View, ok bool) {
	if id == 0 || builder.err != nil {
		return view, false
	}
	view, err := builder.read(kind, id, "")
	if _, refused := errors.AsType[*calendar.Error](err); !refused {
		builder.err = err
	}
	return view, err == nil
}

// share tells other sites of a record: its text, and its picture or that of its venue.
func (builder *pageBuilder) share(view *query.View) {
	builder.Summary = cutAtWord(builder.Record.Plain("excerpt", "description"))
	builder.Image = builder.Record.Field("image_url")
	builder.Large = builder.Image != "" && view.Record.Kind == calendar.KindEvent
	for _, venue := range view.Venues {
		builder.Image = cmp.Or(builder.Image, venue.Record.Fields.String("image_url"))
	}
}

// maxSummary is how many characters of a text machines are told.
const maxSummary = 200

func cutAtWord(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	runes := []rune(text)
	if len(runes) <= maxSummary {
		return text
	}
	cut := string(runes[:maxSummary-1])
	if i := strings.LastIndexByte(cut, ' '); i > maxSummary/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}

// maxNear is how many coming events at the same venue an event page names.
const maxNear = 4

// event makes the page of an event.
func (builder *pageBuilder) event(view *query.View, locked bool) *recordBody {
	record := view.Record
	view.Blanked = locked
	recordBody, when := builder.head(record), builder.whenOf(record, locked, builder.zone)
	recordBody.Card, recordBody.Locked, recordBody.Zone = builder.card(view), locked, builder.zone
	recordBody.When = builder.whenText(when)
	builder.zones([]card{recordBody.Card})
	if locked {
		builder.NoIndex, builder.Bare = true, true
		return recordBody
	}
	builder.share(view)
	when = builder.whenOf(record, false, nil)
	recordBody.Start, recordBody.End, recordBody.Begins, recordBody.Ends = when.Start(), when.End(), when.Begins.UTC(), when.Ends.UTC()
	if when.AllDay {
		recordBody.Ends = midnight(recordBody.Ends).AddDate(0, 0, 1)
	}
	if builder.moved != nil {
		before := builder.whenOf(builder.moved, false, nil)
		recordBody.Before = before.Start()
	}
	for i, venue := range view.Venues {
		place := builder.place(venue, record)
		place.ShowMap = place.ShowMap && i == 0
		recordBody.Places = append(recordBody.Places, place)
	}
	recordBody.Organizers, recordBody.Categories, recordBody.Tags = builder.linked(view.Organizers), builder.linked(view.Categories), builder.linked(view.Tags)
	builder.Crumbs = recordBody.Categories[:min(len(recordBody.Categories), 1)]
	recordBody.Cost, recordBody.Free = builder.cost(record), query.IsFree(record)

	some := func(most int, input calendar.Input) []card {
		input[paramPerPage] = strconv.Itoa(most)
		return builder.cards(builder.ask(input))
	}
	if parent := record.Fields.ID("post_parent"); parent != 0 {
		recordBody.Parent = some(1, calendar.Input{"include": parent.String()})
	}
	recordBody.Children = some(20, calendar.Input{"post_parent": record.ID.String(), "starts_after": "1000-01-01", paramSort: "start"})
	if len(view.Venues) > 0 {
		near := some(maxNear+1, calendar.Input{
			"venue": view.Venues[0].Record.ID.String(), "ends_after": builder.options.Now().UTC().Format(time.RFC3339), paramStrict: "true", "event_status": "scheduled,postponed",
		})
		near = slices.DeleteFunc(near, func(c card) bool { return c.ID == record.ID })
		recordBody.Near = near[:min(len(near), maxNear)]
	}
	builder.unlessAway()

	if builder.Unlock || record.Fields.Bool("hide_from_listings") {
		builder.NoIndex = true
	} else {
		list, id := builder.Root()+"/events", params{{Name: "include", Value: record.ID.String()}}
		recordBody.Drawer = &exportAddresses{List: list, JSON: list + "/" + id.String(), Query: id.String(), Element: id}
	}
	return recordBody
}

func (builder *pageBuilder) linked(views []query.LinkedView) []named {
	nameds := make([]named, len(views))
	for i, linkedView := range views {
		nameds[i] = builder.named(linkedView.Record, linkedView.Status)
	}
	return nameds
}

// record makes the page of a venue, organizer, category or tag.
func (builder *pageBuilder) record(view *query.View) {
	record := view.Record
	recordBody := builder.head(record)
	if builder.choose(builder.Canonical, period{}, query.Of{Kind: record.Kind, ID: record.ID}); builder.err != nil {
		return
	}
	builder.share(view)
	if record.Kind == calendar.KindVenue {
		recordBody.Places = []place{builder.place(query.LinkedView{Record: record, Status: view.Status})}
	}
	if record.Kind == calendar.KindCategory {
		builder.all(record.Kind, calendar.Input{"parent": record.ID.String(), "hide_empty": "false"}, func(view *query.View) {
			below := builder.named(view.Record, view.Status)
			below.Count = view.Count
			recordBody.Below = append(recordBody.Below, below)
		})
		byName(builder.language, recordBody.Below, func(n named) string { return n.Label })
		builder.unlessAway()
	}
	if recordBody.List = builder.list(); builder.unlessAway() {
		recordBody.List = nil
	}
}

// cost is what an event costs, not escaped.
func (pages *Pages) cost(record *calendar.Record) calendar.Cost {
	return calendar.ReadCost(record.Fields.Strings("cost"), pages.options.Currency)
}
