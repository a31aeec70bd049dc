package pages

import (
	"context"
	"errors"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/query"
)

// look is a page that is being made: what was asked for, and what the answer says. The first
// error is kept in it; what is asked for after it is empty. It lives as long as its request,
// so that it holds the context.
type look struct {
	*Pages
	*Request
	speech

	ctx    context.Context
	err    error
	bad    calendar.Problems // what was sent badly
	answer *Answer           // in place of a page
	code   int               // status of the page, 0: 200
	sel    *selection

	Page     name
	Code     string          // of errors
	Failed   bool            // what was sent is not right: the title says so
	Status   calendar.Status // of the record, for previews
	Position calendar.Position
	Title    string // without the name of the site
	Named    string // the name of a record that stands in Title, "" for none
	Summary  string // description for machines
	Heading  string
	// HeadingLang is its language, where that is not the one of the page.
	HeadingLang string
	zone        *calendar.Zone // of the times of an event page, nil: its own
	// Canonical is the path of the page that this one is, below the language, with its
	// query; "" for none.
	Canonical string
	Home      *calendar.Lang  // language whose page is canonical, nil: this one
	Langs     []calendar.Lang // that the page is in; nil: all
	NoIndex   bool
	Record    *named  // whose page it is, nil for none
	Crumbs    []named // the records above it
	Feeds     []feed
	Drawer    *drawer // of the selection
	OpenGraph []property
	Large     bool // the picture is that of the event
	Bare      bool // Open Graph holds title and site name only
	LD        template.JS
	moved     *calendar.Record  // an event before its start was moved
	own       []query.LinkParam // what a page without a selection was asked for, but its zone
	Zones     []option          // of the zone switch
	Body      any
}

// property is one of Open Graph.
type property struct{ Name, Content string }

// Referrer is the policy of the page that follows a wrong password: to that of its header
// a browser would send no origin with the next one.
func (l *look) Referrer() string {
	if l.Unlock && l.Code != "" {
		return "same-origin"
	}
	return ""
}

// Lang is the language of the page, Tag its name.
func (l *look) Lang() calendar.Lang { return l.lang }

func (l *look) Tag() string { return l.lang.Tag() }

// Site is the name of the calendar.
func (l *look) Site() string { return l.o.Brand.Name }

// LongSite reports whether it is long.
func (l *look) LongSite() bool { return utf8.RuneCountInString(l.Site()) > 24 }

// Twelve reports whether times are of twelve hours.
func (l *look) Twelve() bool { return l.twelve }

// Wide reports whether the page takes more than the width of a text.
func (l *look) Wide() bool { return l.Page == pageMonth || l.Page == pageWeek || l.Page == pageMap }

// FullTitle is the title of the document.
func (l *look) FullTitle() string {
	if l.Title == "" || l.Title == l.Site() {
		return l.Site()
	}
	title := strings.Replace(l.Title, l.Named, calendar.Isolated(l.Named), 1) + " – " + l.Site()
	if l.Failed {
		return l.text("error") + l.colon() + title
	}
	return title
}

// Href makes the path of a page in the language of this one.
func (l *look) Href(page string) string { return l.href(page) }

// Asset gives the path of a file.
func (l *look) Asset(name string) string { return l.Path + l.assets.path(name) }

// Suggest is the path of suggestions for the search.
func (l *look) Suggest() string { return l.Path + segments[l.lang] + l.o.Namespace + "/suggest" }

// mapBody is what a map needs to be drawn.
type mapBody struct {
	GeoJSON  string // of the clusters of a selection, "" for one place
	Lat, Lng string // of one place
}

// tiles are those of maps.
type tiles struct{ URL, Hosts, By string }

// Tiles are the map tiles below the markers, nil for none.
func (l *look) Tiles() *tiles {
	if l.o.Tiles == "" {
		return nil
	}
	return &tiles{URL: l.o.Tiles, Hosts: strings.Join(l.o.TileHosts, ","), By: l.o.TilesBy}
}

// everyVenue is the zoom at which each venue is a cluster of its own: the map makes one of those
// that would overlap.
const everyVenue = "22"

// Map are the clusters of the selection.
func (l *look) Map() *mapBody {
	if l.Page != pageMap && l.Page != pageSearch {
		return nil
	}
	params := params(l.sel.criteria.Exact()).without(append(slices.Clone(shapes), "collapse")...).with("zoom", everyVenue)
	return &mapBody{GeoJSON: l.Path + segments[l.lang] + l.o.Namespace + "/events/clusters" + linkQuery(params)}
}

