package httpapi_test

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/testkit/play"
	"daybook/internal/testkit/world"
	"daybook/query"
)

// sheet is an HTML page as it was answered.
type sheet struct {
	*world.Response
	t    *testing.T
	root *html.Node
}

// openPage gets a page of a status; the path begins below the base URL.
func openPage(t *testing.T, w *world.World, path string, status int) sheet {
	t.Helper()
	res := w.As(calendar.Anonymous).In(t).With("Accept", "text/html").Do(http.MethodGet, "/"+path, nil).Want(status)
	return sheet{res, t, play.Document(res).Nodes[0]}
}

// readPage is openPage of a page that is there.
func readPage(t *testing.T, w *world.World, path string) sheet {
	t.Helper()
	return openPage(t, w, path, http.StatusOK)
}

// under returns the elements below a node that a CSS selector finds.
func under(node *html.Node, selector string) []*html.Node {
	return cascadia.QueryAll(node, cascadia.MustCompile(selector))
}

func wordsOf(node *html.Node) string { return play.Words(goquery.NewDocumentFromNode(node).Selection) }

func valueOf(node *html.Node, attribute string) string {
	return goquery.NewDocumentFromNode(node).AttrOr(attribute, "")
}

func (sheet sheet) all(selector string) []*html.Node { return under(sheet.root, selector) }

// one returns the only element that fits.
func (sheet sheet) one(selector string) *html.Node {
	sheet.t.Helper()
	all := sheet.all(selector)
	if len(all) != 1 {
		sheet.t.Fatalf("%s: %d elements %s, want one", sheet.Request, len(all), selector)
	}
	return all[0]
}

