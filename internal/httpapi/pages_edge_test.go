package httpapi_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

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
	editor.Event("trashed", obj{"slug": "is-trashed", "status": "draft"})
	editor.Do(http.MethodDelete, "/events/by-slug/is-trashed", nil).Want(http.StatusOK)
	editor.Event("Later", obj{"slug": "is-future", "date": "2026-06-01 00:00:00"})
	for _, status := range []string{"draft", "pending", "private"} {
		editor.Event(status, obj{"slug": "is-" + status, "status": status})
	}
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Mill"}).ID().String()
	has(t, page(w, "/event/is-unknown/"), `data-code="not-found"`, `<meta name="robots" content="noindex, follow">`)
	wantPages(t, w, http.StatusNotFound, "/events/month/2026-13/", "/events/?page=99", "/sitemap/none.xml", "/?venue=99")
	same := func(client *world.Client, path, unknown, name, other string) {
		t.Helper()
		got, want := client.Get("/"+path).Want(http.StatusNotFound), page(w, unknown).Want(http.StatusNotFound)
		if !bytes.Equal(bytes.ReplaceAll(got.Body, []byte(name), []byte(other)), want.Body) || got.Header.Get("Cache-Control") != want.Header.Get("Cache-Control") {
			t.Errorf("%s is told from what is unknown: got\n%s\nwant\n%s", path, got.Body, want.Body)
		}
	}
	for _, role := range []calendar.Role{calendar.Anonymous, calendar.Administrator} {
		client := w.As(role).With("Accept", "text/html")
		for _, id := range []string{venue, "1", "0"} {
			same(client, "/?event="+id, "/?event=999999", "event="+id, "event=999999")
		}
		for _, status := range []string{"draft", "pending", "private", "future", "trashed"} {
			same(client, "/event/is-"+status+"/", "/event/is-unknown/", "is-"+status, "is-unknown")
		}
	}
}

