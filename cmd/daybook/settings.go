package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"daybook/calendar"
	"daybook/internal/demo"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/internal/telemetry"
	"daybook/query/readmodel/elastic"
)

// config are the settings of one run. A command takes whole groups of them. Each is a flag,
// a variable of the environment and a line of the file that --config names.
//
// Tags besides those of kong: min and max bound numbers and durations, choices are the words
// that a text may be, pattern and must its form, secret marks what is never shown, and
// commandline what stands in no environment and no file.
type config struct {
	StoreOptions
	DataOptions
	FeedOptions
	IndexOptions
	RoleOptions
	ListenOptions
	AddressOptions
	ZoneOptions
	InterfaceOptions
	PagesOptions
	ProofOptions
	ProcessOptions
	OutputOptions
	LanguageOptions

	demo   *demo.Highlights // nil: not a demonstration
	newLog bool             // a log begins in a data directory that has lost its own
}

type DataOptions struct {
	Data string `default:"./daybook-data" placeholder:"DIR" pattern:"." must:"name a directory" help:"directory of the event store and the snapshot"`
}

type StoreOptions struct {
	Store               string        `placeholder:"URL" type:"postgres" secret:"" help:"postgres://… of the event store; empty: SQLite in --data"`
	StoreSchema         string        `default:"daybook" placeholder:"NAME" type:"schema" help:"database schema that only the store uses"`
	StoreListen         string        `placeholder:"URL" type:"postgres" secret:"" help:"postgres://… for notifications of changes, when --store is a pooler that does not forward them"`
	StorePool           int           `default:"0" min:"0" max:"1000" placeholder:"N" help:"connections for reading per process, up to 1000; 0: pool_max_conns of the URL, else 16"`
	StoreReadDeadline   time.Duration `default:"5s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest call of the database, 100ms to 1m; appends have a deadline of their own"`
	StoreAppendDeadline time.Duration `default:"10s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest append to the database, 100ms to 1m; half of it is reserved for finding out whether the first attempt was committed"`
}

type FeedOptions struct {
	Feed            string `placeholder:"URLS" type:"nats" secret:"" help:"nats://… servers of the feed, separated by commas; empty: none"`
	FeedCredentials string `placeholder:"FILE" type:"file" help:"NATS credentials (.creds)"`
	FeedNKey        string `name:"feed-nkey" placeholder:"FILE" type:"file" help:"NATS nkey seed, instead of credentials"`
	FeedDomain      string `placeholder:"NAME" help:"JetStream domain"`
	FeedAPIPrefix   string `placeholder:"SUBJECT" help:"prefix of the JetStream API, instead of a domain"`
	FeedCA          string `placeholder:"FILE" type:"file" help:"PEM certificates of the authorities of the feed's servers"`
	FeedCert        string `placeholder:"FILE" type:"file" help:"PEM certificate of this client for the feed, with --feed-key"`
	FeedKey         string `placeholder:"FILE" type:"file" help:"PEM key of --feed-cert"`
	FeedPrefix      string `default:"daybook" placeholder:"NAME" type:"feedprefix" help:"prefix of the names of stream and subjects, one per installation on an account"`
	FeedReplicas    int    `default:"1" min:"1" max:"5" placeholder:"N" help:"NATS servers that store the stream, 1 to 5"`
}

type IndexOptions struct {
	Index           string          `placeholder:"URLS" type:"nodes" secret:"" help:"http(s)://… nodes of the read model, separated by commas; empty: in memory"`
	IndexFlavour    elastic.Flavour `default:"elasticsearch" choices:"elasticsearch,opensearch" placeholder:"NAME" help:"elasticsearch or opensearch"`
	IndexPrefix     string          `default:"daybook" placeholder:"NAME" pattern:"^[a-z][a-z0-9_-]{0,59}$" must:"be lower-case letters, digits, - and _, beginning with a letter, at most 60" help:"prefix of the names of indices, one per read model of a store"`
	IndexCA         string          `placeholder:"FILE" type:"file" help:"PEM certificates of the authorities of its nodes"`
	IndexAPIKeyFile string          `placeholder:"FILE" type:"file" help:"file with an API key, instead of a user in the URL; read again when the key is refused"`
	IndexShards     int             `default:"1" min:"1" max:"64" placeholder:"N" help:"shards of each new index, 1 to 64"`
	IndexReplicas   int             `default:"0" min:"0" max:"10" placeholder:"N" help:"replicas of each shard; 0: one if there is a second node"`
	IndexRefresh    time.Duration   `default:"1s" min:"50ms" max:"1m" placeholder:"DURATION" help:"greatest age of lists without credentials"`
}

