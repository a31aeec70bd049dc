package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/internal/demo"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/internal/telemetry"
	"daybook/query"
)

// settings are the settings of one run, checked.
type settings struct {
	file string // of settings; "": none

	data   string
	demo   *demo.Filled // nil: not a demonstration
	listen string

	adapters

	serves servesAs

	logOrigin          string
	signingKeys        []string // files
	witnesses          []string // <vkey>@<URL>, checked
	checkpointInterval time.Duration

	baseURL          string
	apiPrefix        string
	morePrefixes     []string
	moreNamespaces   []string
	totalHeaders     [][2]string
	trustForwarded   bool
	site             *time.Location
	timezone         string
	currencySymbol   string
	currencyPosition string
	priceCurrency    string
	perPageMax       int
	allowedOrigins   []string
	positionWait     time.Duration
	readMaxAge       int // seconds
	publicHistory    httpapi.PublicHistory
	lang             string
	from             calendar.Position
	kind             string
	streams          int
	streamsPerClient int
	historyMaxAge    int // seconds
	historyMemory    int // MiB
	historyImages    int
	calendarName     string
	feedRefresh      time.Duration
	feedMaxAge       int // seconds
	exportLimit      int
	wholeAnswers     int
	calendarLimit    int
	tombstoneDays    int
	costBands        []string
	queryBudget      int
	readDeadline     time.Duration
	writeDeadline    time.Duration
	maxAnswer        int // MiB
	rateLimit        int // requests a minute
	serveStale       bool
	pages            bool
	pagesOptions     pages.Options // see pageOptions

	drainDelay *time.Duration // nil: see lameDuck
	drainLimit time.Duration

	logLevel  slog.Level
	logFormat string
	pprof     string // "": none

	metrics    string // "": none; "same": beside the service
	traces     string // "": none
	traceRatio float64

	role    string
	newLog  bool
	reason  string
	by      string
	yes     bool
	compact bool
	source  string
	json    bool
	back    bool
	seed    int64

	serviceRole string
	to          string

	verifyFile        string // of an export
	verifyKeys        []string
	verifyCheckpoints []string // files
	verifyWitnesses   []string
	proofSize         int // 0: that of the newest checkpoint
	newOrigin         string
	until             string // point that a replay ends at
	into              string // directory of a replay

	given map[string]given // by the names of the settings
}

// ordered are the settings that a running server has to know of: of those that
// it has itself, only what was given.
func (s *settings) ordered() map[string]string {
	out := make(map[string]string, len(s.given))
	for name, g := range s.given {
		if name != fileSetting && (name != "timezone" || g.From != byDefault) {
			out[name] = g.Value
		}
	}
	return out
}

// setting is one row of the table of settings: --name VALUE on the command line,
// DAYBOOK_NAME in the environment, name in a file.
type setting struct {
	name, value, def, brief string
	group                   string
	boolean                 bool
	// flag is its name on the command line where that is another one; it stands
	// in no environment and no file then.
	flag string
	// secret marks URLs that may hold a password: it is never shown.
	secret bool
	set    func(v string) error
}

// option is the name on the command line.
func (d *setting) option() string { return cmp.Or(d.flag, d.name) }

// shown is a value as it may be printed.
func (d *setting) shown(v string) string {
	if d.secret {
		return redactedURLs(v)
	}
	return v
}

// env is the name in the environment, "" when there is none.
func (d *setting) env() string {
	if d.flag != "" {
		return ""
	}
	return "DAYBOOK_" + strings.ToUpper(strings.ReplaceAll(d.name, "-", "_"))
}

// The groups of settings, as help shows them. A command takes whole groups, and
// settings by their names.
const (
	ofStore     = "event store"
	ofFeed      = "feed"
	ofIndex     = "read model"
	ofRole      = "role"
	ofProcess   = "process"
	ofInterface = "interface"
	ofPages     = "pages"
	ofProofs    = "proofs"
	ofCommand   = "command"
)

// fileSetting names the file of settings. Every command with settings takes it.
const fileSetting = "config"

