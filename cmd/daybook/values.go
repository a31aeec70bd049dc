package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/net/http/httpguts"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/internal/pages"
	"daybook/internal/proof"
)

// What reads the value of a setting. Each error says what would be right, and does
// not repeat the value: it may hold a password.

// readers are the mappers of settings by the tag type, and by the types of Go.
func readers() []kong.Option {
	options := append(make([]kong.Option, 0, 32),
		kong.KindMapper(reflect.Bool, mapper(boolean)), kong.KindMapper(reflect.Int, mapper(number)), kong.KindMapper(reflect.Int64, mapper(number)),
		kong.KindMapper(reflect.String, mapper(text)), kong.KindMapper(reflect.Slice, mapper(text)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), mapper(duration)), kong.TypeMapper(reflect.TypeFor[*time.Duration](), mapper(optionalDuration)),
	)
	for name, mapper := range map[string]kong.Mapper{
		"accent":        checked(pages.CheckAccent),
		"brandname":     value(brandName),
		"feedprefix":    checked(feed.CheckPrefix),
		"file":          checked(readable),
		"footer":        value(pages.ReadFooterLink),
		"headers":       value(headerPair),
		"home":          value(readHome),
		"level":         value(level),
		"logo":          value(readLogo),
		"nats":          urls("nats:// or tls:// URLs", true, "nats", "tls", "ws", "wss"),
		"nodes":         urls("http:// or https:// URLs", true, "http", "https"),
		"origin-of-log": checked(logOrigin),
		"path":          value(pathSegments),
		"postgres":      urls("a postgres:// URL", false, "postgres", "postgresql"),
		"prefix":        value(prefix),
		"position":      value(position),
		"ratio":         value(ratio),
		"schema":        checked(schema),
		"tiles":         checked(checkTiles),
		"witness":       value(proof.ParseWitness),
	} {
		options = append(options, kong.NamedMapper(name, mapper))
	}
	return options
}

// mapper is a mapper of one value, or of a list with commas between, by the tags of a setting.
func mapper(read func(v string, setting *kong.Value, to reflect.Value) error) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, to reflect.Value) error {
		token, err := ctx.Scan.PopValue("a")
		if err != nil || !ctx.Value.IsSlice() {
			return cmp.Or(err, read(token.String(), ctx.Value, to))
		}
		return readList(token.String(), func(part string) error {
			element := reflect.New(to.Type().Elem()).Elem()
			err := read(part, ctx.Value, element)
			to.Set(reflect.Append(to, element)) // a flag may stand several times
			return err
		})
	})
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

// value is a mapper of values that read returns.
func value[T any](read func(string) (T, error)) kong.Mapper {
	return mapper(func(text string, _ *kong.Value, to reflect.Value) error {
		v, err := read(text)
		if err == nil {
			to.Set(reflect.ValueOf(&v).Elem())
		}
		return err
	})
}

// checked is a mapper of texts.
func checked(check func(string) error) kong.Mapper {
	return value(func(v string) (string, error) { return v, check(v) })
}

func text(v string, setting *kong.Value, to reflect.Value) error {
	tag := setting.Tag
	if choices := tag.Get("choices"); choices != "" && (v != "" || tag.HasDefault || tag.Required) {
		words := strings.Split(choices, ",")
		if !slices.Contains(words, v) {
			last := len(words) - 1
			return fmt.Errorf("must be %s or %s", strings.Join(words[:last], ", "), words[last])
		}
	}
	if pattern := tag.Get("pattern"); pattern != "" && !regexp.MustCompile(pattern).MatchString(v) {
		if setting.IsSlice() {
			return fmt.Errorf("%q must %s", v, tag.Get("must"))
		}
		return errors.New("must " + tag.Get("must"))
	}
	to.SetString(strings.TrimRight(v, tag.Get("trim")))
	return nil
}

func number(v string, setting *kong.Value, to reflect.Value) error {
	n, err := strconv.ParseInt(v, 10, 64)
	tag := setting.Tag
	if !tag.Has("max") {
		if err != nil {
			return errors.New("must be a whole number")
		}
		to.SetInt(n)
		return nil
	}
	least, _ := strconv.ParseInt(tag.Get("min"), 10, 64)
	most, _ := strconv.ParseInt(tag.Get("max"), 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("must be a whole number from %d to %d", least, most)
	}
	to.SetInt(n)
	return nil
}