type RoleOptions struct {
	Role role `default:"all" choices:"all,api,relay,projector" placeholder:"ROLE" help:"all, api, relay or projector: what this process does"`
}

type ListenOptions struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDR" pattern:"^([[][^]]+[]]|[^:]*):[^:]+$" must:"be host:port, as 127.0.0.1:8080" help:"address and port to serve on"`
}

type AddressOptions struct {
	BaseURL   string `placeholder:"URL" pattern:"^https?://[^/?#@]+(/[^?#]*)?$" trim:"/" must:"be an absolute http or https URL without user, query and fragment" help:"public URL of the service; empty: taken from each request"`
	APIPrefix string `default:"api" placeholder:"PATH" type:"prefix" help:"first segment of all paths"`
}

type ZoneOptions struct {
	Timezone string `placeholder:"ZONE" type:"zone" help:"time zone of the site, for example Europe/Rome or UTC+2; empty: UTC"`
}

type InterfaceOptions struct {
	MorePrefixes     []string              `placeholder:"LIST" type:"prefix" help:"further prefixes that are served identically"`
	MoreNamespaces   []string              `placeholder:"LIST" type:"path" help:"further namespaces that are served identically"`
	TotalHeaders     [][2]string           `placeholder:"LIST" type:"headers" help:"further names of the two total headers, as pairs NAME:NAME"`
	TrustForwarded   bool                  `default:"false" help:"trust X-Forwarded-Proto, -Host, -Prefix and -For"`
	CurrencySymbol   string                `default:"$" placeholder:"TEXT" help:"symbol of costs without one"`
	CurrencyPosition string                `default:"prefix" choices:"prefix,postfix" placeholder:"WHERE" help:"prefix or postfix"`
	PriceCurrency    string                `default:"USD" placeholder:"CODE" pattern:"^[A-Z]{3}$" must:"be three capital letters, as EUR" help:"ISO 4217 code, in linked data, of costs with the currency symbol or without any"`
	PerPageMax       int                   `default:"100" min:"50" max:"1000" placeholder:"N" help:"largest page of a list, 50 to 1000"`
	AllowedOrigins   []string              `placeholder:"LIST" pattern:"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+$" must:"be an origin, as https://calendar.example.org" help:"other origins whose pages may write; writes of pages from all other origins are refused"`
	PositionWait     time.Duration         `default:"5s" min:"1ns" max:"5m" placeholder:"DURATION" help:"longest wait of a list for a position, up to 5m"`
	ReadMaxAge       int                   `default:"0" min:"0" max:"86400" placeholder:"SECONDS" help:"how long browsers and proxies may cache answers to reads without credentials, up to 86400; 0: they revalidate each time"`
	PublicHistory    httpapi.PublicHistory `default:"all" choices:"all,proofs,none" placeholder:"WHO" help:"all, proofs or none: how much of the past everybody may read; editors, administrators and auditors may read all of it"`
	Streams          int                   `default:"100" min:"0" max:"10000" placeholder:"N" help:"open streams of changes, up to 10000"`
	StreamsPerClient int                   `default:"10" min:"1" max:"10000" placeholder:"N" help:"open streams of one address without credentials, 1 to 10000"`
	HistoryMemory    int                   `default:"64" min:"8" max:"16384" placeholder:"N" help:"MiB of all images for lists of the past, 8 to 16384; lists that would need more are refused"`
	HistoryImages    int                   `default:"4" min:"1" max:"64" placeholder:"N" help:"cached images of the past, 1 to 64"`
	CalendarName     string                `placeholder:"TEXT" help:"name of the calendar in feeds; empty: Events, in the language of the request"`
	FeedRefresh      time.Duration         `default:"1h" min:"5m" max:"168h" whole:"" placeholder:"DURATION" help:"refresh interval that feeds suggest to their readers, 5m to 168h"`
	FeedMaxAge       int                   `default:"300" min:"0" max:"86400" placeholder:"SECONDS" help:"how long browsers and proxies may cache feeds, up to 86400; 0: they revalidate each time"`
	ExportLimit      int                   `default:"100000" min:"1000" max:"10000000" placeholder:"N" help:"events of one answer without pages, 1000 to 10000000"`
	WholeAnswers     int                   `default:"8" min:"1" max:"1000" placeholder:"N" help:"answers without pages that are sent at the same time to callers without credentials, and as many to those with, half of them to one client, 1 to 1000; more are answered 503"`
	CalendarLimit    int                   `default:"10000" min:"100" max:"100000" placeholder:"N" help:"events in one answer to a calendar widget, 100 to 100000"`
	TombstoneDays    int                   `default:"90" min:"0" max:"3650" placeholder:"N" help:"days for which calendar feeds report trashed events as cancelled, up to 3650; 0: never"`
	CostBands        costBands             `default:"10,25,50,100" placeholder:"LIST" type:"bands" help:"bounds of the cost bands of events, up to 20 rising numbers above 0"`
	QueryBudget      int                   `default:"90" min:"25" max:"10000" placeholder:"N" help:"greatest cost of one request, 25 to 10000: a list 1, a facet 1, typos 3, relevance or distance 1, highlights 1, collapse 2; requests above it are refused"`
	ReadDeadline     time.Duration         `default:"5s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest work on a read, not counting its wait for a position"`
	WriteDeadline    time.Duration         `default:"10s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest work on a write"`
	MaxAnswer        int                   `default:"8" min:"1" max:"1024" placeholder:"N" help:"MiB of the largest answer, 1 to 1024; larger ones are refused"`
	RateLimit        int                   `default:"0" min:"0" max:"1000000" placeholder:"N" help:"requests per minute of one address or user, up to 1000000; 0: any number"`
	ServeStale       bool                  `default:"false" help:"answer lists with the last good answer, marked as stale, while the read model is unavailable"`
	HistoryMaxAge    int                   `default:"300" min:"0" max:"31536000" placeholder:"SECONDS" help:"how long browsers and proxies may cache versions of records, which may become inaccessible later, up to 31536000; 0: they revalidate each time"`
}

