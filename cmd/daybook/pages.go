package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
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

// notPrefixes are first segments that no prefix of the interface may have, beside those
// of pages: paths that are served beside it.
var notPrefixes = []string{"health", "history", "metrics"}

// prefix reads a prefix of the interface. None may begin with what is the path of a page.
func prefix(v string) (string, error) {
	p, err := pathSegments(v)
	first, _, _ := strings.Cut(p, "/")
	if err == nil && (slices.Contains(pages.FirstSegments(), first) || slices.Contains(notPrefixes, first)) {
		return "", fmt.Errorf("must not begin with %q, which is the path of something else", first)
	}
	return p, err
}

// pagesTable gives the settings of the pages for people.
func (s *settings) pagesTable() []setting {
	o := &s.pagesOptions
	return []setting{
		{name: "pages", boolean: true, def: "true", brief: "show pages for people: lists, months, events, venues and what else has a url", set: boolean(&s.pages)},
		{name: "pages-external-links", boolean: true, def: "true", brief: "link calendars and maps of other services on pages", set: func(v string) error {
			shown := false
			err := boolean(&shown)(v)
			o.NoExternalLinks = !shown
			return err
		}},
		{name: "pages-robots", value: "WHICH", def: "index", brief: "index or none: what search engines may keep of pages", set: func(v string) error {
			which := ""
			err := oneOf(&which, "index", "none")(v)
			o.NoRobots = which == "none"
			return err
		}},
		{name: "pages-cache", value: "DURATION", def: "10s", brief: "how long shared caches may keep a page, whole seconds up to 24h; 0s: they ask each time", set: func(v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < 0 || d > 24*time.Hour || d%time.Second != 0 {
				return errors.New("must be a duration of whole seconds from 0s to 24h, as 10s")
			}
			if o.MaxAge = d; d == 0 {
				o.MaxAge = -1
			}
			return nil
		}},
		{name: "pages-embed", value: "HOSTS", def: "*", brief: "hosts that may show embedded pages in frames, commas between them; *: all, none: nobody", set: func(v string) error {
			switch strings.Trim(strings.TrimSpace(v), "'") {
			case "*", "":
				o.Embed = nil
				return nil
			case "none":
				o.Embed = []string{"'none'"}
				return nil
			}
			return list(&o.Embed, frameHost)(v)
		}},
		{name: "pages-week-start", value: "DAY", def: "monday", brief: "monday or sunday: first day of weeks on pages", set: func(v string) error {
			day := ""
			err := oneOf(&day, "monday", "sunday")(v)
			o.Sunday = day == "sunday"
			return err
		}},
		{name: "pages-clock", value: "HOURS", brief: "12 or 24, for all languages; empty: as the language of the page does", set: func(v string) error {
			o.Clock = 0
			switch v {
			case "12":
				o.Clock = 12
			case "24":
				o.Clock = 24
			case "":
			default:
				return errors.New("must be 12, 24 or empty")
			}
			return nil
		}},
		{name: "pages-images", value: "HOSTS", def: "none", brief: "hosts whose pictures pages load, commas between them; none, or any", set: func(v string) error {
			o.Images, o.AnyImage = nil, v == "any"
			if v == "none" || v == "any" {
				return nil
			}
			return list(&o.Images, pictureHost)(v)
		}},
		{name: "pages-tiles", value: "URL", brief: "map tiles below the markers, as https://tiles.example/{z}/{x}/{y}.png; {s} stands for each of --pages-tiles-hosts; empty: outlines alone", set: func(v string) error {
			o.Tiles = v
			if v == "" {
				return nil
			}
			u, err := url.Parse(strings.NewReplacer("{s}", "a", "{z}", "1", "{x}", "1", "{y}", "1").Replace(v))
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !hostForm.MatchString(u.Host) ||
				!strings.Contains(v, "{z}") || !strings.Contains(v, "{x}") || !strings.Contains(v, "{y}") {
				return errors.New("must be an http or https URL with {z}, {x} and {y}")
			}
			return nil
		}},
		{name: "pages-tiles-hosts", value: "LIST", brief: "words that {s} stands for, as a,b,c", set: list(&o.TileHosts, func(v string) (string, error) {
			if !wordForm.MatchString(v) {
				return "", fmt.Errorf("%q must be a word of a host name, as a", v)
			}
			return v, nil
		})},
		{name: "pages-tiles-attribution", value: "TEXT", brief: "who made the tiles; it stands on every map", set: text(&o.TilesBy)},
		{name: "brand-name", value: "TEXT", def: "Calendar", brief: "name of the calendar on pages, and in feeds without --calendar-name", set: func(v string) error {
			o.Brand.Name = strings.TrimSpace(v)
			if n := utf8.RuneCountInString(o.Brand.Name); n == 0 || n > 100 {
				return errors.New("must be a text of 1 to 100 characters")
			}
			return nil
		}},
		{name: "brand-logo", value: "FILE", brief: "SVG, PNG or WebP of at most 200 kB that stands for the name", set: func(v string) (err error) {
			if o.Brand.Logo = nil; v == "" {
				return nil
			}
			b, err := readAtMost(v, maxLogo)
			if err == nil {
				o.Brand.Logo, err = pages.NewLogo(b)
			}
			return err
		}},
		{name: "brand-accent", value: "COLOUR", brief: "colour of links and buttons, as #0b5fae; it is made darker or lighter where it could not be read", set: func(v string) error {
			o.Brand.Accent = v
			return pages.CheckAccent(v)
		}},
		{name: "brand-footer", value: "LIST", brief: "links at the end of pages, as Imprint=https://…, fr:Mentions légales=https://…", set: list(&o.Brand.Footer, pages.ReadFooterLink)},
		{name: "brand-home", value: "DIR", brief: "directory with the text of the home page: home.en.html, home.cn.html, home.es.html, home.fr.html; a missing one is as the English one", set: func(v string) (err error) {
			o.Brand.Home, err = readHome(v)
			return err
		}},
	}
}

