package pages

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query"
)

// pageBuilder is a page that is being made: what was asked for, and what the answer says. The first
// error is kept in it; what is asked for after it is empty. It lives as long as its request,
// so that it holds the context.
type pageBuilder struct {
	*Pages
	*Request
	locale

	ctx    context.Context
	err    error
	bad    calendar.Problems // what was sent badly
	answer *Answer           // in place of a page
	code   int               // status of the page, 0: 200
	sel    *selection
	// Embedded tells that the page is one for frames of other sites.
	Embedded bool

	Page     name
	Code     string          // of errors
	Failed   bool            // what was sent is not right: the title says so
	Status   calendar.Status // of the record, for previews
	Position calendar.Position
	Title    string // without the name of the site
	Summary  string // description for machines
	Heading  string
	zone     *calendar.Zone // that times were asked for in, nil: each event's own
	// Canonical is the path of the page that this one is, below the language, with its
	// query; "" for none.
	Canonical string
	Langs     []calendar.Lang // that the page is in, the home language first; nil: all
	NoIndex   bool
	Record    *named           // whose page it is, nil for none
	Crumbs    []named          // the records above it
	Drawer    *exportAddresses // of the selection
	Image     string           // for other sites, "" for the logo
	Large     bool             // it is that of the event
	Bare      bool             // Open Graph holds title and site name only
	moved     *calendar.Record // an event before its start was moved
	own       params           // what a page without a selection was asked for, but its zone
	Zones     []string         // of the zone switch
	Chosen    string           // one of them
	Body      any
}

// Lang is the language of the page.
func (l *pageBuilder) Lang() calendar.Lang { return l.lang }

// Site is the name of the calendar.
func (l *pageBuilder) Site() string { return l.options.Brand.Name }

// FullTitle is the title of the document.
func (l *pageBuilder) FullTitle() string {
	if l.Title == "" || l.Title == l.Site() {
		return l.Site()
	}
	title := l.Title
	if l.Record != nil {
		title = strings.Replace(title, l.Record.Label, texts.Isolated(l.Record.Label), 1)
	}
	return title + " – " + l.Site()
}

// Options are the settings.
func (l *pageBuilder) Options() *Options { return &l.options }

// Asset returns the path of a file.
func (l *pageBuilder) Asset(name string) string { return l.Path + l.assets.named[name].Path }

// everyVenue is the zoom at which each venue is a cluster of its own: the map makes one of those
// that would overlap.
const everyVenue = "22"

// Clusters is the address of those of the selection, for its map.
func (l *pageBuilder) Clusters() string {
	selecting := params(l.sel.criteria.Exact()).without(append(slices.Clone(shapes), "collapse")...)
	return l.Interface() + "/events/clusters" + selecting.with("zoom", everyVenue).String()
}

// Absolute makes the whole URL of a path below a language.
func (l *pageBuilder) absolute(lang calendar.Lang, page string) string {
	return l.Base + segments[lang] + page
}

// Root is the URL of the interface.
func (l *pageBuilder) Root() string { return l.absolute(l.lang, l.options.Namespace) }

// URL makes the whole URL of a path that links have.
func (l *pageBuilder) URL(href string) string { return l.Base + strings.TrimPrefix(href, l.Path) }

// CanonicalURL is that of the page, "" for none.
func (l *pageBuilder) CanonicalURL() string {
	if l.Canonical == "" {
		return ""
	}
	return l.inOr(l.lang)
}

// asked is what the page was asked for.
func (l *pageBuilder) asked() params {
	if l.sel != nil && l.sel.criteria != nil {
		return l.sel.asked
	}
	if l.zone != nil {
		return l.own.with(paramZone, l.zone.Name)
	}
	return l.own
}

// Search is the text that was searched.
func (l *pageBuilder) Search() string { return l.asked().value("search") }

// Kept is what forms of the page send along, but one parameter.
func (l *pageBuilder) Kept(but string) params {
	return append(l.Route.named(), l.asked().without(but)...)
}

// alternate is the page in a language.
type alternate struct {
	calendar.Lang

	URL, Href    string // URL: of the canonical page
	Has, Current bool   // Has: the page has texts in the language
}

// hreflangs are the languages in the order in which they are told.
var hreflangs = []calendar.Lang{calendar.LangEN, calendar.LangCN, calendar.LangES, calendar.LangFR}

// Languages are the page in all languages.
func (l *pageBuilder) Languages() (out []alternate) {
	query := l.asked()
	if l.sel != nil && l.sel.page > 1 {
		query = query.with(paramPage, strconv.Itoa(l.sel.page))
	}
	page := onto(l.Route.below(), query.String())
	for _, lang := range hreflangs {
		has := l.Langs == nil || slices.Contains(l.Langs, lang)
		out = append(out, alternate{lang, l.absolute(lang, l.Canonical), l.Path + segments[lang] + page, has, lang == l.lang})
	}
	return out
}

