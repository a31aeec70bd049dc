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
		"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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

// TestPagePaths: a path that is too long, and HEAD, which is GET without its body.
func TestPagePaths(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{})
	w.As(calendar.Editor).Event("Quay", obj{"slug": "quay"})
	anybody := w.As(calendar.Anonymous)
	has(t, page(w, "/events/?search="+strings.Repeat("x", 17<<10)).Want(http.StatusRequestURITooLong), `data-code="rest_uri_too_long"`)
	for _, asked := range []string{"/", "/events/", "/event/quay/", "/nothing"} {
		get, head := page(w, asked), anybody.With("Accept", "text/html").Do(http.MethodHead, "/"+asked, nil)
		if get.Status != head.Status || len(head.Body) != 0 || get.Header.Get("Content-Length") != head.Header.Get("Content-Length") || get.ETag() != head.ETag() {
			t.Errorf("HEAD %s: %d %v, as GET %d %v", asked, head.Status, head.Header, get.Status, get.Header)
		}
	}
}

// TestPageCaching: PAGES 13.26: If-None-Match gives 304, a write gives another ETag, and
// credentials without a preview change nothing.
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
		"/events/month/?page=2": "/events/month/", "/events/month/?include=5&per_page=1&past=true": "/events/month/?x=1",
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

func (x awayIndex) View(ctx context.Context) (readmodel.View, error) {
	if err := x.err(); err != nil {
		return nil, err
	}
	return x.Index.View(ctx)
}

// TestPagesWithoutReadModel: PAGES 13.30: with the read model away list pages are 503 with
// Retry-After, pages of records are there; with ServeStale the last good pages stand in.
func TestPagesWithoutReadModel(t *testing.T) {
	t.Parallel()
	for _, stale := range []bool{false, true} {
		inner := memindex.New(memindex.Options{})
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
