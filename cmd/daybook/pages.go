package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
)

// Most of what settings are read from, in bytes.
const (
	maxFile = 1 << 20
	maxLogo = 200_000
	maxHome = 64 << 10
)

// readFrameHost reads a source of frame-ancestors of embedded pages (CSP, host-source).
func readFrameHost(text string) (string, error) {
	switch text = strings.Trim(text, "'"); {
	case text == "none", text == "self":
		return "'" + text + "'", nil
	case text != "*" && !hostForm.MatchString(strings.TrimPrefix(schemeForm.ReplaceAllString(text, ""), "*.")):
		return "", errors.New("must be a host, as www.example.org, *.example.org or https://example.org:8443")
	}
	return text, nil
}

// readPictureHost reads a host that pages load pictures from.
func readPictureHost(text string) (string, error) {
	switch {
	case text == "none":
		return "", nil
	case text == "any":
		return "https:", nil
	case !hostForm.MatchString(strings.TrimPrefix(text, "*.")):
		return "", errors.New("must be a host, as img.example.org, *.example.org or img.example.org:8443")
	}
	return strings.ToLower(text), nil
}

func checkTiles(text string) error {
	address, err := url.Parse(strings.NewReplacer("{s}", "a", "{z}", "1", "{x}", "1", "{y}", "1").Replace(text))
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.User != nil || !hostForm.MatchString(address.Host) ||
		!strings.Contains(text, "{z}") || !strings.Contains(text, "{x}") || !strings.Contains(text, "{y}") {
		return errors.New("must be an http or https URL with {z}, {x} and {y}")
	}
	return nil
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
func readHome(directory string) (texts pages.Home, err error) {
	clean, none := htmltext.New(), pages.HomeText{}
	for _, language := range calendar.Langs {
		name := filepath.Join(directory, "home."+language.String()+".html")
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
		texts[language] = pages.HomeText{HTML: clean.HTML(string(data)), Lang: language}
	}
	if texts == (pages.Home{}) {
		return texts, errors.New("must name a directory that holds home.en.html")
	}
	for _, language := range calendar.Langs {
		if texts[language] == none {
			texts[language] = texts[calendar.LangEN]
		}
	}
	return texts, nil
}

// pageOptions returns the settings of the pages as they take them.
func (config *config) pageOptions() pages.Options {
	options := config.PageOptions
	options.Site, options.SiteZone, options.Namespace = config.zone().Location, config.zone().Name, "/"+config.APIPrefix+"/"+httpapi.Namespace
	options.Prefixes, options.API = append([]string{config.APIPrefix}, config.Prefixes...), httpapi.PageAPI()
	options.Currency, options.OpenHistory = config.Currency, config.PublicHistory == httpapi.PublicHistoryAll
	options.Sunday, options.NoExternalLinks, options.NoRobots = config.PagesWeekStart == "sunday", !config.PagesExternalLinks, config.PagesRobots == "none"
	options.Clock, _ = strconv.Atoi(config.PagesClock) // "": that of the language
	return options
}

var (
	hostForm   = regexp.MustCompile(`^(?i)([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	schemeForm = regexp.MustCompile(`^https?://`)
)
