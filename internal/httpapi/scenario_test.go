package httpapi_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestRefusals: refusals that the lines of internal/e2e do not play, in the order of
// checks (7.2).
func TestRefusals(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	_, editor, nobody := newWorld(t)
	path := editor.Event("Quay concert", nil).Path(calendar.KindEvent)
	long := strings.Repeat("x", 17<<10)
	nobody.Do("FOO", "/nothing", nil).WantCode(http.StatusNotFound, "rest_no_route")
	nobody.Get("/nothing?a="+long).WantCode(http.StatusRequestURITooLong, "rest_uri_too_long")
	editor.Patch("/events/9999", `{"description":"`+strings.Repeat(long, 64)+`"}`).WantCode(http.StatusRequestEntityTooLarge, "rest_body_too_large")
	editor.With("Idempotency-Key", strings.Repeat("k", 256)).Delete("/tags/9999").WantCode(http.StatusNotFound, "tag-not-found")
	nobody.Get("?namespace[]=x&multilang_language=xx").WantBad("namespace", "multilang_language")
	nobody.Get(path + "?password[]=x").WantBad("password")
	many := "_fields="
	for i := range calendar.MaxElements + 1 {
		many += fmt.Sprint(i, ",")
	}
	for _, bad := range []string{"_fields[a]=x", "_fields[][a]=x", many} {
		one, list := nobody.Get(path+"?"+bad).WantBad("_fields"), nobody.Get("/events?"+bad).WantBad("_fields")
		if !reflect.DeepEqual(one.Get("data.params"), list.Get("data.params")) {
			t.Errorf("%.20s: %s, in a list %s", bad, one.Body, list.Body)
		}
	}
}

// obj is a JSON object to send.
type obj = world.Object

// newWorld makes a world, with an editor of it and a client without credentials.
func newWorld(t *testing.T, o ...world.Options) (w *world.World, editor, nobody *world.Client) {
	t.Helper()
	w = world.New(t, slices.Concat(o, []world.Options{{}})[0])
	return w, w.As(calendar.Editor), w.As(calendar.Anonymous)
}

func itoa(id calendar.ID) string { return id.String() }

// TestErrorLanguage: messages are in the language of the request.
func TestErrorLanguage(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	english := nobody.Get("/events/9999").String("message")
	for name, tc := range map[string]struct {
		got *world.Response
		tag string
	}{
		"no namespace":             {nobody.Do("GET", "//cn/nothing", nil), "zh-Hans"},
		"bad credentials":          {nobody.With("Authorization", "x").Get("/events?multilang_language=fr"), "fr"},
		"bad selector":             {nobody.Under(calendar.LangFR).Get("/events?multilang_language=de"), "fr"},
		"selector in the body":     {editor.Under(calendar.LangFR).Post("/tags", `{"name":"","multilang_language":"es"}`), "es"},
		"body over query":          {editor.Post("/tags?multilang_language=fr", `{"name":"","multilang_language":"es"}`), "es"},
		"bad selector in the body": {editor.Under(calendar.LangFR).Post("/tags?multilang_language=es", `{"name":"x","multilang_language":"de"}`), "fr"},
	} {
		if got := tc.got.Header.Get("Content-Language"); got != tc.tag {
			t.Errorf("%s: Content-Language %s, want %s", name, got, tc.tag)
		}
		if message := tc.got.String("message"); message == "" || message == english {
			t.Errorf("%s: message %q", name, message)
		}
	}
}

// TestLongLinks: a Link that would be too long for a header is left out; the body has
// the links (4.3). Past the end there is a last page and no other.
func TestLongLinks(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	ids := strings.Repeat("99999999,", 999) + editor.Event("a", obj{"categories": "Jazz, blues"}).ID().String()
	long := nobody.Read("/events?include="+ids).WantField("total", 1)
	if got := long.Header.Get("Link"); got != "" || !strings.Contains(long.String("rest_url"), "99999999%2C") {
		t.Errorf("a Link of %d bytes, and the body links to %v", len(got), long.String("rest_url"))
	}
	past := nobody.Read("/categories?page=9&per_page=1").WantField("total", 2)
	if got := past.Header.Get("Link"); strings.Contains(got, "prev") || strings.Contains(got, "next") || !strings.Contains(got, "last") {
		t.Errorf("Link past the end: %s", got)
	}
}