// Absolute makes the whole URL of a path below a language.
func (l *look) absolute(lang calendar.Lang, page string) string {
	return l.Base + segments[lang] + page
}

// CanonicalURL is that of the page, "" for none.
func (l *look) CanonicalURL() string {
	if l.Canonical == "" {
		return ""
	}
	lang := l.lang
	if l.Home != nil {
		lang = *l.Home
	}
	return l.absolute(lang, l.Canonical)
}

// alternate is the page in a language.
type alternate struct{ Lang, URL string }

// hreflangs are the languages in the order in which they are told.
var hreflangs = []calendar.Lang{calendar.LangEN, calendar.LangCN, calendar.LangES, calendar.LangFR}

// Alternates are the page in its languages, each naming all and itself.
func (l *look) Alternates() []alternate {
	if l.Canonical == "" {
		return nil
	}
	in := l.Langs
	if in == nil {
		in = calendar.Langs[:]
	}
	var out []alternate
	for _, lang := range hreflangs {
		if slices.Contains(in, lang) {
			out = append(out, alternate{lang.Tag(), l.absolute(lang, l.Canonical)})
		}
	}
	standard := calendar.LangEN
	if !slices.Contains(in, standard) {
		standard = in[0] // the home language
	}
	return append(out, alternate{"x-default", l.absolute(standard, l.Canonical)})
}

// ogLocales are the languages as Open Graph names them.
var ogLocales = [...]string{calendar.LangCN: "zh_CN", calendar.LangEN: "en_US", calendar.LangFR: "fr_FR", calendar.LangES: "es_ES"}

// Properties are those of Open Graph.
func (l *look) Properties() []property {
	out := []property{{"og:title", l.Title}, {"og:site_name", l.Site()}}
	if l.Bare {
		return out
	}
	out = append(out, property{"og:type", "website"}, property{"og:locale", ogLocales[l.lang]})
	for _, lang := range calendar.Langs {
		if lang != l.lang && (l.Langs == nil || slices.Contains(l.Langs, lang)) {
			out = append(out, property{"og:locale:alternate", ogLocales[lang]})
		}
	}
	if u := l.CanonicalURL(); u != "" {
		out = append(out, property{"og:url", u})
	}
	if l.Summary != "" {
		out = append(out, property{"og:description", l.Summary})
	}
	out = append(out, l.OpenGraph...)
	logo := l.Logo()
	pictured := slices.ContainsFunc(out, func(p property) bool { return p.Name == "og:image" })
	if !pictured && (strings.HasSuffix(logo, ".png") || strings.HasSuffix(logo, ".webp")) {
		out = append(out, property{"og:image", l.Base + strings.TrimPrefix(logo, l.Path)})
	}
	return out
}

// Card is how other sites show the page, "" where it says little.
func (l *look) Card() string {
	switch {
	case l.Bare:
		return ""
	case l.Large:
		return "summary_large_image"
	}
	return "summary"
}

// Languages is the page in each language, for the switch.
func (l *look) Languages() []link {
	page := l.Route.below()
	if l.sel != nil && l.sel.criteria != nil {
		page += strings.TrimPrefix(l.sel.toPage(l.sel.page), l.sel.path)
	} else {
		own := l.own
		if zone := l.shownIn(); zone != nil {
			own = append(slices.Clip(own), query.LinkParam{Name: paramZone, Value: zone.Name})
		}
		page = onto(page, linkQuery(own))
	}
	out := make([]link, 0, len(hreflangs))
	for _, lang := range hreflangs {
		out = append(out, link{Href: l.Path + segments[lang] + page, Label: word("language.name", lang), Lang: lang.Tag(), Current: lang == l.lang})
	}
	return out
}

// Views are the pages of the navigation.
func (l *look) Views() []link {
	out := make([]link, 0, 5)
	kept := ""
	if l.sel != nil && l.sel.criteria != nil && l.sel.of.ID == 0 && l.Page != pageHome {
		kept = l.sel.asked.without(slices.Concat(shapes, dates, []string{paramPast, paramStrict, paramOverlap, "include", "collapse"})...).String()
	}
	for _, v := range []struct {
		page  name
		path  string
		label string
	}{
		{pageList, "/events/", "nav.list"},
		{pageMonth, "/events/month/", "nav.month"},
		{pageWeek, "/events/week/", "nav.week"},
		{pageDay, "/events/day/", "nav.day"},
		{pageMap, "/events/map/", "nav.map"},
	} {
		out = append(out, link{Href: l.Href(v.path) + kept, Label: word(v.label, l.lang), Current: v.page == l.Page})
	}
	return out
}