// table gives the settings, each of which sets its part of s.
func (s *settings) table() []setting {
	in := func(group string, rows ...setting) []setting {
		for i := range rows {
			rows[i].group = group
		}
		return rows
	}
	return slices.Concat(
		in("", setting{name: fileSetting, value: "FILE", brief: "YAML file of settings, as per-page-max: 200; flags and environment win over it", set: readable(&s.file)}),
		in(ofStore, []setting{
			{name: "data", value: "DIR", def: "./daybook-data", brief: "directory of the event store and the snapshot", set: checked(&s.data, "name a directory", func(v string) bool { return v != "" })},
			{name: "store", value: "URL", secret: true, brief: "postgres://… of the event store; empty: SQLite in --data", set: urls(&s.store, "a postgres:// URL", oneURL, "postgres", "postgresql")},
			{name: "store-schema", value: "NAME", def: "daybook", brief: "schema of the database that the store has for itself", set: checked(&s.storeSchema, "be lower-case letters, digits and _, not beginning with pg_, at most 48", isSchema)},
			{name: "store-listen", value: "URL", secret: true, brief: "postgres://… to hear of changes by, where --store is a pooler that passes none on", set: urls(&s.storeListen, "a postgres:// URL", oneURL, "postgres", "postgresql")},
			{name: "store-pool", value: "N", def: "0", brief: "connections for reading of each process, up to 1000; 0: pool_max_conns of the URL, else 16", set: number(&s.storePool, 0, 1000)},
			{name: "store-read-deadline", value: "TIME", def: "5s", brief: "how long a call of the database may take, 100ms to 1m; appends have their own", set: deadline(&s.storeRead)},
			{name: "store-append-deadline", value: "TIME", def: "10s", brief: "how long an append to the database may take, 100ms to 1m; half of it is for finding out what became of the first attempt", set: deadline(&s.storeAppend)},
		}...),
		in(ofFeed, []setting{
			{name: "feed", value: "URLS", secret: true, brief: "nats://… servers of the feed, commas between them; empty: none", set: urls(&s.feed, "nats:// or tls:// URLs", 0, "nats", "tls", "ws", "wss")},
			{name: "feed-credentials", value: "FILE", brief: "NATS credentials (.creds)", set: readable(&s.feedCredentials)},
			{name: "feed-nkey", value: "FILE", brief: "NATS nkey seed, in the place of credentials", set: readable(&s.feedNKey)},
			{name: "feed-domain", value: "NAME", brief: "JetStream domain", set: text(&s.feedDomain)},
			{name: "feed-api-prefix", value: "SUBJECT", brief: "prefix of the JetStream API, in the place of a domain", set: text(&s.feedAPIPrefix)},
			{name: "feed-ca", value: "FILE", brief: "PEM certificates that the feed's servers are checked by", set: readable(&s.feedCA)},
			{name: "feed-cert", value: "FILE", brief: "PEM certificate that the feed knows this client by, with --feed-key", set: readable(&s.feedCert)},
			{name: "feed-key", value: "FILE", brief: "PEM key of --feed-cert", set: readable(&s.feedKey)},
			{name: "feed-prefix", value: "NAME", def: feed.DefaultPrefix, brief: "what the names of its stream and subjects begin with, one for each installation on an account", set: func(v string) error {
				s.feedPrefix = v
				return feed.CheckPrefix(v)
			}},
			{name: "feed-replicas", value: "N", def: "1", brief: "NATS servers that keep the stream, 1 to 5", set: number(&s.feedReplicas, 1, 5)},
		}...),
		in(ofIndex, []setting{
			{name: "index", value: "URLS", secret: true, brief: "http(s)://… nodes of the read model, commas between them; empty: in memory", set: urls(&s.index, strings.Join(engineSchemes(), ":// or ")+":// URLs", 0, engineSchemes()...)},
			{name: "index-flavour", value: "NAME", def: flavourElasticsearch, brief: "elasticsearch or opensearch", set: oneOf(&s.indexFlavour, flavourElasticsearch, flavourOpenSearch)},
			{name: "index-prefix", value: "NAME", def: "daybook", brief: "what the names of its indices begin with, one for each read model of a store", set: checked(&s.indexPrefix, "be lower-case letters, digits, - and _, beginning with a letter, at most 60", prefixForm.MatchString)},
			{name: "index-ca", value: "FILE", brief: "PEM certificates that its nodes are checked by", set: readable(&s.indexCA)},
			{name: "index-api-key-file", value: "FILE", brief: "file that holds an API key, in the place of a user in the URL; read again when the key is refused", set: readable(&s.indexKeyFile)},
			{name: "index-shards", value: "N", def: "1", brief: "shards of each index when it is made, 1 to 64", set: number(&s.indexShards, 1, 64)},
			{name: "index-replicas", value: "N", def: "0", brief: "copies of each shard; 0: one where there is a second node", set: number(&s.indexReplicas, 0, 10)},
			{name: "index-refresh", value: "DURATION", def: "1s", brief: "how old lists without credentials may be at most", set: duration(&s.indexRefresh, 50*time.Millisecond, time.Minute, "1s")},
		}...),
		in(ofRole, setting{name: "role", value: "ROLE", def: string(servesAll), brief: "all, api, relay or projector: what this process does", set: oneOf(&s.serves, servesAll, servesAPI, servesRelay, servesProjector)}),
		in(ofInterface, []setting{
			{name: "listen", value: "ADDR", def: "127.0.0.1:8080", brief: "address and port to serve on", set: checked(&s.listen, "be host:port, as 127.0.0.1:8080", hasPort)},
			{name: "base-url", value: "URL", brief: "URL that clients reach the service by; empty: taken from each request", set: func(v string) error {
				if v == "" {
					return nil
				}
				u, err := url.Parse(v)
				if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
					return errors.New("must be an absolute http or https URL without query and fragment")
				}
				s.baseURL = strings.TrimRight(v, "/")
				return nil
			}},
			{name: "api-prefix", value: "PATH", def: "api", brief: "first segment of all paths", set: func(v string) (err error) {
				s.apiPrefix, err = prefix(v)
				return err
			}},
			{name: "more-prefixes", value: "LIST", brief: "further prefixes that are answered identically", set: list(&s.morePrefixes, prefix)},
			{name: "more-namespaces", value: "LIST", brief: "further namespaces that are answered identically", set: list(&s.moreNamespaces, pathSegments)},
			{name: "total-headers", value: "LIST", brief: "further names of the two total headers, as pairs NAME:NAME", set: list(&s.totalHeaders, headerPair)},
			{name: "trust-forwarded", boolean: true, def: "false", brief: "believe X-Forwarded-Proto, -Host, -Prefix and -For", set: boolean(&s.trustForwarded)},
			{name: "timezone", value: "ZONE", def: "UTC", brief: "time zone of the site, as Europe/Rome or UTC+2", set: func(v string) error {
				z, ok := calendar.ParseZone(v)
				if !ok {
					return errors.New("must be a time zone, as Europe/Rome, UTC or UTC+5.5")
				}
				s.site, s.timezone = z.Location, z.Name
				return nil
			}},
			{name: "currency-symbol", value: "TEXT", def: "$", brief: "symbol of costs that name none", set: text(&s.currencySymbol)},
			{name: "currency-position", value: "WHERE", def: "prefix", brief: "prefix or postfix", set: oneOf(&s.currencyPosition, "prefix", "postfix")},
			{name: "price-currency", value: "CODE", def: "USD", brief: "ISO 4217 code, in linked data, of costs with the currency symbol or without one", set: checked(&s.priceCurrency, "be three capital letters, as EUR", currencyForm.MatchString)},
			{name: "per-page-max", value: "N", def: "100", brief: "largest page of a list, 50 to 1000", set: number(&s.perPageMax, 50, 1000)},
			{name: "allowed-origins", value: "LIST", brief: "other origins whose pages may write; what pages of any other send is refused", set: list(&s.allowedOrigins, origin)},
			{name: "position-wait", value: "DURATION", def: "5s", brief: "longest wait of a list for a position", set: func(v string) error {
				d, err := time.ParseDuration(v)
				if err != nil || d <= 0 || d > 5*time.Minute {
					return errors.New("must be a duration above 0 and up to 5m, as 5s or 500ms")
				}
				s.positionWait = d
				return nil
			}},
			{name: "read-max-age", value: "SECONDS", def: "0", brief: "how long browsers and proxies may keep answers to reads without credentials, up to 86400; 0: they ask each time", set: number(&s.readMaxAge, 0, 24*60*60)},
			{name: "public-history", value: "WHO", def: string(httpapi.PublicHistoryAll), brief: "all, proofs or none: what everybody reads of the past; editors, administrators and auditors read it all", set: oneOf(&s.publicHistory, httpapi.PublicHistoryAll, httpapi.PublicHistoryProofs, httpapi.PublicHistoryNone)},
			{name: "streams", value: "N", def: "100", brief: "streams of changes that may be open, up to 10000", set: number(&s.streams, 0, 10_000)},
			{name: "streams-per-client", value: "N", def: "10", brief: "how many of these one address without credentials may have, 1 to 10000", set: number(&s.streamsPerClient, 1, 10_000)},
			{name: "history-memory", value: "N", def: "64", brief: "MiB of all images that lists of the past are made from, 8 to 16384; what would need more is refused", set: number(&s.historyMemory, 8, 16384)},
			{name: "history-images", value: "N", def: "4", brief: "images of the past that are kept, 1 to 64", set: number(&s.historyImages, 1, 64)},
			{name: "calendar-name", value: "TEXT", brief: "name of the calendar in feeds; empty: Events, in the language of the request", set: text(&s.calendarName)},
			{name: "feed-refresh", value: "DURATION", def: "1h", brief: "how often readers of feeds are asked to come again, 5m to 168h", set: func(v string) error {
				d, err := time.ParseDuration(v)
				if err != nil || d < 5*time.Minute || d > 7*24*time.Hour || d%time.Second != 0 {
					return errors.New("must be a duration of whole seconds from 5m to 168h, as 1h")
				}
				s.feedRefresh = d
				return nil
			}},
			{name: "feed-max-age", value: "SECONDS", def: "300", brief: "how long browsers and proxies may keep feeds, up to 86400; 0: they ask each time", set: number(&s.feedMaxAge, 0, 24*60*60)},
			{name: "export-limit", value: "N", def: "100000", brief: "events of one answer without pages, 1000 to 10000000", set: number(&s.exportLimit, 1000, 10_000_000)},
			{name: "whole-answers", value: "N", def: "8", brief: "answers without pages that are sent at once to callers without credentials, and as many to those with, half of them to one client, 1 to 1000; more are answered 503", set: number(&s.wholeAnswers, 1, 1000)},
			{name: "calendar-limit", value: "N", def: "10000", brief: "events that a calendar widget gets at once, 100 to 100000", set: number(&s.calendarLimit, 100, 100_000)},
			{name: "tombstone-days", value: "N", def: "90", brief: "days for which calendar feeds tell of trashed events, up to 3650; 0: never", set: number(&s.tombstoneDays, 0, 3650)},
			{name: "cost-bands", value: "LIST", def: "10,25,50,100", brief: "bounds of the bands that costs of events are counted in, up to 20 rising numbers above 0", set: func(v string) (err error) {
				s.costBands, err = query.ReadCostBands(v)
				return err
			}},
			{name: "query-budget", value: "N", def: "90", brief: "what one request may cost, 25 to 10000: a list 1, a facet 1, typos 3, relevance or distance 1, highlights 1, collapse 2; more is refused", set: number(&s.queryBudget, 25, 10_000)},
			{name: "read-deadline", value: "DURATION", def: "5s", brief: "longest work on a read, beside its wait for a position", set: deadline(&s.readDeadline)},
			{name: "write-deadline", value: "DURATION", def: "10s", brief: "longest work on a write", set: deadline(&s.writeDeadline)},
			{name: "max-answer", value: "N", def: "8", brief: "MiB of the largest answer, 1 to 1024; what would be larger is refused", set: number(&s.maxAnswer, 1, 1024)},
			{name: "rate-limit", value: "N", def: "0", brief: "requests a minute of one address or user, up to 1000000; 0: any number", set: number(&s.rateLimit, 0, 1_000_000)},
			{name: "serve-stale", boolean: true, def: "false", brief: "answer lists with the last good answer, marked as stale, while the read model is out of reach", set: boolean(&s.serveStale)},
			{name: "history-max-age", value: "SECONDS", def: "300", brief: "how long browsers and proxies may keep versions of records, which may be closed later, up to 31536000; 0: they ask each time", set: number(&s.historyMaxAge, 0, 365*24*60*60)},
		}...),
		in(ofPages, s.pagesTable()...),
		in(ofProofs, []setting{
			{name: "log-origin", value: "NAME", brief: "name of the log in checkpoints, kept with the first one; empty: host and path that the service is reached by", set: checked(&s.logOrigin, "be up to 255 bytes without white space and +", func(v string) bool {
				return v == "" || proof.CheckOrigin(v) == nil
			})},
			{name: "signing-key", value: "FILES", brief: "files of keys PRIVATE+KEY+… that sign checkpoints, each of them, commas between them; empty: audit.key in --data where the event store is there", set: list(&s.signingKeys, func(v string) (file string, err error) {
				return v, readable(&file)(v)
			})},
			{name: "witnesses", value: "LIST", brief: "VKEY@URL of witnesses that are asked to cosign checkpoints, at most 16", set: func(v string) error {
				if err := list(&s.witnesses, func(v string) (string, error) {
					_, err := proof.ParseWitness(v)
					return v, err
				})(v); err != nil {
					return err
				}
				if len(s.witnesses) > proof.MaxWitnesses {
					return fmt.Errorf("must be at most %d", proof.MaxWitnesses)
				}
				return nil
			}},
			{name: "checkpoint-interval", value: "DURATION", def: "1m", brief: "how often a checkpoint is signed while there are new entries", set: duration(&s.checkpointInterval, time.Second, time.Hour, "1m")},
		}...),
		in(ofProcess, []setting{
			{name: "log-level", value: "LEVEL", def: "info", brief: "debug, info, warn or error", set: func(v string) error {
				if err := s.logLevel.UnmarshalText([]byte(v)); err != nil {
					return errors.New("must be debug, info, warn or error")
				}
				return nil
			}},
			{name: "log-format", value: "FORMAT", def: "text", brief: "text or json", set: oneOf(&s.logFormat, "text", "json")},
			{name: "pprof", value: "ADDR", brief: "loopback address and port that serves runtime profiles; empty: none", set: checked(&s.pprof, "be an address of this machine with a port, as 127.0.0.1:6060", isLoopback)},
			{name: "metrics", value: "ADDR", brief: "address and port that serve metrics for Prometheus, or same: with the service; empty: none", set: checked(&s.metrics, "be host:port, as 127.0.0.1:9464, or the word same", func(v string) bool {
				return v == "" || v == metricsSame || hasPort(v)
			})},
			{name: "traces", value: "URL", secret: true, brief: "where OpenTelemetry traces are sent (OTLP over HTTP), as http://127.0.0.1:4318; empty: nowhere", set: checked(&s.traces, "be an http or https URL without user, query and fragment, as http://127.0.0.1:4318", func(v string) bool {
				o := telemetry.TraceOptions{URL: v, Ratio: 1, Log: slog.Default()}
				return v == "" || o.Check() == nil
			})},
			{name: "trace-ratio", value: "N", def: "0.1", brief: "part of the traces that are kept, above 0 and up to 1", set: func(v string) error {
				f, err := strconv.ParseFloat(v, 64)
				if err != nil || !(f > 0 && f <= 1) {
					return errors.New("must be a number above 0 and up to 1, as 0.1")
				}
				s.traceRatio = f
				return nil
			}},
			{name: "drain-delay", value: "DURATION", brief: "how long it goes on answering after SIGTERM while it is not ready; empty: 5s, and 0 where no other process can serve its store", set: func(v string) error {
				s.drainDelay = nil
				if v == "" {
					return nil
				}
				s.drainDelay = new(time.Duration)
				return duration(s.drainDelay, 0, 5*time.Minute, "5s")(v)
			}},
			{name: "drain-limit", value: "DURATION", def: "50s", brief: "longest time from the signal to the end of the process, whatever hangs", set: duration(&s.drainLimit, time.Second, time.Hour, "50s")},
		}...),
		in(ofCommand, []setting{
			{name: "service-role", value: "ROLE", brief: "role of the database that gets the rights of the service, and no more", set: checked(&s.serviceRole, "be letters, digits, _ and -, beginning with a letter or _", roleForm.MatchString)},
			{name: "to", value: "URL", secret: true, brief: "postgres://… of an empty store that the one in --data is carried into, by the owner of its schema", set: urls(&s.to, "a postgres:// URL", oneURL, "postgres", "postgresql")},
			{name: "user-role", flag: "role", value: "ROLE", brief: "subscriber, contributor, author, editor, administrator or auditor", set: checked(&s.role, "be subscriber, contributor, author, editor, administrator or auditor", func(v string) bool {
				_, ok := calendar.ParseRole(v)
				return v == "" || ok
			})},
			{name: "new-log", flag: "new-log", boolean: true, def: "false", brief: "begin a log in a data directory that has lost its own", set: boolean(&s.newLog)},
			{name: "erase-reason", flag: "reason", value: "TEXT", brief: "why the record is erased; it stays in the log, so it must not tell what was erased", set: text(&s.reason)},
			{name: "erase-by", flag: "by", value: "NAME", brief: "administrator who erases; empty: the operator", set: text(&s.by)},
			{name: "yes", boolean: true, def: "false", brief: "do not ask", set: boolean(&s.yes)},
			{name: "compact", boolean: true, def: "false", brief: "as the owner of a PostgreSQL event store: take what was erased out of its files", set: boolean(&s.compact)},
			{name: "file", flag: "file", value: "FILE", brief: "export that is written or checked, packed where it ends in .gz; empty: standard output, and the event store", set: text(&s.verifyFile)},
			{name: "key", flag: "key", value: "VKEY", brief: "key that signed the log; may stand several times", set: list(&s.verifyKeys, word)},
			{name: "checkpoint", flag: "checkpoint", value: "FILE", brief: "checkpoint that was kept elsewhere; may stand several times", set: list(&s.verifyCheckpoints, word)},
			{name: "witness", flag: "witness", value: "VKEY", brief: "key of a witness; may stand several times", set: list(&s.verifyWitnesses, word)},
			{name: "size", flag: "size", value: "N", def: "0", brief: "size of the tree of a proof; 0: that of the newest checkpoint", set: number(&s.proofSize, 0, math.MaxInt)},
			{name: "origin", flag: "origin", value: "NAME", brief: "name of the log that begins with a new key", set: checked(&s.newOrigin, "be up to 255 bytes without white space and +", func(v string) bool {
				return v == "" || proof.CheckOrigin(v) == nil
			})},
			{name: "until", flag: "until", value: "POINT", brief: "point that a replay ends at, as as_of takes it for lists: a date or position:N", set: text(&s.until)},
			{name: "into", flag: "into", value: "DIR", brief: "empty directory that a replay is made in", set: text(&s.into)},
			{name: "source", value: "NAME", brief: "name of the source that the external keys belong to; empty: the file's name", set: text(&s.source)},
			{name: "json", boolean: true, def: "false", brief: "print JSON for programs", set: boolean(&s.json)},
			{name: "lang", value: "LANG", def: "en", brief: "language of sentences: cn, en, fr or es", set: oneOf(&s.lang, calendar.LangNames()...)},
			{name: "from", value: "N", brief: "position of the first entry that is printed; empty: the next one that comes", set: func(v string) error {
				n, err := strconv.ParseUint(v, 10, 63)
				if v != "" && (err != nil || n == 0) {
					return errors.New("must be a position from 1 on")
				}
				s.from = calendar.Position(n)
				return nil
			}},
			{name: "kind", value: "KIND", brief: "kind of the records whose entries are printed; empty: all", set: checked(&s.kind, "be event, venue, organizer, category, tag, image or user", func(v string) bool {
				_, ok := calendar.ParseKind(v)
				return v == "" || ok
			})},
			{name: "back", boolean: true, def: "false", brief: "put the read model that the last rebuild replaced in its place again", set: boolean(&s.back)},
			{name: "seed", value: "N", def: "1", brief: "seed of the made-up calendar", set: func(v string) error {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					return errors.New("must be a whole number")
				}
				s.seed = n
				return nil
			}},
		}...),
	)
}

func word(v string) (string, error) { return v, nil }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (s *settings) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.logLevel}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if s.logFormat == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	return slog.New(telemetry.LogHandler(h, httpapi.RequestID))
}
