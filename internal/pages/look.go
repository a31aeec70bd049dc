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

	ctx       context.Context
	err       error
	bad       calendar.Problems // what was sent badly
	answer    *Answer           // in place of a page
	code      int               // status of the page, 0: 200
	selection *selection
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
func (builder *pageBuilder) Lang() calendar.Lang { return builder.language }

// Site is the name of the calendar.
func (builder *pageBuilder) Site() string { return builder.options.Brand.Name }

// FullTitle is the title of the document.
func (builder *pageBuilder) FullTitle() string {
	if builder.Title == "" || builder.Title == builder.Site() {
		return builder.Site()
	}
	title := builder.Title
	if builder.Record != nil {
		title = strings.Replace(title, builder.Record.Label, texts.Isolated(builder.Record.Label), 1)
	}
	return title + " – " + builder.Site()
}

// Options are the settings.
func (builder *pageBuilder) Options() *Options { return &builder.options }

// Asset returns the path of a file.
func (builder *pageBuilder) Asset(name string) string {
	return builder.Path + builder.assets.named[name].Path
}

// everyVenue is the zoom at which each venue is a cluster of its own: the map makes one of those
// that would overlap.
const everyVenue = "22"

// Clusters is the address of those of the selection, for its map.
func (builder *pageBuilder) Clusters() string {
	selecting := params(builder.selection.criteria.Exact()).without(append(slices.Clone(shapes), "collapse")...)
	return builder.Interface() + "/events/clusters" + selecting.with("zoom", everyVenue).String()
}

// Absolute makes the whole URL of a path below a language.
func (builder *pageBuilder) absolute(language calendar.Lang, page string) string {
	return builder.Base + segments[language] + page
}

// Root is the URL of the interface.
func (builder *pageBuilder) Root() string {
	return builder.absolute(builder.language, builder.options.Namespace)
}

// URL makes the whole URL of a path that links have.
func (builder *pageBuilder) URL(href string) string {
	return builder.Base + strings.TrimPrefix(href, builder.Path)
}

// CanonicalURL is that of the page, "" for none.
func (builder *pageBuilder) CanonicalURL() string {
	if builder.Canonical == "" {
		return ""
	}
	return builder.inOr(builder.language)
}

// asked is what the page was asked for.
func (builder *pageBuilder) asked() params {
	if builder.selection != nil && builder.selection.criteria != nil {
		return builder.selection.asked
	}
	if builder.zone != nil {
		return builder.own.with(paramZone, builder.zone.Name)
	}
	return builder.own
}

// Search is the text that was searched.
func (builder *pageBuilder) Search() string { return builder.asked().value("search") }

