package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// What reads the value of a setting. Each error says what would be right, and does
// not repeat the value: it may hold a password.

func text(to *string) func(string) error {
	return checked(to, "", func(string) bool { return true })
}

// checked takes the texts that are ok.
func checked(to *string, must string, ok func(string) bool) func(string) error {
	return func(v string) error {
		if !ok(v) {
			return errors.New("must " + must)
		}
		*to = v
		return nil
	}
}

func oneOf[T ~string](to *T, choices ...T) func(string) error {
	return func(v string) error {
		if slices.Contains(choices, T(v)) {
			*to = T(v)
			return nil
		}
		names := make([]string, 0, len(choices))
		for _, c := range choices {
			names = append(names, string(c))
		}
		last := len(names) - 1
		return fmt.Errorf("must be %s or %s", strings.Join(names[:last], ", "), names[last])
	}
}

func number(to *int, least, most int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
}

func boolean(to *bool) func(string) error {
	return func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return errors.New("must be true or false")
		}
		*to = b
		return nil
	}
}

func duration(to *time.Duration, least, most time.Duration, as string) func(string) error {
	return func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < least || d > most {
			short := strings.NewReplacer("h0m0s", "h", "m0s", "m")
			return fmt.Errorf("must be a duration from %s to %s, as %s", least, short.Replace(most.String()), as)
		}
		*to = d
		return nil
	}
}

func deadline(to *time.Duration) func(string) error {
	return duration(to, 100*time.Millisecond, time.Minute, "5s")
}

// list reads each of a list with commas between.
func list[T any](to *[]T, read func(string) (T, error)) func(string) error {
	return func(v string) error {
		*to = nil
		for e := range strings.SplitSeq(v, ",") {
			if e = strings.TrimSpace(e); e == "" {
				continue
			}
			one, err := read(e)
			if err != nil {
				return err
			}
			*to = append(*to, one)
		}
		return nil
	}
}

// oneURL as a limit of urls allows no list.
const oneURL = 1

// urls reads URLs with commas between them.
func urls(to *string, want string, most int, schemes ...string) func(string) error {
	return func(v string) error {
		*to = ""
		if v == "" {
			return nil
		}
		parts := strings.Split(v, ",")
		if most > 0 && len(parts) > most {
			parts = []string{v}
		}
		for i, part := range parts {
			parts[i] = strings.TrimSpace(part)
			u, err := url.Parse(parts[i])
			if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
				return errors.New("must be " + want)
			}
			if strayAt(parts[i], u) {
				return errors.New("must have the @ of a user name or password written as %40 (and / as %2F, ? as %3F, # as %23)")
			}
		}
		*to = strings.Join(parts, ",")
		return nil
	}
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

// readable reads the name of a file; "": none.
func readable(to *string) func(string) error {
	return func(v string) error {
		*to = v
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

// isLoopback tells whether only this machine may reach a listener; "": there is none.
func isLoopback(v string) bool {
	host, _, _ := net.SplitHostPort(v)
	ip := net.ParseIP(host)
	return v == "" || hasPort(v) && ip != nil && ip.IsLoopback()
}

func isSchema(v string) bool { return schemaForm.MatchString(v) && !strings.HasPrefix(v, "pg_") }

// What names may be: of a schema, of a role of the database, of what an index begins
// with, of a currency.
var (
	schemaForm   = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)
	roleForm     = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]{0,62})?$`)
	prefixForm   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,59}$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
)
