package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// pageHeaders are those that every answer of a page has (PAGES P6.3).
func wantPageHeaders(t *testing.T, r *world.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "strict-origin-when-cross-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "geolocation=(self), camera=(), microphone=(), payment=(), usb=()",
		"Strict-Transport-Security":    "max-age=31536000",
		"Vary":                         "Accept-Encoding",
		"Set-Cookie":                   "",
		"X-Robots-Tag":                 "",
		"Server":                       "",
		"Access-Control-Allow-Origin":  "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", r.Request, name, got, want)
		}
	}
}

func redirects(t *testing.T, w *world.World, from, to string) {
	t.Helper()
	leads(t, w, from, to)
	if got := page(w, from).Header.Get("Cache-Control"); got != "public, max-age=600" {
		t.Errorf("%s: Cache-Control %q", from, got)
	}
}

// TestPagePaths: PAGES 13.2, 13.3, 13.4: other spellings of a path and the language are one
// redirect away, unknown paths are pages for browsers and JSON for others, below the
// prefix of the interface always JSON, and methods are refused.
func TestPagePaths(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{})
	w.As(calendar.Editor).Event("Quay", obj{"slug": "quay"})
	for range 3 { // the proper one is kept
		wantPages(t, w, http.StatusOK, "/", "/events/", "/event/quay/", "/fr/event/quay/?tz=UTC")
	}
	for from, to := range map[string]string{
		"//":                             "/",
		"/events":                        "/events/",
		"//events//month//2026-07":       "/events/month/2026-07/",
		"/event/QUAY":                    "/event/quay/",
		"/fr/event/Quay/?tz=UTC&x=%20y":  "/fr/event/quay/?tz=UTC&x=%20y",
		"/events/?multilang_language=fr": "/fr/events/",
		"/fr/events/month/2026-07/?search=a&multilang_language=en": "/events/month/2026-07/?search=a",
		"/cn/event/quay/?multilang_language=es&z=1":                "/es/event/quay/?z=1",
	} {
		redirects(t, w, from, to)
	}
	bad := page(w, "/events/?multilang_language=de").Want(http.StatusBadRequest)
	has(t, bad, `data-code="rest_invalid_param"`, `id="error-multilang_language"`)
	if bad.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a bad parameter: Cache-Control %q", bad.Header.Get("Cache-Control"))
	}
	wantPages(t, w, http.StatusOK, "/events/?search=&page=&tz=&nothing=1")

	anybody := w.As(calendar.Anonymous)
	for _, unknown := range []string{"/en/", "/nothing", "/wp-admin/x", "/events/nowhere/"} {
		r := page(w, unknown).Want(http.StatusNotFound)
		has(t, r, `<body data-page="error" data-code="not-found">`, `id="search-form"`, `href="/events/"`)
		if r.Header.Get("Content-Type") != pages.TypeHTML || r.Header.Get("Vary") != "Accept, Accept-Encoding" || r.Header.Get("Cache-Control") != "public, max-age=0, s-maxage=10" {
			t.Errorf("%s: %v", unknown, r.Header)
		}
		r = anybody.With("Accept", "application/json, */*").Get("/"+unknown).WantCode(http.StatusNotFound, "rest_no_route")
		if !strings.HasPrefix(r.Header.Get("Vary"), "Accept,") || r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", unknown, r.Header)
		}
	}
	for _, below := range []string{"/api", "/api/", "/api/nothing", "/fr/api/nothing", "/api/calendar/events/v1/nothing", "/api/calendar/events/v1/events/9999"} {
		if r := page(w, below); r.Status != http.StatusNotFound || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %s", below, r.Status, r.Header.Get("Content-Type"))
		}
	}
	for _, tc := range []struct{ method, path, allow string }{
		{"POST", "/events/", "GET, HEAD"},
		{"PUT", "/event/quay/", "GET, HEAD, POST"},
		{"DELETE", "/", "GET, HEAD"},
		{"OPTIONS", "/events/month/", "GET, HEAD"},
		{"POST", "/assets/daybook.css", "GET, HEAD"},
		{"POST", "/event/quay/history/", "GET, HEAD"},
	} {
		r := anybody.Do(tc.method, "/"+tc.path, nil)
		if r.Status != http.StatusMethodNotAllowed || r.Header.Get("Allow") != tc.allow || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d, Allow %q, Cache-Control %q", tc.method, tc.path, r.Status, r.Header.Get("Allow"), r.Header.Get("Cache-Control"))
		}
	}
	has(t, page(w, "/events/?search="+strings.Repeat("x", 17<<10)).Want(http.StatusRequestURITooLong), `data-code="rest_uri_too_long"`)
	for _, asked := range []string{"/", "/events/", "/event/quay/", "/nothing"} {
		get, head := page(w, asked), anybody.With("Accept", "text/html").Do(http.MethodHead, "/"+asked, nil)
		if get.Status != head.Status || len(head.Body) != 0 || get.Header.Get("Content-Length") != head.Header.Get("Content-Length") || get.ETag() != head.ETag() {
			t.Errorf("HEAD %s: %d %v, as GET %d %v", asked, head.Status, head.Header, get.Status, get.Header)
		}
	}
}

