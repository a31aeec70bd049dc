package httpapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"time"

	"github.com/go-chi/httprate"
	"golang.org/x/sync/singleflight"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/ground/cache"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
	"daybook/internal/httpapi/openapi"
	public "daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/internal/render"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
)

// Commands carries out writes; command.Service is one.
type Commands interface {
	// Create makes a record.
	Create(ctx context.Context, request command.Request) (command.Result, error)
	// Update changes a record; a trashed post is restored by it.
	Update(ctx context.Context, request command.Request) (command.Result, error)
	// Delete trashes a post and ends a term.
	Delete(ctx context.Context, request command.Request) (command.Result, error)
	// CheckPassword reports whether password opens the protected event.
	CheckPassword(ctx context.Context, id calendar.ID, password string) (bool, error)
}

// Queries answers lists and makes views, for pages, too; query.Service is one.
type Queries interface {
	public.Lists

	// Await waits until lists show a position, and returns the one that it reached.
	Await(ctx context.Context, caller calendar.Caller, atLeast calendar.Position) (calendar.Position, error)
	// Clusters returns the clusters of a map.
	Clusters(ctx context.Context, criteria *query.Criteria) (*query.Clusters, error)
	// Afford refuses what costs more than a request may.
	Afford(cost int) error
	// Suggest answers what may be meant by what was typed.
	Suggest(ctx context.Context, criteria *query.Criteria) ([]query.Suggested, calendar.Position, error)
	// Several answers several lists of events as of one state.
	Several(ctx context.Context, searches []*query.Criteria, use func(i int, list *query.List) error) error
	// AwaitCounts waits a moment until counts in the view of a written record
	// take the write into account.
	AwaitCounts(ctx context.Context, record *calendar.Record, position calendar.Position)
	// View makes the view of one record at a moment.
	View(ctx context.Context, caller calendar.Caller, record *calendar.Record, language calendar.Lang, embeds query.Embeds, moment query.Moment) (query.View, error)
}

// Users reads credentials; access.Users is one.
type Users interface {
	// Authenticate reads the value of an Authorization header, "" for none.
	Authenticate(ctx context.Context, authorization string) (calendar.Caller, error)
}

// Deps are the parts that the interface stands on; all are required.
type Deps struct {
	Commands Commands
	Queries  Queries
	History  *history.Reader
	Past     *past.Service
	Records  *command.Records
	Users    Users
	Proofs   *proof.Log
}

