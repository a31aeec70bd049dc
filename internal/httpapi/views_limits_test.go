package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// TestPagesOfManyFilters: a request of the greatest length makes no page of megabytes, though
// each filter can be taken away: of many values a parameter has one chip.
func TestPagesOfManyFilters(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	for _, query := range []string{
		strings.Repeat("categories[]="+idOf(p["jazz"])+"&", 900), strings.Repeat("city[]=a&", 1000) + "featured=true", "tags=open-air&" + strings.Repeat("weekday[]=1&", 1000),
	} {
		for _, path := range []string{"/events/", "/events/month/2026-05/", "/search/"} {
			at := readPage(t, w, path+"?"+query)
			if len(at.Body) > 2<<20 {
				t.Errorf("%s?%.20s…: %d bytes", path, query, len(at.Body))
			}
			chips := under(at.one("div", "id=chips"), "a")
			if len(chips) > 2 {
				t.Errorf("%s?%.20s…: %d chips", path, query, len(chips))
			}
			for _, chip := range chips {
				if len(wordsOf(chip)) > 100 || len(chips) == 1 && strings.Contains(valueOf(chip, "href"), "?") {
					t.Errorf("%s?%.20s…: %s leads to %s", path, query, wordsOf(chip), valueOf(chip, "href"))
				}
			}
		}
	}
	at := readPage(t, w, "/events/?categories[]=jazz&categories[]=music&featured=true")
	if got := len(under(at.one("div", "id=chips"), "a")); got != 3 {
		t.Errorf("%d chips of three filters", got)
	}
}

// TestZonesOfManyEvents: beyond a thousand events all-day ones at the edges of a period of
// another zone cannot be left out of other formats, so they are on the page, too (PAGES P1.2).
func TestZonesOfManyEvents(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	editor := w.As(calendar.Editor)
	edge := editor.Event("Edge", obj{"start_date": "2026-04-30", "end_date": "2026-04-30", "all_day": true, "timezone": "Pacific/Honolulu"})
	far := editor.Event("Far edge", obj{"start_date": "2026-06-01", "end_date": "2026-06-01", "all_day": true, "timezone": "Pacific/Kiritimati"})
	path := "/events/month/2026-05/?tz=America/New_York"
	few := readPage(t, w, path)
	if few.total() != 0 || len(idsUnder(few.results())) != 0 {
		t.Fatalf("%d events of other months are in May", few.total())
	}
	for i := range 1001 {
		editor.Event("Event "+strconv.Itoa(i), obj{"start_date": fmt.Sprintf("2026-05-%02d 10:00:00", 2+i%28), "end_date": fmt.Sprintf("2026-05-%02d 11:00:00", 2+i%28)})
	}
	many := readPage(t, w, path)
	json := w.As(calendar.Anonymous).Do(http.MethodGet, below(t, many.export("json")), nil).Want(http.StatusOK)
	if got, want := many.total(), json.Int("total"); got != want || want != 1003 || len(idsUnder(many.results())) != want {
		t.Errorf("the page counts %d events and holds %d, JSON %d", got, len(idsUnder(many.results())), want)
	}
	table := idsUnder(many.one("table", "id=month"))
	for date, r := range map[string]*world.Response{"2026-04-30": edge, "2026-06-01": far} {
		if section := many.all("section", "data-date="+date); len(section) != 1 || !slices.Equal(idsUnder(section[0]), []string{idOf(r)}) || slices.Contains(table, idOf(r)) {
			t.Errorf("what is beside the month is not on its own date %s", date)
		}
	}
}

