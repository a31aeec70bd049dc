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
	"daybook/internal/httpapi"
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
			if got := slices.Contains(month.onDay(date), idOf(p[name])); got != want {
				t.Errorf("%s in the month on %s: %t, want %t", name, date, got, want)
			}
			if day >= 9 && day <= 17 || want {
				if got := slices.Contains(readPage(t, w, "/events/day/"+date+"/").onDay(date), idOf(p[name])); got != want {
					t.Errorf("%s on the page of %s: %t, want %t", name, date, got, want)
				}
			}
		}
	}
	for _, name := range []string{"hidden", "draft"} {
		if slices.Contains(idsUnder(month.root), idOf(p[name])) {
			t.Errorf("%s is in the month", name)
		}
	}
	cell := month.one("td", "data-date=2026-05-25")
	if got := idsUnder(cell); len(got) != 3 || !strings.Contains(wordsOf(cell), "+1 more") {
		t.Errorf("four events on a day: %v, %s", got, wordsOf(cell))
	}
	if got := readPage(t, w, "/events/day/2026-05-25/").onDay("2026-05-25"); len(got) != 4 {
		t.Errorf("on the day page: %v", got)
	}
	// Running ones are first: several days, all-day, then by start and id.
	if got, want := month.onDay("2026-05-15"), []string{idOf(p["running"]), idOf(p["three"])}; !slices.Equal(got, want) {
		t.Errorf("on 15 May %v, want %v", got, want)
	}
	if got := valueOf(month.one("table", "id=month"), "data-month"); got != "2026-05" {
		t.Errorf("data-month %q", got)
	}
	for _, muted := range []string{"2026-04-30", "2026-06-01"} {
		for _, td := range month.all("td", "data-date="+muted) {
			if ids := idsUnder(td); len(ids) > 0 || len(under(td, "a")) != 1 {
				t.Errorf("%s in May: %v", muted, ids)
			}
		}
	}
	// Six at one time: four lanes, two behind a link in the week, all on the day page.
	week := readPage(t, w, "/events/week/2026-W24/")
	day := week.one("section", "data-date=2026-06-10")
	more := under(day, "a", "class=more")
	if got := idsUnder(day); len(got) != 4 || len(more) != 1 || wordsOf(more[0]) != "+2 more" || valueOf(more[0], "href") != "/events/day/2026-06-10/" {
		t.Errorf("six at one time: %v, %s", got, wordsOf(day))
	}
	if got := readPage(t, w, "/events/day/2026-06-10/").onDay("2026-06-10"); len(got) != 6 {
		t.Errorf("six at one time on their day: %v", got)
	}
	// A list has each event once, on its first day; what began before today stands first.
	list := readPage(t, w, "/events/")
	running := list.one("section", "data-date=running")
	if got, want := idsUnder(running), []string{idOf(p["running"])}; !slices.Equal(got, want) {
		t.Errorf("running: %v, want %v", got, want)
	}
	first := list.all("section", "data-date")[0]
	if valueOf(first, "data-date") != "running" {
		t.Errorf("the first section is %s", valueOf(first, "data-date"))
	}
	if got := list.onDay("2026-05-01"); !slices.Equal(got, []string{idOf(p["ended-today"]), idOf(p["tonight"])}) {
		t.Errorf("today: %v", got)
	}
	if got := list.onDay("2026-05-10"); got != nil {
		t.Errorf("the second day of a night in the list: %v", got)
	}
	past := readPage(t, w, "/events/?past=true")
	if got, want := idsUnder(past.results()), []string{idOf(p["ended-today"]), idOf(p["ended"])}; !slices.Equal(got, want) {
		t.Errorf("past: %v, want %v", got, want)
	}
	// A date narrows a month, include does not.
	narrow := readPage(t, w, "/events/month/2026-05/?start_date=2026-05-22&end_date=2026-05-26&include="+idOf(p["night"]))
	for _, e := range []struct {
		name string
		in   bool
	}{{"fair", true}, {"night", false}, {"festival", false}, {"four-0", true}, {"evening", false}} {
		if got := slices.Contains(idsUnder(narrow.results()), idOf(p[e.name])); got != e.in {
			t.Errorf("narrowed: %s %t, want %t", e.name, got, e.in)
		}
	}
	wide := readPage(t, w, "/events/month/2026-05/?start_date=2026-01-01&end_date=2027-01-01")
	if got, want := wide.total(), month.total(); got != want {
		t.Errorf("a wider window: %d events, want %d", got, want)
	}
}