type PagesOptions struct {
	Pages                 bool               `default:"true" help:"serve pages for people: lists, months, events, venues and all else that has a url"`
	Desk                  bool               `default:"true" help:"serve the desk, where people write the calendar, at /desk/; it needs --pages"`
	PagesExternalLinks    bool               `default:"true" help:"link to calendars and maps of other services on pages"`
	PagesRobots           string             `default:"index" choices:"index,none" placeholder:"WHICH" help:"index or none: whether search engines may index pages"`
	PagesCache            time.Duration      `default:"10s" min:"0s" max:"24h" whole:"" placeholder:"DURATION" help:"how long shared caches may store a page, whole seconds up to 24h; 0s: they revalidate each time"`
	PagesEmbed            frameHosts         `default:"*" placeholder:"HOSTS" type:"frames" help:"hosts that may show embedded pages in frames, separated by commas; *: all, none: nobody"`
	PagesWeekStart        string             `default:"monday" choices:"monday,sunday" placeholder:"DAY" help:"monday or sunday: first day of weeks on pages"`
	PagesClock            string             `placeholder:"HOURS" pattern:"^(12|24)$" must:"be 12, 24 or empty" help:"12 or 24, for all languages; empty: the clock of the language of the page"`
	PagesImages           pictureHosts       `default:"none" placeholder:"HOSTS" type:"pictures" help:"hosts whose pictures pages load, separated by commas; none, or any"`
	PagesTiles            string             `placeholder:"URL" type:"tiles" help:"map tiles below the markers, for example https://tiles.example/{z}/{x}/{y}.png; {s} stands for each of --pages-tiles-hosts; empty: only outlines"`
	PagesTilesHosts       []string           `placeholder:"LIST" pattern:"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$" must:"be a word of a host name, as a" help:"words that {s} stands for, for example a,b,c"`
	PagesTilesAttribution string             `placeholder:"TEXT" help:"attribution of the tiles, shown on every map"`
	BrandName             string             `placeholder:"TEXT" type:"brandname" help:"name of the calendar on pages, and in feeds without --calendar-name; empty: Calendar on pages"`
	BrandLogo             *pages.Logo        `placeholder:"FILE" type:"logo" help:"SVG, PNG or WebP of at most 200 kB, shown instead of the name"`
	BrandAccent           string             `placeholder:"COLOUR" type:"accent" help:"colour of links and buttons, for example #0b5fae; made darker or lighter where its contrast is too low"`
	BrandFooter           []pages.FooterLink `placeholder:"LIST" type:"footer" help:"links at the end of pages, for example Imprint=https://…, fr:Mentions légales=https://…"`
	BrandHome             pages.Home         `placeholder:"DIR" type:"home" help:"directory with the text of the home page: home.en.html, home.cn.html, home.es.html, home.fr.html; the English one replaces missing ones"`
}

