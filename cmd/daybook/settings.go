package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/eventstore/postgres"
	"daybook/internal/demo"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/internal/telemetry"
	"daybook/query"
	"daybook/query/readmodel/elastic"
)

// config are the settings of one run. A command takes whole groups of them. Each is a flag,
// a variable of the environment and a line of the file that --config names.
//
// Tags besides those of kong: min and max bound numbers and durations, choices are the words
// that a text may be as people write them, pattern and must its form, schemes those of URLs, none makes 0 the -1 of options, secret marks what is never shown, and
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
	LogOptions

	Demo *demo.Highlights // nil: not a demonstration
}

type DataOptions struct {
	Data string `default:"./daybook-data" placeholder:"DIR" pattern:"." must:"name a directory" help:"directory of the event store and the snapshot"`
}

type StoreOptions struct {
	Store    string           `placeholder:"URL" type:"urls" schemes:"postgres,postgresql" must:"be a postgres:// URL" secret:"" help:"postgres://… of the event store; empty: SQLite in --data"`
	Database postgres.Options `embed:"" prefix:"store-"`
}

type FeedOptions struct {
	Feed         string              `placeholder:"URLS" type:"urls" schemes:"nats,tls,ws,wss" must:"be nats:// or tls:// URLs" secret:"" help:"nats://… servers of the feed, separated by commas; empty: none"`
	FeedServers  feed.ConnectOptions `embed:"" prefix:"feed-"`
	FeedPrefix   string              `default:"daybook" placeholder:"NAME" pattern:"^[a-z][a-z0-9_-]{0,59}$" must:"be lower-case letters, digits, - and _, beginning with a letter, at most 60" help:"prefix of the names of stream and subjects, one per installation on an account"`
	FeedReplicas int                 `default:"1" min:"1" max:"5" placeholder:"N" help:"NATS servers that store the stream, 1 to 5"`
}

type IndexOptions struct {
	Index           string          `placeholder:"URLS" type:"urls" schemes:"http,https" must:"be http:// or https:// URLs" secret:"" help:"http(s)://… nodes of the read model, separated by commas; empty: in memory"`
	Engine          elastic.Options `embed:"" prefix:"index-"`
	IndexCA         string          `placeholder:"FILE" type:"file" help:"PEM certificates of the authorities of its nodes"`
	IndexAPIKeyFile string          `placeholder:"FILE" type:"file" help:"file with an API key, instead of a user in the URL; read again when the key is refused"`
}

type RoleOptions struct {
	Role role `default:"all" choices:"all, api, relay or projector" placeholder:"ROLE" help:"all, api, relay or projector: what this process does"`
}

type ListenOptions struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDR" pattern:"^([[][^]]+[]]|[^:]*):[^:]+$" must:"be host:port, as 127.0.0.1:8080" help:"address and port to serve on"`
}

type AddressOptions struct {
	BaseURL   string `placeholder:"URL" pattern:"^https?://[^/?#@]+(/[^?#]*)?$" trim:"/" must:"be an absolute http or https URL without user, query and fragment" help:"public URL of the service; empty: taken from each request"`
	APIPrefix string `default:"api" placeholder:"PATH" type:"prefix" trim:"/" help:"first segment of all paths"`
}

type ZoneOptions struct {
	Timezone string `placeholder:"ZONE" type:"zone" help:"time zone of the site, for example Europe/Rome or UTC+2; empty: UTC"`
}

type InterfaceOptions struct {
	httpapi.Options
	HistoryMemory int             `default:"64" type:"mebibytes" min:"8" max:"16384" placeholder:"N" help:"MiB of all images for lists of the past, 8 to 16384; lists that would need more are refused"`
	HistoryImages int             `default:"4" min:"1" max:"64" placeholder:"N" help:"cached images of the past, 1 to 64"`
	CostBands     query.CostBands `default:"10,25,50,100" placeholder:"LIST" type:"bands" help:"bounds of the cost bands of events, up to 20 rising numbers above 0"`
	QueryBudget   int             `default:"90" min:"25" max:"10000" placeholder:"N" help:"greatest cost of one request, 25 to 10000: a list 1, a facet 1, typos 3, relevance or distance 1, highlights 1, collapse 2; requests above it are refused"`
}

type PagesOptions struct {
	Pages              bool          `default:"true" help:"serve pages for people: lists, months, events, venues and all else that has a url"`
	PageOptions        pages.Options `embed:""`
	PagesExternalLinks bool          `default:"true" help:"link to calendars and maps of other services on pages"`
	PagesRobots        string        `default:"index" choices:"index or none" placeholder:"WHICH" help:"index or none: whether search engines may index pages"`
	PagesWeekStart     string        `default:"monday" choices:"monday or sunday" placeholder:"DAY" help:"monday or sunday: first day of weeks on pages"`
	PagesClock         string        `placeholder:"HOURS" pattern:"^(12|24)$" must:"be 12, 24 or empty" help:"12 or 24, for all languages; empty: the clock of the language of the page"`
}

