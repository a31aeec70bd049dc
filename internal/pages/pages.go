package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/history"
	"daybook/internal/proof"
	"daybook/query"
	"daybook/query/past"
)

// Lists answers lists of events and makes views of records; query.Service is one.
type Lists interface {
	// Parse checks the parameters of a list.
	Parse(ctx context.Context, request query.Request) (*query.Criteria, error)
	// Run answers a list.
	Run(ctx context.Context, criteria *query.Criteria) (*query.List, error)
	// Whole begins to answer a list over all pages.
	Whole(ctx context.Context, criteria *query.Criteria) (*query.Selection, error)
	// Months counts the listed events of everybody by month.
	Months(ctx context.Context) (*query.Months, error)
	// StartingIn is the list of the events that a month of Months.Started counts.
	StartingIn(first time.Time) *query.Criteria
	// LinkedFrom is what the events of a list link to, with the categories above.
	LinkedFrom(ctx context.Context, criteria *query.Criteria) (map[calendar.ID]bool, error)
	// Generation names the state that lists show now.
	Generation(ctx context.Context) (query.Generation, error)
	// Read finds one record by its slug, checks that the caller may read it, and makes
	// its view.
	Read(ctx context.Context, kind calendar.Kind, id calendar.ID, slug string, caller calendar.Caller, language calendar.Lang, embeds query.Embeds,
		verify func(ctx context.Context, id calendar.ID) (bool, error)) (query.View, error)
}

// Deps are the parts that the pages stand on; all are required.
type Deps struct {
	Lists   Lists
	History *history.Reader
	Past    *past.Service
	Records *command.Records
	Proofs  *proof.Log
}

// Options are the settings of PAGES.md P12; the zero value works.
type Options struct {
	Site      *time.Location   `kong:"-"` // site zone; nil UTC
	SiteZone  string           `kong:"-"` // its name; "": UTC
	Namespace string           `kong:"-"` // path of the interface below the language, "/api/calendar/events/v1"
	Prefixes  []string         `kong:"-"` // of the interface, for robots.txt
	Now       func() time.Time `kong:"-"`

	// Currency is that of costs. OpenHistory opens the past to everybody.
	Currency    calendar.Currency `kong:"-"`
	OpenHistory bool              `kong:"-"`
	// Desk serves the desk, too.
	Desk bool `default:"true" help:"serve the desk, where people write the calendar, at /desk/; it needs --pages"`
	// Images are the hosts whose pictures are shown, *.host for those below one, https: for
	// all.
	Images []string `name:"pages-images" default:"none" placeholder:"HOSTS" type:"pictures" help:"hosts whose pictures pages load, separated by commas; none, or any"`
	// Tiles is the URL of map tiles with {z}, {x} and {y}, "" for none. {s} stands for each
	// of TileHosts. TilesBy says who made them.
	Tiles     string   `name:"pages-tiles" placeholder:"URL" type:"tiles" help:"map tiles below the markers, for example https://tiles.example/{z}/{x}/{y}.png; {s} stands for each of --pages-tiles-hosts; empty: only outlines"`
	TileHosts []string `name:"pages-tiles-hosts" placeholder:"LIST" pattern:"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$" must:"be a word of a host name, as a" help:"words that {s} stands for, for example a,b,c"`
	TilesBy   string   `name:"pages-tiles-attribution" placeholder:"TEXT" help:"attribution of the tiles, shown on every map"`
	// Embed are the sources of frame-ancestors of embedded pages; nil: everybody.
	Embed []string `name:"pages-embed" default:"*" placeholder:"HOSTS" type:"frames" help:"hosts that may show embedded pages in frames, separated by commas; *: all, none: nobody"`
	// MaxAge is how long shared caches may keep a page, in whole seconds; 0: 10 s,
	// negative: they ask each time.
	MaxAge time.Duration `name:"pages-cache" none:"" default:"10s" min:"0s" max:"24h" type:"seconds" placeholder:"DURATION" help:"how long shared caches may store a page, whole seconds up to 24h; 0s: they revalidate each time"`

	// API is the interface, for its page.
	API API `kong:"-"`

	Brand Brand `embed:"" prefix:"brand-"`

	// ExternalLinks are those to calendars and maps of other services.
	ExternalLinks bool   `name:"pages-external-links" default:"true" help:"link to calendars and maps of other services on pages"`
	Robots        string `name:"pages-robots" default:"index" choices:"index or none" placeholder:"WHICH" help:"index or none: whether search engines may index pages"`
	WeekStart     string `name:"pages-week-start" default:"monday" choices:"monday or sunday" placeholder:"DAY" help:"monday or sunday: first day of weeks on pages"`
	Clock         string `name:"pages-clock" placeholder:"HOURS" pattern:"^(12|24)$" must:"be 12, 24 or empty" help:"12 or 24, for all languages; empty: the clock of the language of the page"`
}

