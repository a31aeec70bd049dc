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

	"github.com/alecthomas/kong"
	"golang.org/x/net/http/httpguts"

	"daybook/calendar"
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
	options := append(make([]kong.Option, 0, 40),
		kong.KindMapper(reflect.Bool, settingsReader.mapper(boolean)), kong.KindMapper(reflect.Int, settingsReader.mapper(number)), kong.KindMapper(reflect.Int64, settingsReader.mapper(number)), kong.KindMapper(reflect.Uint64, settingsReader.mapper(number)),
		kong.KindMapper(reflect.String, settingsReader.mapper(text)), kong.KindMapper(reflect.Slice, settingsReader.mapper(text)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), settingsReader.mapper(duration)),
	)
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
		"logkey":        vkey(false),
		"logo":          value(readLogo),
		"nats":          urls("nats:// or tls:// URLs", true, "nats", "tls", "ws", "wss"),
		"nodes":         urls("http:// or https:// URLs", true, "http", "https"),
		"note":          value(readNote),
		"origin-of-log": checked(proof.CheckOrigin),
		"path":          checked(httpapi.CheckSegments),
		"pictures":      value(readPictureHost),
		"postgres":      urls("a postgres:// URL", false, "postgres", "postgresql"),
		"prefix":        checked(httpapi.CheckPrefix),
		"settings":      settingsReader.readFile,
		"tiles":         checked(checkTiles),
		"witness":       value(proof.ParseWitness),
		"witnesskey":    vkey(true),
		"zone":          checked(checkZone),
	} {
		options = append(options, kong.NamedMapper(name, settingsReader.mapper(read)))
	}
	return options
}

// readList reads a list with commas between.
func readList(text string, read func(part string) error) error {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if err := read(part); err != nil {
			return err
		}
	}
	return nil
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
	must := tag.Get("must")
	wrong := !regexp.MustCompile(tag.Get("pattern")).MatchString(value)
	if words := strings.Split(tag.Get("choices"), ","); words[0] != "" && !slices.Contains(words, value) {
		last := len(words) - 1
		must, wrong = "be "+strings.Join(words[:last], ", ")+" or "+words[last], true
	}
	if wrong {
		return nil, errors.New("must " + must)
	}
	return value, nil
}

func number(text string, setting *kong.Value) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	least, _ := strconv.ParseInt(setting.Tag.Get("min"), 10, 64)
	most, _ := strconv.ParseInt(setting.Tag.Get("max"), 10, 64)
	if err != nil || n < least || n > most {
		return nil, fmt.Errorf("must be a whole number from %d to %d", least, most)
	}
	if setting.Tag.Has("mebibytes") {
		n <<= 20
	}
	return orNone(n, setting), nil
}

func boolean(text string, _ *kong.Value) (any, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return nil, errors.New("must be true or false")
	}
	return b, nil
}

func duration(text string, setting *kong.Value) (any, error) {
	duration, err := time.ParseDuration(text)
	tag := setting.Tag
	least, _ := time.ParseDuration(tag.Get("min"))
	most, _ := time.ParseDuration(tag.Get("max"))
	kind := "a duration"
	if tag.Has("whole") {
		kind += " of whole seconds"
	}
	if err != nil || duration < least || duration > most || tag.Has("whole") && duration%time.Second != 0 {
		return nil, fmt.Errorf("must be %s from %s to %s, as %s", kind, tag.Get("min"), tag.Get("max"), cmp.Or(tag.Default, tag.Get("max")))
	}
	return orNone(duration, setting), nil
}

// orNone returns -1 for the value that stands for none: 0 is the default of options.
func orNone[T ~int64](value T, setting *kong.Value) T {
	if value == 0 && setting.Tag.Has("none") {
		return -1
	}
	return value
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

// vkey returns the reader of keys of logs, or of witnesses.
func vkey(witness bool) valueReader {
	return value(func(text string) (*proof.Key, error) {
		key, err := proof.ParseKey(text)
		if err == nil && key.Cosigns() != witness {
			err = errors.New("must be the key of a log for --key, that of a witness for --witness")
		}
		return key, err
	})
}

// readNote reads the file of a checkpoint.
func readNote(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err == nil {
		_, err = proof.ReadHead(data)
	}
	return data, err
}

// urls returns the reader of one URL, or of several with commas between them.
func urls(want string, several bool, schemes ...string) valueReader {
	return value(func(text string) (string, error) {
		parts := []string{text}
		if several {
			parts = strings.Split(text, ",")
		}
		for i, part := range parts {
			parts[i] = strings.TrimSpace(part)
			address, err := url.Parse(parts[i])
			if err != nil || address.Host == "" || !slices.Contains(schemes, address.Scheme) {
				return "", errors.New("must be " + want)
			}
			if strayAt(parts[i], address) {
				return "", errors.New("must have the @ of a user name or password written as %40 (and / as %2F, ? as %3F, # as %23)")
			}
		}
		return strings.Join(parts, ","), nil
	})
}

// strayAt reports whether a URL has an @ that is not written as %40 where a user name or
// password may have been cut by it: what follows would be taken for a host and shown.
func strayAt(text string, address *url.URL) bool {
	_, rest, _ := strings.Cut(text, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	authority, rest := rest[:end], rest[end:]
	if address.User != nil {
		rest, _, _ = strings.Cut(rest, "?") // a parameter may name a user
		rest += "#" + address.EscapedFragment()
	}
	return strings.Count(authority, "@") > 1 || strings.Contains(rest, "@")
}

// readable checks the name of a file.
func readable(text string) error {
	_, err := readAtMost(text, maxFile)
	return err
}

func headerPair(value string) ([2]string, error) {
	a, b, ok := strings.Cut(value, ":")
	if !ok || !httpguts.ValidHeaderFieldName(a) || !httpguts.ValidHeaderFieldName(b) {
		return [2]string{}, fmt.Errorf("%q must be a pair of header names, as X-Count:X-Pages", value)
	}
	return [2]string{textproto.CanonicalMIMEHeaderKey(a), textproto.CanonicalMIMEHeaderKey(b)}, nil
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
		address, err := url.Parse(strings.TrimSpace(part))
		if err != nil || address.Host == "" || address.Opaque != "" || strayAt(strings.TrimSpace(part), address) {
			return hidden
		}
		if _, has := address.User.Password(); address.User != nil && !has && !strings.HasPrefix(address.Scheme, "postgres") {
			address.User = url.User(hidden)
		}
		values := address.Query()
		for name := range values {
			if secretNames.MatchString(name) {
				values.Set(name, hidden)
			}
		}
		address.RawQuery = values.Encode()
		parts[i] = address.Redacted()
	}
	return strings.Join(parts, ",")
}
