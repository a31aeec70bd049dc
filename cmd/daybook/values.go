package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	"daybook/internal/telemetry"
	"daybook/query"
)

// What reads the value of a setting. Each error says what would be right, and does
// not repeat the value: it may hold a password.

// readers are the mappers of settings by the tag type, and by the types of Go.
func readers() []kong.Option {
	var names []kong.Option
	for name, mapper := range map[string]kong.Mapper{
		"accent":        checked(pages.CheckAccent),
		"baseurl":       value(baseURL),
		"brandname":     value(brandName),
		"clock":         value(clock),
		"costbands":     single(query.ReadCostBands),
		"feedprefix":    checked(feed.CheckPrefix),
		"file":          checked(readable),
		"footer":        value(pages.ReadFooterLink),
		"headers":       value(headerPair),
		"home":          value(readHome),
		"hostword":      value(hostWord),
		"level":         value(level),
		"listen":        form("be host:port, as 127.0.0.1:8080", hasPort),
		"logo":          value(readLogo),
		"loopback":      form("be an address of this machine with a port, as 127.0.0.1:6060", isLoopback),
		"metrics":       form("be host:port, as 127.0.0.1:9464, or the word same", func(v string) bool { return v == "" || v == metricsSame || hasPort(v) }),
		"nats":          urls("nats:// or tls:// URLs", true, "nats", "tls", "ws", "wss"),
		"nodes":         urls(strings.Join(engineSchemes(), ":// or ")+":// URLs", true, engineSchemes()...),
		"origin":        value(origin),
		"origin-of-log": form("be up to 255 bytes without white space and +", func(v string) bool { return v == "" || proof.CheckOrigin(v) == nil }),
		"path":          value(pathSegments),
		"postgres":      urls("a postgres:// URL", false, "postgres", "postgresql"),
		"prefix":        value(prefix),
		"position":      value(position),
		"ratio":         value(ratio),
		"schema":        form("be lower-case letters, digits and _, not beginning with pg_, at most 48", isSchema),
		"tiles":         checked(checkTiles),
		"traces":        form("be an http or https URL without user, query and fragment, as http://127.0.0.1:4318", isCollector),
		"word":          checked(func(string) error { return nil }),
		"witness":       checked(func(v string) error { _, err := proof.ParseWitness(v); return err }),
	} {
		names = append(names, kong.NamedMapper(name, mapper))
	}
	return append(names,
		kong.KindMapper(reflect.Bool, tagged(boolean)), kong.KindMapper(reflect.Int, tagged(number)),
		kong.KindMapper(reflect.Int64, tagged(number)), kong.KindMapper(reflect.String, tagged(text)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), tagged(duration)), kong.TypeMapper(reflect.TypeFor[*time.Duration](), tagged(optionalDuration)))
}

// tagged is a mapper that regards the tags of a setting.
func tagged(read func(v string, tag *kong.Tag, to reflect.Value) error) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, to reflect.Value) error {
		token, err := ctx.Scan.PopValue("a")
		if err != nil {
			return err
		}
		return read(token.String(), ctx.Value.Tag, to)
	})
}

// single is a mapper of one value.
func single[T any](read func(string) (T, error)) kong.Mapper {
	return tagged(func(text string, _ *kong.Tag, to reflect.Value) error {
		v, err := read(text)
		if err == nil {
			to.Set(reflect.ValueOf(&v).Elem())
		}
		return err
	})
}

// value is a mapper of one value, or of a list with commas between.
func value[T any](read func(string) (T, error)) kong.Mapper {
	return tagged(func(text string, _ *kong.Tag, to reflect.Value) error {
		list, ok := reflect.TypeAssert[*[]T](to.Addr())
		if !ok {
			v, err := read(text)
			if err == nil {
				to.Set(reflect.ValueOf(&v).Elem())
			}
			return err
		}
		more, err := readList(text, read)
		*list = append(*list, more...) // a flag may stand several times
		return err
	})
}

// readList reads a list with commas between.
func readList[T any](text string, read func(string) (T, error)) (list []T, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		v, err := read(part)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// checked is a mapper of a text or of a list of them.
func checked(check func(string) error) kong.Mapper {
	return value(func(v string) (string, error) { return v, check(v) })
}

// form is a mapper of texts that are ok.
func form(must string, ok func(string) bool) kong.Mapper {
	return checked(func(v string) error {
		if !ok(v) {
			return errors.New("must " + must)
		}
		return nil
	})
}

func text(v string, tag *kong.Tag, to reflect.Value) error {
	if choices := tag.Get("choices"); choices != "" && (v != "" || tag.HasDefault || tag.Required) {
		words := strings.Split(choices, ",")
		if !slices.Contains(words, v) {
			last := len(words) - 1
			return fmt.Errorf("must be %s or %s", strings.Join(words[:last], ", "), words[last])
		}
	}
	if pattern := tag.Get("pattern"); pattern != "" && !regexp.MustCompile(pattern).MatchString(v) {
		return errors.New("must " + tag.Get("must"))
	}
	to.SetString(v)
	return nil
}

func number(v string, tag *kong.Tag, to reflect.Value) error {
	n, err := strconv.ParseInt(v, 10, 64)
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

func boolean(v string, _ *kong.Tag, to reflect.Value) error {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return errors.New("must be true or false")
	}
	to.SetBool(b)
	return nil
}

func duration(v string, tag *kong.Tag, to reflect.Value) error {
	d, err := time.ParseDuration(v)
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

func optionalDuration(v string, tag *kong.Tag, to reflect.Value) error {
	if v == "" {
		to.SetZero()
		return nil
	}
	return duration(v, tag, to.Elem())
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

func baseURL(v string) (string, error) {
	u, err := url.Parse(v)
	if v != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "") {
		return "", errors.New("must be an absolute http or https URL without query and fragment")
	}
	return strings.TrimRight(v, "/"), nil
}

func isCollector(v string) bool {
	o := telemetry.TraceOptions{URL: v, Ratio: 1, Log: slog.Default()}
	return v == "" || o.Check() == nil
}

// urls is a mapper of one URL, or of several with commas between them.
func urls(want string, several bool, schemes ...string) kong.Mapper {
	return single(func(v string) (string, error) {
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

func origin(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
		return "", fmt.Errorf("%q must be an origin, as https://calendar.example.org", v)
	}
	return v, nil
}

func hasPort(v string) bool {
	_, port, err := net.SplitHostPort(v)
	return err == nil && port != ""
}

// isLoopback reports whether only this machine can reach a listener; "": there is none.
func isLoopback(v string) bool {
	host, _, _ := net.SplitHostPort(v)
	ip := net.ParseIP(host)
	return v == "" || hasPort(v) && ip != nil && ip.IsLoopback()
}

func isSchema(v string) bool { return schemaForm.MatchString(v) && !strings.HasPrefix(v, "pg_") }

var schemaForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)