// TestWrongPasswords: those of a client for an event are counted together, by whatever way
// they are sent; the sixth of a minute is not compared (INTERFACE 6.3).
func TestWrongPasswords(t *testing.T) {
	t.Parallel()
	w := pagesWorld(t, world.Options{HTTP: httpapi.Options{TrustForwarded: true}})
	editor, anybody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	secret := func(slug string) string {
		return editor.Event("Secret", obj{"slug": slug, "password": "sesame"}).Path()
	}
	event, other := secret("secret"), secret("other")
	type way func(client *world.Client, password string) *world.Response
	api := func(method, path string) way {
		return func(client *world.Client, password string) *world.Response {
			return client.Do(method, path+"?password="+password, nil)
		}
	}
	form := func(path string) way {
		return func(client *world.Client, password string) *world.Response {
			return client.Post("/"+path, url.Values{"password": {password}})
		}
	}
	ways := []way{
		api(http.MethodGet, event), form("/event/secret/"), api(http.MethodGet, event+".ics"), api(http.MethodHead, event), form("/fr/event/secret/"),
		api(http.MethodGet, "//fr/api/"+httpapi.Namespace+event), api(http.MethodGet, event+".geojson"),
	}
	refused := func(response *world.Response) {
		t.Helper()
		response.Want(http.StatusTooManyRequests)
		if wait, err := strconv.Atoi(response.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 || response.Header.Get("Cache-Control") != "no-store, private" {
			t.Errorf("%s: %v", response.Request, response.Header)
		}
	}
	for first := range ways {
		who := anybody.With("X-Forwarded-For", "2001:db8::"+strconv.Itoa(first+1)) // all of one network
		for i := range 5 {
			one := ways[(first+i)%len(ways)]
			for range 3 { // right ones and none do not count
				one(who, "sesame").Want(http.StatusOK)
				one(who, "").Want(http.StatusForbidden)
			}
			one(who, "wrong").Want(http.StatusForbidden)
		}
		for _, one := range ways {
			refused(one(who, "wrong"))
			refused(one(who, "sesame"))
			one(who, "").Want(http.StatusForbidden)
		}
		refused(ways[0](w.As(calendar.Subscriber).With("X-Forwarded-For", "2001:db8::f"), "sesame")) // the same client
		editor.With("X-Forwarded-For", "2001:db8::f").Read(event + "?password=wrong")                // needs none
		ways[0](anybody.With("X-Forwarded-For", "2001:db8:1::1"), "sesame").Want(http.StatusOK)
		api(http.MethodGet, other)(who, "sesame").Want(http.StatusOK)
		w.Clock.Add(time.Minute)
	}
	// A hundred of all clients for an event are the most.
	from := func(i int) *world.Client { return anybody.With("X-Forwarded-For", "192.0.2."+strconv.Itoa(i)) }
	for i := range 100 {
		ways[i%len(ways)](from(i%20), "wrong").Want(http.StatusForbidden)
	}
	refused(ways[0](from(99), "sesame"))
	w.Clock.Add(time.Minute)
	// At once no more are compared than one after the other, and none is refused that is right.
	var all sync.WaitGroup
	var got sync.Map
	for _, password := range []string{"sesame", "wrong"} {
		for i := range 8 {
			all.Go(func() { got.Store(i, ways[0](from(1), password).Status) })
		}
		all.Wait()
		count := map[any]int{}
		got.Range(func(_, status any) bool { count[status]++; return true })
		if password == "sesame" && count[200] != 8 || password == "wrong" && (count[403] != 5 || count[429] != 3) {
			t.Errorf("of eight at once with %s: %v", password, count)
		}
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
	lang := calendar.LangEN
	brand := pages.Brand{Name: "Town hall", Logo: logo, Footer: []pages.FooterLink{{Lang: &lang, Label: "Imprint", URL: "/imprint"}, {Label: "Town", URL: "https://town.example.org/"}}}
	brand.Home[lang] = pages.HomeText{HTML: "<h1>Hello</h1><h3>you</h3>", Lang: lang}
	brand.Home[calendar.LangFR] = brand.Home[lang]
	w := pagesWorld(t, world.Options{Pages: &pages.Options{ExternalLinks: true, Brand: brand}})
	has(t, page(w, "/"), `alt="Town hall"`, `<div class="text"><h2>Hello</h2><h3>you</h3></div>`, `<a href="/imprint">Imprint</a>`, `<a href="https://town.example.org/" rel="external noopener">Town <span class="hidden">(another site)</span></a>`, "<title>Town hall</title>")
	has(t, page(w, "/fr/"), `<div class="text" lang="en"><h2>Hello`)
	lacks(t, page(w, "/fr/"), "Imprint")
	anybody, list := w.As(calendar.Anonymous), readPage(t, w, "/events/")
	style := valueOf(list.one("link[rel=stylesheet]"), "href")
	plain := anybody.Read("/" + style)
	if plain.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || plain.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("%s: %v", style, plain.Header)
	}
	for _, other := range []string{path.Dir(style) + "/daybook.0123456789.css", "/assets/daybook.css"} {
		response := anybody.Read("/" + other)
		if response.Header.Get("Cache-Control") != "no-cache" || !bytes.Equal(response.Body, plain.Body) {
			t.Errorf("%s: %v", other, response.Header)
		}
		anybody.With("If-None-Match", response.ETag()).Get("/" + other).Want(http.StatusNotModified)
	}
	for _, coding := range []string{"gzip", "zstd"} {
		client := anybody.With("Accept-Encoding", coding)
		response := client.Get("/" + style)
		if response.Header.Get("Content-Encoding") != coding || len(response.Body) >= len(plain.Body)/2 {
			t.Errorf("%s: %v, %d of %d bytes", coding, response.Header, len(response.Body), len(plain.Body))
		}
		client.With("If-None-Match", response.ETag()).Get("/" + style).Want(http.StatusNotModified)
		if coded := client.With("Accept", "text/html").Get("//events/"); coded.Header.Get("Content-Encoding") != coding || len(coded.Body) > 30_000 {
			t.Errorf("a page in %s: %v", coding, coded.Header)
		}
	}
	wantPages(t, w, http.StatusNotFound, "/assets/nothing.0123456789.css")
	response := anybody.Read("/" + valueOf(list.one("img[alt='Town hall']"), "src"))
	if response.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'; style-src 'unsafe-inline'" || response.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the logo: %v", response.Header)
	}
}

