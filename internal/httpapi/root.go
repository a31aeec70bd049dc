package httpapi

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	public "daybook/internal/pages"
	"daybook/internal/render"
)

// root is one of the roots of section 1.3 as a request came in by it; links are
// made from it.
type root struct {
	render.Links

	lang      calendar.Lang
	namespace string
	key       string // all that a root is made of, for keys
	mark      uint64 // names the root and the settings that answers depend on, in tags
}

// rootTable finds the root and the route of a path.
type rootTable struct {
	prefixes   []string // longest first
	namespaces []string // longest first
	fixed      *origin  // nil: from the request
	forwarded  bool
	seed       uint64 // of the settings that answers depend on
	known      *cache.Cache[rootKey, *root]
}

func newRootTable(options *Options) (*rootTable, error) {
	table := &rootTable{forwarded: options.TrustForwarded, seed: options.seed(), known: cache.New(knownRoots, func(rootKey, *root) int { return rootBytes })}
	table.prefixes = append([]string{options.Prefix}, options.Prefixes...)
	table.namespaces = append([]string{Namespace}, options.Namespaces...)
	longest := func(a, b string) int { return len(b) - len(a) }
	slices.SortStableFunc(table.prefixes, longest)
	slices.SortStableFunc(table.namespaces, longest)
	if options.BaseURL != "" {
		address, err := url.Parse(options.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
		path := normalize(address.EscapedPath())
		table.fixed = &origin{base: address.Scheme + "://" + address.Host + path, host: address.Host + path, path: path}
	}
	return table, nil
}

// reserved are first segments of paths that are served next to the interface and the pages.
var reserved = []string{"health", "history", "metrics"}

// CheckPrefix refuses what no prefix of the interface may be: one that begins as the path of
// something else.
func CheckPrefix(text string) error {
	first, _, _ := strings.Cut(text, "/")
	if isLangSegment(first) || slices.Contains(append(reserved, public.FirstSegments()...), first) {
		return fmt.Errorf("must not begin with %q, which is the path of something else", first)
	}
	return CheckSegments(text)
}

// CheckSegments refuses what is no namespace: non-empty segments of unreserved characters.
func CheckSegments(text string) error {
	for seg := range strings.SplitSeq(text, "/") {
		if seg == "" || seg == "." || seg == ".." || !isMadeOf(seg, unreserved) {
			return fmt.Errorf("%q must be a path of plain segments, as api", text)
		}
	}
	return nil
}

// unreserved are the characters that need no escape anywhere in a URL (RFC 3986, section 2.3).
const (
	plainSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
	unreserved = plainSigns + "~"
)

// isMadeOf reports whether a text has some characters only.
func isMadeOf(text, characters string) bool { return strings.Trim(text, characters) == "" }

func isLangSegment(text string) bool {
	lang, ok := calendar.ParseLang(text)
	return ok && lang != calendar.LangEN
}

// location is where a path leads: the root and the path below the namespace
// ("/" for the index). known is false when no namespace fits; then only the
// language is right.
type location struct {
	lang      calendar.Lang
	segment   string // "", "/cn", "/es", "/fr"
	prefix    string
	namespace string
	rest      string
	below     bool // it is one of the interface, whatever stands behind the prefix
	known     bool
}

// locate reads the escaped path of a request: runs of slashes count as one, one
// slash at the end is allowed, basePath may stand before it.
func (rootTable *rootTable) locate(escaped, basePath string) location {
	path := normalize(escaped)
	if basePath != "" {
		if rest, ok := cutPath(path, basePath); ok {
			if loc := rootTable.locateBelow(rest); loc.known {
				return loc
			}
			if loc := rootTable.locateBelow(path); loc.known {
				return loc
			}
			return rootTable.locateBelow(rest)
		}
	}
	return rootTable.locateBelow(path)
}

func (rootTable *rootTable) locateBelow(path string) location {
	loc := location{lang: calendar.LangEN}
	if len(path) >= 3 && isLangSegment(path[1:3]) && (len(path) == 3 || path[3] == '/') {
		loc.lang, _ = calendar.ParseLang(path[1:3])
		loc.segment = path[:3]
		path = path[3:]
	}
	for _, text := range rootTable.prefixes {
		below, ok := cutSegments(path, text)
		if !ok {
			continue
		}
		loc.below = true
		for _, n := range rootTable.namespaces {
			if rest, ok := cutSegments(below, n); ok {
				loc.prefix, loc.namespace, loc.rest, loc.known = text, n, rest, true
				if rest == "" {
					loc.rest = "/"
				}
				return loc
			}
		}
	}
	return loc
}

// cutSegments takes "/segments" off the front of a path.
func cutSegments(path, segments string) (rest string, ok bool) {
	if len(path) <= len(segments) || path[0] != '/' || path[1:1+len(segments)] != segments {
		return "", false
	}
	rest = path[1+len(segments):]
	return rest, rest == "" || rest[0] == '/'
}

func cutPath(path, prefix string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// normalize makes runs of slashes one, takes one slash off the end, and writes
// each segment with one spelling, so that %65vents is events and %2F stays a
// part of its segment.
func normalize(escaped string) string {
	if !strings.HasPrefix(escaped, "/") {
		escaped = "/" + escaped
	}
	if strings.Contains(escaped, "//") {
		escaped = slashes.ReplaceAllString(escaped, "/")
	}
	escaped = strings.TrimSuffix(escaped, "/")
	if !strings.Contains(escaped, "%") {
		return escaped
	}
	segments := strings.Split(escaped, "/")
	for i, text := range segments {
		if plain, err := url.PathUnescape(text); err == nil {
			segments[i] = url.PathEscape(plain)
		}
	}
	return strings.Join(segments, "/")
}

var slashes = regexp.MustCompile(`/+`)

// origin is what the links of an answer begin with.
type origin struct {
	base string // scheme, host, path; no slash at the end
	host string // host, port, path
	path string // path of the base URL, "" for none
}

// origin returns the base of links: the setting, else scheme and Host of the
// request, changed by forwarding headers where they are trusted.
func (rootTable *rootTable) origin(request *http.Request) origin {
	if rootTable.fixed != nil {
		return *rootTable.fixed
	}
	scheme, host, path := "http", request.Host, ""
	if request.TLS != nil {
		scheme = "https"
	}
	if rootTable.forwarded {
		if p := strings.ToLower(firstOf(request.Header.Get("X-Forwarded-Proto"))); p == "http" || p == "https" {
			scheme = p
		}
		if h := firstOf(request.Header.Get("X-Forwarded-Host")); isHost(h) {
			host = h
		}
		if p := firstOf(request.Header.Get("X-Forwarded-Prefix")); strings.HasPrefix(p, "/") {
			if p = normalize(p); p != "" && CheckSegments(p[1:]) == nil {
				path = p
			}
		}
	}
	if host == "" { // HTTP/1.0
		host = "localhost"
	}
	return origin{base: scheme + "://" + host + path, host: host + path, path: path}
}

// firstOf returns the first element of a forwarding header: what the client sent
// to the outermost proxy.
func firstOf(text string) string {
	first, _, _ := strings.Cut(text, ",")
	return strings.TrimSpace(first)
}

// maxHost is the longest name of a host in bytes (RFC 1035), a port next to it.
const maxHost = 255

// isHost reports whether a text is a host with or without a port (RFC 3986, section
// 3.2.2; no percent-encoding and no user), so that it may stand in a link.
func isHost(text string) bool {
	host := text
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		port, err := strconv.ParseUint(text[i+1:], 10, 16)
		if err != nil || port == 0 {
			return false
		}
		host = text[:i]
	}
	if host == "" || len(host) > maxHost {
		return false
	}
	if host[0] == '[' {
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		return err == nil && host[len(host)-1] == ']' && addr.Is6() && addr.Zone() == ""
	}
	return isMadeOf(host, unreserved)
}

// rootKey names a root.
type rootKey struct{ base, segment, prefix, namespace string }

// knownRoots is how many bytes the roots that are kept take, of some rootBytes each; clients
// that send ever new hosts make no more.
const knownRoots, rootBytes = 64 << 10, 1 << 10

// root returns the root of a location under an origin.
func (rootTable *rootTable) root(origin origin, loc location) *root {
	key := rootKey{origin.base, loc.segment, loc.prefix, loc.namespace}
	root, ok := rootTable.known.Get(key)
	if !ok {
		root = rootOf(origin, loc, rootTable.seed)
		rootTable.known.Set(key, root)
	}
	return root
}

// rootSeed keeps a client from making up a Host header whose links would stand in
// the answers to others.
var rootSeed = maphash.MakeSeed()

// rootOf makes the root of a location; seed names the settings.
func rootOf(origin origin, loc location, seed uint64) *root {
	site := origin.base + loc.segment
	url := site + "/" + loc.prefix + "/" + loc.namespace
	return &root{
		Links: render.Links{
			Base: origin.base, Site: site, URL: url, Global: origin.host,
			Secret: maphash.Comparable(rootSeed, [2]string{url, origin.host}),
		},
		lang: loc.lang, namespace: loc.namespace,
		mark: uint64(calendar.HashStart.Number(seed).Text(url).Text(origin.host)),
		key:  cache.Key(nil).Text(origin.base).Text(origin.host).Text(loc.segment).Text(loc.prefix).Text(loc.namespace).String(),
	}
}