// TestPageCaching: PAGES 13.26: If-None-Match gives 304, a write gives another ETag, shared
// caches keep nothing beyond midnight, and badges change when it is time.
func TestPageCaching(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	editor.Event("Quay", obj{"slug": "quay", "start_date": "2026-05-01 18:30:00", "end_date": "2026-05-01 21:00:00"})
	for _, asked := range []string{"/", "/events/", "/events/month/", "/event/quay/", "/events/?tz=Asia/Tokyo", "/venues/", "/fr/events/"} {
		first := page(w, asked).Want(http.StatusOK)
		wantPageHeaders(t, first)
		if got := first.Header.Get("Cache-Control"); got != "public, max-age=0, s-maxage=10, stale-while-revalidate=60, stale-if-error=86400" {
			t.Errorf("%s: Cache-Control %q", asked, got)
		}
		if first.Header.Get("Daybook-Position") != strconv.Itoa(int(w.Head())) || !strings.HasPrefix(first.ETag(), `W/"`) {
			t.Errorf("%s: position %q of %d, ETag %s", asked, first.Header.Get("Daybook-Position"), w.Head(), first.ETag())
		}
		lang := map[bool]string{true: "fr", false: "en"}[strings.HasPrefix(asked, "/fr/")]
		if first.Header.Get("Content-Language") != lang {
			t.Errorf("%s: Content-Language %q", asked, first.Header.Get("Content-Language"))
		}
		known := w.As(calendar.Anonymous).With("Accept", "text/html", "If-None-Match", first.ETag())
		if same := known.Get("/" + asked); same.Status != http.StatusNotModified || len(same.Body) != 0 || same.ETag() != first.ETag() || same.Header.Get("Cache-Control") == "" {
			t.Errorf("%s: %d with its ETag", asked, same.Status)
		}
		// Forms send empty fields.
		other := known.Get("/" + asked + map[bool]string{true: "&", false: "?"}[strings.Contains(asked, "?")] + "x=&search=&x[]=")
		if other.Status != http.StatusNotModified {
			t.Errorf("%s: %d with empty parameters", asked, other.Status)
		}
		// Credentials without a preview change nothing.
		with := w.As(calendar.Editor).With("Accept", "text/html", "Accept-Encoding", "gzip").Get("/" + asked)
		plain := w.As(calendar.Anonymous).With("Accept", "text/html", "Accept-Encoding", "gzip").Get("/" + asked)
		with.Header.Del("X-Request-Id")
		plain.Header.Del("X-Request-Id")
		if with.Status != http.StatusOK || !bytes.Equal(with.Body, plain.Body) || !equalHeaders(with.Header, plain.Header) {
			t.Errorf("PAGES 13.9: %s with credentials: %d %v, without %v", asked, with.Status, with.Header, plain.Header)
		}
		bogus := w.As(calendar.Anonymous).With("Accept", "text/html", "Authorization", "Bearer nothing").Get("/" + asked)
		if bogus.Status != http.StatusOK || !bytes.Equal(bogus.Body, first.Body) {
			t.Errorf("%s with bad credentials: %d", asked, bogus.Status)
		}
		editor.Event("More", obj{})
		if after := page(w, asked); after.Status != http.StatusOK || after.ETag() == first.ETag() || after.Header.Get("Daybook-Position") == first.Header.Get("Daybook-Position") {
			t.Errorf("%s: after a write %d, ETag %s, before %s", asked, after.Status, after.ETag(), first.ETag())
		}
	}

	// No write, and yet it is another page: the event begins, ends, and the day does.
	before := page(w, "/events/")
	for _, asked := range []string{"/events/", "/event/quay/", "/events/?past=true", "/events/?past=true"} {
		page(w, asked) // the second one is kept
	}
	has(t, page(w, "/events/?past=true"), `data-total="0"`)
	w.Clock.Add(6*time.Hour + 40*time.Minute)
	now := w.As(calendar.Anonymous).With("If-None-Match", before.ETag(), "Accept", "text/html").Read("//events/")
	has(t, now, `data-badge="now"`)
	has(t, page(w, "/event/quay/"), `data-badge="now"`)
	if now.ETag() == before.ETag() {
		t.Error("the ETag is that from before the event began")
	}
	w.Clock.Add(3 * time.Hour)
	has(t, page(w, "/event/quay/"), `data-badge="past"`)
	has(t, page(w, "/events/?past=true"), `data-total="1"`)
	for _, asked := range []string{"/events/month/", "/events/month/"} {
		has(t, page(w, asked), `data-date="2026-05-01" aria-current="date"`) // the second one is kept
	}
	w.Clock.Add(2*time.Hour + 19*time.Minute + 55*time.Second)
	if got := page(w, "/events/").Header.Get("Cache-Control"); !strings.Contains(got, "s-maxage=5,") {
		t.Errorf("5 s before midnight: %q", got)
	}
	w.Clock.Add(5 * time.Second)
	has(t, page(w, "/events/month/"), `data-date="2026-05-02" aria-current="date"`)
}

