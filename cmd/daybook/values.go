package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/net/http/httpguts"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/query"
)

// What reads the value of a setting. Each error says what would be right, and does
// not repeat the value: it may hold a password.

// valueReader reads the value of a setting, or one of its list.
type valueReader func(text string, setting *kong.Value) (any, error)

// mappers are the mappers of settings by the tag type, and by the types of Go.
func (settingsReader *settingsReader) mappers() []kong.Option {
	options := append(make([]kong.Option, 0, 40), kong.TypeMapper(reflect.TypeFor[time.Duration](), settingsReader.mapper(bounded("a duration from %s to %s, as %s", time.ParseDuration))))
	number := bounded(wholeNumber, readNumber)
	for kind, read := range map[reflect.Kind]valueReader{
		reflect.Bool: boolean, reflect.Int: number, reflect.Int64: number, reflect.Uint64: number, reflect.String: text, reflect.Slice: text,
	} {
		options = append(options, kong.KindMapper(kind, settingsReader.mapper(read)))
	}
	for name, read := range map[string]valueReader{
		"accent":        checked(pages.CheckAccent),
		"bands":         value(query.ReadCostBands),
		"directory":     value(filepath.Abs),
		"file":          checked(readable),
		"footer":        value(pages.ReadFooterLink),
		"frames":        value(readFrameHost),
		"headers":       value(headerPair),
		"home":          value(readHome),
		"kind":          value(readKind),
		"logo":          value(readLogo),
		"mebibytes":     bounded(wholeNumber, readMebibytes),
		"note":          value(readNote),
		"origin-of-log": checked(proof.CheckOrigin),
		"path":          checked(httpapi.CheckSegments),
		"pictures":      value(readPictureHost),
		"prefix":        checked(httpapi.CheckPrefix),
		"seconds":       bounded("a duration of whole seconds from %s to %s, as %s", readSeconds),
		"settings":      settingsReader.readFile,
		"tiles":         checked(checkTiles),
		"urls":          urls,
		"vkey":          vkey,
		"witness":       value(proof.ParseWitness),
		"zone":          checked(checkZone),
	} {
		options = append(options, kong.NamedMapper(name, settingsReader.mapper(read)))
	}
	return options
}

// splitList splits a list with commas between.
func splitList(text string) (parts []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// value returns the reader of what a function reads.
func value[T any](read func(string) (T, error)) valueReader {
	return func(text string, _ *kong.Value) (any, error) { return read(text) }
}

// checked returns the reader of texts that a function checks.
func checked(check func(string) error) valueReader {
	return func(text string, setting *kong.Value) (any, error) {
		text = strings.Trim(text, setting.Tag.Get("trim"))
		return text, check(text)
	}
}

func text(value string, setting *kong.Value) (any, error) {
	tag := setting.Tag
	value = strings.Trim(value, tag.Get("trim"))
	must, pattern := tag.Get("must"), tag.Get("pattern")
	if choices := tag.Get("choices"); choices != "" {
		must, pattern = "be "+choices, "^("+alternatives.Replace(choices)+")$"
	}
	if !regexp.MustCompile(pattern).MatchString(value) {
		return nil, errors.New("must " + must)
	}
	return value, nil
}

// alternatives makes a pattern of choices as people write them.
var alternatives = strings.NewReplacer(", ", "|", " or ", "|")

// bounded returns the reader of what parse reads, within the bounds of the tags. 0 may stand for
// none, which is -1: 0 is the default of options.
func bounded[T ~int64](want string, parse func(string) (T, error)) valueReader {
	return func(text string, setting *kong.Value) (any, error) {
		tag := setting.Tag
		value, err := parse(text)
		least, _ := parse(tag.Get("min"))
		most, _ := parse(tag.Get("max"))
		switch {
		case err != nil || value < least || value > most:
			return nil, fmt.Errorf("must be "+want, tag.Get("min"), tag.Get("max"), cmp.Or(tag.Default, tag.Get("max")))
		case value == 0 && tag.Has("none"):
			return T(-1), nil
		}
		return value, nil
	}
}

const wholeNumber = "a whole number from %[1]s to %[2]s"

func readNumber(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }

func readMebibytes(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 32)
	return number << 20, err
}

func readSeconds(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	if duration%time.Second != 0 {
		err = strconv.ErrRange
	}
	return duration, err
}