// Kept is what forms of the page send along, but one parameter.
func (builder *pageBuilder) Kept(but string) params {
	return append(builder.Route.named(), builder.asked().without(but)...)
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
func (builder *pageBuilder) Languages() (alternates []alternate) {
	query := builder.asked()
	if builder.selection != nil && builder.selection.page > 1 {
		query = query.with(paramPage, strconv.Itoa(builder.selection.page))
	}
	page := onto(builder.Route.below(), query.String())
	for _, language := range hreflangs {
		has := builder.Langs == nil || slices.Contains(builder.Langs, language)
		alternates = append(alternates, alternate{language, builder.absolute(language, builder.Canonical), builder.Path + segments[language] + page, has, language == builder.language})
	}
	return alternates
}

// Standard is the page for people of other languages.
func (builder *pageBuilder) Standard() string { return builder.inOr(calendar.LangEN) }

// inOr is the page in a language, else in the home language.
func (builder *pageBuilder) inOr(language calendar.Lang) string {
	if builder.Langs != nil && !slices.Contains(builder.Langs, language) {
		language = builder.Langs[0]
	}
	return builder.absolute(language, builder.Canonical)
}

// OpenImage is the picture for other sites, "" for none: they take no SVG.
func (builder *pageBuilder) OpenImage() string {
	if logo := builder.Logo(); builder.Image == "" && (strings.HasSuffix(logo, ".png") || strings.HasSuffix(logo, ".webp")) {
		return builder.URL(logo)
	}
	return builder.Image
}

// View is the path of a page of the navigation, with the filters of this one.
func (builder *pageBuilder) View(page string) string {
	if builder.selection == nil || builder.selection.kind.ID != 0 || builder.Page == pageHome {
		return builder.Href(page)
	}
	names := slices.Concat(shapes, query.DateParams, []string{paramPast, paramStrict, paramOverlap, "include", "collapse"})
	return builder.Href(page) + builder.selection.asked.without(names...).String()
}

// Footer are the links of the branding.
func (builder *pageBuilder) Footer() []FooterLink {
	return slices.DeleteFunc(slices.Clone(builder.options.Brand.Footer), func(footerLink FooterLink) bool {
		return footerLink.Lang != nil && *footerLink.Lang != builder.language
	})
}

// ask answers a list of what everybody links to; its cards hold venues and categories.
func (builder *pageBuilder) ask(input calendar.Input) *query.List {
	return builder.run(builder.forCards(query.Request{Kind: calendar.KindEvent, Input: input, Lang: builder.language, Caller: builder.Caller}))
}

// forCards reads the criteria of what becomes cards, with what these show; nil after an error.
func (builder *pageBuilder) forCards(request query.Request) *query.Criteria {
	if builder.err != nil {
		return nil
	}
	criteria, err := builder.Lists.Parse(builder.ctx, request)
	if builder.err = err; err != nil {
		return nil
	}
	criteria.Embeds = query.EmbedVenues | query.EmbedCategories
	return criteria
}

// run answers a list; after an error it is empty.
func (builder *pageBuilder) run(criteria *query.Criteria) *query.List {
	if builder.err != nil {
		return &query.List{}
	}
	found, err := builder.Lists.Run(builder.ctx, criteria)
	if err != nil {
		builder.err = err
		return &query.List{}
	}
	builder.Position = max(builder.Position, found.Position)
	return found
}

// cards makes the cards of a list.
func (builder *pageBuilder) cards(found *query.List) []card {
	cards := make([]card, len(found.Views))
	for i := range found.Views {
		cards[i] = builder.card(&found.Views[i])
	}
	return cards
}

// all hands over the records of a list.
func (builder *pageBuilder) all(kind calendar.Kind, input calendar.Input, do func(*query.View)) {
	builder.each(builder.forCards(query.Request{Kind: kind, Input: input, Lang: builder.language, Caller: builder.Caller}), math.MaxInt, do)
}

// each hands over a list over all its pages; one of more than so many is too large.
func (builder *pageBuilder) each(criteria *query.Criteria, most int, do func(*query.View)) {
	if builder.err != nil {
		return
	}
	whole, err := builder.Lists.Whole(builder.ctx, criteria)
	if builder.err = err; err != nil {
		return
	}
	defer whole.Close()
	if builder.Position = max(builder.Position, whole.Position); whole.Total > most {
		builder.err = calendar.Fail(calendar.CodeSelectionTooLarge, calendar.KindEvent)
		return
	}
	builder.err = whole.Each(builder.ctx, func(view *query.View) error {
		do(view)
		return nil
	})
}

// read finds a record that the caller may read, also one that a password protects.
func (builder *pageBuilder) read(kind calendar.Kind, id calendar.ID, slug string) (query.View, error) {
	open := func(context.Context, calendar.ID) (bool, error) { return true, nil }
	return builder.Lists.Read(builder.ctx, kind, id, slug, builder.Caller, builder.language, query.EmbedNone, open)
}

// unlessAway forgets that the read model is out of reach: pages of records are made without
// their lists then.
func (builder *pageBuilder) unlessAway() (away bool) {
	if away = errors.Is(builder.err, query.ErrUnavailable); away {
		builder.err = nil
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
