package main

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"daybook/internal/proof"
)

// holdsData tells whether a process that serves keeps anything in the data
// directory, which then belongs to it. The roles that share their work do not.
func (s *config) holdsData() bool {
	return (s.Role == "" || s.Role == servesAll) && (s.Store == "" || s.localIndex())
}

// defaultLameDuck is how long load balancers go on sending requests to a process that
// is not ready, or that they were told to forget.
const defaultLameDuck = 5 * time.Second

// lameDuck is how long a process that was told to end is not ready before it closes
// its listener.
func (s *config) lameDuck() time.Duration {
	switch {
	case s.Role == servesRelay, s.Role == servesProjector: // nobody sends them requests
		return 0
	case s.DrainDelay != nil:
		return *s.DrainDelay
	case s.Store == "": // there is nobody else to send requests to
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
func (s *config) misfits() (out []string) {
	var missing []string
	needs := func(lacks bool, option string) {
		if lacks {
			missing = append(missing, option)
		}
	}
	shares := s.Role == servesAPI || s.Role == servesProjector
	needs(s.Store == "" && (shares || s.Role == servesRelay), "--store postgres://…")
	needs(s.Feed == "" && s.Role == servesRelay, "--feed nats://…")
	needs(s.localIndex() && shares, "--index http://…")
	for _, m := range []struct {
		wrong bool
		why   string
	}{
		{missing != nil, fmt.Sprintf("--role %s shares its work with other processes, so it needs %s", s.Role, strings.Join(missing, " and "))},
		{(s.FeedCert == "") != (s.FeedKey == ""), "--feed-cert and --feed-key need each other"},
		{s.FeedCredentials != "" && s.FeedNKey != "", "--feed-credentials and --feed-nkey exclude each other"},
		{s.FeedDomain != "" && s.FeedAPIPrefix != "", "--feed-domain and --feed-api-prefix exclude each other"},
		{
			s.Feed == "" && (s.FeedCredentials+s.FeedNKey+s.FeedDomain+s.FeedAPIPrefix+s.FeedCA+s.FeedCert != "" || s.FeedReplicas > 1),
			"--feed-credentials, --feed-nkey, --feed-domain, --feed-api-prefix, --feed-ca, --feed-cert and --feed-replicas above 1 need --feed nats://…",
		},
		{s.DrainLimit > 0 && s.lameDuck() >= s.DrainLimit, fmt.Sprintf("--drain-limit must be longer than --drain-delay, which is %s", s.lameDuck())},
		{s.Store == "" && s.StoreListen != "", "--store-listen needs --store postgres://…"},
		{s.localIndex() && s.IndexCA+s.IndexAPIKeyFile != "", "--index-ca and --index-api-key-file need --index http://…"},
		{strings.Contains(s.PagesTiles, "{s}") != (len(s.PagesTilesHosts) > 0), "--pages-tiles-hosts and {s} in --pages-tiles need each other"},
		{len(s.Witnesses) > proof.MaxWitnesses, fmt.Sprintf("--witnesses must be at most %d", proof.MaxWitnesses)},
	} {
		if m.wrong {
			out = append(out, m.why)
		}
	}
	return out
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