func equalHeaders(a, b http.Header) bool {
	for name := range a {
		if a.Get(name) != b.Get(name) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestPageKeys: strangers cannot fill what is kept with one page under many names.
func TestPageKeys(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{})
	tag, strange := page(w, "/events/?search=x").ETag(), page(w, "/events/?search=x&a=1").ETag() // which is not to be indexed
	if tag == strange {
		t.Error("a page that is not to be indexed is kept as one that is")
	}
	for same, want := range map[string]string{
		"?b=2&search=x": strange, "?search=y&search=x": tag, "?search=x&tz=&page=": tag, "?search=x&format=ics&_fields=id&cursor=*": strange,
		"?search=x&view=list&as_of=2": strange, "?x[search]=1&search=x&c": strange,
	} {
		if got := page(w, "/events/"+same).ETag(); got != want {
			t.Errorf("%s is another page", same)
		}
	}
	for _, other := range []string{"?search=y", "?search=x&tz=UTC", "?search=x&past=true", "?search=x&per_page=5"} {
		if got := page(w, "/events/"+other).ETag(); got == tag {
			t.Errorf("%s is the same page", other)
		}
	}
	for path, same := range map[string]string{
		"/events/month/?page=2": "/events/month/", "/events/month/?include=5&per_page=1&collapse=repeats&past=true&overlap=false": "/events/month/?x=1",
		"/?search=x&categories=1": "/?x=1", "/events/map/?past=true": "/events/map/?x=1", "/venues/?search=x": "/venues/?x=1", "/venues/?page=9": "/venues/",
	} {
		if page(w, path).ETag() != page(w, same).ETag() {
			t.Errorf("%s is another page than %s", path, same)
		}
	}
	if body := string(page(w, "/events/?search=x&evil=%22onload").Body); strings.Contains(body, "evil") {
		t.Error("an unknown parameter is in the page")
	}
}

// TestPageSecrets: PAGES 13.9: what is not for everybody is one 404, byte for byte.
func TestPageSecrets(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	for _, status := range []string{"draft", "pending", "private", "trashed"} {
		made := editor.Event(status, obj{"slug": "is-" + status, "status": map[bool]string{true: "draft", false: status}[status == "trashed"]})
		if status == "trashed" {
			editor.Delete(made.Path(calendar.KindEvent)).Want(http.StatusOK)
		}
	}
	editor.Event("Later", obj{"slug": "is-future", "status": "publish", "date": "2026-06-01 00:00:00"})
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Mill"}).ID().String()
	unknown := page(w, "/event/is-unknown/").Want(http.StatusNotFound)
	has(t, unknown, `data-code="not-found"`, `<meta name="robots" content="noindex, follow">`)
	for _, asked := range []string{"/events/month/2026-13/", "/events/?page=99", "/sitemap/none.xml", "/?venue=99"} {
		has(t, page(w, asked).Want(http.StatusNotFound), `data-code="not-found"`)
	}
	none := page(w, "/?event=999999").Want(http.StatusNotFound)
	for _, id := range []string{venue, "1", "0"} {
		got := page(w, "/?event="+id).Want(http.StatusNotFound)
		if !bytes.Equal(bytes.ReplaceAll(got.Body, []byte("event="+id), []byte("event=999999")), none.Body) {
			t.Errorf("/?event=%s: got\n%s\nwant\n%s", id, got.Body, none.Body)
		}
	}
	for _, status := range []string{"draft", "pending", "private", "future", "trashed"} {
		for _, client := range []*world.Client{w.As(calendar.Anonymous), w.As(calendar.Administrator)} {
			got := client.With("Accept", "text/html").Get("//event/is-" + status + "/").Want(http.StatusNotFound)
			if got.Header.Del("X-Request-Id"); !bytes.Equal(bytes.ReplaceAll(got.Body, []byte("is-"+status), []byte("is-unknown")), unknown.Body) || got.Header.Get("Cache-Control") != unknown.Header.Get("Cache-Control") {
				t.Errorf("%s is told from what is unknown:\n%s", status, got.Body)
			}
		}
	}
}

func unlock(c *world.Client, path, password string, header ...string) *world.Response {
	return c.With(header...).Post("/"+path, url.Values{"password": {password}})
}

// TestUnlock: PAGES 13.10: a protected page holds nothing but title and time, the password
// opens it, and tries are limited.
func TestUnlock(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	secret := editor.Event("Secret concert", obj{
		"slug": "secret", "description": "inner text", "cost": "31415926", "image": "https://img.example.org/inner.png",
		"website": "https://inner.example.org", "featured": true, "categories": "Hush", "venue": obj{"venue": "Inner hall", "address": "Inner street 1"},
	})
	editor.Update(secret.Path(calendar.KindEvent), obj{"password": "sesame!"})
	editor.Event("Open concert", obj{"slug": "open"})
	secrets := []string{"inner", "Inner", "31415926", "ld+json", "selection-as", "history/"}
	anybody := w.As(calendar.Anonymous)
	closed := page(w, "/event/secret/").Want(http.StatusOK)
	has(t, closed, "Secret concert", `<form id="unlock" method="post">`, `name="robots" content="noindex`)
	for _, secret := range secrets {
		if strings.Contains(string(closed.Body), secret) {
			t.Errorf("the protected page holds %q", secret)
		}
	}
	private := func(r *world.Response, status int) *world.Response {
		t.Helper()
		r.Want(status)
		h := r.Header
		if h.Get("Cache-Control") != "no-store, private" || h.Get("ETag") != "" || h.Get("Set-Cookie") != "" || h.Get("Location") != "" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Content-Encoding") != "" ||
			h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(string(r.Body), `content="noindex`) || strings.Contains(string(r.Body), "sesame") {
			t.Errorf("%d: %v\n%s", status, h, r.Body)
		}
		return r
	}
	opened := private(unlock(anybody, "/event/secret/", "sesame!", "Accept-Encoding", "gzip"), http.StatusOK)
	has(t, opened, "inner text", "Inner hall")
	if body := string(opened.Body); strings.Contains(body, "selection-as") || strings.Contains(body, ".ics") || !strings.Contains(body, "calendar.google.com") {
		t.Error("the opened page has a drawer, a file that asks for the password, or no calendars")
	}
	has(t, page(w, "/event/secret/"), `id="unlock"`) // nothing of it is kept
	for _, list := range []string{"/events/", "/events/month/2026-05/", "/events/day/2026-05-11/", "/search/?search=secret", "/", "/embed/events/"} {
		r := page(w, list).Want(http.StatusOK)
		has(t, r, "Secret", "concert")
		for _, secret := range []string{"inner", "Inner", "31415926", `data-badge="featured"`, ">Hush<"} {
			if strings.Contains(string(r.Body), secret) {
				t.Errorf("%s holds %q of a protected event", list, secret)
			}
		}
	}

	wrong := private(unlock(anybody, "/event/secret/", "no"), http.StatusForbidden)
	has(t, wrong, `id="error-password"`, `id="unlock"`, `name="referrer" content="same-origin"`)
	private(anybody.Do("POST", "//event/secret/", nil), http.StatusForbidden)
	private(anybody.With("Content-Type", "text/plain").Post("//event/secret/", "password=sesame!"), http.StatusForbidden)
	private(anybody.Post("//event/secret/?password=sesame!", url.Values{}), http.StatusForbidden)
	private(unlock(anybody, "/event/secret/", strings.Repeat("x", 4<<10)), http.StatusRequestEntityTooLarge)
	for _, header := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", world.Base},
	} {
		foreign := private(unlock(anybody, "/event/secret/", "sesame!", header...), http.StatusForbidden)
		has(t, foreign, `data-code="rest_forbidden_origin"`)
		for _, path := range []string{"/event/open/", "/event/secret/?preview=true"} { // before anything is looked up
			has(t, private(unlock(anybody.With("Authorization", "Bearer wrong"), path, "x", header...), http.StatusForbidden), `data-code="rest_forbidden_origin"`)
		}
		if strings.Contains(string(foreign.Body), "inner text") {
			t.Errorf("%v opens it", header)
		}
	}
	for _, header := range [][]string{{"Origin", world.Base}, {"Origin", "null", "Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}} {
		private(unlock(anybody, "/event/secret/", "sesame!", header...), http.StatusOK)
	}
	if r := unlock(anybody, "/event/open/", "x"); r.Status != http.StatusSeeOther || r.Header.Get("Location") != "/event/open/" || r.Header.Get("Cache-Control") != "no-store, private" {
		t.Errorf("an open event: %d %v", r.Status, r.Header)
	}
	if got := unlock(anybody, "/event/open/?tz=UTC", "x").Header.Get("Location"); got != "/event/open/?tz=UTC" {
		t.Errorf("an open event in UTC leads to %s", got)
	}

	for range 4 { // one was wrong before
		private(unlock(anybody, "/event/secret/", "no"), http.StatusForbidden)
	}
	for _, password := range []string{"no", "sesame!"} {
		r := private(unlock(anybody, "/event/secret/", password), http.StatusTooManyRequests)
		has(t, r, `data-code="rest_too_many_requests"`)
		if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
			t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
		}
	}
	w.Clock.Add(time.Minute)
	private(unlock(anybody, "/event/secret/", "sesame!"), http.StatusOK)
}

