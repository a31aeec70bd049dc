package httpapi_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// TestDaysOfEvents: an event stands on each day that it is on (PAGES 13.6).
func TestDaysOfEvents(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	month := readPage(t, w, "/events/month/2026-05/")
	for name, days := range map[string][]string{
		"night": {"2026-05-09", "2026-05-10"}, "midnight": {"2026-05-12"}, "three": {"2026-05-15", "2026-05-16", "2026-05-17"},
		"fair": {"2026-05-22"}, "festival": {"2026-05-30", "2026-05-31"}, "offset": {"2026-05-21"}, "sushi": {"2026-05-21"},
	} {
		for day := 1; day <= 31; day++ {
			date := fmt.Sprintf("2026-05-%02d", day)
			want := slices.Contains(days, date)
			first := want && (date == days[0] || name == "three" || name == "festival") // the others are shorter than 24 hours
			if got := slices.Contains(month.onDay(date), idOf(p[name])); got != first {
				t.Errorf("%s in the month on %s: %t, want %t", name, date, got, first)
			}
			if day >= 9 && day <= 17 || want {
				if got := slices.Contains(readPage(t, w, "/events/day/"+date+"/").onDay(date), idOf(p[name])); got != want {
					t.Errorf("%s on the page of %s: %t, want %t", name, date, got, want)
				}
			}
		}
	}
}

// TestZonesOfPages: a day in a zone has as many events in all formats (PAGES 13.7).
func TestZonesOfPages(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	for _, tz := range []string{"Asia/Tokyo", "Pacific/Honolulu", "Pacific/Kiritimati"} {
		for _, day := range []string{"2026-05-21", "2026-05-23"} {
			at := readPage(t, w, "/events/day/"+day+"/?tz="+tz)
			for _, format := range []string{"fullcalendar", "ics", "csv"} {
				if got := w.As(calendar.Anonymous).Do(http.MethodGet, below(t, at.export(format)), nil).Want(http.StatusOK).Header.Get("X-Total"); got != strconv.Itoa(at.total()) {
					t.Errorf("%s in %s has %d events, %s %s", day, tz, at.total(), at.export(format), got)
				}
			}
		}
	}
}

// TestEveryURLNamesItsRecord: the url of every record is a page with its name in h1, in each
// language (PAGES 13.1).
func TestEveryURLNamesItsRecord(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	editor.Under(calendar.LangCN).Event("音乐会", obj{"venue": obj{"venue": "市政厅"}, "organizer": obj{"organizer": "爵士俱乐部"}})
	editor.Create(calendar.KindTag, obj{"name": "Été à l’air & co"})
	editor.Create(calendar.KindCategory, obj{"name": "戏剧"})
	names := map[calendar.Kind]string{calendar.KindEvent: "title", calendar.KindVenue: "venue", calendar.KindOrganizer: "organizer", calendar.KindCategory: "name", calendar.KindTag: "name"}
	for _, l := range calendar.Langs {
		for _, k := range calendar.Kinds {
			list := nobody.Under(l).Read("/" + k.Collection() + "?per_page=100&hide_empty=false&starts_after=2000-01-01")
			if list.Int("total") == 0 {
				t.Fatalf("no %s", k.Collection())
			}
			for i := range min(list.Int("total"), 100) {
				at := fmt.Sprintf("%s.%d.", k.Collection(), i)
				p := readPage(t, w, below(t, list.String(at+"url"))[1:])
				if got, want := wordsOf(p.one("h1")), html.UnescapeString(list.String(at+names[k])); got != want {
					t.Errorf("%s: h1 %q, want %q", list.String(at+"url"), got, want)
				}
				if got := valueOf(p.one("body"), "data-page"); got != k.String() {
					t.Errorf("%s: data-page %q", list.String(at+"url"), got)
				}
			}
		}
	}
}

