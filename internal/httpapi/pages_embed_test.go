package httpapi_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// TestOEmbed: PAGES 13.33: how pages of events are embedded, in JSON and XML; nothing but the
// title of protected ones, nothing of what is not for everybody.
func TestOEmbed(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	concert := editor.Event(`Quay & "more"`, obj{"slug": "quay", "image": "https://img.example.org/a.png", "organizer": obj{"organizer": "Jazz Club", "slug": "club"}})
	editor.Under(calendar.LangFR).Update(concert.Path(calendar.KindEvent), obj{"title": "Le quai"})
	editor.Event("Plain", obj{"slug": "plain", "hide_from_listings": true})
	locked := editor.Event("Locked", obj{"slug": "locked", "image": "https://img.example.org/in.png", "organizer": obj{"organizer": "Inner"}})
	editor.Update(locked.Path(calendar.KindEvent), obj{"password": "sesame"})
	editor.Event("Draft", obj{"slug": "draft", "status": "draft"})
	anybody := w.As(calendar.Anonymous)
	ask := func(query string, status int) *world.Response {
		t.Helper()
		r := anybody.Get("//oembed?" + query).Want(status)
		for name, want := range map[string]string{"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff", "Set-Cookie": ""} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", query, name, got, want)
			}
		}
		if !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Retry-After") {
			t.Errorf("%s: scripts may read %q", query, r.Header.Get("Access-Control-Expose-Headers"))
		}
		return r
	}
	at := func(path string) string { return url.QueryEscape(world.Base + path) }
	frame := func(path, title, width, height string) string {
		return `<iframe src="` + world.Base + path + `" width="` + width + `" height="` + height + `" title="` + title +
			`" sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation" loading="lazy"></iframe>`
	}
	told := func(title, home string) map[string]any {
		return map[string]any{"version": "1.0", "type": "rich", "title": title, "provider_name": "Calendar", "provider_url": world.Base + home, "cache_age": 3600.0, "width": 480.0, "height": 320.0}
	}
	with := func(m map[string]any, pairs ...any) map[string]any {
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	const quoted = "Quay &amp; &#34;more&#34;"
	by := []any{"author_name", "Jazz Club", "author_url", world.Base + "/organizer/club/", "thumbnail_url", "https://img.example.org/a.png"}
	english := with(told(`Quay & "more"`, "/"), by...)
	for query, want := range map[string]map[string]any{
		"url=" + at("/event/quay/"):                                      with(english, "html", frame("/embed/event/quay/", quoted, "480", "320")),
		"format=json&url=" + at("/event/QUAY"):                           english,
		"url=" + strings.Replace(at("/event/quay/"), "https", "http", 1): english,
		"maxwidth=9999&maxheight=&url=" + at("/event/quay/?tz=UTC"):      english,
		"maxwidth=200&maxheight=100&url=" + at("/event/plain/"):          with(told("Plain", "/"), "html", frame("/embed/event/plain/", "Plain", "200", "100"), "width", 200.0, "height", 100.0),
		"url=" + at("/fr/event/quay/"):                                   with(told("Le quai", "/fr/"), append(by, "author_url", world.Base+"/fr/organizer/club/", "html", frame("/fr/embed/event/quay/", "Le quai", "480", "320"))...),
		"maxwidth=100&url=" + at("/event/locked/"):                       {"version": "1.0", "type": "link", "title": "Locked", "provider_name": "Calendar", "provider_url": world.Base + "/", "cache_age": 3600.0},
	} {
		r := ask(query, http.StatusOK)
		var got map[string]any
		if err := json.Unmarshal(r.Body, &got); err != nil || r.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %v %s", query, err, r.Header.Get("Content-Type"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", query, diff)
		}
		anybody.With("If-None-Match", r.ETag()).Get("//oembed?" + query).Want(http.StatusNotModified)
	}
	for query, want := range map[string]string{"url=" + at("/event/quay/"): "rich", "url=" + at("/event/locked/"): "link"} {
		r := ask("format=xml&"+query, http.StatusOK)
		var got struct {
			XMLName xml.Name `xml:"oembed"`
			Type    string   `xml:"type"`
			HTML    string   `xml:"html"`
		}
		if err := xml.Unmarshal(r.Body, &got); err != nil || got.Type != want || (got.HTML != "") != (want == "rich") || r.Header.Get("Content-Type") != "text/xml; charset=utf-8" || bytes.Contains(r.Body, []byte("Inner")) {
			t.Errorf("%s: %v %s", query, err, r.Body)
		}
	}
	for query, status := range map[string]int{
		"": 400, "url=": 400, "format=yaml": 400, "maxwidth=0&url=" + at("/event/quay/"): 400, "maxheight=-1&url=" + at("/event/quay/"): 400, "maxwidth=1.5&url=" + at("/event/quay/"): 400,
		"format=yaml&url=" + at("/event/quay/"): 501, "format=yaml&url=x": 501,
		"url=" + at("/"): 404, "url=" + at("/events/"): 404, "url=" + at("/event/draft/"): 404, "url=" + at("/event/none/"): 404, "url=" + at("/event/quay/history/"): 404, "url=" + at("/organizer/club/"): 404,
		"url=" + at("/embed/event/quay/"): 404, "url=event": 404, "url=%2Fevent%2Fquay%2F": 404, "url=" + url.QueryEscape("https://other.example/event/quay/"): 404, "url=" + url.QueryEscape("ftp://calendar.example.org/event/quay/"): 404,
		"url=" + url.QueryEscape("https://calendar.example.org.evil.example/event/quay/"): 404, "url=%zz": 404,
	} {
		r := ask(query, status)
		cached := map[int]string{400: "no-store", 501: "no-store", 404: "public, max-age=0, s-maxage=10"}[status]
		if r.Header.Get("Cache-Control") != cached || r.ETag() != "" || !json.Valid(r.Body) {
			t.Errorf("%s: %v %s", query, r.Header, r.Body)
		}
	}
	preflight := anybody.With("Origin", "https://other.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "X-Own").Do(http.MethodOptions, "//oembed?url=x", nil).Want(http.StatusOK)
	if h := preflight.Header; h.Get("Allow") != "GET, HEAD, OPTIONS" || h.Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "X-Own") || h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight: %v", h)
	}
}