func boolean(text string, _ *kong.Value) (any, error) {
	value, err := strconv.ParseBool(text)
	if err != nil {
		err = errors.New("must be true or false")
	}
	return value, err
}

func checkZone(text string) error {
	if _, ok := calendar.ParseZone(text); !ok {
		return errors.New("must be a time zone, as Europe/Rome, UTC or UTC+5.5")
	}
	return nil
}

func readKind(text string) (calendar.Kind, error) {
	kind, ok := calendar.ParseKind(text)
	if !ok {
		return kind, fmt.Errorf("must be event, venue, organizer, category, tag, image or user, not %q", text)
	}
	return kind, nil
}

// vkey reads the key of a log, or of a witness.
func vkey(text string, setting *kong.Value) (any, error) {
	key, err := proof.ParseKey(text)
	if err == nil && key.Cosigns() != (setting.Name == "witness") {
		err = errors.New("must be the key of a log for --key, that of a witness for --witness")
	}
	return key, err
}

// readNote reads the file of a checkpoint.
func readNote(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err == nil {
		_, err = proof.ReadHead(data)
	}
	return data, err
}

// urls reads URLs of the schemes of a setting.
func urls(text string, setting *kong.Value) (any, error) {
	parts, _, err := readURLs(text, setting.Tag.Get("must"), strings.Split(setting.Tag.Get("schemes"), ","))
	return strings.Join(parts, ","), err
}

// readURLs reads URLs with commas between them, of some schemes or of any. One of PostgreSQL may
// have several hosts. An @ that is not written as %40 may be in a user name or password, which
// it would cut: what follows would be taken for a host and shown.
func readURLs(text, must string, schemes []string) (parts []string, addresses []*url.URL, err error) {
	parts = []string{text}
	if !strings.HasPrefix(text, "postgres") {
		parts = strings.Split(text, ",")
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
		address, err := url.Parse(parts[i])
		if err != nil || address.Host == "" || schemes != nil && !slices.Contains(schemes, address.Scheme) {
			return nil, nil, errors.New("must " + must)
		}
		fit := 0
		if address.User != nil {
			fit = 1 + strings.Count(address.RawQuery, "@") // a parameter may name a user
		}
		if strings.Count(parts[i], "@") > fit {
			return nil, nil, errors.New("must have the @ of a user name or password written as %40 (and / as %2F, ? as %3F, # as %23)")
		}
		addresses = append(addresses, address)
	}
	return parts, addresses, nil
}

// readable checks the name of a file.
func readable(text string) error {
	_, err := readAtMost(text, maxFile)
	return err
}

func headerPair(value string) ([2]string, error) {
	first, second, ok := strings.Cut(value, ":")
	if !ok || !httpguts.ValidHeaderFieldName(first) || !httpguts.ValidHeaderFieldName(second) {
		return [2]string{}, fmt.Errorf("%q must be a pair of header names, as X-Count:X-Pages", value)
	}
	return [2]string{textproto.CanonicalMIMEHeaderKey(first), textproto.CanonicalMIMEHeaderKey(second)}, nil
}

// hidden stands in the place of a secret.
const hidden = "xxxxx"

// secretValues are the values of query parameters that are named like a secret.
var secretValues = regexp.MustCompile(`(?i)([^&]*(?:pass|token|secret|key)[^&]*=)[^&]*`)

// redactedURLs gives a list of URLs without what they keep secret: passwords, a
// user without a password (NATS reads it as a token), parameters that are named
// like a secret. A text that is no URL is hidden whole.
func redactedURLs(list string) string {
	if list == "" {
		return ""
	}
	parts, addresses, err := readURLs(list, "", nil)
	if err != nil {
		return hidden
	}
	for i, address := range addresses {
		if _, has := address.User.Password(); address.User != nil && !has && !strings.HasPrefix(parts[i], "postgres") {
			address.User = url.User(hidden)
		}
		address.RawQuery = secretValues.ReplaceAllString(address.RawQuery, "${1}"+hidden)
		parts[i] = address.Redacted()
	}
	return strings.Join(parts, ",")
}

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
	return options
}

var (
	hostForm   = regexp.MustCompile(`^(?i)([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	schemeForm = regexp.MustCompile(`^https?://`)
)
