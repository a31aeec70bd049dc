package pages

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Lists answers lists of events and makes views of records; query.Service is one.
type Lists interface {
	// Parse checks the parameters of a list.
	Parse(ctx context.Context, r query.Request) (*query.Criteria, error)
	// Run answers a list.
	Run(ctx context.Context, c *query.Criteria) (*query.List, error)
	// Count gives how many events a list has over all pages.
	Count(ctx context.Context, c *query.Criteria) (int, error)
	// Whole begins to answer a list of events over all pages.
	Whole(ctx context.Context, c *query.Criteria, also query.Calendar) (*query.Whole, error)
	// Generation names the state that lists show now.
	Generation(ctx context.Context) (query.Generation, error)
	// Read finds one record by its slug, checks that the caller may read it, and makes
	// its view.
	Read(ctx context.Context, k calendar.Kind, id calendar.ID, slug string, c calendar.Caller, l calendar.Lang, e query.Embeds,
		verify func(ctx context.Context, id calendar.ID) (bool, error)) (query.View, error)
}

// Passwords checks those of protected events; command.Service does.
type Passwords interface {
	// CheckPassword tells whether password opens the protected event.
	CheckPassword(ctx context.Context, id calendar.ID, password string) (bool, error)
}

// Shown gives texts as the interface shows them.
type Shown interface {
	// HTML is a description or excerpt in a language, and the language that it is in.
	HTML(r *calendar.Record, field string, l calendar.Lang) (string, calendar.Lang)
	// Plain is the text of shown HTML (LISTINGS, plain text).
	Plain(shown string) string
	// Cost is what an event costs, not escaped, and its values.
	Cost(r *calendar.Record) (text string, values []string)
}

// Deps are the parts that the pages stand on; all are required.
type Deps struct {
	Lists     Lists
	Past      Past
	Passwords Passwords
	Shown     Shown
}

// Options are the settings of PAGES.md P12; the zero value works.
type Options struct {
	Site      *time.Location // site zone; nil UTC
	SiteZone  string         // its name; "": UTC
	Currency  string         // of offers, ISO 4217
	Namespace string         // path of the interface below the language, "/api/calendar/events/v1"
	Prefixes  []string       // of the interface, for robots.txt
	Now       func() time.Time

	// Sunday begins weeks on Sunday.
	Sunday bool
	// Clock is 12 or 24 hours for all languages; 0: that of the language.
	Clock int
	// ExternalLinks leads to calendars of other services.
	NoExternalLinks bool
	// NoRobots keeps search engines out of all pages.
	NoRobots bool
	// Images are the hosts whose pictures are shown; AnyImage shows all.
	Images   []string
	AnyImage bool
	// Embed is frame-ancestors of embedded pages; "": "*".
	Embed string

	Brand Brand
}

// Brand is what a calendar looks like (PAGES.md P5.3).
type Brand struct {
	Name   string // "": Calendar
	Accent string // #rrggbb, "": that of P5.1
	Footer []FooterLink
}

// FooterLink is one in the footer, for one language or, without Lang, for all.
type FooterLink struct {
	Lang       *calendar.Lang
	Label, URL string
}

// Pages makes pages. It is safe for concurrent use.
type Pages struct {
	Deps
	o         Options
	templates [len(calendar.Langs)]*template.Template
	assets    *assets
	mark      string // of assets and branding, for keys
	tries     *tries
	checks    chan struct{} // held while a password is checked
}

// New makes Pages; it starts nothing. A bad branding is an error.
func New(d Deps, o Options) (*Pages, error) {
	if d.Lists == nil || d.Past == nil || d.Passwords == nil || d.Shown == nil {
		return nil, errors.New("pages: all parts are required")
	}
	if o.Site == nil {
		o.Site = time.UTC
	}
	if o.SiteZone == "" {
		o.SiteZone = "UTC"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Brand.Name == "" {
		o.Brand.Name = "Calendar"
	}
	p := &Pages{Deps: d, o: o, tries: &tries{now: o.Now, wrong: map[tried][]time.Time{}}, checks: make(chan struct{}, checksAtOnce)}
	var err error
	if p.assets, err = newAssets(o.Brand); err != nil {
		return nil, err
	}
	p.mark = p.assets.mark
	for _, l := range calendar.Langs {
		if p.templates[l], err = p.parseTemplates(l); err != nil {
			return nil, fmt.Errorf("templates in %s: %w", l, err)
		}
	}
	return p, nil
}

// speech is how a language speaks, by the settings.
func (p *Pages) speech(l calendar.Lang) speech {
	return speech{lang: l, twelve: p.o.Clock == 12 || p.o.Clock == 0 && l == calendar.LangEN}
}

// Request is one for a page.
type Request struct {
	Route  Route
	Base   string         // scheme, host and path of the base URL, without a slash at the end
	Path   string         // of the base URL, "" for none: what links between pages begin with
	Query  url.Values     // as sent
	Input  calendar.Input // the same as the interface reads it
	Caller calendar.Caller
	// Preview tells that the page is made for the caller, not for everybody.
	Preview bool
	// Password was sent by the form of a protected event; Unlock that the form was sent.
	Unlock   bool
	Password string
	// Client names who sent the form; Foreign tells that a page of another site did.
	Client  string
	Foreign bool
}

// Answer is what a page is answered with.
type Answer struct {
	Status   int
	Type     string // media type
	Body     []byte
	Location string // of 301 and 303
	// Position is that of what the page shows, 0 where it shows nothing of the calendar.
	Position calendar.Position
	Lang     calendar.Lang
	// RetryAfter is for how many seconds a client is asked to wait, 0 for none.
	RetryAfter int
	// Private answers may be kept by nobody.
	Private bool
	// Allow are the methods of 405.
	Allow string
	Error *calendar.Error
}

// Mark names the assets and the branding, for keys of what is kept.
func (p *Pages) Mark() string { return p.mark }

// File gives a file by its path below the base URL: its media type and content, and
// whether the path is the present one; false where there is none.
func (p *Pages) File(r Route) (media string, body []byte, present, ok bool) {
	f, present := p.assets.find(r.file)
	if f == nil {
		return "", nil, false, false
	}
	return f.media, f.body, present, true
}

// IsAsset tells that the route is one of a file that pages load.
func (r Route) IsAsset() bool { return strings.HasPrefix(r.file, "/assets/") }