// Directories are those of the footer.
func (l *look) Directories() []link {
	var out []link
	for _, k := range []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag} {
		out = append(out, link{Href: l.Href("/" + k.Collection() + "/"), Label: l.text("directory." + k.Collection()), Current: l.Page == pageDirectory && l.Route.kind == k})
	}
	return append(out, link{Href: l.Href("/docs/"), Label: l.text("nav.docs"), Current: l.Page == pageDocs})
}

// Footer are the links of the branding.
func (l *look) Footer() []FooterLink {
	return slices.DeleteFunc(slices.Clone(l.o.Brand.Footer), func(f FooterLink) bool { return f.Lang != nil && *f.Lang != l.lang })
}

// Search is the text that was searched.
func (l *look) Search() string {
	if l.sel == nil {
		return ""
	}
	return l.sel.asked.value("search")
}

// KeptInSearch are the parameters that the search page sends with other words.
func (l *look) KeptInSearch() params {
	if l.sel == nil || l.Page != pageSearch {
		return nil
	}
	return l.sel.asked.without("search")
}

// feed is an event in a format.
type feed struct{ Media, Label, URL string }

// linkQuery writes parameters as links of the interface have them.
func linkQuery(params []query.LinkParam) string {
	l := query.LinksTo("", params)
	return l.Page(1)
}

// ask answers a list of what everybody links to; its cards hold venues and categories.
func (l *look) ask(k calendar.Kind, in calendar.Input) *query.List {
	return l.run(l.forCards(query.Request{Kind: k, Input: in, Lang: l.lang, Caller: l.Caller}))
}

// forCards reads the criteria of what becomes cards, with what these show; nil after an error.
func (l *look) forCards(r query.Request) *query.Criteria {
	if l.err != nil {
		return nil
	}
	c, err := l.Lists.Parse(l.ctx, r)
	if l.err = err; err != nil {
		return nil
	}
	c.Embed(query.EmbedVenues | query.EmbedCategories)
	return c
}

// run answers a list; after an error it is empty.
func (l *look) run(c *query.Criteria) *query.List {
	if l.err != nil {
		return &query.List{}
	}
	found, err := l.Lists.Run(l.ctx, c)
	if err != nil {
		l.err = err
		return &query.List{}
	}
	l.Position = max(l.Position, found.Position)
	return found
}

// cards makes the cards of a list.
func (l *look) cards(found *query.List) []card {
	out := make([]card, len(found.Views))
	for i := range found.Views {
		out[i] = l.card(&found.Views[i])
	}
	return out
}

// all hands over the records of a list, page after page.
func (l *look) all(k calendar.Kind, in calendar.Input, do func(*query.View)) {
	in[paramPerPage] = strconv.Itoa(mostPerPage)
	for page, pages := 1, 1; page <= pages; page++ {
		in[paramPage] = strconv.Itoa(page)
		found := l.ask(k, in)
		if refused, ok := errors.AsType[*calendar.Error](l.err); ok && page > 1 && refused.Code == calendar.CodePageNotFound {
			l.err = nil // records left meanwhile
		}
		pages = found.TotalPages
		for i := range found.Views {
			do(&found.Views[i])
		}
	}
}

// unlessAway forgets that the read model is out of reach: pages of records are made without
// their lists then.
func (l *look) unlessAway() (away bool) {
	if away = errors.Is(l.err, query.ErrUnavailable); away {
		l.err = nil
	}
	return away
}

// made is what was made of a state of the calendar on a day.
type made[T any] struct {
	sync.Mutex
	key   string
	value T
}

// keep returns what was made for everybody of the present state on the present day; one
// caller makes it, the others wait.
func keep[T any](l *look, m *made[T], produce func(*look) T) T {
	state, err := l.Lists.Generation(l.ctx)
	if err != nil {
		l.err = err
	}
	key := state.Key(nil).Number(l.today(nil).Unix()).String()
	m.Lock()
	defer m.Unlock()
	if l.err == nil && m.key != key {
		everybody := l.look(l.ctx, &Request{Route: l.Route})
		if value := produce(everybody); everybody.err == nil {
			m.key, m.value = key, value
		}
		l.err = everybody.err
	}
	return m.value
}
