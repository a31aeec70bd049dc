package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// resultsOf returns the results of several searches, each as it stands.
func resultsOf(t *testing.T, r *world.Response) []string {
	t.Helper()
	var body struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(body.Results))
	for i, one := range body.Results {
		out[i] = string(one)
	}
	return out
}

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
	for _, c := range []struct {
		search obj
		list   string
	}{
		{obj{}, ""},
		{obj{"per_page": 5, "page": 2}, "per_page=5&page=2"},
		{obj{"per_page": "5", "page": []any{1}}, "per_page=5&page=1"},
		{obj{"categories": []any{"jazz", jazz}, "featured": false, "strict_dates": 1}, fmt.Sprintf("categories=jazz,%d&featured=false&strict_dates=1", jazz)},
		{obj{"categories": "jazz", "search": []any{"event 1"}}, "categories=jazz&search=event%201"},
		{obj{"venue": hall, "geoloc_lat": 38.9, "geoloc_lng": -77, "geoloc_radius": 1.5}, fmt.Sprintf("venue=%d&geoloc_lat=38.9&geoloc_lng=-77&geoloc_radius=1.5", hall)},
		{obj{"city": []any{"washington, d.c.", "Paris"}}, "city[]=washington,%20d.c.&city[]=Paris"},
		{obj{"bbox": []any{-78, 38.5, -76, 39.5}, "weekday": []any{1, "mon"}}, "bbox=-78,38.5,-76,39.5&weekday=1,mon"},
		{obj{"multilang_language": "fr", "_fields": []any{"id", "title"}}, "multilang_language=fr&_fields=id,title"},
		{obj{"sort": "published", "order": "asc", "month": "2026-05,2026-06"}, "month=2026-05,2026-06&sort=published&order=asc"},
		// What a search does not know.
		{obj{"format": "nonsense", "features": 7, "csv_bom": "x", "cursor": "", "as_of": "", "nonsense": true}, ""},
	} {
		for _, client := range []*world.Client{nobody, editor, nobody.Under(calendar.LangFR)} {
			want := client.Read("/events?" + c.list)
			got := client.Post("/events/search", obj{"searches": []any{c.search, obj{"include": []any{jazz}}}}).Want(http.StatusOK)
			results := resultsOf(t, got)
			if len(results) != 2 || results[0] != string(want.Body) {
				t.Errorf("%v:\n%s", c.search, cmp.Diff(string(want.Body), strings.Join(results, "\n")))
			}
			if p := got.Header.Get("Daybook-Position"); p != want.Header.Get("Daybook-Position") {
				t.Errorf("%v: position %s, want %s", c.search, p, want.Header.Get("Daybook-Position"))
			}
			if tag := got.Header["Etag"]; tag != nil {
				t.Errorf("%v: ETag %q", c.search, tag)
			}
		}
	}
	// A page past the end has the real totals.
	nobody.Post("/events/search", `{"searches":[{"page":9,"per_page":5}]}`).Want(http.StatusOK).
		WantField("results.0.events", []any{}).WantField("results.0.total", 11).WantField("results.0.total_pages", 3)
	// The selector of the request is that of each search without one.
	nobody.Post("/events/search?multilang_language=es", `{"searches":[{},{"multilang_language":"cn"}]}`).Want(http.StatusOK)
	// Twice the same answer, and never 304.
	again := nobody.With("If-None-Match", "*", "Idempotency-Key", "k")
	if a, b := again.Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK), again.Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK); string(a.Body) != string(b.Body) || len(a.Body) == 0 {
		t.Errorf("%s, then %s", a.Body, b.Body)
	}
	editor.With("Daybook-Min-Position", "999").Post("/events/search", `{"searches":[{}]}`).WantCode(http.StatusServiceUnavailable, "rest_position_not_reached")
}

// LISTINGS 8.41: a body of several searches that cannot be read.
func TestSeveralSearchesRefused(t *testing.T) {
	t.Parallel()
	_, _, nobody := newWorld(t)
	nobody.Post("/events/search", "{\"searches\":\"\xff\"}").WantCode(http.StatusBadRequest, "rest_invalid_json")
	nobody.Post("/events/search", `{"searches":["`+strings.Repeat("x", 64<<10)+`"]}`).WantCode(http.StatusRequestEntityTooLarge, "rest_body_too_large")
}