// Options are the settings of section 1.6 and what the program hands in. The
// zero value works.
type Options struct {
	// BaseURL is the absolute http or https URL that links begin with, without
	// query; "" takes scheme and Host of each request.
	BaseURL string `kong:"-"`
	// TrustForwarded takes X-Forwarded-Proto, -Host and -Prefix into account, and the
	// last address of X-Forwarded-For as that of the client.
	TrustForwarded bool     `default:"false" help:"trust X-Forwarded-Proto, -Host, -Prefix and -For"`
	Prefix         string   `kong:"-"` // api_prefix; "" is "api"
	Prefixes       []string `name:"more-prefixes" placeholder:"LIST" type:"prefix" trim:"/" help:"further prefixes that are served identically"`
	Namespaces     []string `name:"more-namespaces" placeholder:"LIST" type:"path" trim:"/" help:"further namespaces that are served identically"`

	Currency calendar.Currency `embed:""` // zero: "$" as prefix; a code "": USD

	// Options are those of lists; single records, the documentation and other answers keep to them, too.
	query.Options

	// ReadMaxAge is for how many seconds anybody may keep an answer to a read
	// without credentials, and for as many more while it asks for a new one; 0:
	// every use asks first.
	ReadMaxAge int `default:"0" min:"0" max:"86400" placeholder:"SECONDS" help:"how long browsers and proxies may cache answers to reads without credentials, up to 86400; 0: they revalidate each time"`

	// PublicHistory says who reads the past; "": PublicHistoryAll.
	PublicHistory PublicHistory `default:"all" choices:"all, proofs or none" placeholder:"WHO" help:"all, proofs or none: how much of the past everybody may read; editors, administrators and auditors may read all of it"`
	// HistoryMaxAge is for how many seconds anybody may keep versions of records, which may be
	// closed later; negative: every use asks first. 0: 300.
	HistoryMaxAge int `none:"" default:"300" min:"0" max:"31536000" placeholder:"SECONDS" help:"how long browsers and proxies may cache versions of records, which may become inaccessible later, up to 31536000; 0: they revalidate each time"`
	// Streams is how many streams of changes may be open; negative: none. 0: 100.
	Streams int `none:"" default:"100" min:"0" max:"10000" placeholder:"N" help:"open streams of changes, up to 10000"`
	// StreamsOfOne is how many of them one address without credentials may have. 0: 10.
	StreamsOfOne int `name:"streams-per-client" default:"10" min:"1" max:"10000" placeholder:"N" help:"open streams of one address without credentials, 1 to 10000"`
	// StreamBeat is how long a stream sends nothing, StreamLate how long one piece of it
	// may take to be sent. 0: 15 s and 30 s.
	StreamBeat, StreamLate time.Duration `kong:"-"`
	// Draining is closed when the process begins to end: streams end then. nil: never.
	Draining <-chan struct{} `kong:"-"`
	// CalendarName is the name of the calendar in feeds; "": that of the language.
	CalendarName string `placeholder:"TEXT" help:"name of the calendar in feeds; empty: Events, in the language of the request"`
	// FeedRefresh is how often readers of feeds are asked to come again, 5 minutes to 7
	// days; 0: an hour.
	FeedRefresh time.Duration `default:"1h" min:"5m" max:"168h" type:"seconds" placeholder:"DURATION" help:"refresh interval that feeds suggest to their readers, 5m to 168h"`
	// FeedMaxAge is for how many seconds anybody may keep a feed; 0: 300, negative: every
	// use asks first.
	FeedMaxAge int `none:"" default:"300" min:"0" max:"86400" placeholder:"SECONDS" help:"how long browsers and proxies may cache feeds, up to 86400; 0: they revalidate each time"`
	// ExportLimit is how many events an answer without pages has at most; 0: 100,000.
	ExportLimit int `default:"100000" min:"1000" max:"10000000" placeholder:"N" help:"events of one answer without pages, 1000 to 10000000"`
	// WholeAnswers is how many of these are under way for callers without credentials, and
	// how many for callers with them; half of them, and two at least, for one client. 0: 8.
	WholeAnswers int `default:"8" min:"1" max:"1000" placeholder:"N" help:"answers without pages that are sent at the same time to callers without credentials, and as many to those with, half of them to one client, 1 to 1000; more are answered 503"`
	// CalendarLimit is how many events a calendar widget gets at most; 0: 10,000.
	CalendarLimit int `default:"10000" min:"100" max:"100000" placeholder:"N" help:"events in one answer to a calendar widget, 100 to 100000"`
	// TombstoneDays is for how many days iCalendar feeds tell of trashed events; 0: 90,
	// negative: not at all.
	TombstoneDays int `none:"" default:"90" min:"0" max:"3650" placeholder:"N" help:"days for which calendar feeds report trashed events as cancelled, up to 3650; 0: never"`

	AllowedOrigins []string    `placeholder:"LIST" pattern:"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+$" must:"be an origin, as https://calendar.example.org" help:"other origins whose pages may write; writes of pages from all other origins are refused"` // other origins whose pages may write
	TotalHeaders   [][2]string `placeholder:"LIST" type:"headers" help:"further names of the two total headers, as pairs NAME:NAME"`                                                                                                                  // further names of X-Total and X-TotalPages

	// MakeAtOnce is how many lists that are not in the cache are made at once for one
	// anonymous client; more wait for their turn. It is for an index in the process,
	// whose work takes its processors, and less than these. 0: any number.
	MakeAtOnce int `kong:"-"`
	// ReadDeadline and WriteDeadline are how long the work on a read and on a write
	// may take; then it is answered 503. Waiting for a position is not work. 0: 5 s
	// and 10 s.
	ReadDeadline  time.Duration `default:"5s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest work on a read, not counting its wait for a position"`
	WriteDeadline time.Duration `default:"10s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest work on a write"`
	// RateLimit is how many requests a minute one address or user may send; more are
	// answered 429. 0: any number.
	RateLimit int `default:"0" min:"0" max:"1000000" placeholder:"N" help:"requests per minute of one address or user, up to 1000000; 0: any number"`
	// AnswerBytes bounds the cached answers, 0: 12 MiB. Negative: nothing is kept of what was
	// rendered.
	AnswerBytes int `kong:"-"`
	// ServeStale answers lists with the last good answer, marked as stale, while
	// the read model is out of reach.
	ServeStale bool `default:"false" help:"answer lists with the last good answer, marked as stale, while the read model is unavailable"`

	Log   *slog.Logger  `kong:"-"` // nil: slog.Default
	Pages *public.Pages `kong:"-"` // the pages for people; nil: none

	// Observe, when set, is called when a request begins, with its id: the work is done under
	// the context that it returns, and end gets the answer. Many requests call it at once.
	Observe func(request *http.Request, id string) (ctx context.Context, end func(Answered)) `kong:"-"`
	// ListFailed, when set, gets the error of each answer for which the read model was out
	// of reach.
	ListFailed func(error) `kong:"-"`
}