// idsUnder are the ids of the events below a node, each once, in order.
func idsUnder(n *html.Node) (out []string) {
	for _, node := range under(n, "[data-event-id]") {
		if id := valueOf(node, "data-event-id"); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

func (sheet sheet) results() *html.Node { return sheet.one("div[id=results]") }

// total is data-total of the results.
func (sheet sheet) total() int {
	sheet.t.Helper()
	n, err := strconv.Atoi(valueOf(sheet.results(), "data-total"))
	if err != nil {
		sheet.t.Fatal(err)
	}
	return n
}

// export is the URL or the text of the drawer in a format, "" for none.
func (sheet sheet) export(format string) string {
	for _, li := range sheet.all("li[data-format='" + format + "']") {
		for _, a := range under(li, "a") {
			return valueOf(a, "href")
		}
		for _, c := range under(li, "code") {
			return wordsOf(c)
		}
	}
	return ""
}

// onDay are the ids of the events of a day of a month, week, day or list.
func (sheet sheet) onDay(date string) []string {
	for _, node := range sheet.all("td[data-date='" + date + "'], section[data-date='" + date + "']") {
		return idsUnder(node)
	}
	return nil
}

// below returns the path of a URL of the service as clients of tests take it.
func below(t *testing.T, text string) string {
	t.Helper()
	for _, scheme := range []string{"https://", "webcal://"} {
		if rest, ok := strings.CutPrefix(text, strings.Replace(world.Base, "https://", scheme, 1)); ok {
			return "/" + rest
		}
	}
	t.Fatalf("%s is no URL of the service", text)
	return ""
}

// newYork is the site zone of these tests.
func newYork(t *testing.T) *time.Location {
	t.Helper()
	location, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// viewsWorld is a service with pages on Friday, 1 May 2026, 08:00 in New York.
func viewsWorld(t *testing.T, options pages.Options) *world.World {
	t.Helper()
	options.API = httpapi.PageAPI()
	return world.New(t, world.Options{Site: newYork(t), Pages: &options, HTTP: httpapi.Options{Options: query.Options{QueryBudget: 100}, ReadDeadline: time.Minute}})
}

// programme are events of all kinds, by a short name.
func programme(t *testing.T, w *world.World) map[string]*world.Response {
	t.Helper()
	return play.Play(t, w, "testdata/programme.txt", nil)
}

func idOf(response *world.Response) string { return response.ID().String() }

// mostWalked is how many pages of a list are looked at.
const mostWalked = 3

// TestPagesHoldTheSelectionOfTheirJSON: for random selections the ids on the page are those
// of the JSON of the drawer, page by page and in order; all other formats have as many
// (PAGES 13.5, 13.18).
func TestPagesHoldTheSelectionOfTheirJSON(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{ExternalLinks: true})
	p := programme(t, w)
	nobody := w.As(calendar.Anonymous).In(t)
	rng := rand.New(rand.NewPCG(1, 2))
	of := func(values ...string) string { return values[rng.IntN(len(values))] }
	paths := []string{
		"/events/", "/events/", "/events/map/", "/search/", "/events/month/", "/events/month/2026-05/", "/events/month/2026-06/", "/events/week/2026-W20/", "/events/week/2026-W22/",
		"/events/day/2026-05-15/", "/events/day/2026-05-31/", "/events/day/2026-06-10/", "/venue/city-hall/", "/organizer/jazz-club/", "/events/category/music/", "/events/tag/open-air/", "/fr/events/", "/cn/events/month/2026-05/",
	}
	formats := []string{"ics", "rss", "atom", "jsonfeed", "geojson", "csv", "fullcalendar", "webcal"}
	seen := map[string]int{}
	for n := range 200 {
		path := paths[n%len(paths)]
		q := url.Values{}
		set := func(chance int, name string, value string) {
			if rng.IntN(100) < chance {
				q.Add(name, value)
			}
		}
		set(30, "tz", of("Asia/Tokyo", "UTC", "America/New_York", "Pacific/Honolulu", "UTC+5.5", "event"))
		set(20, "categories", of("jazz", "music", "arts-crafts,jazz", idOf(p["arts"])))
		set(10, "tags", "open-air")
		set(10, "venue", of(idOf(p["hall"]), idOf(p["park"])+","+idOf(p["somewhere"])))
		set(15, "search", of("concert", "day", "evening -3", "festival"))
		set(15, "start_date", of("2026-05-10", "2026-06-15", "2026-05-20 12:00", "2026-06-10T14:00:00Z", "today"))
		set(10, "end_date", of("2026-05-25", "2026-06-20", "2026-07-01 09:00"))
		set(8, "starts_after", of("2026-05-12", "2026-06-15T00:00:00+09:00"))
		set(8, "ends_before", of("2026-06-20", "2026-06-30 12:00"))
		set(15, "strict_dates", of("true", "false"))
		set(10, "featured", of("true", "false", ""))
		set(10, "past", of("true", "false"))
		set(10, "per_page", of("5", "7", "100"))
		set(8, "free", "true")
		set(8, "weekday", of("sat,sun", "1"))
		set(5, "time_of_day", of("evening", "all_day"))
		set(5, "sort", of("published", "start", "modified"))
		set(5, "include", of(idOf(p["night"])+","+idOf(p["ended"]), idOf(p["festival"])))
		set(5, "overlap", of("true", "false"))
		set(5, "city[]", "Boston")
		set(5, "unknown", "x")
		set(5, "cost_band", "10-50")
		at := path
		if len(q) > 0 {
			at += "?" + q.Encode()
		}
		first := readPage(t, w, at)
		json := nobody.Do(http.MethodGet, below(t, first.export("json")), nil).Want(http.StatusOK)
		total := json.Int("total")
		if first.total() != total {
			t.Errorf("%s: %d events, %s has %d", at, first.total(), first.export("json"), total)
			continue
		}
		if strings.Contains(first.export("json"), "tz=") || strings.Contains(first.export("json"), "unknown") {
			t.Errorf("%s: %s", at, first.export("json"))
		}
		if strings.Contains(path, "/month/") || strings.Contains(path, "/week/") || strings.Contains(path, "/day/") {
			want := drawnIDs(t, w, first)
			got := slices.Sorted(slices.Values(idsUnder(first.results())))
			if strings.Contains(path, "/week/") { // some stand behind "+n more"
				got = slices.DeleteFunc(got, func(id string) bool { return slices.Contains(want, id) })
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
				t.Errorf("%s and %s:\n%s", at, first.export("json"), diff)
			}
			seen["period"] += total
		} else {
			pageNow, shown := first, 0
			for number := 1; ; number++ {
				response := nobody.Do(http.MethodGet, below(t, pageNow.export("json")), nil).Want(http.StatusOK)
				got, want := idsUnder(pageNow.results()), eventIDs(response)
				if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
					t.Errorf("%s page %d and %s:\n%s", at, number, pageNow.export("json"), diff)
				}
				shown += len(got)
				next := pageNow.all("a[rel=next]")
				if len(next) == 0 {
					if shown != total && number < mostWalked {
						t.Errorf("%s: %d events on all pages, want %d", at, shown, total)
					}
					break
				}
				if number == mostWalked {
					break
				}
				pageNow = readPage(t, w, valueOf(next[0], "href"))
			}
			seen["list"] += shown
		}
		format := formats[n%len(formats)]
		if text := first.export(format); text == "" && format != "fullcalendar" {
			t.Errorf("%s: no %s in the drawer", at, format)
		} else if text != "" {
			feed := nobody.Do(http.MethodGet, below(t, text), nil).Want(http.StatusOK)
			if got := feed.Header.Get("X-Total"); got != strconv.Itoa(total) {
				t.Errorf("%s: %s has %s events, want %d", at, text, got, total)
			}
			seen[format]++
		}
	}
	if seen["list"] < 500 || seen["period"] < 300 || seen["fullcalendar"] < 5 {
		t.Errorf("events seen: %v", seen)
	}
}