// TestZonesOfPages: times and days are those of tz, all-day events keep theirs (PAGES 13.7).
func TestZonesOfPages(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	evening := idOf(p["evening"])
	for tz, date := range map[string]string{"": "2026-05-28", "event": "2026-05-28", "Asia/Tokyo": "2026-05-29", "asia/tokyo": "2026-05-29", "UTC": "2026-05-29", "Pacific/Honolulu": "2026-05-28"} {
		query := ""
		if tz != "" {
			query = "?tz=" + url.QueryEscape(tz)
		}
		for _, path := range []string{"/events/month/2026-05/", "/events/week/2026-W22/", "/events/day/" + date + "/"} {
			at := readPage(t, w, path+query)
			if !slices.Contains(at.onDay(date), evening) {
				t.Errorf("%s%s: not on %s", path, query, date)
			}
			told := strings.Contains(wordsOf(at.root), "Times are in")
			if told != (tz != "" && tz != "event") {
				t.Errorf("%s%s: the zone is told: %t", path, query, told)
			}
		}
		list := readPage(t, w, "/events/?search=show&"+strings.TrimPrefix(query, "?"))
		if !slices.Contains(list.onDay(date), evening) {
			t.Errorf("list %s: not on %s", query, date)
		}
	}
	tokyo := readPage(t, w, "/events/month/2026-05/?tz=Asia/Tokyo")
	a := under(tokyo.one("td", "data-date=2026-05-29"), "a", "data-event-id="+evening)[0]
	if got := valueOf(a, "data-start"); got != "2026-05-29T09:00:00+09:00" {
		t.Errorf("data-start %s", got)
	}
	if got := wordsOf(a); got != "9:00\u00a0AM JST Evening show" {
		t.Errorf("in Tokyo: %q", got)
	}
	for _, tz := range []string{"Asia/Tokyo", "Pacific/Honolulu", "Pacific/Kiritimati"} {
		m := readPage(t, w, "/events/month/2026-05/?tz="+tz)
		if !slices.Contains(m.onDay("2026-05-22"), idOf(p["fair"])) || slices.Contains(m.onDay("2026-05-23"), idOf(p["fair"])) || slices.Contains(m.onDay("2026-05-21"), idOf(p["fair"])) {
			t.Errorf("the all-day event moved in %s", tz)
		}
		for _, day := range []string{"2026-05-21", "2026-05-23"} {
			at := readPage(t, w, "/events/day/"+day+"/?tz="+tz)
			for _, format := range []string{"fullcalendar", "ics", "csv"} {
				if got := w.As(calendar.Anonymous).Do(http.MethodGet, below(t, at.export(format)), nil).Want(http.StatusOK).Header.Get("X-Total"); got != strconv.Itoa(at.total()) {
					t.Errorf("%s in %s has %d events, %s %s", day, tz, at.total(), at.export(format), got)
				}
			}
			if slices.Contains(idsUnder(readPage(t, w, "/events/day/"+day+"/?tz="+tz).results()), idOf(p["fair"])) {
				t.Errorf("the all-day event is on %s in %s", day, tz)
			}
		}
		if ev := readPage(t, w, "/event/fair/?tz="+tz); !strings.Contains(wordsOf(ev.root), "Friday, May 22, 2026 · All day") {
			t.Errorf("page of the all-day event in %s", tz)
		}
	}
	if got := wordsOf(readPage(t, w, "/event/evening-show/?tz=Asia/Tokyo").one("p", "class=when")); got != "Friday, May 29, 2026, 9:00\u00a0AM – 11:00\u00a0AM JST" {
		t.Errorf("event page in Tokyo: %q", got)
	}
	for _, path := range []string{"/events/", "/events/month/", "/events/week/", "/events/day/", "/search/", "/events/map/", "/venue/city-hall/", "/event/fair/", "/"} {
		bad := openPage(t, w, path+"?tz=foo", http.StatusBadRequest)
		if got := wordsOf(bad.one("", "id=error-tz")); got == "" {
			t.Errorf("%s: no message", path)
		}
		form := readPage(t, w, path+"?tz=Asia/Tokyo").one("form", "id=zone-switch")
		var values []string
		for _, o := range under(form, "option") {
			values = append(values, valueOf(o, "value"))
		}
		for _, want := range []string{"event", "America/New_York", "UTC", "Asia/Tokyo"} {
			if !slices.Contains(values, want) {
				t.Errorf("%s: %s is not in the zone switch, %v", path, want, values)
			}
		}
		if len(under(form, "button")) != 1 {
			t.Errorf("%s: no submit button", path)
		}
	}
}