// readAtMost reads a file of at most so many bytes.
func readAtMost(name string, most int) ([]byte, error) {
	if err := readable(new(string))(name); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, errors.New("must name a file that can be read")
	}
	if len(b) > most {
		return nil, fmt.Errorf("must name a file of at most %d bytes", most)
	}
	return b, nil
}

// readHome reads the texts of the home page, and leaves of them what is safe.
func readHome(dir string) (texts pages.Home, err error) {
	if dir == "" {
		return texts, nil
	}
	clean, found := htmltext.New(), false
	var has [len(texts)]bool
	for _, l := range calendar.Langs {
		name := filepath.Join(dir, "home."+l.String()+".html")
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			continue
		}
		b, err := readAtMost(name, maxHome)
		if err == nil && !utf8.Valid(b) {
			err = errors.New("must be UTF-8")
		}
		if err != nil {
			return texts, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		texts[l], has[l], found = pages.HomeText{HTML: clean.HTML(string(b)), Lang: l}, true, true
	}
	if !found {
		return texts, errors.New("must name a directory that holds home.en.html")
	}
	for _, l := range calendar.Langs {
		if !has[l] {
			texts[l] = texts[calendar.LangEN]
		}
	}
	return texts, nil
}

// misfitPages tells what of the settings of pages does not go together.
func (s *settings) misfitPages() []string {
	o := &s.pagesOptions
	if spread := strings.Contains(o.Tiles, "{s}"); spread != (len(o.TileHosts) > 0) {
		return []string{"--pages-tiles-hosts and {s} in --pages-tiles need each other"}
	}
	return nil
}

// pageOptions gives the settings of the pages as they take them.
func (s *settings) pageOptions() pages.Options {
	o := s.pagesOptions
	o.Site, o.SiteZone = s.site, s.timezone
	o.Namespace = "/" + s.apiPrefix + "/" + httpapi.Namespace
	o.Prefixes = append([]string{s.apiPrefix}, s.morePrefixes...)
	o.API = httpapi.PageAPI()
	return o
}

// feedName is the name of the calendar in feeds, "" for that of the language.
func (s *settings) feedName() string {
	if s.calendarName == "" && s.given["brand-name"].From != byDefault {
		return s.pagesOptions.Brand.Name
	}
	return s.calendarName
}

// frameHost reads a host that may show pages in frames (CSP, host-source).
func frameHost(v string) (string, error) {
	rest := v
	for _, scheme := range []string{"https://", "http://"} {
		rest = strings.TrimPrefix(rest, scheme)
	}
	if rest == "'self'" || rest == "self" {
		return "'self'", nil
	}
	if !hostForm.MatchString(strings.TrimPrefix(rest, "*.")) {
		return "", fmt.Errorf("%q must be a host, as www.example.org, *.example.org or https://example.org:8443", v)
	}
	return v, nil
}

// pictureHost reads a host that pictures are loaded from.
func pictureHost(v string) (string, error) {
	if !hostForm.MatchString(strings.TrimPrefix(v, "*.")) {
		return "", fmt.Errorf("%q must be a host, as img.example.org, *.example.org or img.example.org:8443", v)
	}
	return strings.ToLower(v), nil
}

var (
	hostForm = regexp.MustCompile(`^(?i)([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	wordForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
)
