package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// LISTINGS 8.41, 8.42, 8.44: several searches are as many lists.
func TestSeveralSearches(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	jazz := editor.Create(calendar.KindCategory, obj{"name": "Jazz"}).ID()
	hall := editor.Create(calendar.KindVenue, obj{"venue": "Hall", "city": "Washington, D.C.", "geo_lat": 38.9, "geo_lng": -77.0}).ID()
	for i := range 12 {
		editor.Event(fmt.Sprintf("Event %d", i), obj{
			"categories": []calendar.ID{jazz}[:i%2], "venue": []calendar.ID{hall}[:i%3/2], "featured": i%4 == 0, "status": []string{"publish", "draft"}[i/11],
		})
	}
	for search, list := range map[string]string{
		`{}`:                          "",
		`{"per_page":5,"page":2}`:     "per_page=5&page=2",
		`{"per_page":"5","page":[1]}`: "per_page=5&page=1",
		`{"categories":["jazz",JAZZ],"featured":false,"strict_dates":1}`:             "categories=jazz,JAZZ&featured=false&strict_dates=1",
		`{"categories":"jazz","search":["event 1"]}`:                                 "categories=jazz&search=event%201",
		`{"venue":HALL,"geoloc_lat":38.9,"geoloc_lng":-77,"geoloc_radius":1.5}`:      "venue=HALL&geoloc_lat=38.9&geoloc_lng=-77&geoloc_radius=1.5",
		`{"city":["washington, d.c.","Paris"]}`:                                      "city[]=washington,%20d.c.&city[]=Paris",
		`{"bbox":[-78,38.5,-76,39.5],"weekday":[1,"mon"]}`:                           "bbox=-78,38.5,-76,39.5&weekday=1,mon",
		`{"multilang_language":"fr","_fields":["id","title"]}`:                       "multilang_language=fr&_fields=id,title",
		`{"sort":"published","order":"asc","month":"2026-05,2026-06"}`:               "month=2026-05,2026-06&sort=published&order=asc",
		`{"format":"nonsense","csv_bom":"x","cursor":"","as_of":"","nonsense":true}`: "", // what a search does not know
	} {
		ids := strings.NewReplacer("JAZZ", itoa(jazz), "HALL", itoa(hall))
		for _, client := range []*world.Client{nobody, editor, nobody.Under(calendar.LangFR)} {
			want := client.Read("/events?" + ids.Replace(list))
			got := client.Post("/events/search", `{"searches":[`+ids.Replace(search)+`,{}]}`).Want(http.StatusOK)
			if !strings.HasPrefix(string(got.Body), `{"results":[`+string(want.Body)+",") || got.Int("results.#") != 2 || got.Position() != want.Position() || got.ETag() != "" {
				t.Errorf("%s: %v\n%s\nwant %s", search, got.Header, got.Body, want.Body)
			}
		}
	}
	// A page past the end has the real totals.
	nobody.Post("/events/search", `{"searches":[{"page":9,"per_page":5}]}`).Want(http.StatusOK).
		WantField("results.0.events", []any{}).WantField("results.0.total", 11).WantField("results.0.total_pages", 3)
	// The language of the request is that of the answer, whatever one of its searches asks for.
	if got := nobody.With("If-None-Match", "*").Post("/events/search?multilang_language=es", `{"searches":[{},{"multilang_language":"cn"}]}`).Want(http.StatusOK).Header.Get("Content-Language"); got != "es" {
		t.Errorf("got language %q, want es", got)
	}
	editor.With("Daybook-Min-Position", "999").Post("/events/search", `{"searches":[{}]}`).WantCode(http.StatusServiceUnavailable, "rest_position_not_reached")
}
