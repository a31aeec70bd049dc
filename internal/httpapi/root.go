package httpapi

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"net/url"
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

	*mount

	mark uint64 // names the root and the settings that answers depend on, in tags
}

// mount is where the interface is served: under a language, a prefix and a namespace.
type mount struct {
	language  calendar.Lang
	segment   string // "", "/cn", "/es", "/fr"
	prefix    string // with the segment
	namespace string
	path      string // all of them
}

func newMount(language calendar.Lang, prefix, namespace string) mount {
	segment := ""
	if language != calendar.LangEN {
		segment = "/" + language.String()
	}
	return mount{language, segment, segment + "/" + prefix, namespace, segment + "/" + prefix + "/" + namespace}
}

// rootTable finds the root and the route of a path.
type rootTable struct {
	mounts    []mount // those of longer paths first
	fixed     *origin // nil: from the request
	forwarded bool
	seed      uint64 // of the settings that answers depend on
}

func newRootTable(options *Options) (*rootTable, error) {
	table := &rootTable{forwarded: options.TrustForwarded, seed: options.seed()}
	for _, language := range calendar.Langs {
		for _, prefix := range append([]string{options.Prefix}, options.Prefixes...) {
			for _, namespace := range append([]string{Namespace}, options.Namespaces...) {
				table.mounts = append(table.mounts, newMount(language, prefix, namespace))
			}
		}
	}
	slices.SortStableFunc(table.mounts, func(a, b mount) int { return len(b.path) - len(a.path) })
	if options.BaseURL != "" {
		address, err := url.Parse(options.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
		table.fixed = new(newOrigin(address.Scheme, address.Host, normalize(address.EscapedPath())))
	}
	return table, nil
}

// reserved are first segments of paths that are served next to the interface and the pages.
var reserved = []string{"health", "history", "metrics"}

// CheckPrefix refuses what no prefix of the interface may be: one that begins as the path of
// something else.
func CheckPrefix(text string) error {
	first, _, _ := strings.Cut(text, "/")
	if language, _ := calendar.ParseLang(first); language != calendar.LangEN || slices.Contains(append(reserved, public.FirstSegments()...), first) {
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

// location is where a path leads.
type location struct {
	*mount // nil: no namespace fits

	language calendar.Lang // of its first segment
	rest     string        // the path below the namespace, "/" for the index
}

// locate reads the escaped path of a request: runs of slashes count as one, one
// slash at the end is allowed, basePath may stand before it.
func (rootTable *rootTable) locate(escaped, basePath string) location {
	path := normalize(escaped)
	below, _ := cutPath(path, basePath)
	first, _, _ := strings.Cut(strings.TrimPrefix(below, "/"), "/")
	language, _ := calendar.ParseLang(first)
	for _, path := range [...]string{below, path} {
		for i := range rootTable.mounts {
			mount := &rootTable.mounts[i]
			if rest, ok := cutPath(path, mount.path); ok {
				return location{mount, mount.language, cmp.Or(rest, "/")}
			}
		}
	}
	return location{language: language}
}

// isInterface reports whether a path is one of the interface, whatever stands behind the prefix.
func (rootTable *rootTable) isInterface(path string) bool {
	return slices.ContainsFunc(rootTable.mounts, func(mount mount) bool {
		_, ok := cutPath(path, mount.prefix)
		return ok
	})
}

// cutPath takes segments off the front of a path.
func cutPath(path, segments string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(path, segments); ok && (rest == "" || rest[0] == '/') {
		return rest, true
	}
	return path, false
}

// normalize makes runs of slashes one, takes one slash off the end, and writes
// each segment with one spelling, so that %65vents is events and %2F stays a
// part of its segment.
func normalize(escaped string) string {
	if !strings.Contains(escaped, "%") && !strings.Contains(escaped, "//") {
		return strings.TrimSuffix(escaped, "/")
	}
	var path strings.Builder
	for segment := range strings.SplitSeq(escaped, "/") {
		if segment == "" {
			continue
		}
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = url.PathEscape(plain)
		}
		path.WriteString("/" + segment)
	}
	return path.String()
}

// origin is what the links of an answer begin with.
type origin struct {
	base string // scheme, host, path; no slash at the end
	host string // host, port, path
	path string // path of the base URL, "" for none
}

func newOrigin(scheme, host, path string) origin {
	return origin{scheme + "://" + host + path, host + path, path}
}

// origin returns the base of links: the setting, else scheme and Host of the
// request, changed by forwarding headers where they are trusted.
func (rootTable *rootTable) origin(request *http.Request) origin {
	if rootTable.fixed != nil {
		return *rootTable.fixed
	}
	scheme, host, path := "http", cmp.Or(request.Host, "localhost"), "" // HTTP/1.0 has no Host
	if request.TLS != nil {
		scheme = "https"
	}
	if rootTable.forwarded {
		if sent := strings.ToLower(firstOf(request.Header.Get("X-Forwarded-Proto"))); sent == "http" || sent == "https" {
			scheme = sent
		}
		if sent := firstOf(request.Header.Get("X-Forwarded-Host")); isHost(sent) {
			host = sent
		}
		if sent := normalize(firstOf(request.Header.Get("X-Forwarded-Prefix"))); strings.HasPrefix(sent, "/") && CheckSegments(sent[1:]) == nil {
			path = sent
		}
	}
	return newOrigin(scheme, host, path)
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

// rootSeed keeps a client from making up a Host header whose links would stand in
// the answers to others.
var rootSeed = maphash.MakeSeed()

// rootOf makes the root of a mount; seed names the settings.
func rootOf(origin origin, mount *mount, seed uint64) root {
	address := origin.base + mount.path
	return root{
		Links: render.Links{
			Base: origin.base, Site: origin.base + mount.segment, URL: address, Global: origin.host,
			Secret: maphash.Comparable(rootSeed, [2]string{address, origin.host}),
		},
		mount: mount,
		mark:  uint64(calendar.HashStart.Number(seed).Text(address).Text(origin.host)),
	}
}

// addTo adds all that a root is made of to a key.
func (root *root) addTo(key cache.Key) cache.Key {
	return key.Text(root.Base).Text(root.Global).Text(root.segment).Text(root.prefix).Text(root.namespace)
}