// PublicHistory says who reads the past (HISTORY 4.3).
type PublicHistory string

// Everybody reads it by the gates; readers of all do, and everybody the proofs; readers of
// all alone.
const (
	PublicHistoryAll    PublicHistory = "all"
	PublicHistoryProofs PublicHistory = "proofs"
	PublicHistoryNone   PublicHistory = "none"
)

// The limits of section 9.
const (
	maxBody        = 1 << 20  // bytes of a request body
	maxSearchBody  = 64 << 10 // bytes of the body of several searches
	maxRequestLine = 16 << 10 // bytes of the request line
	maxKey         = 255      // characters of an Idempotency-Key
)

// slots are how many anonymous requests are worked on at once, and how many with credentials; more
// are answered 503.
const slots = 1024

const (
	// Namespace is the namespace of the interface.
	Namespace  = "calendar/events/v1"
	retryAfter = "2" // seconds
	retryLater = "5" // a list of the past takes longer to prepare
)

// Handler answers the requests of the interface.
type Handler = api

// api is the handler.
type api struct {
	Deps
	Options

	roots     *rootTable
	closed    calendar.Code // that every request is answered with; "": it works
	rooms     *admit.Control
	rates     *httprate.RateLimiter // nil: no limit
	turns     *admit.Turns          // of the lists of a client; nil: no turns
	past      *admit.Turns          // of what is told of the past
	streams   *admit.Turns          // of streams that read the log
	tries     *admit.Tries          // of passwords of protected events
	expose    []string              // value of Access-Control-Expose-Headers
	readFresh []string              // value of Cache-Control of reads that anybody may keep
	permanent []string              // that of versions of records
	feedFresh []string              // that of feeds
	totals    [][2]string
	documents *openapi.API
	answers   *cache.Cache[string, *answer]
	encoders  *admit.Turns // of what is encoded
	renderer  *render.Renderer
	flights   singleflight.Group
	files     map[string]*answer // of pages, by path
}

// New makes the handler of the whole interface; it starts nothing.
func New(deps Deps, options Options) (*Handler, error) {
	for _, part := range reflect.ValueOf(deps).Fields() {
		if part.IsNil() {
			return nil, errors.New("httpapi: a part is missing")
		}
	}
	return newAPI(deps, options)
}

// Forget drops answers, which may have records in them that were erased.
func (api *api) Forget() {
	api.answers.Clear()
	api.History.Forget()
}

// Streams returns how many streams of changes are open.
func (api *api) Streams() int64 { return api.rooms.Streams() }

