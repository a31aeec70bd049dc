package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/internal/httpapi"
	"daybook/internal/telemetry"
)

// settings are the settings of one run, checked.
type settings struct {
	data   string
	listen string

	where // the three adapters

	serves servesAs

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
	readDeadline     time.Duration
	writeDeadline    time.Duration
	maxAnswer        int // bytes
	rateLimit        int // requests a minute
	serveStale       bool

	drainDelay *time.Duration // nil: see lameDuck
	drainLimit time.Duration

	logLevel  slog.Level
	logFormat string
	pprof     string // "": none

	metrics    string // "": none; "same": beside the service
	traces     string // "": none
	traceRatio float64

	role   string
	source string
	json   bool
	back   bool
	seed   int64

	serviceRole string
	to          string

	raw   map[string]string // as given, for config print
	given map[string]bool   // by flag or environment
}

// ordered are the settings that a running server has to know of: of those that
// it has itself, only what was given.
func (s *settings) ordered() map[string]string {
	out := maps.Clone(s.raw)
	if !s.given["timezone"] {
		delete(out, "timezone")
	}
	return out
}

// setting is one row of the table of settings: --name VALUE on the command line,
// DAYBOOK_NAME in the environment.
type setting struct {
	name, value, def, brief string
	boolean                 bool
	// flag is its name on the command line where that is another one; it stands
	// in no environment then.
	flag string
	// secret marks URLs that may hold a password: it is never shown.
	secret bool
	set    func(s *settings, v string) error
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

var (
	storeSettings = []string{"data", "store", "store-schema", "store-listen", "store-pool", "store-read-deadline", "store-append-deadline"}
	feedSettings  = []string{"feed", "feed-credentials", "feed-nkey", "feed-domain", "feed-api-prefix", "feed-ca", "feed-cert", "feed-key", "feed-prefix", "feed-replicas"}
	indexSettings = []string{"index", "index-flavour", "index-prefix", "index-ca", "index-api-key-file", "index-shards", "index-replicas", "index-refresh"}
)

// ownSettings are those of serve beside the adapters.
var ownSettings = []string{
	"role", "listen", "base-url", "api-prefix", "more-prefixes", "more-namespaces", "total-headers",
	"trust-forwarded", "timezone", "currency-symbol", "currency-position", "price-currency", "per-page-max",
	"allowed-origins", "position-wait", "read-max-age", "read-deadline", "write-deadline", "max-answer", "rate-limit", "serve-stale", "log-level", "log-format", "pprof",
	"metrics", "traces", "trace-ratio",
	"drain-delay", "drain-limit",
}

var (
	serveSettings = slices.Concat(storeSettings, feedSettings, indexSettings, ownSettings)
	demoSettings  = append(slices.Clone(ownSettings[1:]), "seed")
)

var settingTable = []setting{
	{name: "data", value: "DIR", def: "./daybook-data", brief: "directory of the event store, the feed and the snapshot", set: func(s *settings, v string) error {
		if v == "" {
			return errors.New("must name a directory")
		}
		s.data = v
		return nil
	}},
	{name: "store", value: "URL", secret: true, brief: "postgres://… of the event store; empty: SQLite in --data", set: func(s *settings, v string) error {
		return setURLs(&s.store, v, "a postgres:// URL", oneURL, "postgres", "postgresql")
	}},
	{name: "store-schema", value: "NAME", def: "daybook", brief: "schema of the database that the store has for itself", set: func(s *settings, v string) error {
		if !schemaForm.MatchString(v) || strings.HasPrefix(v, "pg_") {
			return errors.New("must be lower-case letters, digits and _, not beginning with pg_, at most 48")
		}
		s.storeSchema = v
		return nil
	}},
	{name: "service-role", value: "ROLE", brief: "role of the database that gets the rights of the service, and no more", set: func(s *settings, v string) error {
		if v != "" && !roleForm.MatchString(v) {
			return errors.New("must be letters, digits, _ and -, beginning with a letter or _")
		}
		s.serviceRole = v
		return nil
	}},
	{name: "to", value: "URL", secret: true, brief: "postgres://… of an empty store that the one in --data is carried into, by the owner of its schema", set: func(s *settings, v string) error {
		return setURLs(&s.to, v, "a postgres:// URL", oneURL, "postgres", "postgresql")
	}},
	{name: "store-listen", value: "URL", secret: true, brief: "postgres://… to hear of changes by, where --store is a pooler that passes none on", set: func(s *settings, v string) error {
		return setURLs(&s.storeListen, v, "a postgres:// URL", oneURL, "postgres", "postgresql")
	}},
	{name: "store-pool", value: "N", def: "0", brief: "connections for reading of each process, up to 1000; 0: pool_max_conns of the URL, else 16", set: func(s *settings, v string) error {
		return setNumber(&s.storePool, v, 0, 1000)
	}},
	{name: "store-read-deadline", value: "TIME", def: "5s", brief: "how long a call of the database may take, 100ms to 1m; appends have their own", set: func(s *settings, v string) error {
		return setDeadline(&s.storeRead, v)
	}},
	{name: "store-append-deadline", value: "TIME", def: "10s", brief: "how long an append to the database may take, 100ms to 1m; half of it is for finding out what became of the first attempt", set: func(s *settings, v string) error {
		return setDeadline(&s.storeAppend, v)
	}},
	{name: "feed", value: "URLS", secret: true, brief: "nats://… servers of the feed, commas between them; empty: in the process", set: func(s *settings, v string) error {
		return setURLs(&s.feed, v, "nats:// or tls:// URLs", 0, "nats", "tls", "ws", "wss")
	}},
	{name: "feed-credentials", value: "FILE", brief: "NATS credentials (.creds)", set: func(s *settings, v string) error {
		return setFile(&s.feedCredentials, v)
	}},
	{name: "feed-nkey", value: "FILE", brief: "NATS nkey seed, in the place of credentials", set: func(s *settings, v string) error {
		return setFile(&s.feedNKey, v)
	}},
	{name: "feed-domain", value: "NAME", brief: "JetStream domain", set: func(s *settings, v string) error {
		s.feedDomain = v
		return nil
	}},
	{name: "feed-api-prefix", value: "SUBJECT", brief: "prefix of the JetStream API, in the place of a domain", set: func(s *settings, v string) error {
		s.feedAPIPrefix = v
		return nil
	}},
	{name: "feed-ca", value: "FILE", brief: "PEM certificates that the feed's servers are checked by", set: func(s *settings, v string) error {
		return setFile(&s.feedCA, v)
	}},
	{name: "feed-cert", value: "FILE", brief: "PEM certificate that the feed knows this client by, with --feed-key", set: func(s *settings, v string) error {
		return setFile(&s.feedCert, v)
	}},
	{name: "feed-key", value: "FILE", brief: "PEM key of --feed-cert", set: func(s *settings, v string) error {
		return setFile(&s.feedKey, v)
	}},
	{name: "feed-prefix", value: "NAME", def: feed.DefaultPrefix, brief: "what the names of its stream and subjects begin with, one for each installation on an account", set: func(s *settings, v string) error {
		s.feedPrefix = v
		return feed.CheckPrefix(v)
	}},
	{name: "feed-replicas", value: "N", def: "1", brief: "NATS servers that keep the stream, 1 to 5", set: func(s *settings, v string) error {
		return setNumber(&s.feedReplicas, v, 1, 5)
	}},
	{name: "index", value: "URLS", secret: true, brief: "http(s)://… nodes of the read model, commas between them; empty: in memory", set: func(s *settings, v string) error {
		return setURLs(&s.index, v, "http:// or https:// URLs", 0, "http", "https")
	}},
	{name: "index-flavour", value: "NAME", def: flavourElasticsearch, brief: "elasticsearch or opensearch", set: func(s *settings, v string) error {
		if v != flavourElasticsearch && v != flavourOpenSearch {
			return errors.New("must be elasticsearch or opensearch")
		}
		s.indexFlavour = v
		return nil
	}},
	{name: "index-prefix", value: "NAME", def: "daybook", brief: "what the names of its indices begin with, one for each read model of a store", set: func(s *settings, v string) error {
		if !prefixForm.MatchString(v) {
			return errors.New("must be lower-case letters, digits, - and _, beginning with a letter, at most 60")
		}
		s.indexPrefix = v
		return nil
	}},
	{name: "index-ca", value: "FILE", brief: "PEM certificates that its nodes are checked by", set: func(s *settings, v string) error {
		return setFile(&s.indexCA, v)
	}},
	{name: "index-api-key-file", value: "FILE", brief: "file that holds an API key, in the place of a user in the URL", set: func(s *settings, v string) error {
		return setFile(&s.indexKeyFile, v)
	}},
	{name: "index-shards", value: "N", def: "1", brief: "shards of each index when it is made, 1 to 64", set: func(s *settings, v string) error {
		return setNumber(&s.indexShards, v, 1, 64)
	}},
	{name: "index-replicas", value: "N", def: "0", brief: "copies of each shard; 0: one where there is a second node", set: func(s *settings, v string) error {
		return setNumber(&s.indexReplicas, v, 0, 10)
	}},
	{name: "index-refresh", value: "DURATION", def: "1s", brief: "how old lists without credentials may be at most", set: func(s *settings, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 50*time.Millisecond || d > time.Minute {
			return errors.New("must be a duration from 50ms to 1m, as 1s")
		}
		s.indexRefresh = d
		return nil
	}},
	{name: "role", value: "ROLE", def: string(servesAll), brief: "all, api, relay or projector: what this process does", set: func(s *settings, v string) error {
		switch r := servesAs(v); r {
		case servesAll, servesAPI, servesRelay, servesProjector:
			s.serves = r
			return nil
		default:
			return errors.New("must be all, api, relay or projector")
		}
	}},
	{name: "listen", value: "ADDR", def: "127.0.0.1:8080", brief: "address and port to serve on", set: func(s *settings, v string) error {
		if _, port, err := net.SplitHostPort(v); err != nil || port == "" {
			return errors.New("must be host:port, as 127.0.0.1:8080")
		}
		s.listen = v
		return nil
	}},
	{name: "base-url", value: "URL", brief: "URL that clients reach the service by; empty: taken from each request", set: func(s *settings, v string) error {
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
	{name: "api-prefix", value: "PATH", def: "api", brief: "first segment of all paths", set: func(s *settings, v string) error {
		p, err := pathSegments(v)
		s.apiPrefix = p
		return err
	}},
	{name: "more-prefixes", value: "LIST", brief: "further prefixes that are answered identically", set: func(s *settings, v string) error {
		return eachOf(v, func(e string) error {
			p, err := pathSegments(e)
			s.morePrefixes = append(s.morePrefixes, p)
			return err
		})
	}},
	{name: "more-namespaces", value: "LIST", brief: "further namespaces that are answered identically", set: func(s *settings, v string) error {
		return eachOf(v, func(e string) error {
			p, err := pathSegments(e)
			s.moreNamespaces = append(s.moreNamespaces, p)
			return err
		})
	}},
	{name: "total-headers", value: "LIST", brief: "further names of the two total headers, as pairs NAME:NAME", set: func(s *settings, v string) error {
		return eachOf(v, func(e string) error {
			a, b, ok := strings.Cut(e, ":")
			if !ok || !isToken(a) || !isToken(b) {
				return fmt.Errorf("%q must be a pair of header names, as X-Count:X-Pages", e)
			}
			s.totalHeaders = append(s.totalHeaders, [2]string{a, b})
			return nil
		})
	}},
	{name: "trust-forwarded", boolean: true, def: "false", brief: "believe X-Forwarded-Proto, -Host, -Prefix and -For", set: func(s *settings, v string) error {
		return setBool(&s.trustForwarded, v)
	}},
	{name: "timezone", value: "ZONE", def: "UTC", brief: "time zone of the site, as Europe/Rome or UTC+2", set: func(s *settings, v string) error {
		z, ok := calendar.ParseZone(v)
		if !ok {
			return errors.New("must be a time zone, as Europe/Rome, UTC or UTC+5.5")
		}
		s.site, s.timezone = z.Location, z.Name
		return nil
	}},
	{name: "currency-symbol", value: "TEXT", def: "$", brief: "symbol of costs that name none", set: func(s *settings, v string) error {
		s.currencySymbol = v
		return nil
	}},
	{name: "currency-position", value: "WHERE", def: "prefix", brief: "prefix or postfix", set: func(s *settings, v string) error {
		if v != "prefix" && v != "postfix" {
			return errors.New("must be prefix or postfix")
		}
		s.currencyPosition = v
		return nil
	}},
	{name: "price-currency", value: "CODE", def: "USD", brief: "ISO 4217 code of prices in linked data", set: func(s *settings, v string) error {
		if len(v) != 3 || strings.ToUpper(v) != v || strings.Trim(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return errors.New("must be three capital letters, as EUR")
		}
		s.priceCurrency = v
		return nil
	}},
	{name: "per-page-max", value: "N", def: "100", brief: "largest page of a list, 50 to 1000", set: func(s *settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 50 || n > 1000 {
			return errors.New("must be a whole number from 50 to 1000")
		}
		s.perPageMax = n
		return nil
	}},
	{name: "allowed-origins", value: "LIST", brief: "origins that may write across origins", set: func(s *settings, v string) error {
		return eachOf(v, func(e string) error {
			u, err := url.Parse(e)
			if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
				return fmt.Errorf("%q must be an origin, as https://calendar.example.org", e)
			}
			s.allowedOrigins = append(s.allowedOrigins, e)
			return nil
		})
	}},
	{name: "position-wait", value: "DURATION", def: "5s", brief: "longest wait of a list for a position", set: func(s *settings, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 || d > 5*time.Minute {
			return errors.New("must be a duration above 0 and up to 5m, as 5s or 500ms")
		}
		s.positionWait = d
		return nil
	}},
	{name: "read-max-age", value: "SECONDS", def: "0", brief: "how long browsers and proxies may keep answers to reads without credentials, up to 86400; 0: they ask each time", set: func(s *settings, v string) error {
		return setNumber(&s.readMaxAge, v, 0, 24*60*60)
	}},
	{name: "read-deadline", value: "DURATION", def: "5s", brief: "longest work on a read, beside its wait for a position", set: func(s *settings, v string) error {
		return setDeadline(&s.readDeadline, v)
	}},
	{name: "write-deadline", value: "DURATION", def: "10s", brief: "longest work on a write", set: func(s *settings, v string) error {
		return setDeadline(&s.writeDeadline, v)
	}},
	{name: "max-answer", value: "N", def: "8", brief: "MiB of the largest answer, 1 to 1024; what would be larger is refused", set: func(s *settings, v string) error {
		err := setNumber(&s.maxAnswer, v, 1, 1024)
		s.maxAnswer <<= 20
		return err
	}},
	{name: "rate-limit", value: "N", def: "0", brief: "requests a minute of one address or user, up to 1000000; 0: any number", set: func(s *settings, v string) error {
		return setNumber(&s.rateLimit, v, 0, 1_000_000)
	}},
	{name: "serve-stale", boolean: true, def: "false", brief: "answer lists with the last good answer, marked as stale, while the read model is out of reach", set: func(s *settings, v string) error {
		return setBool(&s.serveStale, v)
	}},
	{name: "drain-delay", value: "DURATION", brief: "how long it goes on answering after SIGTERM while it is not ready; empty: 5s, and 0 where no other process can serve its store", set: func(s *settings, v string) error {
		s.drainDelay = nil
		if v == "" {
			return nil
		}
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 || d > 5*time.Minute {
			return errors.New("must be a duration from 0s to 5m, as 5s")
		}
		s.drainDelay = &d
		return nil
	}},
	{name: "drain-limit", value: "DURATION", def: "50s", brief: "longest time from the signal to the end of the process, whatever hangs", set: func(s *settings, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < time.Second || d > time.Hour {
			return errors.New("must be a duration from 1s to 1h, as 50s")
		}
		s.drainLimit = d
		return nil
	}},
	{name: "log-level", value: "LEVEL", def: "info", brief: "debug, info, warn or error", set: func(s *settings, v string) error {
		if err := s.logLevel.UnmarshalText([]byte(v)); err != nil {
			return errors.New("must be debug, info, warn or error")
		}
		return nil
	}},
	{name: "log-format", value: "FORMAT", def: "text", brief: "text or json", set: func(s *settings, v string) error {
		if v != "text" && v != "json" {
			return errors.New("must be text or json")
		}
		s.logFormat = v
		return nil
	}},
	{name: "pprof", value: "ADDR", brief: "loopback address and port that serves runtime profiles; empty: none", set: func(s *settings, v string) error {
		s.pprof = v
		if v == "" {
			return nil
		}
		return loopback(v)
	}},
	{name: "metrics", value: "ADDR", brief: "address and port that serve metrics for Prometheus, or same: with the service; empty: none", set: setMetrics},
	{name: "traces", value: "URL", secret: true, brief: "where OpenTelemetry traces are sent (OTLP over HTTP), as http://127.0.0.1:4318; empty: nowhere", set: setTraces},
	{name: "trace-ratio", value: "N", def: "0.1", brief: "part of the traces that are kept, above 0 and up to 1", set: setTraceRatio},
	{name: "user-role", flag: "role", value: "ROLE", brief: "subscriber, contributor, author, editor, administrator or auditor", set: func(s *settings, v string) error {
		if _, ok := calendar.ParseRole(v); v != "" && !ok {
			return errors.New("must be subscriber, contributor, author, editor, administrator or auditor")
		}
		s.role = v
		return nil
	}},
	{name: "source", value: "NAME", brief: "name of the source that the external keys belong to; empty: the file's name", set: func(s *settings, v string) error {
		s.source = v
		return nil
	}},
	{name: "json", boolean: true, def: "false", brief: "print JSON for programs", set: func(s *settings, v string) error {
		return setBool(&s.json, v)
	}},
	{name: "back", boolean: true, def: "false", brief: "put the read model that the last rebuild replaced in its place again", set: func(s *settings, v string) error {
		return setBool(&s.back, v)
	}},
	{name: "seed", value: "N", def: "1", brief: "seed of the made-up calendar", set: func(s *settings, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return errors.New("must be a whole number")
		}
		s.seed = n
		return nil
	}},
}

// settingNamed gives the row of a name, nil when there is none.
func settingNamed(name string) *setting {
	i := slices.IndexFunc(settingTable, func(d setting) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return &settingTable[i]
}

// readSettings reads flags and environment of one command. Flags may stand
// before, between and behind the arguments. All wrong settings are named at
// once.
func readSettings(sub subcommand, args, env []string) (*settings, []string, error) {
	values := make(map[string]string)
	fs := flag.NewFlagSet(sub.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, name := range sub.settings {
		d := settingNamed(name)
		keep := func(v string) error { values[d.name] = v; return nil }
		if d.boolean {
			fs.BoolFunc(d.option(), d.brief, keep)
		} else {
			fs.Func(d.option(), d.brief, keep)
		}
	}
	var rest []string
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, nil, err
			}
			return nil, nil, usageError("%s; see daybook %s --help", err, sub.name)
		}
		if args = fs.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	s := &settings{raw: make(map[string]string), given: make(map[string]bool)}
	var problems []string
	for _, name := range sub.settings {
		d := settingNamed(name)
		v, from := d.def, "--"+d.option()
		if e, ok := lookupEnv(env, d.env()); ok {
			v, from = e, d.env()
			s.given[d.name] = true
		}
		if f, ok := values[d.name]; ok {
			v, from = f, "--"+d.option()
			s.given[d.name] = true
		}
		s.raw[d.name] = v
		if err := d.set(s, v); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s, not %q", from, err, d.shown(v)))
		}
	}
	problems = append(problems, s.misfits()...)
	if len(problems) > 0 {
		return nil, nil, usageError("%s", strings.Join(problems, "\n"))
	}
	return s, rest, nil
}