// Standard is the page for people of other languages.
func (l *pageBuilder) Standard() string { return l.inOr(calendar.LangEN) }

// inOr is the page in a language, else in the home language.
func (l *pageBuilder) inOr(lang calendar.Lang) string {
	if l.Langs != nil && !slices.Contains(l.Langs, lang) {
		lang = l.Langs[0]
	}
	return l.absolute(lang, l.Canonical)
}

// OpenImage is the picture for other sites, "" for none: they take no SVG.
func (l *pageBuilder) OpenImage() string {
	if logo := l.Logo(); l.Image == "" && (strings.HasSuffix(logo, ".png") || strings.HasSuffix(logo, ".webp")) {
		return l.URL(logo)
	}
	return l.Image
}

// View is the path of a page of the navigation, with the filters of this one.
func (l *pageBuilder) View(page string) string {
	if l.sel == nil || l.sel.of.ID != 0 || l.Page == pageHome {
		return l.Href(page)
	}
	out := slices.Concat(shapes, query.DateParams, []string{paramPast, paramStrict, paramOverlap, "include", "collapse"})
	return l.Href(page) + l.sel.asked.without(out...).String()
}

// Footer are the links of the branding.
func (l *pageBuilder) Footer() []FooterLink {
	return slices.DeleteFunc(slices.Clone(l.options.Brand.Footer), func(footerLink FooterLink) bool { return footerLink.Lang != nil && *footerLink.Lang != l.lang })
}

// ask answers a list of what everybody links to; its cards hold venues and categories.
func (l *pageBuilder) ask(input calendar.Input) *query.List {
	return l.run(l.forCards(query.Request{Kind: calendar.KindEvent, Input: input, Lang: l.lang, Caller: l.Caller}))
}

// forCards reads the criteria of what becomes cards, with what these show; nil after an error.
func (l *pageBuilder) forCards(request query.Request) *query.Criteria {
	if l.err != nil {
		return nil
	}
	criteria, err := l.Lists.Parse(l.ctx, request)
	if l.err = err; err != nil {
		return nil
	}
	criteria.Embeds = query.EmbedVenues | query.EmbedCategories
	return criteria
}

// run answers a list; after an error it is empty.
func (l *pageBuilder) run(criteria *query.Criteria) *query.List {
	if l.err != nil {
		return &query.List{}
	}
	found, err := l.Lists.Run(l.ctx, criteria)
	if err != nil {
		l.err = err
		return &query.List{}
	}
	l.Position = max(l.Position, found.Position)
	return found
}

// cards makes the cards of a list.
func (l *pageBuilder) cards(found *query.List) []card {
	out := make([]card, len(found.Views))
	for i := range found.Views {
		out[i] = l.card(&found.Views[i])
	}
	return out
}

// all hands over the records of a list.
func (l *pageBuilder) all(kind calendar.Kind, input calendar.Input, do func(*query.View)) {
	l.each(l.forCards(query.Request{Kind: kind, Input: input, Lang: l.lang, Caller: l.Caller}), math.MaxInt, do)
}

// each hands over a list over all its pages; one of more than so many is too large.
func (l *pageBuilder) each(criteria *query.Criteria, most int, do func(*query.View)) {
	if l.err != nil {
		return
	}
	whole, err := l.Lists.Whole(l.ctx, criteria)
	if l.err = err; err != nil {
		return
	}
	defer whole.Close()
	if l.Position = max(l.Position, whole.Position()); whole.Total() > most {
		l.err = calendar.Fail(calendar.CodeSelectionTooLarge, calendar.KindEvent)
		return
	}
	l.err = whole.Each(l.ctx, func(view *query.View) error {
		do(view)
		return nil
	})
}

// read finds a record that the caller may read, also one that a password protects.
func (l *pageBuilder) read(kind calendar.Kind, id calendar.ID, slug string) (query.View, error) {
	open := func(context.Context, calendar.ID) (bool, error) { return true, nil }
	return l.Lists.Read(l.ctx, kind, id, slug, l.Caller, l.lang, query.EmbedNone, open)
}

// unlessAway forgets that the read model is out of reach: pages of records are made without
// their lists then.
func (l *pageBuilder) unlessAway() (away bool) {
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
func keep[T any](look *pageBuilder, made *made[T], produce func(*pageBuilder) T) T {
	state, err := look.Lists.Generation(look.ctx)
	if err != nil {
		look.err = err
	}
	key := state.Key(nil).Number(look.today(nil).Unix()).String()
	made.Lock()
	defer made.Unlock()
	if look.err == nil && made.key != key {
		everybody := look.look(look.ctx, &Request{Route: look.Route})
		if value := produce(everybody); everybody.err == nil {
			made.key, made.value = key, value
		}
		look.err = everybody.err
	}
	return made.value
}