// Closed makes the handler of an interface that cannot work yet, or no longer, or that
// is none: it answers every request with a code as New's handler would, and asks for no part.
// No one is told of its answers. It refuses a base URL that is none, as New does, so a program
// can look before it opens anything.
func Closed(options Options, code calendar.Code) (http.Handler, error) {
	options.Observe, options.AnswerBytes = nil, -1
	api, err := newAPI(Deps{}, options)
	if err != nil {
		return nil, err
	}
	api.closed = code
	return api, nil
}

func newAPI(deps Deps, options Options) (*api, error) {
	setDefaults(&options)
	roots, err := newRootTable(&options)
	if err != nil {
		return nil, err
	}
	atOnce := &admit.OfOne{AtOnce: cmp.Or(options.MakeAtOnce, 2)}
	a := &api{
		Deps: deps, Options: options, roots: roots, renderer: render.New(options.Site, options.Currency, options.AnswerBytes > 0),
		rooms: admit.New(admit.Limits{
			Slots: slots, LargestAnswer: options.MaxAnswer, Streams: options.Streams, StreamsOfOne: options.StreamsOfOne, Wholes: options.WholeAnswers, Forwarded: options.TrustForwarded,
		}),
		past: admit.NewTurns(atOnce, pastAtOnce), streams: admit.NewTurns(atOnce, streamsAtOnce),
		encoders:  admit.NewTurns(atOnce, max(1, runtime.GOMAXPROCS(0)/2)), // half of the processors are left to others
		tries:     admit.NewTries(options.Now),
		expose:    []string{exposeList(options.TotalHeaders)},
		readFresh: freshness(options.ReadMaxAge, true), permanent: freshness(options.HistoryMaxAge, false), feedFresh: freshness(options.FeedMaxAge, false),
		totals:    append([][2]string{{headerTotal, headerTotalPages}}, options.TotalHeaders...),
		answers:   cache.New(options.AnswerBytes, answerSize),
		documents: newDocuments(&options),
	}
	if options.MakeAtOnce > 0 {
		a.turns = admit.NewTurns(atOnce, 0)
	}
	if options.RateLimit > 0 {
		a.rates = httprate.NewRateLimiter(options.RateLimit, rateWindow, httprate.WithResponseHeaders(httprate.ResponseHeaders{
			Limit: headerRateLimit, Remaining: headerRateRemaining, RetryAfter: headerRetry,
		}))
	}
	if options.Pages != nil {
		a.files = pageFiles(options.Pages)
	}
	return a, nil
}

// rendering is the version of how records and lists are written: with another one
// every ETag is another one. It grows with each change of what is sent for the same
// record, but for what the field tables say: that counts by itself.
const rendering = 2

// seed names all that answers depend on besides what is stored: settings and program.
func (options *Options) seed() uint64 {
	return uint64(calendar.HashStart.Number(rendering).Number(render.NewLayouts().Hash()).Text(readmodel.Fingerprint()).Text(options.Site.String()).Text(options.Currency.Symbol).Text(options.Currency.Position).Text(options.Currency.Code).Text(options.CalendarName).Number(uint64(options.FeedRefresh)))
}

// setDefaults gives the settings that were left out their defaults.
func setDefaults(options *Options) {
	defaults := reflect.ValueOf(Options{
		Prefix: "api", Currency: calendar.Currency{Symbol: "$", Position: "prefix", Code: "USD"},
		PublicHistory: PublicHistoryAll, HistoryMaxAge: 300,
		Streams: 100, StreamsOfOne: 10, StreamBeat: 15 * time.Second, StreamLate: 30 * time.Second,
		ReadDeadline: 5 * time.Second, WriteDeadline: 10 * time.Second,
		AnswerBytes: 12 << 20,
		FeedRefresh: time.Hour, FeedMaxAge: 300, ExportLimit: 100_000, WholeAnswers: 8, CalendarLimit: 10_000, TombstoneDays: 90,
		Log: slog.Default(),
	})
	settings := reflect.ValueOf(options).Elem()
	for i := range settings.NumField() {
		if setting := settings.Field(i); setting.IsZero() {
			setting.Set(defaults.Field(i))
		}
	}
	options.Options = options.WithDefaults()
	options.Currency.Code = cmp.Or(options.Currency.Code, "USD")
}
