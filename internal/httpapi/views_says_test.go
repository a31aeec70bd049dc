package httpapi_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// TestEveryURLNamesItsRecord: the url of every record is a page with its name in h1, in each
// language (PAGES 13.1).
func TestEveryURLNamesItsRecord(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{ExternalLinks: true})
	programme(t, w)
	editor := w.As(calendar.Editor)
	editor.Under(calendar.LangCN).Event("音乐会", obj{"venue": obj{"venue": "市政厅"}, "organizer": obj{"organizer": "爵士俱乐部"}, "tags": "Été à l’air & co", "categories": "戏剧"})
	for _, lang := range calendar.Langs {
		for _, kind := range calendar.Kinds {
			list := w.As(calendar.Anonymous).Under(lang).Read("/" + kind.Collection() + "?per_page=100&hide_empty=false&starts_after=2000-01-01")
			for i := range list.Int(kind.Collection() + ".#") {
				at := fmt.Sprintf("%s.%d.", kind.Collection(), i)
				sheet := readPage(t, w, below(t, list.String(at+"url"))[1:])
				if got, want := wordsOf(sheet.one("h1")), html.UnescapeString(list.String(at+kind.NameField())); got != want || valueOf(sheet.one("body"), "data-page") != kind.String() {
					t.Errorf("%s: h1 %q, want %q", list.String(at+"url"), got, want)
				}
			}
		}
	}
}

// urlSet is a site map.
type urlSet struct {
	Maps []struct {
		Loc string `xml:"loc"`
	} `xml:"sitemap"`
	URLs []struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
		Links   []struct {
			Lang string `xml:"hreflang,attr"`
			Href string `xml:"href,attr"`
		} `xml:"http://www.w3.org/1999/xhtml link"`
	} `xml:"url"`
}

func readSiteMap(t *testing.T, w *world.World, path string) (out urlSet) {
	t.Helper()
	res := w.As(calendar.Anonymous).Do(http.MethodGet, "/"+path, nil).Want(http.StatusOK)
	if err := xml.Unmarshal(res.Body, &out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

// TestSiteMap: what may be indexed is in it once (PAGES 13.16).
func TestSiteMap(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{ExternalLinks: true, Prefixes: []string{"api"}})
	p := programme(t, w)
	p["unused"] = w.As(calendar.Editor).Create(calendar.KindVenue, obj{"venue": "Unused"})
	has(t, page(w, "/robots.txt").Want(http.StatusOK), "User-agent: *\n", "Allow: /\n", "Disallow: /api/\n", "Disallow: /fr/api/\n", "Disallow: /embed/\n", "Sitemap: "+world.Base+"/sitemap.xml")
	found := map[string]string{}
	var names []string
	for _, m := range readSiteMap(t, w, "/sitemap.xml").Maps {
		names = append(names, strings.TrimPrefix(m.Loc, world.Base+"/sitemap/"))
		for _, u := range readSiteMap(t, w, below(t, m.Loc)[1:]).URLs {
			sheet := readPage(t, w, below(t, u.Loc)[1:])
			if _, twice := found[u.Loc]; twice || len(sheet.all("meta[name=robots]")) != 0 || valueOf(sheet.one("link[rel=canonical]"), "href") != u.Loc || len(u.Links) != len(sheet.all("link[hreflang]"))-1 {
				t.Errorf("%s stands twice, is not to be indexed, or has %d languages", u.Loc, len(u.Links))
			}
			found[u.Loc] = u.LastMod
		}
	}
	if want := []string{"pages.xml", "events-2026-04.xml", "events-2026-05.xml", "events-2026-06.xml", "events-2026-07.xml", "venues-1.xml", "organizers-1.xml", "terms-1.xml"}; !cmp.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	for name, response := range p {
		modified, is := found[response.String("url")]
		if want := !slices.Contains([]string{"hidden", "protected", "draft", "unused"}, name); is != want || is && modified != "2026-05-01T12:00:00Z" {
			t.Errorf("%s in the site map: %t, want %t, modified %s", name, is, want, modified)
		}
	}
	for _, path := range []string{"/", "/events/", "/events/map/", "/events/month/2026-06/", "/venues/", "/docs/"} {
		if _, is := found[world.Base+path]; !is {
			t.Errorf("%s is not in the site map", path)
		}
	}
	wantPages(t, w, http.StatusNotFound, "/sitemap/events-2026-03.xml", "/sitemap/events-2026-05-2.xml", "/sitemap/venues-2.xml", "/sitemap/other.xml")
}

// TestFeedsOfPages: what heads of pages name as feeds are feeds of the same selection, without
// a window (PAGES 13.15); other sites are shown the logo.
func TestFeedsOfPages(t *testing.T) {
	t.Parallel()
	logo, err := pages.NewLogo([]byte("\x89PNG\r\n\x1a\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := viewsWorld(t, pages.Options{ExternalLinks: true, Brand: pages.Brand{Logo: logo}})
	programme(t, w)
	for path, want := range map[string]string{
		"/": "geo+json feed+json json atom+xml rss+xml calendar", "/events/month/2026-05/?categories=jazz": "geo+json feed+json json atom+xml rss+xml calendar",
		"/fr/organizer/jazz-club/": "geo+json feed+json json atom+xml rss+xml calendar", "/event/fair/": "json json+oembed xml+oembed calendar",
	} {
		var got []string
		for _, node := range readPage(t, w, path).all("link[rel=alternate][type][title]") {
			media, text := valueOf(node, "type"), valueOf(node, "href")
			got = append(got, media[strings.IndexByte(media, '/')+1:])
			if strings.HasSuffix(media, "+oembed") {
				continue
			}
			answered := w.As(calendar.Anonymous).Do(http.MethodGet, below(t, text), nil).Want(http.StatusOK).Header.Get("Content-Type")
			if !strings.HasPrefix(answered, media) || strings.Contains(text, "start_date") || strings.Contains(path, "categories=jazz") != strings.Contains(text, "categories=jazz") {
				t.Errorf("%s: %s is %s, want %s", path, text, answered, media)
			}
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(strings.Fields(want)))) {
			t.Errorf("%s: feeds %v, want %s", path, got, want)
		}
	}
	if got := valueOf(readPage(t, w, "/events/").one("meta[property='og:image']"), "content"); !strings.HasPrefix(got, world.Base+"/assets/logo.") {
		t.Errorf("without a picture of its own a page shows %q to other sites, want the logo", got)
	}
}
