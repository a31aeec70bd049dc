package main

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// adapters says which adapters a process works with. Store and read model have an embedded
// default; they may be mixed.
type adapters struct {
	store       string // postgres URL; "": SQLite in the data directory
	storeListen string // URL to listen for changes by; "": that of store
	storeSchema string
	storePool   int // 0: the adapter's
	// how long calls of the database may take
	storeRead, storeAppend time.Duration

	feed                             string // NATS URLs; "": none
	feedCredentials, feedNKey        string
	feedDomain, feedAPIPrefix        string
	feedCA, feedCert, feedKey        string
	feedPrefix                       string
	feedReplicas                     int
	index, indexFlavour, indexPrefix string // URLs; "": the memory image
	indexCA, indexKeyFile            string
	indexShards, indexReplicas       int // 0: the adapter's
	indexRefresh                     time.Duration
}

// holdsData tells whether a process that serves keeps anything in the data
// directory, which then belongs to it. The roles that share their work do not.
func (s *settings) holdsData() bool {
	return (s.serves == "" || s.serves == servesAll) && (s.store == "" || s.engine().local)
}

// defaultLameDuck is how long load balancers go on sending requests to a process that
// is not ready, or that they were told to forget.
const defaultLameDuck = 5 * time.Second

// lameDuck is how long a process that was told to end is not ready before it closes
// its listener.
func (s *settings) lameDuck() time.Duration {
	switch {
	case s.serves == servesRelay, s.serves == servesProjector: // nobody sends them requests
		return 0
	case s.drainDelay != nil:
		return *s.drainDelay
	case s.store == "": // there is nobody else to send requests to
		return 0
	default:
		return defaultLameDuck
	}
}

// The flavours of a read model that is a server.
const (
	flavourElasticsearch = "elasticsearch"
	flavourOpenSearch    = "opensearch"
)

// servesAs is the role of a process that serves.
type servesAs string

// The roles of processes.
const (
	servesAll       servesAs = "all"
	servesAPI       servesAs = "api"
	servesRelay     servesAs = "relay"
	servesProjector servesAs = "projector"
)

// misfits tells what does not go together, all of it.
func (s *settings) misfits() []string {
	var out []string
	var missing []string
	need := func(value, option string) {
		if value == "" {
			missing = append(missing, option)
		}
	}
	if s.serves == servesAPI || s.serves == servesRelay || s.serves == servesProjector {
		need(s.store, "--store postgres://…")
	}
	if s.serves == servesRelay {
		need(s.feed, "--feed nats://…")
	}
	if s.serves == servesAPI || s.serves == servesProjector {
		if s.engine().local {
			missing = append(missing, "--index http://…")
		}
	}
	if missing != nil {
		out = append(out, fmt.Sprintf("--role %s shares its work with other processes, so it needs %s", s.serves, strings.Join(missing, " and ")))
	}
	if (s.feedCert == "") != (s.feedKey == "") {
		out = append(out, "--feed-cert and --feed-key need each other")
	}
	if s.feedCredentials != "" && s.feedNKey != "" {
		out = append(out, "--feed-credentials and --feed-nkey exclude each other")
	}
	if s.feedDomain != "" && s.feedAPIPrefix != "" {
		out = append(out, "--feed-domain and --feed-api-prefix exclude each other")
	}
	if s.feed == "" && (s.feedCredentials != "" || s.feedNKey != "" || s.feedDomain != "" || s.feedAPIPrefix != "" || s.feedCA != "" || s.feedCert != "" || s.feedReplicas > 1) {
		out = append(out, "--feed-credentials, --feed-nkey, --feed-domain, --feed-api-prefix, --feed-ca, --feed-cert and --feed-replicas above 1 need --feed nats://…")
	}
	if s.drainLimit > 0 && s.lameDuck() >= s.drainLimit {
		out = append(out, fmt.Sprintf("--drain-limit must be longer than --drain-delay, which is %s", s.lameDuck()))
	}
	if s.store == "" && s.storeListen != "" {
		out = append(out, "--store-listen needs --store postgres://…")
	}
	if s.engine().local && (s.indexCA != "" || s.indexKeyFile != "") {
		out = append(out, "--index-ca and --index-api-key-file need --index http://…")
	}
	return append(out, s.misfitPages()...)
}

// hidden stands in the place of a secret.
const hidden = "xxxxx"

// secretNames are query parameters of URLs that are secrets.
var secretNames = regexp.MustCompile(`(?i)pass|token|secret|key`)

// redactedURLs gives a list of URLs without what they keep secret: passwords, a
// user without a password (NATS reads it as a token), parameters that are named
// like a secret. A text that is no URL is hidden whole.
func redactedURLs(list string) string {
	if list == "" {
		return ""
	}
	parts := strings.Split(list, ",")
	if strings.HasPrefix(list, "postgres") { // one URL, of several hosts perhaps
		parts = []string{list}
	}
	for i, part := range parts {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || u.Host == "" || u.Opaque != "" || strayAt(strings.TrimSpace(part), u) {
			return hidden
		}
		if u.User != nil {
			name := u.User.Username()
			_, has := u.User.Password()
			switch {
			case has:
				u.User = url.UserPassword(name, hidden)
			case strings.HasPrefix(u.Scheme, "postgres"):
			default:
				u.User = url.User(hidden)
			}
		}
		q := u.Query()
		for name := range q {
			if secretNames.MatchString(name) {
				q.Set(name, hidden)
			}
		}
		u.RawQuery = q.Encode()
		parts[i] = u.String()
	}
	return strings.Join(parts, ",")
}