// TestWrongPasswords: those of a client for an event are counted together, by whatever way
// they are sent; the sixth of a minute is not compared (INTERFACE 6.3).
func TestWrongPasswords(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{HTTP: httpapi.Options{TrustForwarded: true}})
	editor, subscriber := w.As(calendar.Editor), w.As(calendar.Subscriber)
	event := editor.Event("Secret", obj{"slug": "secret"}).Path(calendar.KindEvent)
	other := editor.Event("Other", obj{"slug": "other"}).Path(calendar.KindEvent)
	for _, path := range []string{event, other} {
		editor.Update(path, obj{"password": "sesame"})
	}
	api := func(method, path string) func(c *world.Client, password string) *world.Response {
		return func(c *world.Client, password string) *world.Response {
			return c.Do(method, path+"?multilang_language=en&password="+password, nil)
		}
	}
	form := func(path string) func(c *world.Client, password string) *world.Response {
		return func(c *world.Client, password string) *world.Response { return unlock(c, path, password) }
	}
	ways := []func(c *world.Client, password string) *world.Response{
		api(http.MethodGet, event), form("/event/secret/"), api(http.MethodGet, event+".ics"), api(http.MethodHead, event), form("/fr/event/secret/"),
		api(http.MethodGet, "//fr/api/"+httpapi.Namespace+event), api(http.MethodGet, event+".geojson"),
	}
	refused := func(r *world.Response) {
		t.Helper()
		r.Want(http.StatusTooManyRequests)
		if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 || r.Header.Get("Cache-Control") != "no-store, private" {
			t.Errorf("%s: %v", r.Request, r.Header)
		}
	}
	for first := range ways {
		who := w.As(calendar.Anonymous).With("X-Forwarded-For", "2001:db8::"+strconv.Itoa(first+1)) // all of one network
		for i := range 5 {
			for range 3 { // right ones and none do not count
				ways[(first+i)%len(ways)](who, "sesame").Want(http.StatusOK)
				ways[(first+i)%len(ways)](who, "").Want(http.StatusForbidden)
			}
			ways[(first+i)%len(ways)](who, "wrong").Want(http.StatusForbidden)
		}
		for _, way := range ways {
			refused(way(who, "wrong"))
			refused(way(who, "sesame"))
			way(who, "").Want(http.StatusForbidden)
		}
		refused(api(http.MethodGet, event)(subscriber.With("X-Forwarded-For", "2001:db8::f"), "sesame")) // the same client
		who.Get(event+"?password=sesame").WantCode(http.StatusTooManyRequests, "rest_too_many_requests")
		editor.With("X-Forwarded-For", "2001:db8::f").Read(event + "?password=wrong") // needs none
		api(http.MethodGet, event)(w.As(calendar.Anonymous).With("X-Forwarded-For", "2001:db8:1::1"), "sesame").Want(http.StatusOK)
		api(http.MethodGet, other)(who, "sesame").Want(http.StatusOK)
		w.Clock.Add(time.Minute)
	}
	// A hundred of all clients for an event are the most.
	for i := range 20 {
		for range 5 {
			ways[i%len(ways)](w.As(calendar.Anonymous).With("X-Forwarded-For", "192.0.2."+strconv.Itoa(i)), "wrong").Want(http.StatusForbidden)
		}
	}
	refused(ways[0](w.As(calendar.Anonymous).With("X-Forwarded-For", "192.0.2.99"), "sesame"))
	w.Clock.Add(time.Minute)
	// At once no more are compared than one after the other, and none is refused that is right.
	var all sync.WaitGroup
	var wrong, late atomic.Int64
	who := w.As(calendar.Anonymous).With("X-Forwarded-For", "192.0.2.1")
	for range 8 {
		all.Go(func() {
			if r := ways[0](who, "sesame"); r.Status != http.StatusOK {
				t.Errorf("a right one beside others: %d", r.Status)
			}
		})
	}
	all.Wait()
	for i := range 8 {
		all.Go(func() {
			switch ways[i%len(ways)](who, "wrong").Status {
			case http.StatusForbidden:
				wrong.Add(1)
			case http.StatusTooManyRequests:
				late.Add(1)
			}
		})
	}
	all.Wait()
	if wrong.Load() != 5 || late.Load() != 3 {
		t.Errorf("of eight at once %d were compared and %d refused", wrong.Load(), late.Load())
	}
}

