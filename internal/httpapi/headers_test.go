package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

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

// TestCacheControl: who may keep an answer, and for how long (2.8), on every kind
// of answer.
func TestCacheControl(t *testing.T) {
	t.Parallel()
	const (
		private = "no-store, private"
		askBack = "public, no-cache"
		kept    = "public, max-age=60, stale-while-revalidate=60"
		noStore = "no-store"
	)
	worlds := map[bool]*world.World{}
	var event, slug, venue, tag, draft string
	for _, aged := range []bool{false, true} {
		o := world.Options{Wait: time.Millisecond}
		if aged {
			o.HTTP = httpapi.Options{ReadMaxAge: 60}
		}
		w := world.New(t, o)
		worlds[aged] = w
		editor := w.As(calendar.Editor)
		made := editor.Event("Jazz", obj{"slug": "jazz"})
		event, slug = made.Path(calendar.KindEvent), "/events/by-slug/jazz"
		editor.Update(event, obj{"password": "pw"})
		venue = editor.Create(calendar.KindVenue, obj{"venue": "Hall"}).Path(calendar.KindVenue)
		tag = editor.Create(calendar.KindTag, obj{"name": "Free"}).Path(calendar.KindTag)
		draft = editor.Event("Draft", obj{"status": "draft"}).Path(calendar.KindEvent)
	}
	long := strings.Repeat("x", 17<<10)
	for name, c := range map[string]struct {
		as           calendar.Role
		method, path string
		header       []string
		status       int
		want, aged   string // without and with read-max-age
	}{
		"index":                     {0, "GET", "", nil, 200, askBack, kept},
		"documentation":             {0, "GET", "/doc", nil, 200, askBack, kept},
		"list":                      {0, "GET", "/events", nil, 200, askBack, kept},
		"list of terms":             {0, "GET", "/tags", nil, 200, askBack, kept},
		"head of a list":            {0, "HEAD", "/venues", nil, 200, askBack, kept},
		"single":                    {0, "GET", venue, nil, 200, askBack, kept},
		"head of a single":          {0, "HEAD", tag, nil, 200, askBack, kept},
		"list, not modified":        {0, "GET", "/tags", []string{"If-None-Match", "*"}, 304, askBack, kept},
		"single, not modified":      {0, "GET", venue, []string{"If-None-Match", "*"}, 304, askBack, kept},
		"index, not modified":       {0, "GET", "", []string{"If-None-Match", "*"}, 304, askBack, kept},
		"bad parameter":             {0, "GET", "/events?page=0", nil, 400, askBack, askBack},
		"bad parameter of a single": {0, "GET", venue + "?multilang_language=x", nil, 400, askBack, askBack},
		"unknown":                   {0, "GET", "/tags/99999", nil, 404, askBack, askBack},
		"unknown, head":             {0, "HEAD", "/tags/99999", nil, 404, askBack, askBack},
		"no route":                  {0, "GET", "/nothing", nil, 404, askBack, askBack},
		"no root":                   {0, "GET", "//nothing", nil, 404, askBack, askBack},
		"draft of others":           {0, "GET", draft, nil, 403, askBack, askBack},
		"protected":                 {0, "GET", event, nil, 403, askBack, askBack},
		"page past the end":         {0, "GET", "/venues?page=9", nil, 404, askBack, askBack},
		"long line":                 {0, "GET", "/events?x=" + long, nil, 414, askBack, askBack},
		"position not reached":      {0, "GET", "/events", []string{"Daybook-Min-Position", "99999"}, 503, noStore, noStore},
		"position, head":            {0, "HEAD", "/events", []string{"Daybook-Min-Position", "99999"}, 503, noStore, noStore},

		"right password":          {0, "GET", event + "?password=pw", nil, 200, private, private},
		"right password, head":    {0, "HEAD", event + "?password=pw", nil, 200, private, private},
		"password, not modified":  {0, "GET", event + "?password=pw", []string{"If-None-Match", "*"}, 304, private, private},
		"wrong password":          {0, "GET", event + "?password=x", nil, 403, private, private},
		"password of no form":     {0, "GET", event + "?password[]=x", nil, 400, private, private},
		"password of the unknown": {0, "GET", "/events/99999?password=x", nil, 404, private, private},
		"password by slug":        {0, "GET", slug + "?password=pw", nil, 403, private, private},
		"password, long line":     {0, "GET", event + "?password=pw&x=" + long, nil, 414, private, private},
		"password, delete":        {0, "DELETE", event + "?password=pw", nil, 401, private, private},
		"password, odd method":    {0, "FOO", event + "?password=pw", nil, 405, private, private},
		"password, one of two":    {0, "GET", event + "?password=pw&password=", nil, 403, private, private},
		"empty password":          {0, "GET", event + "?password=", nil, 403, askBack, askBack},
		"password of a venue":     {0, "GET", venue + "?password=x", nil, 200, askBack, kept},
		"password of a list":      {0, "GET", "/events?password=x", nil, 200, askBack, kept},

		"credentials, list":         {calendar.Subscriber, "GET", "/events", nil, 200, private, private},
		"credentials, single":       {calendar.Editor, "GET", event, nil, 200, private, private},
		"credentials, not modified": {calendar.Editor, "GET", "/tags", []string{"If-None-Match", "*"}, 304, private, private},
		"credentials, index":        {calendar.Editor, "GET", "", nil, 200, private, private},
		"credentials, write":        {calendar.Editor, "PATCH", tag, nil, 200, private, private},
		"credentials, options":      {calendar.Editor, "OPTIONS", "/events", nil, 200, private, private},
		"credentials, no route":     {calendar.Editor, "GET", "/nothing", nil, 404, private, private},
		"credentials, waiting":      {calendar.Editor, "GET", "/events", []string{"Daybook-Min-Position", "99999"}, 503, private, private},
		"wrong credentials":         {0, "GET", "/events", []string{"Authorization", "Bearer x"}, 401, private, private},
		"empty credentials":         {0, "GET", "/events", []string{"Authorization", ""}, 200, private, private},

		"options":         {0, "OPTIONS", "/events", nil, 200, "", ""},
		"anonymous write": {0, "POST", "/events", nil, 401, "", ""},
		"no such method":  {0, "PUT", "/events", nil, 405, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for aged, w := range worlds {
				want := c.want
				if aged {
					want = c.aged
				}
				got := w.As(c.as).With(c.header...).In(t).Do(c.method, c.path, nil).Want(c.status)
				if v := got.Header.Values("Cache-Control"); strings.Join(v, " | ") != want {
					t.Errorf("read-max-age %t: Cache-Control %q, want %q", aged, v, want)
				}
				if v := got.Header.Get("Vary"); v != varyOf(c.method, c.path) {
					t.Errorf("Vary %q", v)
				}
			}
		})
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
