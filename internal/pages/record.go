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
func (l *look) place(v query.LinkedView, of ...*calendar.Record) place {
	at := place{named: l.named(v.Record, v.Status)}
	lat, hasLat := at.Fields.Number("geo_lat")
	lng, hasLng := at.Fields.Number("geo_lng")
	if hasLat && hasLng {
		at.Lat, at.Lng = degrees(lat), degrees(lng)
	}
	wanted := func(field string) bool {
		return !slices.ContainsFunc(append(of, v.Record), func(r *calendar.Record) bool { return !r.Fields.BoolOr(field, true) })
	}
	at.ShowMap = at.Lat != "" && l.o.Tiles != "" && wanted("show_map")
	at.Linked = wanted("show_map_link") || l.o.Tiles == "" && wanted("show_map")
	return at
}

func degrees(n float64) template.JS {
	return template.JS(strconv.FormatFloat(n, 'f', -1, 64)) //nolint:gosec // a number
}

// Region is the state or the province.
func (at place) Region() string {
	return cmp.Or(at.Field("stateprovince"), at.Field("province"), at.Field("state"))
}

// String is the name and the address in one line.
func (at place) String() string {
	texts := []string{at.Label, at.Field("address"), at.Field("city"), at.Region(), at.Field("zip"), at.Field("country")}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
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
	Drawer                       *drawer
	Then                         *Then // it is as it was
}

// Text is a text of the record as it stands on its page, nil for none. Headings in it begin
// with a level.
func (n named) Text(field string, highest int) (*richText, error) {
	text, in := n.l.Shown.HTML(n.Record, field, n.l.lang)
	html, err := n.l.OnPage(text, highest)
	if html == "" {
		return nil, err
	}
	return &richText{html, n.l.other(in)}, err
}

// Plain is the first of some texts that there is, without its form.
func (n named) Plain(fields ...string) string {
	for _, field := range fields {
		if text, _ := n.l.Shown.HTML(n.Record, field, n.l.lang); text != "" {
			return n.l.Shown.Plain(text)
		}
	}
	return ""
}

// Host is where the website is.
func (n named) Host() string { return strings.TrimPrefix(hostOf(n.Field("website")), "www.") }

func hostOf(u string) string {
	parsed, err := url.Parse(u)
	if err != nil || parsed.Host == "" {
		return u
	}
	return parsed.Host
}

// head begins the page of a record.
func (l *look) head(r *calendar.Record) *recordBody {
	b := &recordBody{named: l.named(r, calendar.StatusPublish), History: l.historyHref(r)} // by its slug
	l.Record, l.Title, l.Heading, l.Body = &b.named, b.Label, b.Label, b
	l.Canonical, l.Langs, l.NoIndex = recordPath(r), r.Langs(), l.parametered()
	for up := r.Fields.ID("parent"); len(l.Crumbs) < maxAncestors; {
		v, ok := l.above(r.Kind, up)
		if !ok {
			break
		}
		l.Crumbs = append(l.Crumbs, l.named(v.Record, ""))
		up = v.Record.Fields.ID("parent")
	}
	slices.Reverse(l.Crumbs)
	return b
}

// maxAncestors bounds the way to a category.
const maxAncestors = 50

// above reads a category that may stand above another one, false if none exists.
func (l *look) above(k calendar.Kind, id calendar.ID) (v query.View, ok bool) {
	if id == 0 || l.err != nil {
		return v, false
	}
	v, err := l.read(k, id, "")
	if _, refused := errors.AsType[*calendar.Error](err); !refused {
		l.err = err
	}
	return v, err == nil
}