// awayIndex is a read model that can be out of reach.
type awayIndex struct {
	readmodel.Index

	away *atomic.Bool
}

func (awayIndex awayIndex) err() error {
	if awayIndex.away.Load() {
		return readmodel.ErrUnavailable
	}
	return nil
}

func (awayIndex awayIndex) Visible(ctx context.Context) (readmodel.VisibleState, error) {
	if err := awayIndex.err(); err != nil {
		return readmodel.VisibleState{}, err
	}
	return awayIndex.Index.Visible(ctx)
}

func (awayIndex awayIndex) View(ctx context.Context) (readmodel.View, error) {
	if err := awayIndex.err(); err != nil {
		return nil, err
	}
	return awayIndex.Index.View(ctx)
}

// TestPagesWithoutReadModel: PAGES 13.30, INTERFACE 9: with the read model away lists are 503
// with Retry-After, records are there; with ServeStale the last good answers stand in.
func TestPagesWithoutReadModel(t *testing.T) {
	t.Parallel()
	for _, stale := range []bool{false, true} {
		index := awayIndex{memindex.New(memindex.Options{}), &atomic.Bool{}}
		var log bytes.Buffer
		w := pagesWorld(t, world.Options{Index: index, HTTP: httpapi.Options{ServeStale: stale, Log: slog.New(slog.NewTextHandler(&log, nil))}})
		editor := w.As(calendar.Editor)
		concert := editor.Event("Quay", obj{"slug": "quay", "venue": obj{"venue": "Hall", "slug": "hall"}, "categories": "Jazz"}).Path()
		before := map[string][]byte{}
		for _, path := range []string{"//events/", "/events"} {
			before[path] = w.As(calendar.Anonymous).Read(path).Body
		}
		index.away.Store(true)
		for path, body := range before {
			lists := w.As(calendar.Anonymous).Get(path)
			if !stale {
				has(t, lists.Want(http.StatusServiceUnavailable), "rest_unavailable")
			} else if lists.Want(http.StatusOK); !bytes.Equal(lists.Body, body) || !strings.HasPrefix(lists.Header.Get("Warning"), "110 ") {
				t.Errorf("what was answered before: %v", lists.Header)
			}
		}
		for _, asked := range []string{"/", "/events/?search=x", "/events/month/", "/events/map/", "/venues/"} {
			response := page(w, asked).Want(http.StatusServiceUnavailable)
			has(t, response, `data-code="rest_unavailable"`)
			if response.Header.Get("Retry-After") == "" || response.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", asked, response.Header)
			}
		}
		w.As(calendar.Anonymous).Get("/venues?per_page=9").WantCode(http.StatusServiceUnavailable, "rest_unavailable")
		w.As(calendar.Anonymous).Read(concert)
		has(t, page(w, "/event/quay/").Want(http.StatusOK), "Quay", "Hall") // kept
		editor.Update(concert, obj{"title": "Quay by night"})
		has(t, page(w, "/event/quay/"), "Quay by night")
		wantPages(t, w, http.StatusOK, "/venue/hall/", "/events/category/jazz/", "/embed/event/quay/", "/robots.txt", "/oembed?url="+world.Base+"/event/quay/", "/event/quay/history/", "/events/category/jazz/history/", "/event/quay/?as_of=version:1")
		wantPages(t, w, http.StatusNotFound, "/event/nothing/")
		if log := log.String(); !strings.Contains(log, "part unavailable") {
			t.Errorf("the log says %q", log)
		}
		index.away.Store(false)
		if response := page(w, "/events/").Want(http.StatusOK); response.Header.Get("Warning") != "" {
			t.Errorf("back again: %v", response.Header)
		}
		has(t, page(w, "/venue/hall/"), `data-total="1"`)
	}
}
