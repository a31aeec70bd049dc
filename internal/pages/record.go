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
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query"
)

// richText is a text of a record as it stands on its page, and its language where that is
// not the one of the page.
type richText struct {
	HTML template.HTML
	Lang string
}

// picture is that of a record: Source where pages show it, else Href.
type picture struct{ Source, Href string }

// place is a venue as pages show it.
type place struct {
	link // of its page

	ID                                  calendar.ID
	Address, City, Region, Zip, Country string
	Lat, Lng                            string // "" for no point
	ShowMap                             bool
	Maps                                string // address of its place on a map, "" for none
}

// Geo is the address of the point, "" for none.
func (at *place) Geo() string {
	if at.Lat == "" {
		return ""
	}
	return "geo:" + at.Lat + "," + at.Lng
}

// MapsOutside reports whether the map is one of another service.
func (at *place) MapsOutside() bool { return !strings.HasPrefix(at.Maps, "geo:") }

// String is the name and the address in one line.
func (at *place) String() string {
	texts := []string{at.Label, at.Address, at.City, at.Region, at.Zip, at.Country}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ", ")
}

// recordHead is what the pages of all records have.
type recordHead struct {
	Version     int64
	Long        bool // the heading is long
	Excerpt     richText
	Description richText
	Picture     picture
	Website     string
	Changed     time.Time
	History     string // path, "" for none
}

// longHeading is the number of characters from which on headings are smaller.
const longHeading = 60

// Host is where the website is.
func (h *recordHead) Host() string { return strings.TrimPrefix(hostOf(h.Website), "www.") }

// head makes what the pages of all records have.
func (l *look) head(v *query.View) (h recordHead) {
	r := v.Record
	at := l.named(r, calendar.StatusPublish) // by its slug
	name := at.Label()
	l.Record, l.Crumbs = &at, l.ancestors(r)
	l.Title, l.Named, l.Heading, l.HeadingLang = name, name, name, at.Lang()
	l.Canonical, l.Langs, l.Home = recordPath(r), r.Langs(), homeOf(r, l.lang)
	l.NoIndex = l.parametered()
	h = recordHead{Version: r.Version, Long: utf8.RuneCountInString(name) > longHeading, Changed: l.inSite(r.Changed)}
	if v.Blanked {
		return h
	}
	h.Excerpt, h.Description = l.richText(r, "excerpt", 2), l.richText(r, "description", 3)
	l.Summary = l.summary(r, l.lang)
	if image := r.Fields.String("image_url"); l.showsImage(l.Request, image) {
		h.Picture.Source = image
	} else {
		h.Picture.Href = image
	}
	h.Website, h.History = r.Fields.String("website"), l.historyHref(r)
	return h
}

// homeOf is the language whose page is canonical, nil for the one of the page.
func homeOf(r *calendar.Record, page calendar.Lang) *calendar.Lang {
	if slices.Contains(r.Langs(), page) {
		return nil
	}
	return &r.Home
}

// richText makes a description or an excerpt as it stands on the page of its record.
func (l *look) richText(r *calendar.Record, field string, least int) richText {
	text, in := l.Shown.HTML(r, field, l.lang)
	html, err := l.OnPage(text, least)
	if err != nil {
		l.err = err
	}
	return richText{html, l.other(in)}
}

// summary is what machines are told of a record: its excerpt, else its description, at
// most 200 characters, cut at a word.
func (p *Pages) summary(r *calendar.Record, lang calendar.Lang) string {
	excerpt, _ := p.Shown.HTML(r, "excerpt", lang)
	description, _ := p.Shown.HTML(r, "description", lang)
	return cutAtWord(strings.Join(strings.Fields(p.Shown.Plain(cmp.Or(excerpt, description))), " "), 200)
}

func cutAtWord(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	cut := string(runes[:most-1])
	if i := strings.LastIndexByte(cut, ' '); i > most/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}

// eventBody is the page of an event.
type eventBody struct {
	recordHead

	Card       card
	Status     string // why it does not take place, "" for nothing
	Reason     string
	When       whenText
	From, To   string
	Zone       string // that times are told in, "" for the event's own
	Place      *place
	Places     []place // further ones
	Cost       string
	Tickets    bool // its website sells them
	Organizers []named
	Categories []named
	Tags       []named
	Timezone   string
	File       string // of the calendar, "" where it asks for a password
	Parent     *card
	Children   []card
	Near       []card // coming ones at the same venue
	Then       *Then  // it is as it was
	Exports    *drawer
	Locked     bool // it is a protected event that was not opened
	Wrong      bool // so was a password

	own span // by its own clock
}

// Acts reports whether the event is still to come as it was planned, so that there are
// tickets and calendars for it.
func (b *eventBody) Acts() bool { return b.Status == "" && !b.Card.Past && b.Then == nil }

