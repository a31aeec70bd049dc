package pages

import (
	"context"
	"encoding/json"
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

// fact is one of a record, by the name of its field.
type fact struct {
	Field, Label string
	Text         string
	Links        []link
}

// badge is a word beside a title.
type badge struct{ Name, Label string }

// place is a venue as pages show it.
type place struct {
	Name, Href, Language string
	Lines                [][]fact // of the address
	Lat, Lng             string
	HasPoint             bool
	Maps                 []link // to maps: the program for geo: links, another service
	GeoJSON              string // none
}

// Geo is the address of the point.
func (at *place) Geo() string { return "geo:" + at.Lat + "," + at.Lng }

// texts are the name and the address in one line each.
func (at *place) texts() []string {
	out := make([]string, 1, len(at.Lines)+1)
	out[0] = at.Name
	for _, line := range at.Lines {
		parts := make([]string, len(line))
		for i, f := range line {
			parts[i] = f.Text
		}
		out = append(out, strings.Join(parts, ", "))
	}
	return out
}

// eventBody is the page of an event.
type eventBody struct {
	Card        card
	Badges      []badge
	When        whenText
	From, To    string
	Zones       []option
	Zone        string // that times are told in, "" for the event's own
	Description template.HTML
	Language    string // of the description, where it is not that of the page
	Image       string
	ImageLink   string // of a picture that is not shown
	Place       *place
	Places      []place // further ones
	ShowMap     bool
	Facts       []fact
	Parent      *link
	Children    []card
	Near        []card // coming ones at the same venue
	Changed     string
	History     string // path, "" for none
	Then        *thenBar
	Calendars   []link // buttons: ICS and other calendars
	Exports     []export
	// Locked is a protected event that was not opened.
	Locked bool
	Wrong  string // message about a password
}

// event makes the page of an event.
func (p *Pages) event(ctx context.Context, l *layout, v *query.View, locked bool) (*eventBody, error) {
	r, lang := v.Record, l.Lang
	shown := *v
	shown.Blanked = locked
	c := p.cardOf(l.r, &shown, l.zone)
	s := p.spanOf(r, locked, l.zone)
	b := &eventBody{Card: c, From: s.from(), To: s.to(), Locked: locked, Zones: l.zones([]card{c})}
	if l.zone != nil {
		b.Zone = l.zone.Name
	}
	b.When = l.say.whenText(when{start: s.start, end: s.end, allDay: s.allDay, zone: s.zone, zoneEnd: s.zoneEnd})
	l.Title, l.Named, l.Heading, l.HeadingLang = c.Title, c.Title, c.Title, c.Language
	l.Canonical, l.Langs, l.Home = recordPath(r.Kind, r.Slug()), r.Langs(), homeOf(r, lang)
	l.NoIndex = l.r.parametered()
	own := p.spanOf(r, locked, nil)
	l.Crumbs = []link{{Href: l.Href("/"), Label: word("nav.home", lang)}, {Href: l.Href("/events/"), Label: word("nav.list", lang)}}
	if len(v.Categories) > 0 && !locked {
		l.Crumbs = append(l.Crumbs, p.termLinks(l, v.Categories[:1])...)
	}
	l.Crumbs = append(l.Crumbs, link{Href: l.Href(l.Canonical), Label: c.Title, Lang: c.Language, Current: true})
	for _, x := range []struct {
		name string
		is   bool
	}{{"now", c.Now}, {"past", c.Past}, {"featured", c.Featured}, {"protected", locked}} {
		if x.is {
			b.Badges = append(b.Badges, badge{x.name, word("badge."+x.name, lang)})
		}
	}
	if locked {
		l.NoIndex, l.Bare = true, true
		return b, nil
	}
	f := r.Fields
	if err := p.describe(l, r, &b.Description, &b.Language); err != nil {
		return nil, err
	}
	l.Summary = p.summary(r, lang)
	if image := f.String("image_url"); image != "" {
		if c.Image != "" {
			b.Image = image
		} else {
			b.ImageLink = image
		}
	}
	p.picture(l, v)
	for i, venue := range v.Venues {
		at := p.placeOf(l, venue.Record, venue.Status)
		if !f.Bool("show_map_link") || !venue.Record.Fields.BoolOr("show_map_link", true) {
			at.Maps = nil
		}
		if i == 0 {
			b.Place = &at
		} else {
			b.Places = append(b.Places, at)
		}
	}
	b.ShowMap = f.Bool("show_map") && b.Place != nil && b.Place.HasPoint && v.Venues[0].Record.Fields.BoolOr("show_map", true)
	b.Facts = p.factsOf(l, v)
	hidden := f.Bool("hide_from_listings")
	l.NoIndex = l.NoIndex || hidden
	if !c.Past {
		b.Calendars = p.calendarsOf(l, v, &own)
	}
	b.Changed, b.History = p.versionLine(l, v), p.historyHref(l, r)
	if err := p.relatives(ctx, l, v, b); err != nil && !isAway(err) {
		return nil, err
	}
	l.LD = p.eventLD(l, v, &own)
	address := l.absolute(lang, p.o.Namespace+"/events/"+r.ID.String())
	oembed := l.r.Base + "/oembed" + linkQuery([]query.LinkParam{{Name: "url", Value: l.absolute(lang, l.Canonical)}}) + "&format="
	l.Feeds = []feed{
		{"ics", "text/calendar", "iCalendar", address + ".ics"},
		{"json", "application/json", "JSON", address + "/"},
		{"", "application/json+oembed", c.Title, oembed + "json"},
		{"", "text/xml+oembed", c.Title, oembed + "xml"},
	}
	if !hidden {
		only := "?include=" + r.ID.String()
		list := l.absolute(lang, p.o.Namespace+"/events")
		b.Exports = l.exportsOf(list+"/"+only, list, only, "", l.elementOf([]query.LinkParam{{Name: "include", Value: r.ID.String()}}, l.CanonicalURL()))
	}
	return b, nil
}

// picture is the one that other sites show of an event: its own, else that of its venue.
func (p *Pages) picture(l *layout, v *query.View) {
	image := v.Record.Fields.String("image_url")
	l.Large = image != ""
	for _, venue := range v.Venues {
		image = cmpOr(image, venue.Record.Fields.String("image_url"))
	}
	if image != "" {
		l.OpenGraph = append(l.OpenGraph, property{"og:image", image})
	}
}

// isAway tells that the read model is out of reach: pages of records are made without their
// lists then.
func isAway(err error) bool { return errors.Is(err, query.ErrUnavailable) }

// homeOf is the language whose page is canonical, nil for the one of the page.
func homeOf(r *calendar.Record, page calendar.Lang) *calendar.Lang {
	if slices.Contains(r.Langs(), page) {
		return nil
	}
	return &r.Home
}

// describe makes the description of a record as it stands on its page.
func (p *Pages) describe(l *layout, r *calendar.Record, out *template.HTML, language *string) error {
	text, in := p.Shown.HTML(r, "description", l.Lang)
	html, err := p.onPage(l.r, text, leastHeading)
	*out, *language = template.HTML(html), otherLang(in, l.Lang) //nolint:gosec // cleaned when it was stored, and by onPage
	return err
}

// summary is what machines are told of a record: its excerpt, else its description, at
// most 200 characters, cut at a word.
func (p *Pages) summary(r *calendar.Record, lang calendar.Lang) string {
	text, _ := p.Shown.HTML(r, "excerpt", lang)
	if text == "" {
		text, _ = p.Shown.HTML(r, "description", lang)
	}
	return cutAtWord(strings.Join(strings.Fields(p.Shown.Plain(text)), " "), 200)
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

// placeOf makes a venue.
func (p *Pages) placeOf(l *layout, r *calendar.Record, s calendar.Status) place {
	f := r.Fields
	name, in := r.Name(l.Lang)
	out := place{Name: name, Language: otherLang(in, l.Lang), Href: p.hrefOf(l.r, r, s)}
	for _, fields := range [][]fact{
		{{Field: "address", Text: f.String("address")}},
		{{Field: "city", Text: f.String("city")}, {Field: "stateprovince", Text: regionOf(f)}, {Field: "zip", Text: f.String("zip")}},
		{{Field: "country", Text: f.String("country")}},
	} {
		if line := slices.DeleteFunc(fields, func(f fact) bool { return f.Text == "" }); len(line) > 0 {
			out.Lines = append(out.Lines, line)
		}
	}
	lat, hasLat := f["geo_lat"].(float64)
	lng, hasLng := f["geo_lng"].(float64)
	if hasLat && hasLng {
		out.Lat, out.Lng, out.HasPoint = strconv.FormatFloat(lat, 'f', -1, 64), strconv.FormatFloat(lng, 'f', -1, 64), true
	}
	if !p.o.NoExternalLinks && (out.HasPoint || len(out.Lines) > 0) {
		at := "https://www.openstreetmap.org/search?query=" + url.QueryEscape(strings.Join(out.texts(), ", "))
		if out.HasPoint {
			at = "https://www.openstreetmap.org/?mlat=" + out.Lat + "&mlon=" + out.Lng + "#map=16/" + out.Lat + "/" + out.Lng
		}
		out.Maps = append(out.Maps, link{Href: at, Label: word("event.map", l.Lang), External: true})
	}
	return out
}

// regionOf is the state or province of a venue.
func regionOf(f calendar.Fields) string {
	return cmpOr(f.String("stateprovince"), f.String("province"), f.String("state"))
}

func cmpOr(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// factsOf are the facts of an event.
func (p *Pages) factsOf(l *layout, v *query.View) []fact {
	f, lang := v.Record.Fields, l.Lang
	var out []fact
	if cost := p.Shown.Cost(v.Record).Text; cost != "" {
		out = append(out, fact{Field: "cost", Label: word("fact.cost", lang), Text: cost})
	}
	if site := f.String("website"); site != "" {
		out = append(out, fact{Field: "website", Label: word("fact.website", lang), Links: []link{{Href: site, Label: hostOf(site), External: true}}})
	}
	named := func(field string, records []link) {
		if len(records) > 0 {
			out = append(out, fact{Field: field, Label: word("fact."+field, lang), Links: records})
		}
	}
	organizers := make([]link, 0, len(v.Organizers))
	for _, o := range v.Organizers {
		name, in := o.Record.Name(lang)
		organizers = append(organizers, link{Href: p.hrefOf(l.r, o.Record, o.Status), Label: name, Lang: otherLang(in, lang)})
	}
	named("organizer", organizers)
	named("categories", p.termLinks(l, v.Categories))
	named("tags", p.termLinks(l, v.Tags))
	if !f.Bool("all_day") {
		zone := f.String("timezone")
		out = append(out, fact{Field: "timezone", Label: word("fact.timezone", lang), Text: zone})
	}
	return out
}

func (p *Pages) termLinks(l *layout, terms []query.TermView) []link {
	out := make([]link, 0, len(terms))
	for _, t := range terms {
		name, in := t.Record.Name(l.Lang)
		out = append(out, link{Href: l.Href(recordPath(t.Record.Kind, t.Record.Slug())), Label: name, Lang: otherLang(in, l.Lang)})
	}
	return out
}

func hostOf(u string) string {
	parsed, err := url.Parse(u)
	if err != nil || parsed.Host == "" {
		return u
	}
	return strings.TrimPrefix(parsed.Host, "www.")
}

// Outlook and Google take times of events in their own forms.
const compact = "20060102T150405Z"

// calendarsOf are the buttons that put an event into a calendar.
func (p *Pages) calendarsOf(l *layout, v *query.View, s *span) []link {
	ics := l.absolute(l.Lang, p.o.Namespace+"/events/"+v.Record.ID.String()+".ics")
	out := make([]link, 0, 3)
	out = append(out, link{Href: ics, Label: word("calendar.file", l.Lang), Title: "text/calendar"})
	if p.o.NoExternalLinks {
		return out
	}
	title, _ := v.Record.Name(l.Lang)
	page := l.CanonicalURL()
	where := ""
	if len(v.Venues) > 0 {
		at := p.placeOf(l, v.Venues[0].Record, v.Venues[0].Status)
		where = strings.Join(at.texts(), ", ")
	}
	dates := s.start.UTC().Format(compact) + "/" + s.end.UTC().Format(compact)
	from, to := s.start.UTC().Format("2006-01-02T15:04:05Z"), s.end.UTC().Format("2006-01-02T15:04:05Z")
	if s.allDay {
		end := midnight(s.end).AddDate(0, 0, 1)
		dates = s.start.Format("20060102") + "/" + end.Format("20060102")
		from, to = s.start.Format(time.DateOnly), end.Format(time.DateOnly)
	}
	google := url.Values{"action": {"TEMPLATE"}, "text": {title}, "dates": {dates}, "details": {page}}
	if zone := v.Record.Fields.String("timezone"); zone != "" && !s.allDay {
		google.Set("ctz", zone)
	}
	outlook := url.Values{"path": {"/calendar/action/compose"}, "rru": {"addevent"}, "subject": {title}, "startdt": {from}, "enddt": {to}, "body": {page}}
	if s.allDay {
		outlook.Set("allday", "true")
	}
	if where != "" {
		google.Set("location", where)
		outlook.Set("location", where)
	}
	return append(out,
		link{Href: "https://calendar.google.com/calendar/render?" + queryOf(google), Label: "Google", External: true},
		link{Href: "https://outlook.live.com/calendar/0/deeplink/compose?" + queryOf(outlook), Label: "Outlook", External: true})
}

// relatives are the parent, the children, and what comes at the same venue.
func (p *Pages) relatives(ctx context.Context, l *layout, v *query.View, b *eventBody) error {
	some := func(in calendar.Input, most int) ([]card, error) {
		in[paramPerPage] = strconv.Itoa(most)
		c, err := p.forCards(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: l.Lang, Caller: l.r.Caller})
		if err != nil {
			return nil, err
		}
		found, err := p.Lists.Run(ctx, c)
		if err != nil {
			return nil, err
		}
		l.Position = found.Position
		return p.cardsOf(l.r, found.Views, l.zone), nil
	}
	if parent := v.Record.Fields.ID("post_parent"); parent != 0 {
		cards, err := some(calendar.Input{"include": parent.String()}, 1)
		if err != nil {
			return err
		}
		if len(cards) > 0 {
			b.Parent = &link{Href: cards[0].Href, Label: cards[0].Title, Lang: cards[0].Language}
		}
	}
	var err error
	if b.Children, err = some(calendar.Input{"post_parent": v.Record.ID.String(), "starts_after": "1000-01-01", paramSort: "start"}, 20); err != nil {
		return err
	}
	if len(v.Venues) == 0 {
		return nil
	}
	cards, err := some(calendar.Input{"venue": v.Venues[0].Record.ID.String(), paramOverlap: "true"}, mostNear+1)
	cards = slices.DeleteFunc(cards, func(c card) bool { return c.ID == v.Record.ID })
	b.Near = cards[:min(len(cards), mostNear)]
	return err
}

// mostNear is how many coming events at the same venue an event page names.
const mostNear = 4

// eventLD is the structured data of an event page (PAGES.md P3.2).
func (p *Pages) eventLD(l *layout, v *query.View, s *span) template.JS {
	r, lang := v.Record, l.Lang
	title, in := r.Name(lang)
	canonical := l.CanonicalURL()
	e := map[string]any{
		"@type": "Event", "name": title, "url": canonical, "inLanguage": in.Tag(), "startDate": s.from(), "endDate": s.to(),
		"eventStatus": "https://schema.org/EventScheduled", "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
	}
	if l.moved != nil {
		before := p.spanOf(l.moved, false, nil)
		e["eventStatus"], e["previousStartDate"] = "https://schema.org/EventRescheduled", before.from()
	}
	description, _ := p.Shown.HTML(r, "description", lang)
	if description == "" {
		description, _ = p.Shown.HTML(r, "excerpt", lang)
	}
	if plain := p.Shown.Plain(description); plain != "" {
		e["description"] = plain
	}
	if image := r.Fields.String("image_url"); image != "" {
		e["image"] = []string{image}
	}
	places := make([]any, 0, len(v.Venues))
	for _, venue := range v.Venues {
		places = append(places, p.placeLD(l, venue.Record, venue.Status))
	}
	oneOrAll(e, "location", places)
	organizers := make([]any, 0, len(v.Organizers))
	for _, o := range v.Organizers {
		name, _ := o.Record.Name(lang)
		organizers = append(organizers, map[string]any{"@type": "Organization", "name": name, "url": l.r.Base + strings.TrimPrefix(p.hrefOf(l.r, o.Record, o.Status), l.r.Path)})
	}
	oneOrAll(e, "organizer", organizers)
	p.offers(e, r, canonical)
	return ldOf(map[string]any{"@context": "https://schema.org", "@graph": []any{e, l.crumbsLD()}})
}

// crumbsLD is the way to the page as structured data.
func (l *layout) crumbsLD() map[string]any {
	items := make([]any, len(l.Crumbs))
	for i, c := range l.Crumbs {
		at := l.r.Base + strings.TrimPrefix(c.Href, l.r.Path)
		if c.Current {
			at = l.CanonicalURL()
		}
		items[i] = map[string]any{"@type": "ListItem", "position": i + 1, "name": c.Label, "item": at}
	}
	return map[string]any{"@type": "BreadcrumbList", "itemListElement": items}
}

// offers tells what an event costs, when all of it are numbers of one currency that is known.
func (p *Pages) offers(e map[string]any, r *calendar.Record, page string) {
	cost := p.Shown.Cost(r)
	if !cost.Numbers {
		return
	}
	lowest, highest := cost.Values[0], cost.Values[len(cost.Values)-1]
	if len(cost.Values) == 1 && strings.Trim(lowest, "0.") == "" {
		e["isAccessibleForFree"] = true
	}
	if cost.Code == "" {
		return
	}
	offer := map[string]any{"@type": "Offer", "price": lowest, "priceCurrency": cost.Code, "url": page, "availability": "https://schema.org/InStock"}
	if len(cost.Values) > 1 {
		delete(offer, "price")
		offer["@type"], offer["lowPrice"], offer["highPrice"] = "AggregateOffer", lowest, highest
	}
	if date := r.Fields.Wall("date_utc"); date != calendar.NoWall {
		offer["validFrom"] = date.UTC().Format("2006-01-02T15:04:05Z")
	}
	e["offers"] = offer
}

// placeLD is a venue; it has an address always.
func (p *Pages) placeLD(l *layout, r *calendar.Record, s calendar.Status) map[string]any {
	f := r.Fields
	name, _ := r.Name(l.Lang)
	address := map[string]any{"@type": "PostalAddress"}
	for key, value := range map[string]string{
		"streetAddress": f.String("address"), "addressLocality": f.String("city"), "postalCode": f.String("zip"), "addressCountry": f.String("country"),
		"addressRegion": regionOf(f),
	} {
		if value != "" {
			address[key] = value
		}
	}
	if len(address) == 1 {
		address["addressLocality"] = name
	}
	out := map[string]any{"@type": "Place", "name": name, "address": address, "url": l.r.Base + strings.TrimPrefix(p.hrefOf(l.r, r, s), l.r.Path)}
	if at := p.placeOf(l, r, s); at.HasPoint {
		lat, _ := strconv.ParseFloat(at.Lat, 64)
		lng, _ := strconv.ParseFloat(at.Lng, 64)
		out["geo"] = map[string]any{"@type": "GeoCoordinates", "latitude": lat, "longitude": lng}
	}
	return out
}

// oneOrAll sets a key to one value, or to the list of several.
func oneOrAll(m map[string]any, key string, values []any) {
	switch len(values) {
	case 0:
	case 1:
		m[key] = values[0]
	default:
		m[key] = values
	}
}

// ldOf writes JSON for a script element: < is escaped by the encoder.
func ldOf(v any) template.JS {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return template.JS(b) //nolint:gosec // JSON, in which < > & are escaped
}

// recordBody is the page of a venue, organizer, category or tag.
type recordBody struct {
	NameField   string // of the interface
	Version     int64
	Badges      []badge
	Place       *place
	ShowMap     bool
	Facts       []fact
	Image       string
	ImageLink   string // of a picture that is not shown
	Description template.HTML
	Language    string // of the description, where it is not that of the page
	Children    []link
	List        *listBody
	History     string
	Changed     string
}

// record makes the page of a venue, organizer, category or tag.
func (p *Pages) record(ctx context.Context, l *layout, v *query.View) (*recordBody, error) {
	r, lang := v.Record, l.Lang
	f := r.Fields
	name, in := r.Name(lang)
	path := recordPath(r.Kind, r.Slug())
	l.Title, l.Named, l.Heading, l.HeadingLang = name, name, name, otherLang(in, lang)
	l.Canonical, l.Langs, l.Home = path+l.canonicalQuery(), r.Langs(), homeOf(r, lang)
	l.NoIndex = l.r.parametered()
	b := &recordBody{NameField: nameFields[r.Kind], Version: r.Version}
	var err error
	if l.Crumbs, err = p.wayTo(ctx, l, r); err != nil {
		return nil, err
	}
	if err := p.describe(l, r, &b.Description, &b.Language); err != nil {
		return nil, err
	}
	l.Summary = p.summary(r, lang)
	if image := f.String("image_url"); image != "" {
		l.OpenGraph = append(l.OpenGraph, property{"og:image", image})
		if p.showsImage(l.r, image) {
			b.Image = image
		} else {
			b.ImageLink = image
		}
	}
	add := func(field, text, href string) {
		switch {
		case text == "":
		case href == "":
			b.Facts = append(b.Facts, fact{Field: field, Label: word("fact."+field, lang), Text: text})
		default:
			b.Facts = append(b.Facts, fact{Field: field, Label: word("fact."+field, lang), Links: []link{{Href: href, Label: text, External: field == "website"}}})
		}
	}
	add("phone", f.String("phone"), "")
	switch r.Kind {
	case calendar.KindVenue:
		at := p.placeOf(l, r, v.Status)
		b.Place, b.ShowMap = &at, at.HasPoint && f.Bool("show_map")
		if !f.Bool("show_map_link") {
			at.Maps = nil
		}
		l.LD = ldOf(with(p.placeLD(l, r, v.Status), "@context", "https://schema.org"))
	case calendar.KindOrganizer:
		add("email", f.String("email"), "mailto:"+f.String("email"))
		l.LD = ldOf(map[string]any{"@context": "https://schema.org", "@type": "Organization", "name": name, "url": l.CanonicalURL()})
	case calendar.KindCategory:
		if b.Children, err = p.childrenOf(ctx, l, r); err != nil && !isAway(err) {
			return nil, err
		}
	default:
	}
	if site := f.String("website"); site != "" {
		add("website", hostOf(site), site)
	}
	l.Feeds = l.feeds()
	if b.List, err = p.list(ctx, l, path); isAway(err) {
		b.List = nil
	} else if err != nil {
		return nil, err
	}
	b.Changed, b.History = p.versionLine(l, v), p.historyHref(l, r)
	return b, nil
}

// nameFields are the fields that hold the names of records.
var nameFields = [...]string{
	calendar.KindEvent: "title", calendar.KindVenue: "venue", calendar.KindOrganizer: "organizer", calendar.KindCategory: "name", calendar.KindTag: "name",
}

// mostAncestors bounds the way to a category.
const mostAncestors = 50

// wayTo are the links above a record: its directory and, of a category, its ancestors.
func (p *Pages) wayTo(ctx context.Context, l *layout, r *calendar.Record) ([]link, error) {
	name, in := r.Name(l.Lang)
	out := []link{{Href: l.Href(recordPath(r.Kind, r.Slug())), Label: name, Lang: otherLang(in, l.Lang), Current: true}}
	for up := r.Fields.ID("parent"); r.Kind == calendar.KindCategory && up != 0 && len(out) < mostAncestors; {
		v, err := p.Lists.Read(ctx, r.Kind, up, "", l.r.Caller, l.Lang, query.EmbedNone, nil)
		if _, refused := errors.AsType[*calendar.Error](err); refused {
			break
		} else if err != nil {
			return nil, err
		}
		name, in := v.Record.Name(l.Lang)
		out = append(out, link{Href: l.Href(recordPath(r.Kind, v.Record.Slug())), Label: name, Lang: otherLang(in, l.Lang)})
		up = v.Record.Fields.ID("parent")
	}
	out = append(out,
		link{Href: l.Href("/" + r.Kind.Collection() + "/"), Label: word("directory."+r.Kind.Collection(), l.Lang)},
		link{Href: l.Href("/"), Label: word("nav.home", l.Lang)})
	slices.Reverse(out)
	return out, nil
}

// childrenOf are the categories below one, by name.
func (p *Pages) childrenOf(ctx context.Context, l *layout, r *calendar.Record) ([]link, error) {
	var out []link
	in := calendar.Input{"parent": r.ID.String(), "hide_empty": "false"}
	_, err := p.eachOf(ctx, query.Request{Kind: r.Kind, Input: in, Lang: l.Lang, Caller: l.r.Caller}, func(v *query.View) {
		name, in := v.Record.Name(l.Lang)
		out = append(out, link{Href: l.Href(recordPath(r.Kind, v.Record.Slug())), Label: name, Lang: otherLang(in, l.Lang), Count: l.count("events", v.Count)})
	})
	if err != nil {
		return nil, err
	}
	order := collator(l.Lang)
	slices.SortStableFunc(out, func(a, b link) int { return order.CompareString(a.Label, b.Label) })
	return out, nil
}

func with(m map[string]any, key string, v any) map[string]any {
	m[key] = v
	return m
}
