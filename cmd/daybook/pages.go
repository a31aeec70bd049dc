package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
)

// Most of what branding is read from, in bytes.
const (
	maxLogo = 200_000
	maxHome = 64 << 10
)

// notPrefixes are first segments that no prefix of the interface may have, besides those
// of pages: paths that are served next to it, and languages.
var notPrefixes = []string{"cn", "es", "fr", "health", "history", "metrics"}

// prefix reads a prefix of the interface. None may begin with what is the path of a page.
func prefix(value string) (string, error) {
	p, err := pathSegments(value)
	first, _, _ := strings.Cut(p, "/")
	if err == nil && (slices.Contains(pages.FirstSegments(), first) || slices.Contains(notPrefixes, first)) {
		return "", fmt.Errorf("must not begin with %q, which is the path of something else", first)
	}
	return p, err
}

// frameHosts are the sources of frame-ancestors of embedded pages (CSP, host-source); nil:
// everybody.
type frameHosts []string

func readFrameHosts(text string) (hosts frameHosts, err error) {
	switch strings.Trim(strings.TrimSpace(text), "'") {
	case "*", "":
		return nil, nil
	case "none":
		return frameHosts{"'none'"}, nil
	}
	return hosts, readList(text, func(value string) error {
		switch {
		case value == "'self'", value == "self":
			value = "'self'"
		case !hostForm.MatchString(strings.TrimPrefix(schemeForm.ReplaceAllString(value, ""), "*.")):
			return fmt.Errorf("%q must be a host, as www.example.org, *.example.org or https://example.org:8443", value)
		}
		hosts = append(hosts, value)
		return nil
	})
}

// pictureHosts are the hosts that pages load pictures from.
type pictureHosts []string

func readPictureHosts(text string) (hosts pictureHosts, err error) {
	switch text {
	case "none":
		return nil, nil
	case "any":
		return pictureHosts{anyHost}, nil
	}
	return hosts, readList(text, func(value string) error {
		if !hostForm.MatchString(strings.TrimPrefix(value, "*.")) {
			return fmt.Errorf("%q must be a host, as img.example.org, *.example.org or img.example.org:8443", value)
		}
		hosts = append(hosts, strings.ToLower(value))
		return nil
	})
}

// anyHost is no name of a host.
const anyHost = "*"

// costBands are the bounds of the bands that costs are counted in.
type costBands []string

func checkTiles(text string) error {
	address, err := url.Parse(strings.NewReplacer("{s}", "a", "{z}", "1", "{x}", "1", "{y}", "1").Replace(text))
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.User != nil || !hostForm.MatchString(address.Host) ||
		!strings.Contains(text, "{z}") || !strings.Contains(text, "{x}") || !strings.Contains(text, "{y}") {
		return errors.New("must be an http or https URL with {z}, {x} and {y}")
	}
	return nil
}

func brandName(text string) (string, error) {
	name := strings.TrimSpace(text)
	if n := utf8.RuneCountInString(name); n == 0 || n > 100 {
		return "", errors.New("must be a text of 1 to 100 characters")
	}
	return name, nil
}

func readLogo(file string) (*pages.Logo, error) {
	data, err := readAtMost(file, maxLogo)
	if err != nil {
		return nil, err
	}
	return pages.NewLogo(data)
}

// readAtMost reads a file of at most so many bytes.
func readAtMost(name string, most int) ([]byte, error) {
	if err := readable(name); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, errors.New("must name a file that can be read")
	}
	if len(data) > most {
		return nil, fmt.Errorf("must name a file of at most %d bytes", most)
	}
	return data, nil
}

// readHome reads the texts of the home page, and leaves of them what is safe.
func readHome(dir string) (texts pages.Home, err error) {
	clean, found := htmltext.New(), false
	var has [len(texts)]bool
	for _, lang := range calendar.Langs {
		name := filepath.Join(dir, "home."+lang.String()+".html")
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			continue
		}
		data, err := readAtMost(name, maxHome)
		if err == nil && !utf8.Valid(data) {
			err = errors.New("must be UTF-8")
		}
		if err != nil {
			return texts, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		texts[lang], has[lang], found = pages.HomeText{HTML: clean.HTML(string(data)), Lang: lang}, true, true
	}
	if !found {
		return texts, errors.New("must name a directory that holds home.en.html")
	}
	for _, lang := range calendar.Langs {
		if !has[lang] {
			texts[lang] = texts[calendar.LangEN]
		}
	}
	return texts, nil
}

// pageOptions returns the settings of the pages as they take them.
func (config *config) pageOptions() pages.Options {
	clock, _ := strconv.Atoi(config.PagesClock) // "": that of the language
	return pages.Options{
		Site: config.zone().Location, SiteZone: config.zone().Name, Namespace: "/" + config.APIPrefix + "/" + httpapi.Namespace,
		Prefixes: append([]string{config.APIPrefix}, config.MorePrefixes...), API: httpapi.PageAPI(),
		Currency: config.currency(), OpenHistory: config.PublicHistory == httpapi.PublicHistoryAll,
		Desk: config.Desk, Sunday: config.PagesWeekStart == "sunday", Clock: clock, NoExternalLinks: !config.PagesExternalLinks, NoRobots: config.PagesRobots == "none",
		Images: config.PagesImages, AnyImage: slices.Contains(config.PagesImages, anyHost),
		Tiles: config.PagesTiles, TileHosts: config.PagesTilesHosts, TilesBy: config.PagesTilesAttribution, Embed: config.PagesEmbed, MaxAge: cmp.Or(config.PagesCache, -1),
		Brand: pages.Brand{Name: config.BrandName, Logo: config.BrandLogo, Accent: config.BrandAccent, Footer: config.BrandFooter, Home: config.BrandHome},
	}
}

var (
	hostForm   = regexp.MustCompile(`^(?i)([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	schemeForm = regexp.MustCompile(`^https?://`)
)
