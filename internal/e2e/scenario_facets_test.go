package e2e

import (
	"fmt"
	"net/url"
	"strings"
)

// facetNames are all facets.
var facetNames = strings.Fields("categories tags venue organizer city country month weekday time_of_day in_language ticketed featured free cost_band")

// facets plays its file; each count is the total of the list with the value alone, whatever
// else is sent.
func facets(scene *scene) {
	made := scene.play("facets")
	path, checked := made["tag"].Path()+"/events?", 0
	for _, sent := range []string{"", "&categories=" + made["music"].ID().String() + "&city=munchen", "&month=2026-07&free=false&search=in"} {
		for _, who := range []string{"nobody", "editor"} {
			with := scene.as(who).read(path + "facets=" + strings.Join(facetNames, ",") + sent)
			for _, facet := range facetNames {
				values, _ := with.Get("facets." + facet + ".values").([]any)
				for i := range values {
					value := with.String(fmt.Sprintf("facets.%s.values.%d.value", facet, i))
					query, _ := url.ParseQuery(strings.TrimPrefix(sent, "&"))
					query.Set(facet, value)
					one := scene.as(who).read(path + query.Encode())
					if n := with.Int(fmt.Sprintf("facets.%s.values.%d.count", facet, i)); n != one.Int("total") {
						scene.t.Errorf("%s: %s=%s counts %d, the list has %d", with.Request, facet, value, n, one.Int("total"))
					}
					checked++
				}
			}
		}
	}
	if checked < 60 {
		scene.t.Errorf("%d counts are checked only", checked)
	}
}