// TestPreview: PAGES 13.13: a preview asks for credentials before anything is looked up, is
// made for its caller, and is kept by nobody.
func TestPreview(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{})
	author := w.As(calendar.Author)
	author.Event("Draft & more", obj{"slug": "draft", "status": "draft"})
	noSlug := author.Create(calendar.KindEvent, obj{"title": "Unnamed", "status": "draft", "slug": "", "start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00"})
	w.AsOther(calendar.Author).Event("Foreign", obj{"slug": "foreign", "status": "draft"})
	for _, asked := range []string{"/event/draft/", "/event/nothing/", "/events/", "/?event=99", "/events/month/2026-13/", "/event/DRAFT"} {
		by := "?"
		if strings.Contains(asked, "?") {
			by = "&"
		}
		for _, client := range []*world.Client{w.As(calendar.Anonymous), w.As(calendar.Anonymous).With("Authorization", "Bearer wrong")} {
			r := client.With("Accept", "text/html").Get("/" + asked + by + "preview=true").Want(http.StatusUnauthorized)
			if got := r.Header.Values("WWW-Authenticate"); len(got) != 1 || got[0] != `Basic realm="daybook", charset="UTF-8"` || r.Header.Get("Cache-Control") != "no-store, private" {
				t.Errorf("%s: %v", asked, r.Header)
			}
		}
	}
	r := author.With("Accept", "text/html", "Accept-Encoding", "gzip", "If-None-Match", "*").Read("//event/draft/?preview=true")
	has(t, r, "Draft &amp; more", `<p id="preview"><b>Preview: draft</b> · seen by <bdi>author</bdi></p>`, `content="noindex`)
	if h := r.Header; h.Get("Cache-Control") != "no-store, private" || h.Get("ETag") != "" || h.Get("Access-Control-Allow-Origin") != "" || h.Get("Content-Encoding") != "" {
		t.Errorf("headers %v", h)
	}
	for _, a := range nodes(t, r.Body, func(n *html.Node) bool { return n.Data == "a" }) {
		if href := attr(a, "href"); strings.HasPrefix(href, "/") && !strings.Contains(href, "preview=true") {
			t.Errorf("a link leaves the preview: %s", href)
		}
	}
	has(t, r, `<input type="hidden" name="preview" value="true">`)
	author.With("Accept", "text/html").Get("//event/foreign/?preview=true").Want(http.StatusNotFound)
	w.As(calendar.Editor).Read("//event/foreign/?preview=true")
	has(t, author.Get("//?preview=true&event="+noSlug.ID().String()), "Unnamed")
	if got := author.Get("//?preview=true&event=" + noSlug.ID().String()); got.Status != http.StatusOK && got.Header.Get("Location") == "" {
		t.Errorf("a record without a slug: %d", got.Status)
	}
	for _, asked := range []string{"/events/", "/embed/events/", "/embed/event/draft/", "/venues/", "/docs/", "/event/nothing/"} {
		has(t, author.With("Accept", "text/html").Get("/"+asked+"?preview=true"), `<p id="preview">`, "seen by <bdi>author</bdi>")
	}
	has(t, page(w, "/events/?preview=maybe").Want(http.StatusBadRequest), `id="error-preview"`)
	wantPages(t, w, http.StatusNotFound, "/nothing?preview=true", "/event/draft/", "/event/draft/?preview=false", "/event/draft/?preview=")
}