type ProofOptions struct {
	LogOrigin          string           `placeholder:"NAME" type:"origin-of-log" help:"name of the log in checkpoints, stored with the first one; empty: host and path of the public URL"`
	SigningKey         []string         `placeholder:"FILES" type:"file" help:"files of keys PRIVATE+KEY+…, separated by commas; each of them signs checkpoints; empty: audit.key in --data if the event store is there"`
	Witnesses          []*proof.Witness `placeholder:"LIST" type:"witness" help:"VKEY@URL of witnesses that cosign checkpoints, at most 16"`
	CheckpointInterval time.Duration    `default:"1m" min:"1s" max:"1h" placeholder:"DURATION" help:"how often a checkpoint is signed while there are new entries"`
}

type ProcessOptions struct {
	LogLevel   string                 `default:"info" placeholder:"LEVEL" choices:"debug, info, warn or error" help:"debug, info, warn or error"`
	LogFormat  string                 `default:"text" choices:"text or json" placeholder:"FORMAT" help:"text or json"`
	Pprof      string                 `placeholder:"ADDR" pattern:"^(127([.][0-9]{1,3}){3}|[[]::1[]]):[^:]+$" must:"be an address of this machine with a port, as 127.0.0.1:6060" help:"loopback address and port for runtime profiles; empty: none"`
	Metrics    string                 `placeholder:"ADDR" pattern:"^(same|([[][^]]+[]]|[^:]*):[^:]+)$" must:"be host:port, as 127.0.0.1:9464, or the word same" help:"address and port for Prometheus metrics, or same: with the service; empty: none"`
	Tracing    telemetry.TraceOptions `embed:""`
	DrainDelay time.Duration          `none:"" min:"0s" max:"5m" placeholder:"DURATION" help:"how long requests are still answered after SIGTERM while the process is not ready; empty: 5s, and 0 where no other process can serve its store"`
	DrainLimit time.Duration          `default:"50s" min:"1s" max:"1h" placeholder:"DURATION" help:"longest time from the signal to the end of the process, whatever hangs"`
}

type OutputOptions struct {
	JSON bool `default:"false" help:"print JSON for programs"`
}

type LanguageOptions struct {
	Lang string `default:"en" choices:"cn, en, fr or es" placeholder:"LANG" help:"language of sentences: cn, en, fr or es"`
}

type LogOptions struct {
	NewLog bool `commandline:"" help:"begin a new log in a data directory that has lost its log"`
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

// holdsData reports whether a process that serves keeps anything in the data
// directory, which then belongs to it. The roles that share their work do not.
func (config *config) holdsData() bool {
	return config.does(servesAll) && (config.Store == "" || config.localIndex())
}

// defaultLameDuck is how long load balancers go on sending requests to a process that
// is not ready, or that they were told to forget.
const defaultLameDuck = 5 * time.Second

// lameDuck is how long a process that was told to end is not ready before it closes
// its listener.
func (config *config) lameDuck() time.Duration {
	switch {
	case !config.does(servesAPI): // nobody sends them requests
		return 0
	case config.DrainDelay != 0:
		return max(config.DrainDelay, 0)
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

// does reports whether the process has a role. Commands have all of them, by default.
func (config *config) does(one role) bool {
	return config.Role == servesAll || config.Role == one
}

// misfits returns what does not go together, all of it.
func (config *config) misfits() []string {
	shares := config.Role != "" && config.Role != servesAll
	needs := fmt.Sprintf("--role %s shares its work with other processes, so it needs ", config.Role)
	feedServers, none := config.FeedServers, feed.ConnectOptions{}
	wrong := map[string]bool{
		needs + "--store postgres://…":                           shares && config.Store == "",
		needs + "--feed nats://…":                                config.Role == servesRelay && config.Feed == "",
		needs + "--index http://…":                               shares && config.Role != servesRelay && config.localIndex(),
		"--feed-cert and --feed-key need each other":             (feedServers.Cert == "") != (feedServers.Key == ""),
		"--feed-credentials and --feed-nkey exclude each other":  feedServers.Credentials != "" && feedServers.NKey != "",
		"--feed-domain and --feed-api-prefix exclude each other": feedServers.Domain != "" && feedServers.APIPrefix != "",
		"--feed-credentials, --feed-nkey, --feed-domain, --feed-api-prefix, --feed-ca, --feed-cert and --feed-replicas above 1 need --feed nats://…": config.Feed == "" && (feedServers != none || config.FeedReplicas > 1),
		fmt.Sprintf("--drain-limit must be longer than --drain-delay, which is %s", config.lameDuck()):                                               config.DrainLimit > 0 && config.lameDuck() >= config.DrainLimit,
		"--store-listen needs --store postgres://…":                       config.Store == "" && config.Database.ListenURL != "",
		"--index-ca and --index-api-key-file need --index http://…":       config.localIndex() && config.IndexCA+config.IndexAPIKeyFile != "",
		"--pages-tiles-hosts and {s} in --pages-tiles need each other":    strings.Contains(config.PageOptions.Tiles, "{s}") != (len(config.PageOptions.TileHosts) > 0),
		fmt.Sprintf("--witnesses must be at most %d", proof.MaxWitnesses): len(config.Witnesses) > proof.MaxWitnesses,
	}
	maps.DeleteFunc(wrong, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(wrong))
}