// TestPreflightsThatNameMuch: of the names of headers that a preflight sends, only so many
// and so long ones are answered (2.11).
func TestPreflightsThatNameMuch(t *testing.T) {
	t.Parallel()
	nobody := world.New(t, world.Options{}).As(calendar.Anonymous)
	var many strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, "h%d,", i%1000)
	}
	for names, want := range map[string]string{
		"x-foo, accept,<bad>":                               ", x-foo",
		strings.Repeat("x", 5000) + ",late":                 ", late",
		many.String() + strings.Repeat("x", 5000) + ",late": ", h0, h1, h2",
	} {
		pre := nobody.With("Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", names).Do("OPTIONS", "/events/5", nil).Want(http.StatusOK)
		_, more, _ := strings.Cut(pre.Header.Get("Access-Control-Allow-Headers"), "Last-Event-ID")
		if !strings.HasPrefix(more, want) || strings.Count(more, ",") != 1 && !strings.HasSuffix(more, ", h63") {
			t.Errorf("%.40s: %s", names, more)
		}
	}
}

// TestForeignPages: a write that a page of another site sends is refused, whatever its body,
// before its credentials are looked at (2.11, 7.2).
func TestForeignPages(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	const allowed, base = "https://good.example", "https://cal.example:8443"
	w := world.New(t, world.Options{HTTP: httpapi.Options{AllowedOrigins: []string{allowed}, BaseURL: base + "/site"}})
	host := strings.TrimPrefix(world.Base, "https://") // of the requests
	editor := w.As(calendar.Editor)
	event := editor.Event("Quay", nil).Path(calendar.KindEvent)
	for _, tc := range []struct {
		header  []string
		foreign bool
	}{
		{nil, false},
		{[]string{"Origin", allowed}, false},
		{[]string{"Origin", allowed, "Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Origin", base}, false},
		{[]string{"Origin", "https://CAL.example:8443", "Sec-Fetch-Site", "same-origin"}, false},
		{[]string{"Origin", "http://" + host}, false},
		{[]string{"Origin", "https://" + host, "Sec-Fetch-Site", "same-site"}, false}, // behind a proxy that ends TLS
		{[]string{"Sec-Fetch-Site", "same-origin"}, false},
		{[]string{"Sec-Fetch-Site", "none"}, false},
		{[]string{"Origin", ""}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, true},
		{[]string{"Sec-Fetch-Site", "same-site"}, true},
		{[]string{"Origin", "https://evil.example"}, true},
		{[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", "null"}, true},
		{[]string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Origin", "https://cal.example"}, true},      // another port
		{[]string{"Origin", "https://cal.example:8444"}, true}, // another port
		{[]string{"Origin", "http://" + host + ":81"}, true},
		{[]string{"Origin", "http://evil." + host}, true},
		{[]string{"Origin", host}, true},
		{[]string{"Origin", "https://good.example.evil.example"}, true},
		{[]string{"Origin", "http://good.example"}, true},
		{[]string{"Origin", "file://"}, true},
	} {
		for _, body := range []struct{ media, text string }{
			{"application/json", `{"name":"a"}`},
			{"application/x-www-form-urlencoded", "name=a"},
			{"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\na\r\n--x--\r\n"},
			{"text/plain", "{"},
			{"", strings.Repeat("x", 2<<20)},
		} {
			head := append([]string{"Content-Type", body.media}, tc.header...)
			for _, at := range []struct{ method, path string }{
				{http.MethodPost, "/tags"}, {http.MethodPost, event}, {http.MethodPut, event}, {http.MethodPatch, "/events/by-slug/quay"}, {http.MethodDelete, "/events/99999999"},
			} {
				r := w.As(calendar.Administrator).With(head...).Do(at.method, at.path, body.text)
				if foreign := strings.Contains(string(r.Body), `"rest_forbidden_origin"`); foreign != tc.foreign || foreign && r.Status != http.StatusForbidden {
					t.Errorf("%v: %s %s as %s: %d %s", tc.header, at.method, at.path, body.media, r.Status, r.Body)
				}
				if tc.foreign {
					w.As(calendar.Anonymous).With(head...).With("Authorization", "Bearer wrong").Do(at.method, at.path, body.text).WantCode(http.StatusForbidden, "rest_forbidden_origin")
				}
			}
		}
		// Reads are open, and the route counts first.
		anybody := w.As(calendar.Anonymous).With(tc.header...)
		anybody.Read(event)
		anybody.Do(http.MethodOptions, event, nil).Want(http.StatusOK)
		anybody.Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK)
		anybody.Post("/nothing", "{}").WantCode(http.StatusNotFound, "rest_no_route")
		anybody.Post("/doc", "{}").WantCode(http.StatusMethodNotAllowed, "rest_method_not_allowed")
	}
	if r := editor.With("Origin", "https://evil.example").Post("//fr/api/"+httpapi.Namespace+"/tags", `{"name":"a"}`).WantCode(http.StatusForbidden, "rest_forbidden_origin"); !strings.Contains(string(r.Body), "refusées") {
		t.Errorf("in French: %s", r.Body)
	}
}
