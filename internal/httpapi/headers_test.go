package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestClosed: an interface that cannot work yet answers as it would of a part that is
// out of reach, headers, language and form included.
func TestClosed(t *testing.T) {
	t.Parallel()
	h, err := httpapi.Closed(httpapi.Options{BaseURL: world.Base, ReadMaxAge: 60}, calendar.CodeUnavailable)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, path, header, value string
		want                        map[string]string
	}{
		"list":          {"GET", world.Root + "/events", "X-Request-Id", "r1", map[string]string{"Cache-Control": "no-store", "Allow": "GET, HEAD, OPTIONS", "X-Request-Id": "r1"}},
		"head":          {"HEAD", world.Root + "/events/7", "", "", map[string]string{"Cache-Control": "no-store"}},
		"credentials":   {"GET", world.Root + "/events", "Authorization", "Bearer x", map[string]string{"Cache-Control": "no-store, private"}},
		"write":         {"POST", world.Root + "/events", "Authorization", "Bearer x", map[string]string{"Cache-Control": "no-store, private"}},
		"password":      {"GET", world.Root + "/events/7?password=x", "", "", map[string]string{"Cache-Control": "no-store, private"}},
		"language":      {"GET", "/cn" + world.Root + "/doc", "", "", map[string]string{"Content-Language": "zh-Hans"}},
		"problem":       {"GET", world.Root, "Accept", "application/problem+json", map[string]string{"Content-Type": "application/problem+json; charset=utf-8"}},
		"unknown path":  {"GET", "/nothing", "", "", map[string]string{"Cache-Control": "no-store", "Allow": ""}},
		"other origins": {"GET", world.Root + "/events", "Origin", "https://other.example", map[string]string{"Access-Control-Allow-Origin": "*"}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		got := httptest.NewRecorder()
		h.ServeHTTP(got, r)
		if empty := got.Body.Len() == 0; got.Code != http.StatusServiceUnavailable || empty != (c.method == "HEAD") ||
			!empty && !strings.Contains(got.Body.String(), `"rest_unavailable"`) {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
		c.want["Retry-After"], c.want["X-Content-Type-Options"] = "2", "nosniff"
		c.want["Vary"] = varyOf(c.method, strings.TrimPrefix(c.path, world.Root))
		for header, want := range c.want {
			if v := got.Header().Get(header); v != want {
				t.Errorf("%s: %s %q, want %q", name, header, v, want)
			}
		}
	}
	if _, err := httpapi.Closed(httpapi.Options{Prefix: "a//b"}, calendar.CodeUnavailable); err == nil {
		t.Error("settings that New refuses are taken")
	}
}

var negotiated = regexp.MustCompile(`^/(events|venues|organizers|categories|tags)(/[0-9]+)?/?([?]|$)`)

// varyOf is the value of Vary: single reads by id and lists are negotiated by time, too
// (HISTORY 8.3).
func varyOf(method, path string) string {
	const all = "Accept, Accept-Encoding, Authorization, Origin"
	if (method == http.MethodGet || method == http.MethodHead) && negotiated.MatchString(path) {
		return all + ", Accept-Datetime"
	}
	return all
}