// TestAssets: PAGES 13.27: the present hash of a file is kept for ever, another one not at
// all; files are encoded as clients take them, and a logo runs nothing.
func TestAssets(t *testing.T) {
	t.Parallel()
	logo, err := pages.NewLogo([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	brand := pages.Brand{Name: "Town hall", Logo: logo}
	brand.Home[calendar.LangEN] = pages.HomeText{HTML: "<h1>Hello</h1><h3>you</h3>", Lang: calendar.LangEN}
	brand.Home[calendar.LangFR] = brand.Home[calendar.LangEN]
	en := calendar.LangEN
	brand.Footer = []pages.FooterLink{{Lang: &en, Label: "Imprint", URL: "/imprint"}, {Label: "Town", URL: "https://town.example.org/"}}
	w := pagesWorld(t, world.Options{Pages: &pages.Options{Brand: brand}})
	has(t, page(w, "/"), `alt="Town hall"`, `<div class="text"><h2>Hello</h2><h3>you</h3></div>`, `<a href="/imprint">Imprint</a>`, `<a href="https://town.example.org/" rel="external noopener">Town <span class="hidden">(another site)</span></a>`, "<title>Town hall</title>")
	if french := page(w, "/fr/"); strings.Contains(string(french.Body), "Imprint") || !strings.Contains(string(french.Body), `<div class="text" lang="en"><h2>Hello`) {
		t.Error("branding in another language")
	}
	list := page(w, "/events/")
	var style, image string
	for _, n := range nodes(t, list.Body, func(n *html.Node) bool { return n.Data == "link" || n.Data == "img" }) {
		if attr(n, "rel") == "stylesheet" {
			style = attr(n, "href")
		}
		if strings.Contains(attr(n, "src"), "/logo.") {
			image = attr(n, "src")
		}
	}
	anybody := w.As(calendar.Anonymous)
	plain := anybody.Read("/" + style)
	wantPageHeaders(t, plain)
	if plain.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || plain.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("%s: %v", style, plain.Header)
	}
	old := strings.TrimSuffix(path.Dir(style), "/") + "/daybook.0123456789.css"
	for _, other := range []string{old, "/assets/daybook.css"} {
		r := anybody.Read("/" + other)
		if r.Header.Get("Cache-Control") != "no-cache" || !bytes.Equal(r.Body, plain.Body) {
			t.Errorf("%s: %v", other, r.Header)
		}
		anybody.With("If-None-Match", r.ETag()).Get("/" + other).Want(http.StatusNotModified)
	}
	for coding, open := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		r := anybody.With("Accept-Encoding", coding).Get("/" + style)
		z, err := open(bytes.NewReader(r.Body))
		if err != nil || r.Header.Get("Content-Encoding") != coding || len(r.Body) >= len(plain.Body)/2 {
			t.Fatalf("%s: %v, %d of %d bytes, %v", coding, r.Header, len(r.Body), len(plain.Body), err)
		}
		if b, err := io.ReadAll(z); err != nil || !bytes.Equal(b, plain.Body) {
			t.Errorf("%s holds another file: %v", coding, err)
		}
		anybody.With("Accept-Encoding", coding, "If-None-Match", r.ETag()).Get("/" + style).Want(http.StatusNotModified)
		coded := anybody.With("Accept-Encoding", coding, "Accept", "text/html").Get("//events/")
		if coded.Header.Get("Content-Encoding") != coding || len(coded.Body) > 30_000 {
			t.Errorf("a page in %s: %v", coding, coded.Header)
		}
	}
	page(w, "/assets/nothing.0123456789.css").Want(http.StatusNotFound)
	r := anybody.Read("/" + image)
	if r.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'; style-src 'unsafe-inline'" || r.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the logo: %v", r.Header)
	}
}