// TestTimesOverChangedClocks: the abbreviation of the zone is that of each time.
func TestTimesOverChangedClocks(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	editor := w.As(calendar.Editor)
	editor.Event("Spring", obj{"slug": "spring", "start_date": "2027-03-14 01:30:00", "end_date": "2027-03-14 03:30:00"})
	editor.Event("Autumn", obj{"slug": "autumn", "start_date": "2026-10-20 10:00:00", "end_date": "2026-10-28 18:00:00", "timezone": "Europe/Paris"})
	editor.Event("Night", obj{"slug": "night", "start_date": "2026-10-25 01:00:00", "end_date": "2026-10-25 04:00:00", "timezone": "Europe/Paris"})
	for path, want := range map[string]string{
		"/event/spring/":           "Sunday, March 14, 2027, 1:30\u00a0AM EST – 3:30\u00a0AM EDT",
		"/fr/event/spring/":        "dimanche 14 mars 2027, 01:30 EST – 03:30 EDT",
		"/event/spring/?tz=UTC":    "Sunday, March 14, 2027, 6:30\u00a0AM – 7:30\u00a0AM UTC",
		"/cn/event/autumn/":        "2026年10月20日星期二 10:00 CEST 至 2026年10月28日星期三 18:00 CET",
		"/event/night/":            "Sunday, October 25, 2026, 1:00\u00a0AM CEST – 4:00\u00a0AM CET",
		"/events/?search=spring":   "Sun, Mar 14, 2027, 1:30\u00a0AM – 3:30\u00a0AM",
		"/events/?search=autumn":   "Tue, Oct 20, 10:00\u00a0AM CEST – Wed, Oct 28, 6:00\u00a0PM CET",
		"/es/events/?search=night": "dom, 25 oct, 01:00 CEST – 04:00 CET",
	} {
		if got := wordsOf(readPage(t, w, path).all("p", "class=when")[0]); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if at := readPage(t, w, "/event/spring/"); valueOf(under(at.all("span", "data-field=end_date")[0], "time")[0], "datetime") != "2027-03-14T03:30:00-04:00" {
		t.Error("the end has the offset of the start")
	}
	// Offsets and media types stand in the bytes as they are written here.
	has(t, readPage(t, w, "/events/?search=autumn").Response, `data-start="2026-10-20T10:00:00+02:00"`, `data-end="2026-10-28T18:00:00+01:00"`, `type="application/rss+xml"`)
}

// TestMapsOfEvents: both an event and its venue may leave out the map and its links.
func TestMapsOfEvents(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	editor := w.As(calendar.Editor)
	for name, tt := range map[string]struct {
		event, venue obj
		shown, links bool
	}{
		"both":                {nil, nil, true, true},
		"no map of the event": {obj{"show_map": false}, nil, false, true},
		"no link of it":       {obj{"show_map_link": false}, nil, true, false},
		"no map of the venue": {nil, obj{"show_map": false}, false, true},
		"no link to it":       {nil, obj{"show_map_link": "false"}, true, false},
	} {
		venue := obj{"venue": "Hall " + name, "geo_lat": 42, "geo_lng": -71}
		maps.Copy(venue, tt.venue)
		body := obj{"venue": editor.Create(calendar.KindVenue, venue).ID()}
		maps.Copy(body, tt.event)
		at := readPage(t, w, below(t, editor.Event(name, body).String("url"))[1:])
		if shown, links := len(at.all("div", "id=map")) == 1, len(at.all("ul", "class=maps")) == 1; shown != tt.shown || links != tt.links {
			t.Errorf("%s: map %t, links %t", name, shown, links)
		}
	}
}

// TestEmptyDirectories: what is empty is not to be indexed, and in no site map.
func TestEmptyDirectories(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	w.As(calendar.Editor).Event("Alone", obj{"tags": "here"})
	var plain []string
	for _, u := range readSiteMap(t, w, "/sitemap/pages.xml").URLs {
		plain = append(plain, strings.TrimPrefix(u.Loc, world.Base))
	}
	for path, index := range map[string]bool{"/tags/": true, "/tags/?page=2": true, "/tags/?x=1": false, "/venues/": false, "/organizers/": false, "/categories/": false, "/docs/": true, "/": true} {
		if got := len(readPage(t, w, path).all("meta", "name=robots")) == 0; got != index {
			t.Errorf("%s may be indexed: %t, want %t", path, got, index)
		}
		if !strings.Contains(path, "?") && slices.Contains(plain, path) != index {
			t.Errorf("%s in the site map: %t, want %t", path, !index, index)
		}
	}
}
