package httpapi_test

import (
	"strings"
	"testing"

	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// TestPagesOfManyFilters: a request of the greatest length makes no page of megabytes, though
// each filter can be taken away: of many values a parameter has one chip.
func TestPagesOfManyFilters(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{ExternalLinks: true})
	p := programme(t, w)
	for query, want := range map[string]int{
		strings.Repeat("categories[]="+idOf(p["jazz"])+"&", 900): 1, strings.Repeat("city[]=a&", 1000) + "featured=true": 2, "tags=open-air&" + strings.Repeat("weekday[]=1&", 1000): 2,
		"categories[]=jazz&categories[]=music&featured=true": 3,
	} {
		for _, path := range []string{"/events/", "/events/month/2026-05/", "/search/"} {
			sheet := readPage(t, w, path+"?"+query)
			chips := under(sheet.one("div[id=chips]"), "a")
			if len(chips) != want || len(sheet.Body) > 2<<20 {
				t.Errorf("%s?%.20s…: %d chips in %d bytes", path, query, len(chips), len(sheet.Body))
			}
			for _, chip := range chips {
				if len(wordsOf(chip)) > 100 || want == 1 && strings.Contains(valueOf(chip, "href"), "?") {
					t.Errorf("%s?%.20s…: %s leads to %s", path, query, wordsOf(chip), valueOf(chip, "href"))
				}
			}
		}
	}
}
