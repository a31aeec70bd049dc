package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/render"
	"daybook/query"
)

func TestIsHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"calendar.example.org": true, "api_1:8080": true, "127.0.0.1:80": true, "[::1]": true, "[2001:db8::1]:443": true,
		strings.Repeat("x", 255): true, strings.Repeat("x", 255) + ":65535": true,
		"": false, ":80": false, "h:": false, "h:0": false, "h:65536": false, "h:80:80": false, "::1": false, "[::1": false,
		"[::1]x": false, "[127.0.0.1]": false, "[fe80::1%eth0]": false, "a b": false, `a"b`: false, "a%41": false, "user@h": false, "h/": false,
		strings.Repeat("x", 256): false,
	} {
		if got := isHost(host); got != want {
			t.Errorf("%.40q: got %t, want %t", host, got, want)
		}
	}
}

// TestTextsUnderManyHosts: the documentation is made once, whatever Host the clients
// send, and each of them reads its own links. What is no host is refused.
func TestTextsUnderManyHosts(t *testing.T) {
	t.Parallel()
	var use CacheUse
	looks := 0 // at the clock
	handler, _ := fakeAPI(t, Deps{}, Options{Options: query.Options{Now: func() time.Time { looks++; return time.Now() }}, Observe: func(request *http.Request, _ string) (context.Context, func(Answered)) {
		return request.Context(), func(answered Answered) { use = answered.Cache }
	}})
	path := "/doc"
	ask := func(host string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/"+Namespace+path, nil)
		request.Host = host
		responseRecorder := httptest.NewRecorder()
		handler.ServeHTTP(responseRecorder, request)
		return responseRecorder
	}
	tags := map[string]bool{}
	for _, host := range []string{"a.example", "b.example:8080", "[::1]:81"} {
		got := ask(host)
		ask(host) // large answers are cached when they are asked for again
		if again := ask(host); use != CacheHit || again.Body.String() != got.Body.String() || !strings.Contains(got.Body.String(), `"http://`+host+`/api/`) {
			t.Errorf("under %s: %d %.200s", host, got.Code, got.Body)
		}
		tags[got.Header().Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("%d ETags for three hosts", len(tags))
	}
	path = "/" // of which defaults hang on the day
	var made []int
	for _, host := range []string{"a.example", "b.example"} {
		looks = 0
		ask(host)
		made = append(made, looks)
	}
	if made[1] >= made[0] {
		t.Errorf("looks at the clock for each host: %d", made)
	}
	path = "/doc"
	if got := ask("a b"); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), `"Host":"Host: must be a host`) {
		t.Errorf("%d %.200s", got.Code, got.Body)
	}
	if got := ask(""); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "http://localhost/api/") {
		t.Errorf("without Host: %d", got.Code)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := Closed(Options{BaseURL: "https://x.example:port"}, calendar.CodeUnavailable); err == nil {
		t.Error("a base URL that is none: no error")
	}
	if _, err := New(Deps{}, Options{}); err == nil {
		t.Error("no parts: no error")
	}
}

func mountOf(lang calendar.Lang, prefix, namespace string) *mount {
	mount := newMount(lang, prefix, namespace)
	return &mount
}

// TestPartsOfRoots: a rendered record is kept for one root, also where the mark
// that names roots in tags is the same for two: it is a plain checksum of the
// Host header, so clients can find such hosts.
func TestPartsOfRoots(t *testing.T) {
	t.Parallel()
	renderer := render.New(time.UTC, calendar.Currency{}, true)
	venue := &calendar.Record{ID: 88, Kind: calendar.KindVenue, Version: 1}
	rendered := func(r root) string {
		data, err := renderer.Writer(render.Answer{Links: &r.Links}).Record(nil, &query.View{Record: venue})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	good := rootOf(origin{"https://calendar.example.org", "calendar.example.org", ""}, mountOf(calendar.LangEN, "api", Namespace), 0)
	rendered(good)
	evil := rootOf(origin{"https://evil.example", "evil.example", ""}, mountOf(calendar.LangEN, "api", Namespace), 0)
	evil.mark = good.mark
	if got := rendered(evil); !strings.Contains(got, "https://evil.example/") || strings.Contains(got, good.Base) {
		t.Errorf("a record rendered for %s: %s", evil.Base, got)
	}
	again := rootOf(origin{good.Base, good.Global, ""}, mountOf(calendar.LangEN, "api", Namespace), 0)
	if again.Secret != good.Secret || !strings.Contains(rendered(again), good.Base) {
		t.Error("the same root made twice has other parts")
	}
}

// TestKeysOfRoots: roots of the same URL that differ in anything else have keys of
// their own, so that the answer under one is never given under the other.
func TestKeysOfRoots(t *testing.T) {
	t.Parallel()
	plain := origin{"https://x", "x", ""}
	below := origin{"https://x/fr", "x/fr", "/fr"}
	seen := map[string]string{}
	for name, r := range map[string]root{
		"plain":           rootOf(plain, mountOf(calendar.LangEN, "api", Namespace), 0),
		"language":        rootOf(plain, mountOf(calendar.LangFR, "api", Namespace), 0),
		"path":            rootOf(below, mountOf(calendar.LangEN, "api", Namespace), 0),
		"long prefix":     rootOf(plain, mountOf(calendar.LangEN, "api/a", "b"), 0),
		"long namespace":  rootOf(plain, mountOf(calendar.LangEN, "api", "a/b"), 0),
		"prefix as path":  rootOf(origin{"https://x/api", "x/api", "/api"}, mountOf(calendar.LangEN, "a", "b"), 0),
		"segment in host": rootOf(origin{"https://x", "x/fr", ""}, mountOf(calendar.LangFR, "api", Namespace), 0),
	} {
		key := string(r.addTo(nil))
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have the same key %q", name, other, key)
		}
		seen[key] = name
	}
}