// TestEmbedded: pages for frames of other sites hold no more than the others, and the script
// of the element may be loaded by all.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	for path, title := range map[string]string{"/embed/event/until-midnight/": "Until midnight", "/fr/embed/event/until-midnight/?theme=dark": "Jusqu’à minuit", "/embed/event/protected/": "Protected", "/embed/events/": "", "/embed/events/?view=month&theme=light&categories=jazz": "", "/embed/events/?past=true": ""} {
		at := readPage(t, w, path)
		if got := valueOf(at.one("body"), "data-page"); got != "embed" || len(at.all("header"))+len(at.all("footer"))+len(at.all("form"))+len(at.all("script")) != 0 {
			t.Errorf("%s: data-page %s, header, footer, form or script", path, got)
		}
		for _, a := range at.all("a") {
			if valueOf(a, "target") != "_top" || strings.Contains(valueOf(a, "href"), "/embed/") {
				t.Errorf("%s: a link to %s in %q", path, valueOf(a, "href"), valueOf(a, "target"))
			}
		}
		if len(at.all("meta", "name=robots", "content=noindex, follow")) != 1 {
			t.Errorf("%s may be indexed", path)
		}
		if _, theme, _ := strings.Cut(path, "theme="); valueOf(at.one("html"), "data-theme") != strings.Split(theme, "&")[0] {
			t.Errorf("%s: theme %q", path, valueOf(at.one("html"), "data-theme"))
		}
		if got := wordsOf(at.one("h1")); title != "" && got != title {
			t.Errorf("%s: %q", path, got)
		}
		if csp := at.Header.Get("Content-Security-Policy"); !strings.HasSuffix(csp, "frame-ancestors *") || !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'") {
			t.Errorf("%s: %s", path, csp)
		}
	}
	locked := readPage(t, w, "/embed/event/protected/")
	lacks(t, locked.Response, "secret", "City Hall", "ld+json", "Jazz")
	if len(under(locked.one("h1"), "a", "href=/event/protected/")) != 1 || len(locked.all("time")) == 0 {
		t.Error("a protected event has no link or dates")
	}
	list, jazz := readPage(t, w, "/embed/events/?categories=jazz"), readPage(t, w, "/events/?categories=jazz")
	if diff := cmp.Diff(idsUnder(jazz.results()), idsUnder(list.results())); diff != "" || list.total() != jazz.total() {
		t.Error(diff)
	}
	if month := readPage(t, w, "/embed/events/?view=month"); valueOf(month.one("table", "id=month"), "data-month") != "2026-05" {
		t.Error("not the present month")
	}
	for _, path := range []string{"/embed/events/?view=week", "/embed/events/?theme=pink", "/embed/events/?start_date=x", "/embed/event/until-midnight/?theme=pink"} {
		if at := openPage(t, w, path, http.StatusBadRequest); len(at.all("", "aria-describedby")) == 0 {
			t.Errorf("%s: no field is marked", path)
		}
	}
	for _, path := range []string{"/embed/event/draft/", "/embed/event/none/", "/embed/venue/city-hall/"} {
		openPage(t, w, path, http.StatusNotFound)
	}
	nobody := w.As(calendar.Anonymous)
	script := nobody.Do(http.MethodGet, "//embed/v1/daybook-calendar.js", nil).Want(http.StatusOK)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "public, max-age=300, stale-while-revalidate=86400", "Content-Type": "text/javascript; charset=utf-8",
	} {
		if got := script.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	nobody.With("If-None-Match", script.ETag()).Do(http.MethodGet, "//embed/v1/daybook-calendar.js", nil).Want(http.StatusNotModified)
	if packed := nobody.With("Accept-Encoding", "gzip").Do(http.MethodGet, "//embed/v1/daybook-calendar.js", nil); len(packed.Body) > 12_000 || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the script takes %d bytes", len(packed.Body))
	}
}