func boolean(v string, _ *kong.Value, to reflect.Value) error {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return errors.New("must be true or false")
	}
	to.SetBool(b)
	return nil
}

func duration(v string, setting *kong.Value, to reflect.Value) error {
	d, err := time.ParseDuration(v)
	tag := setting.Tag
	least, _ := time.ParseDuration(tag.Get("min"))
	most, _ := time.ParseDuration(tag.Get("max"))
	seconds := tag.Has("whole")
	if err == nil && d >= least && d <= most && (!seconds || d%time.Second == 0) {
		to.SetInt(int64(d))
		return nil
	}
	kind := "a duration"
	if seconds {
		kind += " of whole seconds"
	}
	return fmt.Errorf("must be %s from %s to %s, as %s", kind, tag.Get("min"), tag.Get("max"), tag.Default)
}

func optionalDuration(v string, setting *kong.Value, to reflect.Value) error {
	if v == "" {
		to.SetZero()
		return nil
	}
	return duration(v, setting, to.Elem())
}

func readZone(v string) (calendar.Zone, error) {
	z, ok := calendar.ParseZone(v)
	if !ok {
		return z, errors.New("must be a time zone, as Europe/Rome, UTC or UTC+5.5")
	}
	return z, nil
}

func level(v string) (l slog.Level, err error) {
	if l.UnmarshalText([]byte(v)) != nil {
		return l, errors.New("must be debug, info, warn or error")
	}
	return l, nil
}

func ratio(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f > 0 && f <= 1) {
		return 0, errors.New("must be a number above 0 and up to 1, as 0.1")
	}
	return f, nil
}

func position(v string) (calendar.Position, error) {
	n, err := strconv.ParseUint(v, 10, 63)
	if v != "" && (err != nil || n == 0) {
		return 0, errors.New("must be a position from 1 on")
	}
	return calendar.Position(n), nil
}

// urls is a mapper of one URL, or of several with commas between them.
func urls(want string, several bool, schemes ...string) kong.Mapper {
	return value(func(v string) (string, error) {
		if v == "" {
			return "", nil
		}
		parts := []string{v}
		if several {
			parts = strings.Split(v, ",")
		}
		for i, part := range parts {
			parts[i] = strings.TrimSpace(part)
			u, err := url.Parse(parts[i])
			if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
				return "", errors.New("must be " + want)
			}
			if strayAt(parts[i], u) {
				return "", errors.New("must have the @ of a user name or password written as %40 (and / as %2F, ? as %3F, # as %23)")
			}
		}
		return strings.Join(parts, ","), nil
	})
}

// strayAt reports whether a URL has an @ that is not written as %40 where a user name or
// password may have been cut by it: what follows would be taken for a host and shown.
func strayAt(text string, u *url.URL) bool {
	_, rest, _ := strings.Cut(text, "://")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	authority, rest := rest[:end], rest[end:]
	if u.User != nil {
		rest, _, _ = strings.Cut(rest, "?") // a parameter may name a user
		rest += "#" + u.EscapedFragment()
	}
	return strings.Count(authority, "@") > 1 || strings.Contains(rest, "@")
}

// readable checks the name of a file; "": none.
func readable(v string) error {
	if v == "" {
		return nil
	}
	info, err := os.Stat(v)
	switch {
	case err != nil:
		return errors.New("must name a file that can be read")
	case info.IsDir():
		return errors.New("must name a file, which a directory is not")
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

func headerPair(v string) ([2]string, error) {
	a, b, ok := strings.Cut(v, ":")
	if !ok || !httpguts.ValidHeaderFieldName(a) || !httpguts.ValidHeaderFieldName(b) {
		return [2]string{}, fmt.Errorf("%q must be a pair of header names, as X-Count:X-Pages", v)
	}
	return [2]string{a, b}, nil
}

func logOrigin(v string) error {
	if v != "" && proof.CheckOrigin(v) != nil {
		return errors.New("must be up to 255 bytes without white space and +")
	}
	return nil
}

func schema(v string) error {
	if !schemaForm.MatchString(v) || strings.HasPrefix(v, "pg_") {
		return errors.New("must be lower-case letters, digits and _, not beginning with pg_, at most 48")
	}
	return nil
}

var schemaForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)