type ProofOptions struct {
	LogOrigin          string           `placeholder:"NAME" type:"origin-of-log" help:"name of the log in checkpoints, stored with the first one; empty: host and path of the public URL"`
	SigningKey         []string         `placeholder:"FILES" type:"file" help:"files of keys PRIVATE+KEY+…, separated by commas; each of them signs checkpoints; empty: audit.key in --data if the event store is there"`
	Witnesses          []*proof.Witness `placeholder:"LIST" type:"witness" help:"VKEY@URL of witnesses that cosign checkpoints, at most 16"`
	CheckpointInterval time.Duration    `default:"1m" min:"1s" max:"1h" placeholder:"DURATION" help:"how often a checkpoint is signed while there are new entries"`
}

type ProcessOptions struct {
	LogLevel   slog.Level     `default:"info" placeholder:"LEVEL" type:"level" help:"debug, info, warn or error"`
	LogFormat  string         `default:"text" choices:"text,json" placeholder:"FORMAT" help:"text or json"`
	Pprof      string         `placeholder:"ADDR" pattern:"^(127([.][0-9]{1,3}){3}|[[]::1[]]):[^:]+$" must:"be an address of this machine with a port, as 127.0.0.1:6060" help:"loopback address and port for runtime profiles; empty: none"`
	Metrics    string         `placeholder:"ADDR" pattern:"^(same|([[][^]]+[]]|[^:]*):[^:]+)$" must:"be host:port, as 127.0.0.1:9464, or the word same" help:"address and port for Prometheus metrics, or same: with the service; empty: none"`
	Traces     string         `placeholder:"URL" pattern:"^https?://[^/?#@]+(/[^?#]*)?$" must:"be an http or https URL without user, query and fragment, as http://127.0.0.1:4318" secret:"" help:"where OpenTelemetry traces are sent (OTLP over HTTP), for example http://127.0.0.1:4318; empty: nowhere"`
	TraceRatio float64        `default:"0.1" placeholder:"N" type:"ratio" help:"share of the traces that are sent, above 0 and up to 1"`
	DrainDelay *time.Duration `min:"0s" max:"5m" placeholder:"DURATION" help:"how long requests are still answered after SIGTERM while the process is not ready; empty: 5s, and 0 where no other process can serve its store"`
	DrainLimit time.Duration  `default:"50s" min:"1s" max:"1h" placeholder:"DURATION" help:"longest time from the signal to the end of the process, whatever hangs"`
}

type OutputOptions struct {
	JSON bool `default:"false" help:"print JSON for programs"`
}

type LanguageOptions struct {
	Lang string `default:"en" choices:"cn,en,fr,es" placeholder:"LANG" help:"language of sentences: cn, en, fr or es"`
}