// Times are those that Google and Outlook take: instants, or days with the end exclusive.
func (b *eventBody) Times() map[string]string {
	from, to, layout := b.own.start.UTC(), b.own.end.UTC(), time.RFC3339
	if b.own.allDay {
		to, layout = midnight(to).AddDate(0, 0, 1), time.DateOnly
	}
	times := map[string]string{"From": from.Format(layout), "To": to.Format(layout)}
	times["Both"] = strings.NewReplacer("-", "", ":", "").Replace(times["From"] + "/" + times["To"])
	return times
}

// event makes the page of an event.
func (l *look) event(v *query.View, locked bool) *eventBody {
	r, f := v.Record, v.Record.Fields
	shown := *v
	shown.Blanked = locked
	c, s := l.card(&shown), l.spanOf(r, locked, l.zone)
	b := &eventBody{recordHead: l.head(&shown), Card: c, From: s.from(), To: s.to(), Locked: locked}
	l.zones([]card{c})
	if l.zone != nil {
		b.Zone = l.zone.Name
	}
	b.When = l.whenText(when{start: s.start, end: s.end, allDay: s.allDay, zone: s.zone, zoneEnd: s.zoneEnd})
	if status := f.EventStatus(); status != calendar.EventScheduled {
		b.Status = string(status)
	}
	if locked {
		l.NoIndex, l.Bare = true, true
		return b
	}
	b.Reason = f.String("event_status_reason")
	for _, o := range v.Organizers {
		b.Organizers = append(b.Organizers, l.named(o.Record, o.Status))
	}
	b.Categories, b.Tags = l.terms(v.Categories), l.terms(v.Tags)
	l.Crumbs = b.Categories[:min(len(b.Categories), 1)]
	b.Timezone = f.String("timezone")
	l.sharePicture(v)
	for i, venue := range v.Venues {
		at := l.placeOf(venue.Record, venue.Status, r)
		if i == 0 {
			b.Place = &at
		} else {
			at.ShowMap = false
			b.Places = append(b.Places, at)
		}
	}
	b.own = l.spanOf(r, false, nil)
	b.Cost = l.Shown.Cost(r).Text
	b.Tickets = f.Bool("ticketed") || b.Cost != "" && !query.IsFree(r)
	hidden := f.Bool("hide_from_listings")
	l.NoIndex = l.NoIndex || hidden
	l.relatives(v, b)
	l.unlessAway()
	l.LD = l.eventLD(v, &b.own)
	address := l.absolute(l.lang, l.o.Namespace+"/events/"+r.ID.String())
	if !l.Unlock {
		b.File = address + ".ics"
	}
	oembed := l.Base + "/oembed" + linkQuery([]query.LinkParam{{Name: "url", Value: l.absolute(l.lang, l.Canonical)}}) + "&format="
	l.Feeds = []feed{
		{"text/calendar", "iCalendar", address + ".ics"},
		{"application/json", "JSON", address + "/"},
		{"application/json+oembed", c.Title, oembed + "json"},
		{"text/xml+oembed", c.Title, oembed + "xml"},
	}
	if !hidden {
		only := "?include=" + r.ID.String()
		list := l.absolute(l.lang, l.o.Namespace+"/events")
		b.Exports = &drawer{List: list, JSON: list + "/" + only, Query: only, Element: params{{Name: "include", Value: r.ID.String()}}}
	}
	return b
}

// sharePicture gives other sites the picture of an event: its own, else that of its venue.
func (l *look) sharePicture(v *query.View) {
	image := v.Record.Fields.String("image_url")
	l.Large = image != ""
	for _, venue := range v.Venues {
		image = cmp.Or(image, venue.Record.Fields.String("image_url"))
	}
	l.Image = image
}

// placeOf makes a venue; it may be one of an event, which may leave out its map too.
func (l *look) placeOf(r *calendar.Record, s calendar.Status, also ...*calendar.Record) place {
	f := r.Fields
	name, in := r.Name(l.lang)
	at := place{
		link: link{Label: name, Lang: l.other(in), Href: l.named(r, s).Href()}, ID: r.ID, Address: f.String("address"), City: f.String("city"),
		Region: cmp.Or(f.String("stateprovince"), f.String("province"), f.String("state")), Zip: f.String("zip"), Country: f.String("country"),
	}
	lat, hasLat := f.Number("geo_lat")
	lng, hasLng := f.Number("geo_lng")
	if hasLat && hasLng {
		at.Lat, at.Lng = strconv.FormatFloat(lat, 'f', -1, 64), strconv.FormatFloat(lng, 'f', -1, 64)
	}
	wanted := func(field string) bool {
		return !slices.ContainsFunc(append(also, r), func(r *calendar.Record) bool { return !r.Fields.BoolOr(field, true) })
	}
	at.ShowMap = at.Lat != "" && l.o.Tiles != "" && wanted("show_map")
	switch {
	case !wanted("show_map_link") && (l.o.Tiles != "" || !wanted("show_map")):
	case l.o.NoExternalLinks:
		at.Maps = cmp.Or(at.Geo(), "geo:0,0"+linkQuery(params{{Name: "q", Value: at.String()}}))
	case at.Lat != "":
		at.Maps = "https://www.openstreetmap.org/?mlat=" + at.Lat + "&mlon=" + at.Lng + "#map=16/" + at.Lat + "/" + at.Lng
	default:
		at.Maps = "https://www.openstreetmap.org/search" + linkQuery(params{{Name: "query", Value: at.String()}})
	}
	return at
}