// Pages makes pages. It is safe for concurrent use.
type Pages struct {
	Deps
	options   Options
	templates [len(calendar.Langs)]*template.Template
	assets    *assets
	policies  policies
	script    []byte // of <daybook-calendar>
	quickest  [len(calendar.Langs)]made[[]query.FacetValue]
	siteMap   made[[]siteFile]
}

// New makes Pages; it starts nothing.
func New(deps Deps, options Options) (*Pages, error) {
	if deps.Lists == nil || deps.History == nil || deps.Past == nil || deps.Records == nil || deps.Proofs == nil {
		return nil, errors.New("pages: all parts are required")
	}
	options.Site = cmp.Or(options.Site, time.UTC)
	options.SiteZone = cmp.Or(options.SiteZone, "UTC")
	options.MaxAge = cmp.Or(options.MaxAge, 10*time.Second)
	options.Brand.Name = cmp.Or(options.Brand.Name, "Calendar")
	if options.Now == nil {
		options.Now = time.Now
	}
	pages := &Pages{Deps: deps, options: options, policies: newPolicies(&options)}
	var err error
	if pages.assets, err = newAssets(options.Brand, options.Desk); err != nil {
		return nil, err
	}
	if pages.script, err = pages.element(); err != nil {
		return nil, fmt.Errorf("script of the element: %w", err)
	}
	for _, language := range calendar.Langs {
		if pages.templates[language], err = parseTemplates(language); err != nil {
			return nil, fmt.Errorf("templates in %s: %w", language, err)
		}
	}
	return pages, nil
}

// speech is how a language speaks, by the settings.
func (pages *Pages) speech(language calendar.Lang) locale {
	return locale{language: language, Twelve: pages.options.Clock == "12" || pages.options.Clock == "" && language == calendar.LangEN}
}

// Request is one for a page.
type Request struct {
	Route  Route
	Base   string         // scheme, host and path of the base URL, without a slash at the end
	Path   string         // of the base URL, "" for none: what links between pages begin with
	Query  url.Values     // as sent
	Input  calendar.Input // the same as the interface reads it
	Caller calendar.Caller
	// Preview tells that the page is made for the caller, not for everybody; Tidy reads it.
	// User is his name.
	Preview bool
	User    string
	// Position is one that lists show at least, for pages that show none.
	Position calendar.Position
	// Unlock tells that the form of a protected event was sent, Opens whether its password
	// opens the event.
	Unlock bool
	Opens  func(ctx context.Context, event calendar.ID) (bool, error)

	strange      bool      // parameters were sent that the page does not know; Tidy took them out
	since, until time.Time // see moment
}

// Answer is what a page is answered with.
type Answer struct {
	Status int
	Type   string // media type
	Body   []byte
	// Location is where 301 and 303 lead, see Target; less a parameter that is not taken along.
	Location, less string
	// Position is that of what the page shows, 0 where it shows nothing of the calendar.
	Position calendar.Position
	// Since and Until are the moments between which the page looks as it does without a
	// change of the calendar: the last one before and the next one; zero for none.
	Since, Until time.Time
	Lang         calendar.Lang
	Error        *calendar.Error
}

// MaxAge is for how many seconds shared caches may keep a page.
func (pages *Pages) MaxAge() int { return int(max(0, pages.options.MaxAge) / time.Second) }

// NoRobots tells that search engines are kept out of everything.
func (pages *Pages) NoRobots() bool { return pages.options.Robots == "none" }

// Files are all that pages load, by their names.
func (pages *Pages) Files() map[string]*File { return pages.assets.named }

// FilePath returns the present path of the file of a route, and whether that is the one of
// the route; "" for no file.
func (pages *Pages) FilePath(route Route) (path string, present bool) {
	file, present := pages.assets.find(route.proper)
	if file == nil {
		return "", false
	}
	return file.Path, present
}