// TestTimesWithoutEvents: what is empty says so and leads on (PAGES 13.8).
func TestTimesWithoutEvents(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	for _, path := range []string{
		"/events/month/2026-13/", "/events/month/2026-00/", "/events/month/0000-01/", "/events/week/2026-W54/", "/events/week/2026-W00/", "/events/week/2025-W53/", "/events/day/2026-02-30/",
		"/events/day/0000-12-31/", "/events/day/10000-01-01/", "/events/?page=99", "/events/map/?page=99", "/venue/city-hall/?page=99",
	} {
		openPage(t, w, path, http.StatusNotFound)
	}
	for _, path := range []string{"/events/month/9999-12/", "/events/month/0001-01/", "/events/week/9999-W52/", "/events/week/2026-W53/", "/events/day/9999-12-31/", "/events/day/0001-01-01/", "/events/month/0001-01/?tz=Asia/Tokyo", "/events/month/9999-12/?tz=Pacific/Honolulu"} {
		readPage(t, w, path)
	}
	type state struct {
		path  string
		text  string
		links []string
	}
	hall := "/venue/somewhere-empty/"
	editor := w.As(calendar.Editor)
	editor.Create(calendar.KindVenue, obj{"venue": "Somewhere empty"})
	editor.Create(calendar.KindOrganizer, obj{"organizer": "Nobody"})
	editor.Create(calendar.KindCategory, obj{"name": "Nothing"})
	editor.Create(calendar.KindTag, obj{"name": "None"})
	for _, tt := range []state{
		{"/events/month/2030-01/", "There is nothing on at this time.", []string{"/events/month/2026-07/"}},
		{"/events/month/2020-01/", "There is nothing on at this time.", []string{"/events/month/2026-04/"}},
		{"/events/week/2030-W10/", "There is nothing on at this time.", []string{"/events/week/2026-W28/"}},
		{"/events/day/2026-04-19/", "There is nothing on at this time.", []string{"/events/day/2026-04-20/", "/events/day/2026-04-10/"}},
		{"/events/day/2020-01-01/", "There is nothing on at this time.", []string{"/events/day/2026-04-10/"}},
		{"/events/month/2026-05/?search=zebra", "There is nothing on at this time.", []string{"/events/month/2026-05/", "/events/month/2026-06/"}},
		{"/events/month/2026-05/?search=concert&categories=jazz", "There is nothing on at this time.", []string{"/events/month/2026-06/?search=concert&categories=jazz", "/events/month/2026-04/?search=concert&categories=jazz", "/events/month/2026-05/?categories=jazz", "/events/month/2026-05/?search=concert"}},
		{"/events/?search=zebra&categories=jazz", "No event fits.", []string{"/events/?search=zebra", "/events/?categories=jazz", "/events/"}},
		{"/search/?search=zebra", "No event fits.", []string{"/search/"}},
		{"/events/?past=true&search=zebra", "No event fits.", []string{"/events/?past=true", "/events/"}},
		{hall, "There are no coming events.", []string{hall + "?past=true"}},
		{"/organizer/nobody/", "There are no coming events.", []string{"/organizer/nobody/?past=true"}},
		{"/events/category/nothing/", "There are no coming events.", []string{"/events/category/nothing/?past=true"}},
		{"/events/tag/none/", "There are no coming events.", []string{"/events/tag/none/?past=true"}},
		{"/events/tag/none/?past=true", "There are no past events.", []string{"/events/tag/none/"}},
		{"/fr/events/?search=zebra", "Aucun événement ne correspond.", []string{"/fr/events/"}},
	} {
		at := readPage(t, w, tt.path)
		if at.total() != 0 || valueOf(at.results(), "data-empty") != "true" {
			t.Errorf("%s: total %d, data-empty %q", tt.path, at.total(), valueOf(at.results(), "data-empty"))
			continue
		}
		if !strings.Contains(wordsOf(at.results()), tt.text) {
			t.Errorf("%s says %q, want %q", tt.path, wordsOf(at.results()), tt.text)
		}
		if len(at.all("meta", "name=robots", "content=noindex, follow")) != 1 {
			t.Errorf("%s may be indexed", tt.path)
		}
		var links []string
		for _, a := range under(under(at.results(), "div", "class=empty")[0], "a") {
			links = append(links, valueOf(a, "href"))
		}
		for _, want := range tt.links {
			if !slices.Contains(links, want) {
				t.Errorf("%s leads to %v, want %s", tt.path, links, want)
			}
		}
		for _, to := range links {
			readPage(t, w, to)
		}
	}
	// The steps end at the first and the last event.
	for path, want := range map[string][2]bool{
		"/events/month/2026-04/": {false, true}, "/events/month/2026-05/": {true, true}, "/events/month/2026-07/": {true, false}, "/events/month/2030-01/": {true, false},
		"/events/month/2020-01/": {false, true}, "/events/day/2026-04-10/": {false, true}, "/events/day/2026-05-05/": {true, true},
	} {
		at := readPage(t, w, path)
		if got := [2]bool{len(at.all("a", "rel=prev")) == 1, len(at.all("a", "rel=next")) == 1}; got != want {
			t.Errorf("%s: previous, next %v, want %v", path, got, want)
		}
	}
	_ = p
	empty := viewsWorld(t, pages.Options{})
	at := readPage(t, empty, "/events/")
	if text := wordsOf(at.results()); !strings.Contains(text, "There are no coming events.") || !strings.Contains(text, "Past events") {
		t.Errorf("without any event: %s", text)
	}
	for _, path := range []string{"/events/month/", "/events/week/", "/events/day/", "/", "/events/map/", "/search/", "/venues/", "/tags/", "/events/?past=true"} {
		readPage(t, empty, path)
	}
}