// TestPagePolicies: PAGES 13.29: tiles and pictures add their hosts and no others, frames
// are allowed for embedded pages only, and search engines are kept out of everything.
func TestPagePolicies(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{Pages: &pages.Options{
		Images: []string{"img.example.org"}, Tiles: "https://{s}.t.example/{z}/{x}/{y}.png", TileHosts: []string{"a", "b"}, TilesBy: "© <Mappers>",
		Embed: []string{"https://www.example.org"}, NoRobots: true, MaxAge: -1,
	}})
	w.As(calendar.Editor).Event("Pictures", obj{
		"slug": "pictures", "image": "https://other.example.org/x.png",
		"description": `<p><img src="https://img.example.org/in.png" alt="in"><img src="https://other.example.org/out.png" alt="out"></p>`,
		"venue":       obj{"venue": "Hall", "geo_lat": 45, "geo_lng": 9},
	})
	list := page(w, "/events/map/")
	csp := list.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "img-src 'self' data: img.example.org https://a.t.example https://b.t.example;") || !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("policy %q", csp)
	}
	if !strings.Contains(list.Header.Get("Cache-Control"), "s-maxage=0,") {
		t.Errorf("Cache-Control %q", list.Header.Get("Cache-Control"))
	}
	has(t, list, `data-tiles="https://{s}.t.example/{z}/{x}/{y}.png"`, `data-tiles-hosts="a,b"`, `data-tiles-by="© &lt;Mappers&gt;"`)
	event := page(w, "/event/pictures/")
	has(t, event, `src="https://img.example.org/in.png"`, `<a href="https://other.example.org/out.png" rel="nofollow ugc noopener">out</a>`)
	if strings.Contains(string(event.Body), `src="https://other.`) {
		t.Error("a picture of another host is loaded")
	}
	if got := page(w, "/docs/").Header.Get("Content-Security-Policy"); !strings.Contains(got, "style-src 'self' 'unsafe-inline';") || !strings.Contains(got, "script-src 'self';") {
		t.Errorf("/docs/: policy %q", got)
	}
	if got := page(w, "/embed/events/").Header.Get("Content-Security-Policy"); !strings.HasSuffix(got, "frame-ancestors https://www.example.org") {
		t.Errorf("/embed/events/: policy %q", got)
	}
	for _, asked := range []string{"/events/", "/robots.txt", "/assets/daybook.css", "/nothing", "/api/calendar/events/v1/events"} {
		if got := page(w, asked).Header.Get("X-Robots-Tag"); got != "noindex" {
			t.Errorf("%s: X-Robots-Tag %q", asked, got)
		}
	}
	has(t, page(w, "/robots.txt"), "Disallow: /\n")
}