// TestHeadsOfPages: the feeds and the picture that heads name (PAGES 13.15, 13.18).
func TestHeadsOfPages(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	nobody := w.As(calendar.Anonymous)
	for _, path := range []string{"/", "/events/?categories=jazz", "/events/month/2026-05/?categories=jazz", "/events/week/", "/events/day/", "/search/?search=concert", "/events/map/", "/venue/city-hall/", "/events/tag/open-air/", "/fr/organizer/jazz-club/", "/event/fair/", "/event/hidden/"} {
		at := readPage(t, w, path)
		found := map[string]string{}
		for _, l := range at.all("link", "rel=alternate", "type") {
			media, u := valueOf(l, "type"), valueOf(l, "href")
			found[media] = u
			if valueOf(l, "title") == "" {
				t.Errorf("%s: %s has no title", path, media)
			}
			if strings.HasSuffix(media, "+oembed") {
				continue // tested with oEmbed
			}
			if got, _, _ := mime.ParseMediaType(nobody.Do(http.MethodGet, below(t, u), nil).Want(http.StatusOK).Header.Get("Content-Type")); got != media {
				t.Errorf("%s: %s is %s, want %s", path, u, got, media)
			}
			if strings.Contains(u, "start_date") {
				t.Errorf("%s: the feed has a window: %s", path, u)
			}
		}
		want := []string{"text/calendar", "application/rss+xml", "application/atom+xml", "application/feed+json", "application/geo+json", "application/json"}
		if strings.HasPrefix(path, "/event/") {
			want = []string{"text/calendar", "application/json", "application/json+oembed", "text/xml+oembed"}
		}
		for _, media := range want {
			if found[media] == "" {
				t.Errorf("%s: no %s", path, media)
			}
		}
		if len(found) != len(want) {
			t.Errorf("%s: %v", path, found)
		}
		if strings.Contains(path, "jazz") && path[:8] == "/events/" && !strings.Contains(found["text/calendar"], "categories=jazz") {
			t.Errorf("%s: %s", path, found["text/calendar"])
		}
		if got := valueOf(at.one("link", "rel=search"), "href"); got != "/opensearch.xml" {
			t.Errorf("%s: search %s", path, got)
		}
	}
	// The picture of other sites: that of the event, of its venue, the logo.
	logo, err := pages.NewLogo([]byte("\x89PNG\r\n\x1a\n"))
	if err != nil {
		t.Fatal(err)
	}
	branded := viewsWorld(t, pages.Options{Brand: pages.Brand{Logo: logo}})
	editor := branded.As(calendar.Editor)
	pictured := editor.Create(calendar.KindVenue, obj{"venue": "Pictured", "image": "https://pictures.example.net/hall.png"})
	editor.Event("With both", obj{"venue": pictured.ID(), "image": "https://pictures.example.net/event.png"})
	editor.Event("With a venue", obj{"venue": pictured.ID()})
	editor.Event("With none", nil)
	for path, want := range map[string][2]string{
		"/event/with-both/": {"https://pictures.example.net/event.png", "summary_large_image"}, "/event/with-a-venue/": {"https://pictures.example.net/hall.png", "summary"},
		"/event/with-none/": {world.Base + "/assets/logo.", "summary"}, "/events/": {world.Base + "/assets/logo.", "summary"}, "/venue/pictured/": {"https://pictures.example.net/hall.png", "summary"},
	} {
		at := readPage(t, branded, path)
		if got := valueOf(at.one("meta", "property=og:image"), "content"); !strings.HasPrefix(got, want[0]) || valueOf(at.one("meta", "name=twitter:card"), "content") != want[1] {
			t.Errorf("%s: picture %s", path, got)
		}
	}
	// A long description is cut at a word.
	editor.Event("Long", obj{"slug": "long", "description": "<p>" + strings.Repeat("many words ", 40) + "</p>"})
	cut := valueOf(readPage(t, branded, "/event/long/").one("meta", "property=og:description"), "content")
	if want := strings.TrimSpace(strings.Repeat("many words ", 18)) + "…"; cut != want {
		t.Errorf("description %q, want %q", cut, want)
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
	w := viewsWorld(t, pages.Options{Prefixes: []string{"api"}})
	p := programme(t, w)
	unused := w.As(calendar.Editor).Create(calendar.KindVenue, obj{"venue": "Unused"})
	robots := string(w.As(calendar.Anonymous).Do(http.MethodGet, "//robots.txt", nil).Want(http.StatusOK).Body)
	for _, line := range []string{"User-agent: *", "Allow: /", "Disallow: /api/", "Disallow: /fr/api/", "Disallow: /embed/", "Sitemap: " + world.Base + "/sitemap.xml"} {
		if !slices.Contains(strings.Split(robots, "\n"), line) {
			t.Errorf("robots.txt has no %q:\n%s", line, robots)
		}
	}
	found := map[string]string{}
	var names []string
	for _, m := range readSiteMap(t, w, "/sitemap.xml").Maps {
		names = append(names, strings.TrimPrefix(m.Loc, world.Base+"/sitemap/"))
		set := readSiteMap(t, w, below(t, m.Loc)[1:])
		if len(set.URLs) == 0 {
			t.Errorf("%s is empty", m.Loc)
		}
		for _, u := range set.URLs {
			if _, twice := found[u.Loc]; twice {
				t.Errorf("%s stands twice", u.Loc)
			}
			found[u.Loc] = u.LastMod
			at := readPage(t, w, below(t, u.Loc)[1:])
			if len(at.all("meta", "name=robots")) != 0 || valueOf(at.one("link", "rel=canonical"), "href") != u.Loc {
				t.Errorf("%s is not to be indexed", u.Loc)
			}
			if want := len(at.all("link", "hreflang")) - 1; len(u.Links) != want {
				t.Errorf("%s: %d languages, want %d", u.Loc, len(u.Links), want)
			}
		}
	}
	if want := []string{"pages.xml", "events-2026-04.xml", "events-2026-05.xml", "events-2026-06.xml", "events-2026-07.xml", "venues-1.xml", "organizers-1.xml", "terms-1.xml"}; !cmp.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	records := 0
	for name, r := range p {
		u := r.String("url")
		want := !slices.Contains([]string{"hidden", "protected", "draft"}, name)
		if _, is := found[u]; is != want {
			t.Errorf("%s in the site map: %t, want %t", u, is, want)
		}
		if want {
			records++
			if found[u] != "2026-05-01T12:00:00Z" {
				t.Errorf("%s: lastmod %q", u, found[u])
			}
		}
	}
	if _, is := found[unused.String("url")]; is {
		t.Error("a venue without events is in the site map")
	}
	for _, path := range []string{"/", "/events/", "/events/map/", "/events/month/2026-06/", "/venues/", "/docs/"} {
		if _, is := found[world.Base+path]; !is {
			t.Errorf("%s is not in the site map", path)
		}
	}
	for _, path := range []string{"/sitemap/events-2026-03.xml", "/sitemap/events-2026-05-2.xml", "/sitemap/venues-2.xml", "/sitemap/other.xml"} {
		w.As(calendar.Anonymous).Do(http.MethodGet, "/"+path, nil).Want(http.StatusNotFound)
	}
}

// What only events with a password are linked to is secret (INTERFACE 6.3): no directory and
// no file of the site map names it, and no such event stands there.
func TestPagesOfSecretPlaces(t *testing.T) {
	t.Parallel()
	w, editor := newPages(t)
	arts := editor.Create(calendar.KindCategory, obj{"name": "Arts"})
	jazz := editor.Create(calendar.KindCategory, obj{"name": "Jazz", "parent": arts.ID()})
	editor.Event("Open", obj{"start_date": "2026-06-01", "end_date": "2026-06-01", "venue": obj{"venue": "Hall"}, "categories": jazz.ID()})
	secret := editor.Event("Dinner", obj{
		"start_date": "2026-07-01", "end_date": "2026-07-01", "password": "sesame", "venue": obj{"venue": "Cellar", "geo_lat": 1, "geo_lng": 2},
		"organizer": obj{"organizer": "Conspirators"}, "categories": "Plots", "tags": "Whispers",
	})
	editor.Read("/events") // waits until lists show it
	names := []string{"Cellar", "cellar", "Conspirators", "conspirators", "Plots", "plots", "Whispers", "whispers"}
	for _, path := range []string{"/venues/", "/organizers/", "/categories/", "/tags/", "/", "/events/", "/search/?search=dinner", "/events/month/2026-07/", "/events/map/", "/event/dinner/"} {
		lacks(t, page(w, path).Want(http.StatusOK), names...)
	}
	for _, a := range under(readPage(t, w, "/venue/cellar/").one("main"), "a") {
		if strings.Contains(valueOf(a, "href"), "dinner") {
			t.Errorf("the page of its place links the secret event: %s", valueOf(a, "href"))
		}
	}
	tree := readPage(t, w, "/categories/").one("ul", "class=directory")
	if lists := under(tree, "ul"); len(lists) == 0 || wordsOf(lists[len(lists)-1]) != "Jazz 1" || wordsOf(tree) != "ArtsJazz 1" {
		t.Errorf("tree of categories: %q", wordsOf(tree))
	}
	files := readSiteMap(t, w, "/sitemap.xml").Maps
	for _, m := range files {
		path := strings.TrimPrefix(m.Loc, world.Base)
		lacks(t, w.As(calendar.Anonymous).Do(http.MethodGet, "/"+path, nil).Want(http.StatusOK), append(names, "dinner")...)
		if strings.Contains(path, "2026-07") {
			t.Errorf("the site map names a month that has no event for it: %s", path)
		}
	}
	if len(files) != 4 { // pages, June, venues, terms
		t.Errorf("files of the site map: %v", files)
	}
	editor.Update(secret.Path(calendar.KindEvent), obj{"password": ""})
	editor.Read("/events") // waits until lists show it
	has(t, page(w, "/venues/"), "Cellar")
}

// graphOf is the structured data of a page.
func graphOf(t *testing.T, at sheet) (out []map[string]any) {
	t.Helper()
	script := at.one("script", "type=application/ld+json")
	var doc struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal([]byte(wordsOf(script)), &doc); err != nil {
		t.Fatalf("%v: %s", err, wordsOf(script))
	}
	if doc.Context != "https://schema.org" {
		t.Errorf("@context %q", doc.Context)
	}
	return doc.Graph
}

// TestSubscribing: the links of calendars have the right address, times and zone; none
// leads to another service where that is off (PAGES 13.19).
func TestSubscribing(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	outside := func(at sheet, host string) *url.URL {
		for _, a := range at.all("a") {
			if u, err := url.Parse(valueOf(a, "href")); err == nil && u.Host == host {
				for _, rel := range []string{"external", "noopener", "noreferrer", "nofollow"} {
					if !strings.Contains(valueOf(a, "rel"), rel) {
						t.Errorf("%s: rel %q", u, valueOf(a, "rel"))
					}
				}
				return u
			}
		}
		t.Fatalf("%s: no link to %s", at.Request, host)
		return nil
	}
	for _, path := range []string{"/events/?categories=jazz", "/events/month/2026-05/?categories=jazz", "/search/?categories=jazz"} {
		at := readPage(t, w, path)
		box := at.one("details", "id=subscribe")
		feed := world.Base + world.Root + "/events.ics?categories=jazz&overlap=true"
		webcal := strings.Replace(feed, "https:", "webcal:", 1)
		var hrefs []string
		for _, a := range under(box, "a") {
			hrefs = append(hrefs, valueOf(a, "href"))
		}
		if !slices.Contains(hrefs, feed) || !slices.Contains(hrefs, webcal) {
			t.Errorf("%s: %v, want %s", path, hrefs, feed)
		}
		if got := outside(at, "calendar.google.com"); got.Path != "/calendar/render" || got.Query().Get("cid") != webcal {
			t.Errorf("%s: %s", path, got)
		}
		if got := outside(at, "outlook.live.com"); got.Path != "/calendar/0/addfromweb" || got.Query().Get("url") != feed || got.Query().Get("name") == "" {
			t.Errorf("%s: %s", path, got)
		}
	}
	for path, want := range map[string][2]string{
		"/event/until-midnight/": {"20260513T000000Z/20260513T040000Z", "America/New_York"}, "/event/sushi/": {"20260521T000000Z/20260521T020000Z", "Asia/Tokyo"},
		"/event/fair/": {"20260522/20260523", "America/New_York"}, "/event/festival/": {"20260530/20260603", "America/New_York"}, "/event/sushi/?tz=UTC": {"20260521T000000Z/20260521T020000Z", "Asia/Tokyo"},
	} {
		at := readPage(t, w, path)
		canonical := valueOf(at.one("link", "rel=canonical"), "href")
		google := outside(at, "calendar.google.com").Query()
		if google.Get("action") != "TEMPLATE" || google.Get("dates") != want[0] || google.Get("ctz") != want[1] || google.Get("text") != wordsOf(at.one("h1")) || google.Get("details") != canonical {
			t.Errorf("%s: Google %v", path, google)
		}
		outlook := outside(at, "outlook.live.com")
		if outlook.Path != "/calendar/0/deeplink/compose" || outlook.Query().Get("subject") != wordsOf(at.one("h1")) || outlook.Query().Get("startdt") == "" {
			t.Errorf("%s: Outlook %s", path, outlook)
		}
		file := at.one("a", "data-calendar=file")
		if u := valueOf(file, "href"); w.As(calendar.Anonymous).Do(http.MethodGet, below(t, u), nil).Want(http.StatusOK).Header.Get("Content-Type") != "text/calendar; charset=utf-8" {
			t.Errorf("%s: file %s", path, u)
		}
	}
	if at := readPage(t, w, "/event/until-midnight/"); outside(at, "calendar.google.com").Query().Get("location") != "City Hall, 1 Main St, Boston, 02108, US" {
		t.Errorf("location %v", outside(at, "calendar.google.com").Query())
	}
	long := strings.Repeat("夏祭り🎆", 250)
	venue := w.As(calendar.Administrator).Do(http.MethodPost, "/venues", map[string]any{"venue": long, "address": long}).Want(http.StatusCreated)
	w.As(calendar.Administrator).Do(http.MethodPost, "/events", map[string]any{
		"title": long, "slug": "summer", "start_date": "2026-05-20 18:00:00", "end_date": "2026-05-20 20:00:00", "venue": idOf(venue),
	}).Want(http.StatusCreated)
	at := readPage(t, w, "/event/summer/")
	links := []string{outside(at, "calendar.google.com").String(), outside(at, "outlook.live.com").String()}
	for _, a := range at.all("link", "rel=alternate") {
		links = append(links, valueOf(a, "href"))
	}
	for _, link := range links {
		if len(link) >= 2000 {
			t.Errorf("link of %d bytes: %s", len(link), link)
		}
	}
	if text := outside(at, "calendar.google.com").Query().Get("text"); !strings.HasPrefix(text, "夏祭り🎆") || !strings.HasSuffix(text, "…") {
		t.Errorf("text %q", text)
	}
	past := readPage(t, w, "/event/old-concert/")
	if text := string(past.Body); strings.Contains(text, "calendar.google.com") || len(past.all("", "data-badge=past")) == 0 {
		t.Error("a past event has calendar buttons or no badge")
	}
	alone := viewsWorld(t, pages.Options{NoExternalLinks: true})
	programme(t, alone)
	readPage(t, alone, "/venue/somewhere/").one("a", "data-action=map", "href=geo:0,0?q=Somewhere")
	for _, path := range []string{"/", "/events/", "/events/month/", "/event/until-midnight/", "/venue/city-hall/", "/search/"} {
		for _, a := range readPage(t, alone, path).all("", "href") {
			u, err := url.Parse(valueOf(a, "href"))
			if err != nil || u.Host != "" && u.Host != "calendar.example.org" && u.Host != "hall.example.net" {
				t.Errorf("%s leads to %s", path, valueOf(a, "href"))
			}
		}
	}
}