// share tells other sites of a record: its text, and its picture or that of its venue.
func (l *look) share(v *query.View) {
	l.Summary = cutAtWord(l.Record.Plain("excerpt", "description"))
	l.Image = l.Record.Field("image_url")
	l.Large = l.Image != "" && v.Record.Kind == calendar.KindEvent
	for _, venue := range v.Venues {
		l.Image = cmp.Or(l.Image, venue.Record.Fields.String("image_url"))
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
func (l *look) event(v *query.View, locked bool) *recordBody {
	r := v.Record
	v.Blanked = locked
	b, s := l.head(r), l.whenOf(r, locked, l.zone)
	b.Card, b.Locked, b.Zone = l.card(v), locked, l.zone
	b.When = l.whenText(s)
	l.zones([]card{b.Card})
	if locked {
		l.NoIndex, l.Bare = true, true
		return b
	}
	l.share(v)
	s = l.whenOf(r, false, nil)
	b.Start, b.End, b.Begins, b.Ends = s.Start(), s.End(), s.Begins.UTC(), s.Ends.UTC()
	if s.AllDay {
		b.Ends = midnight(b.Ends).AddDate(0, 0, 1)
	}
	if l.moved != nil {
		before := l.whenOf(l.moved, false, nil)
		b.Before = before.Start()
	}
	for i, venue := range v.Venues {
		at := l.place(venue, r)
		at.ShowMap = at.ShowMap && i == 0
		b.Places = append(b.Places, at)
	}
	for _, o := range v.Organizers {
		b.Organizers = append(b.Organizers, l.named(o.Record, o.Status))
	}
	b.Categories, b.Tags = l.terms(v.Categories), l.terms(v.Tags)
	l.Crumbs = b.Categories[:min(len(b.Categories), 1)]
	b.Cost, b.Free = l.Shown.Cost(r), query.IsFree(r)

	some := func(most int, in calendar.Input) []card {
		in[paramPerPage] = strconv.Itoa(most)
		return l.cards(l.ask(calendar.KindEvent, in))
	}
	if parent := r.Fields.ID("post_parent"); parent != 0 {
		b.Parent = some(1, calendar.Input{"include": parent.String()})
	}
	b.Children = some(20, calendar.Input{"post_parent": r.ID.String(), "starts_after": "1000-01-01", paramSort: "start"})
	if len(v.Venues) > 0 {
		near := some(maxNear+1, calendar.Input{
			"venue": v.Venues[0].Record.ID.String(), "ends_after": l.o.Now().UTC().Format(time.RFC3339), paramStrict: "true", "event_status": "scheduled,postponed",
		})
		near = slices.DeleteFunc(near, func(c card) bool { return c.ID == r.ID })
		b.Near = near[:min(len(near), maxNear)]
	}
	l.unlessAway()

	if l.Unlock || r.Fields.Bool("hide_from_listings") {
		l.NoIndex = true
	} else {
		list, id := l.Root()+"/events", params{{Name: "include", Value: r.ID.String()}}
		b.Drawer = &drawer{List: list, JSON: list + "/" + id.String(), Query: id.String(), Element: id}
	}
	return b
}

func (l *look) terms(views []query.LinkedView) []named {
	out := make([]named, len(views))
	for i, t := range views {
		out[i] = l.named(t.Record, "")
	}
	return out
}

// record makes the page of a venue, organizer, category or tag.
func (l *look) record(v *query.View) {
	r := v.Record
	b := l.head(r)
	if l.choose(l.Canonical, period{}, query.Of{Kind: r.Kind, ID: r.ID}); l.err != nil {
		return
	}
	l.share(v)
	if r.Kind == calendar.KindVenue {
		b.Places = []place{l.place(query.LinkedView{Record: r, Status: v.Status})}
	}
	if r.Kind == calendar.KindCategory {
		l.all(r.Kind, calendar.Input{"parent": r.ID.String(), "hide_empty": "false"}, func(v *query.View) {
			below := l.named(v.Record, v.Status)
			below.Count = v.Count
			b.Below = append(b.Below, below)
		})
		byName(l.lang, b.Below, func(n named) string { return n.Label })
		l.unlessAway()
	}
	if b.List = l.list(); l.unlessAway() {
		b.List = nil
	}
}