// TestBadParametersOnPages: a bad value is told at its field, the others are kept; an empty
// one is none (PAGES 13.4).
func TestBadParametersOnPages(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	for _, path := range []string{"/events/", "/events/map/", "/search/", "/venue/city-hall/", "/events/category/music/", "/fr/events/"} {
		bad := openPage(t, w, path+"?start_date=soon&search=jazz&categories=unknown&per_page=0&city%5B%5D=Boston&unknown=x", http.StatusBadRequest)
		form := bad.one("form", "id=filters")
		for name, value := range map[string]string{"start_date": "soon", "categories": "unknown", "per_page": "0"} {
			field := under(form, "", "name="+name)
			if len(field) != 1 || valueOf(field[0], "value") != value || valueOf(field[0], "aria-describedby") != "error-"+name || valueOf(field[0], "aria-invalid") != "true" {
				t.Errorf("%s: field %s: %v", path, name, field)
				continue
			}
			if message := bad.one("", "id=error-"+name); wordsOf(message) == "" {
				t.Errorf("%s: no message at %s", path, name)
			}
			if label := under(form, "label", "for="+valueOf(field[0], "id")); len(label) != 1 {
				t.Errorf("%s: %s has no label", path, name)
			}
		}
		for name, value := range map[string]string{"search": "jazz", "city": "Boston"} {
			if field := under(form, "input", "name="+name); len(field) != 1 || valueOf(field[0], "value") != value || len(bad.all("", "id=error-"+name)) != 0 {
				t.Errorf("%s: %s is not kept", path, name)
			}
		}
		if body := bad.one("body"); valueOf(body, "data-page") != "error" || valueOf(body, "data-code") != "rest_invalid_param" {
			t.Errorf("%s: %v", path, body.Attr)
		}
		if strings.Contains(string(bad.Body), "unknown=x") {
			t.Errorf("%s: an unknown parameter is in a link", path)
		}
		if got := readPage(t, w, path+"?start_date=&search=&categories=&per_page=&page=&tz=&past=&featured=&categories%5B%5D=&unknown="); valueOf(got.results(), "data-empty") == "true" {
			t.Errorf("%s: empty parameters select", path)
		}
	}
	for _, path := range []string{"/events/?page=0", "/events/?page=x", "/events/?past=maybe", "/events/?geoloc_lat=5", "/events/?sort=distance", "/events/month/2026-05/?end_date=x", "/events/week/?search=0", "/events/day/?strict_dates=maybe", "/events/?multilang_language=xx", "/events/?status=draft"} {
		bad := openPage(t, w, path, http.StatusBadRequest)
		if len(bad.all("", "aria-describedby")) == 0 && !strings.Contains(path, "multilang") {
			t.Errorf("%s: no field is marked", path)
		}
	}
	// What pages do not know is ignored.
	for _, path := range []string{"/events/?format=x&features=y&csv_bom=z&csv_raw=1&cursor=2&_fields=id", "/events/month/2026-05/?page=99&per_page=x&overlap=maybe&include=x", "/?search=0&categories=unknown"} {
		at := readPage(t, w, path)
		for _, a := range at.all("a") {
			if href := valueOf(a, "href"); strings.Contains(href, "csv_bom") || strings.Contains(href, "overlap=maybe") || strings.Contains(href, "categories=unknown") {
				t.Errorf("%s is in a link: %s", path, href)
			}
		}
	}
}