func (l *look) terms(views []query.TermView) []named {
	out := make([]named, len(views))
	for i, t := range views {
		out[i] = l.named(t.Record, "")
	}
	return out
}

func hostOf(u string) string {
	parsed, err := url.Parse(u)
	if err != nil || parsed.Host == "" {
		return u
	}
	return parsed.Host
}

// maxNear is how many coming events at the same venue an event page names.
const maxNear = 4

// relatives are the parent, the children, and what comes at the same venue.
func (l *look) relatives(v *query.View, b *eventBody) {
	some := func(limit int, in calendar.Input) []card {
		in[paramPerPage] = strconv.Itoa(limit)
		return l.cards(l.ask(calendar.KindEvent, in))
	}
	if parent := v.Record.Fields.ID("post_parent"); parent != 0 {
		for _, c := range some(1, calendar.Input{"include": parent.String()}) {
			b.Parent = &c
		}
	}
	b.Children = some(20, calendar.Input{"post_parent": v.Record.ID.String(), "starts_after": "1000-01-01", paramSort: "start"})
	if len(v.Venues) == 0 {
		return
	}
	near := some(maxNear+1, calendar.Input{
		"venue": v.Venues[0].Record.ID.String(), "ends_after": l.o.Now().UTC().Format(time.RFC3339), paramStrict: "true", "event_status": string(calendar.EventScheduled + "," + calendar.EventPostponed),
	})
	near = slices.DeleteFunc(near, func(c card) bool { return c.ID == v.Record.ID })
	b.Near = near[:min(len(near), maxNear)]
}

// recordBody is the page of a venue, organizer, category or tag.
type recordBody struct {
	recordHead

	NameField    string // of the interface
	Phone, Email string
	Place        *place
	Children     []named
	List         *listBody
}

// nameFields are the fields that hold the names of records.
var nameFields = [...]string{
	calendar.KindEvent: "title", calendar.KindVenue: "venue", calendar.KindOrganizer: "organizer", calendar.KindCategory: "name", calendar.KindTag: "name",
}

// record makes the page of a venue, organizer, category or tag.
func (l *look) record(v *query.View) *recordBody {
	if l.err != nil {
		return nil
	}
	r, f := v.Record, v.Record.Fields
	b := &recordBody{NameField: nameFields[r.Kind], recordHead: l.head(v)}
	l.Canonical = onto(l.Canonical, l.canonicalQuery())
	l.sharePicture(v)
	l.Large = false
	b.Phone, b.Email = f.String("phone"), f.String("email")
	switch r.Kind {
	case calendar.KindVenue:
		if at := l.placeOf(r, v.Status); at.Maps != "" || at.String() != at.Label || at.Lat != "" {
			b.Place = &at
		}
		l.LD = ldOf(l.placeLD(r, v.Status))
	case calendar.KindOrganizer:
		l.LD = ldOf(map[string]any{"@type": "Organization", "name": l.Title, "url": l.CanonicalURL()})
	case calendar.KindCategory:
		b.Children = l.childrenOf(r)
		l.unlessAway()
	default:
	}
	if b.List = l.list(); l.unlessAway() {
		b.List = nil
	}
	return b
}

// maxAncestors bounds the way to a category.
const maxAncestors = 50

// above reads a category that may stand above another one, false where there is none.
func (l *look) above(k calendar.Kind, id calendar.ID) (v query.View, ok bool) {
	if k != calendar.KindCategory || id == 0 || l.err != nil {
		return v, false
	}
	v, err := l.Lists.Read(l.ctx, k, id, "", l.Caller, l.lang, query.EmbedNone, nil)
	if _, refused := errors.AsType[*calendar.Error](err); err != nil && !refused {
		l.err = err
	}
	return v, err == nil
}

// ancestors are the categories above one.
func (l *look) ancestors(r *calendar.Record) (out []named) {
	for up := r.Fields.ID("parent"); len(out) < maxAncestors; {
		v, ok := l.above(r.Kind, up)
		if !ok {
			break
		}
		out = append(out, l.named(v.Record, ""))
		up = v.Record.Fields.ID("parent")
	}
	slices.Reverse(out)
	return out
}

// childrenOf are the categories below one, by name.
func (l *look) childrenOf(r *calendar.Record) (out []named) {
	l.all(r.Kind, calendar.Input{"parent": r.ID.String(), "hide_empty": "false"}, func(v *query.View) {
		child := l.named(v.Record, "")
		child.Count = v.Count
		out = append(out, child)
	})
	order := collator(l.lang)
	slices.SortStableFunc(out, func(a, b named) int { return order.CompareString(a.Label(), b.Label()) })
	return out
}
