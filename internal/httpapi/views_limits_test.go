package httpapi_test

import (
	"fmt"
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
	world.Slow(t)
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	for query, want := range map[string]int{
		strings.Repeat("categories[]="+idOf(p["jazz"])+"&", 900): 1, strings.Repeat("city[]=a&", 1000) + "featured=true": 2, "tags=open-air&" + strings.Repeat("weekday[]=1&", 1000): 2,
		"categories[]=jazz&categories[]=music&featured=true": 3,
	} {
		for _, path := range []string{"/events/", "/events/month/2026-05/", "/search/"} {
			at := readPage(t, w, path+"?"+query)
			chips := under(at.one("div", "id=chips"), "a")
			if len(chips) != want || len(at.Body) > 2<<20 {
				t.Errorf("%s?%.20s…: %d chips in %d bytes", path, query, len(chips), len(at.Body))
			}
			for _, chip := range chips {
				if len(wordsOf(chip)) > 100 || want == 1 && strings.Contains(valueOf(chip, "href"), "?") {
					t.Errorf("%s?%.20s…: %s leads to %s", path, query, wordsOf(chip), valueOf(chip, "href"))
				}
			}
		}
	}
}

// TestZonesOfManyEvents: beyond a thousand events all-day ones at the edges of a period of
// another zone cannot be left out of other formats, so they are on the page, too (PAGES P1.2).
func TestZonesOfManyEvents(t *testing.T) {
	t.Parallel()
	world.Slow(t)
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
	if got, want := many.total(), json.Int("total"); got != want || want != 1003 {
		t.Errorf("the page counts %d events, JSON %d", got, want)
	}
	table := idsUnder(many.one("table", "id=month"))
	if slices.Contains(table, idOf(edge)) || slices.Contains(table, idOf(far)) {
		t.Error("what is beside the month is in it")
	}
}