// TestEveryURLNamesItsRecord: the url of every record is a page with its name in h1, in each
// language (PAGES 13.1).
func TestEveryURLNamesItsRecord(t *testing.T) {
	t.Parallel()
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

// TestHeadsOfPages: canonical addresses, languages, robots and feeds (PAGES 13.15, 13.18).
func TestHeadsOfPages(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	canonical := func(at sheet) string { return valueOf(at.one("link", "rel=canonical"), "href") }
	for path, want := range map[string]string{
		"/":                  "/",
		"/events/":           "/events/",
		"/events/?page=1":    "/events/",
		"/events/?page=2":    "/events/?page=2",
		"/fr/events/?page=2": "/fr/events/?page=2",
		"/events/month/":     "/events/month/2026-05/",
		"/cn/events/month/":  "/cn/events/month/2026-05/",
		"/events/week/":      "/events/week/2026-W18/",
		"/events/day/":       "/events/day/2026-05-01/",
		"/events/?tz=UTC&page=1&strict_dates=false&per_page=20&past=false&overlap=true&typos=off": "/events/",
		"/events/?search=caf%C3%A9+au+lait&categories=jazz,arts-crafts&x=y&sort=start":            "/events/?search=caf%C3%A9%20au%20lait&categories=jazz%2Carts-crafts",
		"/events/?past=true":                 "/events/?past=true",
		"/venue/city-hall/":                  "/venue/city-hall/",
		"/venue/city-hall/?past=true&tz=UTC": "/venue/city-hall/?past=true",
		"/search/?search=concert":            "/search/?search=concert",
		"/venues/":                           "/venues/", "/docs/": "/docs/", "/es/tags/": "/es/tags/",
		"/event/fair/": "/event/fair/", "/event/fair/?tz=UTC": "/event/fair/",
		"/fr/event/fair/": "/event/fair/", "/fr/event/until-midnight/": "/fr/event/until-midnight/",
	} {
		if got := canonical(readPage(t, w, path)); got != world.Base+want {
			t.Errorf("%s is canonical to %s, want %s", path, got, want)
		}
	}
	alternates := func(at sheet) map[string]string {
		out := map[string]string{}
		for _, l := range at.all("link", "rel=alternate", "hreflang") {
			out[valueOf(l, "hreflang")] = strings.TrimPrefix(valueOf(l, "href"), world.Base)
		}
		return out
	}
	for path, want := range map[string]map[string]string{
		"/events/":                {"en": "/events/", "zh-Hans": "/cn/events/", "es": "/es/events/", "fr": "/fr/events/", "x-default": "/events/"},
		"/event/fair/":            {"en": "/event/fair/", "x-default": "/event/fair/"},
		"/event/until-midnight/":  {"en": "/event/until-midnight/", "fr": "/fr/event/until-midnight/", "x-default": "/event/until-midnight/"},
		"/events/month/2026-05/":  {"en": "/events/month/2026-05/", "zh-Hans": "/cn/events/month/2026-05/", "es": "/es/events/month/2026-05/", "fr": "/fr/events/month/2026-05/", "x-default": "/events/month/2026-05/"},
		"/events/category/music/": {"en": "/events/category/music/", "x-default": "/events/category/music/"},
	} {
		got := alternates(readPage(t, w, path))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
		for tag, other := range got {
			if tag == "x-default" {
				continue
			}
			if diff := cmp.Diff(want, alternates(readPage(t, w, other))); diff != "" {
				t.Errorf("%s is not mutual with %s:\n%s", path, other, diff)
			}
		}
	}
	// French alone: the standard is the home language.
	w.As(calendar.Editor).Under(calendar.LangFR).Event("Fête", obj{"slug": "fete"})
	fete := alternates(readPage(t, w, "/fr/event/fete/"))
	if want := map[string]string{"fr": "/fr/event/fete/", "x-default": "/fr/event/fete/"}; !cmp.Equal(fete, want) {
		t.Errorf("a French record: %v", fete)
	}
	if at := readPage(t, w, "/event/fete/"); canonical(at) != world.Base+"/fr/event/fete/" || valueOf(at.one("h1"), "lang") != "fr" {
		t.Errorf("a French record in English: %s", canonical(at))
	}
	for path, index := range map[string]bool{
		"/": true, "/events/": true, "/events/?page=2": true, "/events/month/2026-05/": true, "/events/map/": true, "/venues/": true, "/docs/": true, "/event/fair/": true, "/event/old-concert/": true,
		"/venue/city-hall/": true, "/events/category/jazz/": true, "/events/?search=concert": false, "/events/?page=2&x=1": false, "/events/?tz=UTC": false, "/search/": false, "/events/day/": false,
		"/events/week/": false, "/event/hidden/": false, "/event/protected/": false, "/event/fair/?tz=UTC": false, "/venue/city-hall/?past=true": false, "/events/month/2030-01/": false,
	} {
		at := readPage(t, w, path)
		if got := len(at.all("meta", "name=robots")) == 0; got != index {
			t.Errorf("%s may be indexed: %t, want %t", path, got, index)
		}
	}
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
	locked := readPage(t, w, "/event/protected/")
	if n := len(locked.all("link", "type")) - 2; n != 0 { // search and icon
		t.Errorf("the protected page has %d feeds", n)
	}
	for _, m := range locked.all("meta", "property") {
		if name := valueOf(m, "property"); name != "og:title" && name != "og:site_name" {
			t.Errorf("the protected page tells %s", name)
		}
	}
	for _, path := range []string{"/event/protected/", "/event/hidden/"} {
		if len(readPage(t, w, path).all("", "id=selection-as")) != 0 {
			t.Errorf("%s has a drawer", path)
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
	// Open Graph.
	og := map[string]string{}
	at := readPage(t, w, "/fr/event/until-midnight/")
	for _, m := range at.all("meta", "property") {
		og[valueOf(m, "property")] += valueOf(m, "content") + " "
	}
	if diff := cmp.Diff(map[string]string{
		"og:title": "Jusqu’à minuit ", "og:site_name": "Calendar ", "og:type": "website ", "og:locale": "fr_FR ", "og:locale:alternate": "en_US ", "og:url": world.Base + "/fr/event/until-midnight/ ",
	}, og); diff != "" {
		t.Error(diff)
	}
	if got := valueOf(at.one("meta", "name=twitter:card"), "content"); got != "summary" {
		t.Errorf("twitter:card %s", got)
	}
	_ = p
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

// TestStructuredData: JSON-LD of event pages (PAGES 13.17).
func TestStructuredData(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{
		Site: newYork(t), Pages: &pages.Options{}, Unchecked: true,
		HTTP: httpapi.Options{Currency: calendar.Currency{Symbol: "€", Position: "postfix", Code: "EUR"}},
	})
	programme(t, w)
	event := func(path string) map[string]any {
		graph := graphOf(t, readPage(t, w, path))
		if len(graph) != 2 || graph[0]["@type"] != "Event" || graph[1]["@type"] != "BreadcrumbList" {
			t.Fatalf("%s: %v", path, graph)
		}
		return graph[0]
	}
	night := event("/event/until-midnight/?tz=Asia/Tokyo")
	place := func(name string, address map[string]any, lat, lng float64, slug string) map[string]any {
		address["@type"] = "PostalAddress"
		return map[string]any{"@type": "Place", "name": name, "address": address, "url": world.Base + "/venue/" + slug + "/", "geo": map[string]any{"@type": "GeoCoordinates", "latitude": lat, "longitude": lng}}
	}
	published := night["offers"].(map[string]any)["validFrom"]
	want := map[string]any{
		"@type": "Event", "name": "Until midnight", "url": world.Base + "/event/until-midnight/", "inLanguage": "en", "startDate": "2026-05-12T20:00:00-04:00", "endDate": "2026-05-13T00:00:00-04:00",
		"eventStatus": "https://schema.org/EventScheduled", "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
		"location": []any{
			place("City Hall", map[string]any{"streetAddress": "1 Main St", "addressLocality": "Boston", "postalCode": "02108", "addressCountry": "US"}, 42.3554, -71.0501, "city-hall"),
			place("Park", map[string]any{"addressLocality": "Tokyo"}, 35.68, 139.76, "park"),
		},
		"organizer": map[string]any{"@type": "Organization", "name": "Jazz Club", "url": world.Base + "/organizer/jazz-club/"},
		"offers": map[string]any{
			"@type": "AggregateOffer", "lowPrice": "12.50", "highPrice": "30", "priceCurrency": "EUR", "url": world.Base + "/event/until-midnight/", "availability": "https://schema.org/InStock", "validFrom": published,
		},
	}
	if diff := cmp.Diff(want, night); diff != "" {
		t.Error(diff)
	}
	if published != "2026-05-01T12:00:00Z" {
		t.Errorf("validFrom %v", published)
	}
	fair := event("/event/fair/")
	if fair["startDate"] != "2026-05-22" || fair["endDate"] != "2026-05-22" || fair["offers"] != nil {
		t.Errorf("all-day: %v", fair)
	}
	if e := event("/event/evening-show/"); e["location"] != nil || e["organizer"] != nil {
		t.Errorf("without a venue: %v", e)
	}
	if e := event("/event/first-night/"); e["location"].(map[string]any)["address"].(map[string]any)["addressLocality"] != "Somewhere" || e["offers"] != nil {
		t.Errorf("a venue without an address, a cost that is no number: %v", e)
	}
	if e := event("/event/tonight/"); e["offers"].(map[string]any)["price"] != "10" || e["isAccessibleForFree"] != nil {
		t.Errorf("one price: %v", e["offers"])
	}
	markup := readPage(t, w, "/event/tags-bold-quotes/")
	if got := graphOf(t, markup)[0]["name"]; got != wordsOf(markup.one("h1")) {
		t.Errorf("name %v", got)
	}
	free := w.As(calendar.Editor).Event("For nothing", obj{"cost": "0"})
	if e := event("/event/for-nothing/"); e["isAccessibleForFree"] != true || free == nil {
		t.Errorf("free: %v", e)
	}
	// Offers are made of numbers of a known currency (PAGES P3.2, interface 3.1.4, 3.1.8).
	for i, c := range []struct {
		cost  any
		shown string
		price string // of the pages, "" for no offers; two prices with a blank between them
		code  string // of json_ld, "" for no offers
		free  bool
	}{
		{"15.00.", "15.00.", "", "EUR", false},
		{"1.500.00", "1.500.00", "", "EUR", false},
		{"31.12.", "31.12.", "", "EUR", false},
		{"...", "...", "", "EUR", false},
		{"from 10", "from 10", "", "EUR", false},
		{"10 each", "10 each", "", "EUR", false},
		{[]string{"5", "15.00."}, "15.00. – 5€", "", "EUR", false},
		{"10", "10€", "10", "EUR", false},
		{"10 USD", "10USD", "10", "USD", false},
		{"usd 10", "usd10", "10", "USD", false},
		{"£12", "£12", "12", "GBP", false},
		{"10 zł", "10zł", "10", "PLN", false},
		{"€8 - €12", "€8 – €12", "8 12", "EUR", false},
		{"10 kr", "10kr", "", "", false},
		{"$10", "$10", "", "", false},
		{[]string{"€10", "£10"}, "€10", "", "", false},
		{[]string{"€10", "£20"}, "€10 – £20", "", "", false},
		{"0", "Free", "0", "EUR", true},
		{"£0.00", "Free", "0.00", "GBP", true},
		{"0 kr", "Free", "", "", true},
		{[]string{"0", "10"}, "Free – 10€", "0 10", "EUR", false},
	} {
		slug := fmt.Sprintf("costs-%d", i)
		made := w.As(calendar.Editor).In(t).Event("Costs", obj{"slug": slug, "cost": c.cost})
		e := event("/event/" + slug + "/")
		price, code := "", ""
		if offers, ok := e["offers"].(map[string]any); ok {
			price = strings.TrimSpace(strings.ReplaceAll(fmt.Sprint(offers["price"], " ", offers["lowPrice"], " ", offers["highPrice"]), "<nil>", ""))
			code, _ = offers["priceCurrency"].(string)
		}
		if want := map[bool]string{true: c.code}[c.price != ""]; price != c.price || code != want || (e["isAccessibleForFree"] == true) != c.free {
			t.Errorf("%v: price %q %s, free %v; want %q %s, %t", c.cost, price, code, e["isAccessibleForFree"], c.price, want, c.free)
		}
		single := w.As(calendar.Anonymous).In(t).Get(made.Path(calendar.KindEvent))
		if got := single.String("cost"); got != c.shown {
			t.Errorf("%v is shown as %q, want %q", c.cost, got, c.shown)
		}
		if got, has := single.Lookup("json_ld.offers.priceCurrency"); has != (c.code != "") || has && got != c.code {
			t.Errorf("%v: currency %v in json_ld, want %q", c.cost, got, c.code)
		}
	}
	var single map[string]any
	for path, kind := range map[string]string{"/venue/city-hall/": "Place", "/organizer/jazz-club/": "Organization"} {
		if err := json.Unmarshal([]byte(wordsOf(readPage(t, w, path).one("script", "type=application/ld+json"))), &single); err != nil || single["@type"] != kind {
			t.Errorf("%s: %v %v", path, single, err)
		}
	}
	for _, path := range []string{"/event/protected/", "/events/"} {
		if len(readPage(t, w, path).all("script", "type=application/ld+json")) != 0 {
			t.Errorf("%s has structured data", path)
		}
	}
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
		"/event/fair/": {"20260522/20260523", ""}, "/event/festival/": {"20260530/20260603", ""}, "/event/sushi/?tz=UTC": {"20260521T000000Z/20260521T020000Z", "Asia/Tokyo"},
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
		file := under(at.one("div", "class=actions"), "a")[0]
		if u := valueOf(file, "href"); w.As(calendar.Anonymous).Do(http.MethodGet, below(t, u), nil).Want(http.StatusOK).Header.Get("Content-Type") != "text/calendar; charset=utf-8" {
			t.Errorf("%s: file %s", path, u)
		}
	}
	if at := readPage(t, w, "/event/until-midnight/"); outside(at, "calendar.google.com").Query().Get("location") != "City Hall, 1 Main St, Boston, 02108, US" {
		t.Errorf("location %v", outside(at, "calendar.google.com").Query())
	}
	past := readPage(t, w, "/event/old-concert/")
	if text := string(past.Body); strings.Contains(text, "calendar.google.com") || len(past.all("", "data-badge=past")) == 0 {
		t.Error("a past event has calendar buttons or no badge")
	}
	alone := viewsWorld(t, pages.Options{NoExternalLinks: true})
	programme(t, alone)
	for _, path := range []string{"/", "/events/", "/events/month/", "/event/until-midnight/", "/venue/city-hall/", "/search/"} {
		for _, a := range readPage(t, alone, path).all("", "href") {
			u, err := url.Parse(valueOf(a, "href"))
			if err != nil || u.Host != "" && u.Host != "calendar.example.org" && u.Host != "hall.example.net" {
				t.Errorf("%s leads to %s", path, valueOf(a, "href"))
			}
		}
	}
}