func runConfig(_ context.Context, c *console, s *settings, args []string) error {
	if len(args) != 1 || args[0] != "print" {
		return usageError("usage: daybook config print")
	}
	delete(s.raw, "json")
	for name, v := range s.raw {
		s.raw[name] = settingNamed(name).shown(v)
	}
	if s.json {
		return json.NewEncoder(c.out).Encode(s.raw)
	}
	for _, name := range serveSettings {
		if _, err := fmt.Fprintf(c.out, "%s=%s\n", settingNamed(name).env(), s.raw[name]); err != nil {
			return err
		}
	}
	return nil
}

func lookupEnv(env []string, name string) (string, bool) {
	if name == "" {
		return "", false
	}
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func eachOf(list string, f func(string) error) error {
	for e := range strings.SplitSeq(list, ",") {
		if e = strings.TrimSpace(e); e == "" {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

func pathSegments(v string) (string, error) {
	p := strings.Trim(v, "/")
	if p == "" {
		return "", errors.New("must be a path of one or more segments, as api")
	}
	for seg := range strings.SplitSeq(p, "/") {
		if seg == "" || url.PathEscape(seg) != seg || seg == "." || seg == ".." {
			return "", fmt.Errorf("%q must be a path of plain segments, as api", v)
		}
	}
	return p, nil
}

func isToken(s string) bool {
	return s != "" && http.CanonicalHeaderKey(s) != "" && !strings.ContainsAny(s, " \t\r\n\"(),/:;<=>?@[\\]{}")
}

func setNumber(to *int, v string, least, most int) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return fmt.Errorf("must be a whole number from %d to %d", least, most)
	}
	*to = n
	return nil
}

func setDeadline(to *time.Duration, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 100*time.Millisecond || d > time.Minute {
		return errors.New("must be a duration from 100ms to 1m, as 5s")
	}
	*to = d
	return nil
}

func setBool(to *bool, v string) error {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return errors.New("must be true or false")
	}
	*to = b
	return nil
}

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