// awayIndex is a read model that can be out of reach.
type awayIndex struct {
	readmodel.Index

	away *atomic.Bool
}

func (x awayIndex) err() error {
	if x.away.Load() {
		return readmodel.ErrUnavailable
	}
	return nil
}

func (x awayIndex) Visible(ctx context.Context) (readmodel.Shown, error) {
	if err := x.err(); err != nil {
		return readmodel.Shown{}, err
	}
	return x.Index.Visible(ctx)
}

func (x awayIndex) Search(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	if err := x.err(); err != nil {
		return readmodel.Page{}, err
	}
	return x.Index.Search(ctx, q)
}

func (x awayIndex) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	if err := x.err(); err != nil {
		return nil, err
	}
	return x.Index.Walk(ctx, q)
}

func (x awayIndex) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	if err := x.err(); err != nil {
		return nil, err
	}
	return x.Index.Get(ctx, ids)
}

func (x awayIndex) Stamp(ctx context.Context, k calendar.Kind) (readmodel.Stamp, error) {
	if err := x.err(); err != nil {
		return readmodel.Stamp{}, err
	}
	return x.Index.Stamp(ctx, k)
}

// TestPagesWithoutReadModel: PAGES 13.30: with the read model away list pages are 503 with
// Retry-After, pages of records are there; with ServeStale the last good pages stand in.
func TestPagesWithoutReadModel(t *testing.T) {
	t.Parallel()
	for _, stale := range []bool{false, true} {
		inner, err := memindex.New(memindex.Options{})
		if err != nil {
			t.Fatal(err)
		}
		index := awayIndex{inner, &atomic.Bool{}}
		w := pagesWorld(t, world.Options{Index: index, HTTP: httpapi.Options{ServeStale: stale}})
		editor := w.As(calendar.Editor)
		concert := editor.Event("Quay", obj{"slug": "quay", "venue": obj{"venue": "Hall", "slug": "hall"}, "categories": "Jazz"})
		before := page(w, "/events/").Want(http.StatusOK)
		index.away.Store(true)
		lists := page(w, "/events/")
		if stale {
			if lists.Status != http.StatusOK || !bytes.Equal(lists.Body, before.Body) || !strings.HasPrefix(lists.Header.Get("Warning"), "110 ") {
				t.Errorf("a page that was answered before: %d %v", lists.Status, lists.Header)
			}
		} else {
			lists.Want(http.StatusServiceUnavailable)
		}
		for _, asked := range []string{"/", "/events/?search=x", "/events/month/", "/events/map/", "/venues/"} {
			r := page(w, asked).Want(http.StatusServiceUnavailable)
			has(t, r, `data-code="rest_unavailable"`)
			if r.Header.Get("Retry-After") == "" || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", asked, r.Header)
			}
		}
		has(t, page(w, "/event/quay/").Want(http.StatusOK), "Quay", "Hall")
		quay := page(w, "/event/quay/").ETag() // kept
		editor.Update(concert.Path(calendar.KindEvent), obj{"title": "Quay by night"})
		if changed := page(w, "/event/quay/"); !strings.Contains(string(changed.Body), "Quay by night") || changed.ETag() == quay {
			t.Error("the page of a record is that from before it was written")
		}
		has(t, page(w, "/venue/hall/").Want(http.StatusOK), "Hall")
		wantPages(t, w, http.StatusOK, "/events/category/jazz/", "/embed/event/quay/", "/robots.txt", "/oembed?url="+world.Base+"/event/quay/", "/event/quay/history/", "/events/category/jazz/history/", "/event/quay/?as_of=version:1")
		wantPages(t, w, http.StatusNotFound, "/event/nothing/")
		if log := w.Log.Take(); !strings.Contains(log, "part unavailable") {
			t.Errorf("the log says %q", log)
		}
		index.away.Store(false)
		if r := page(w, "/events/"); r.Status != http.StatusOK || r.Header.Get("Warning") != "" {
			t.Errorf("back again: %d %v", r.Status, r.Header)
		}
		has(t, page(w, "/venue/hall/"), `data-total="1"`)
	}
}