// zone is the time zone of the site with its name.
func (zoneOptions *ZoneOptions) zone() calendar.Zone {
	zone, _ := calendar.ParseZone(cmp.Or(zoneOptions.Timezone, "UTC"))
	return zone
}

func isTerminal(writer io.Writer) bool {
	file, ok := writer.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (config *config) logger(writer io.Writer) *slog.Logger {
	handlerOptions := &slog.HandlerOptions{Level: config.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(writer, handlerOptions)
	if config.LogFormat == "json" {
		handler = slog.NewJSONHandler(writer, handlerOptions)
	}
	return slog.New(telemetry.LogHandler(handler, httpapi.RequestID))
}

// holdsData reports whether a process that serves keeps anything in the data
// directory, which then belongs to it. The roles that share their work do not.
func (config *config) holdsData() bool {
	return (config.Role == "" || config.Role == servesAll) && (config.Store == "" || config.localIndex())
}

// defaultLameDuck is how long load balancers go on sending requests to a process that
// is not ready, or that they were told to forget.
const defaultLameDuck = 5 * time.Second

// lameDuck is how long a process that was told to end is not ready before it closes
// its listener.
func (config *config) lameDuck() time.Duration {
	switch {
	case config.Role == servesRelay, config.Role == servesProjector: // nobody sends them requests
		return 0
	case config.DrainDelay != nil:
		return *config.DrainDelay
	case config.Store == "": // there is nobody else to send requests to
		return 0
	default:
		return defaultLameDuck
	}
}

// role is the role of a process that serves.
type role string

// The roles of processes.
const (
	servesAll       role = "all"
	servesAPI       role = "api"
	servesRelay     role = "relay"
	servesProjector role = "projector"
)

// misfits returns what does not go together, all of it.
func (config *config) misfits() (out []string) {
	var missing []string
	needs := func(lacks bool, option string) {
		if lacks {
			missing = append(missing, option)
		}
	}
	shares := config.Role == servesAPI || config.Role == servesProjector
	needs(config.Store == "" && (shares || config.Role == servesRelay), "--store postgres://…")
	needs(config.Feed == "" && config.Role == servesRelay, "--feed nats://…")
	needs(config.localIndex() && shares, "--index http://…")
	for _, m := range []struct {
		wrong bool
		why   string
	}{
		{missing != nil, fmt.Sprintf("--role %s shares its work with other processes, so it needs %s", config.Role, strings.Join(missing, " and "))},
		{(config.FeedCert == "") != (config.FeedKey == ""), "--feed-cert and --feed-key need each other"},
		{config.FeedCredentials != "" && config.FeedNKey != "", "--feed-credentials and --feed-nkey exclude each other"},
		{config.FeedDomain != "" && config.FeedAPIPrefix != "", "--feed-domain and --feed-api-prefix exclude each other"},
		{
			config.Feed == "" && (config.FeedCredentials+config.FeedNKey+config.FeedDomain+config.FeedAPIPrefix+config.FeedCA+config.FeedCert != "" || config.FeedReplicas > 1),
			"--feed-credentials, --feed-nkey, --feed-domain, --feed-api-prefix, --feed-ca, --feed-cert and --feed-replicas above 1 need --feed nats://…",
		},
		{config.DrainLimit > 0 && config.lameDuck() >= config.DrainLimit, fmt.Sprintf("--drain-limit must be longer than --drain-delay, which is %s", config.lameDuck())},
		{config.Store == "" && config.StoreListen != "", "--store-listen needs --store postgres://…"},
		{config.localIndex() && config.IndexCA+config.IndexAPIKeyFile != "", "--index-ca and --index-api-key-file need --index http://…"},
		{strings.Contains(config.PagesTiles, "{s}") != (len(config.PagesTilesHosts) > 0), "--pages-tiles-hosts and {s} in --pages-tiles need each other"},
		{len(config.Witnesses) > proof.MaxWitnesses, fmt.Sprintf("--witnesses must be at most %d", proof.MaxWitnesses)},
	} {
		if m.wrong {
			out = append(out, m.why)
		}
	}
	return out
}
