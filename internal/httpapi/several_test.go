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

// resultsOf gives the results of several searches, each as it stands.
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

// LISTINGS 8.41: what of several searches is refused, and how it is named.
func TestSeveralSearchesRefused(t *testing.T) {
	t.Parallel()
	_, _, nobody := newWorld(t)
	ask := func(body any) *world.Response { return nobody.Post("/events/search", body) }
	ask(`{"searches":[{},{"sort":"nonsense","per_page":0},{"tags":["none"]}]}`).WantBad("searches[1].sort", "searches[1].per_page", "searches[2].tags")
	ask(`{"searches":[{"search":5},{"featured":2},{"page":[1,2]},{"start_date":2026},{"city":[]},{"month":null},{"venue":[[1]]},{"search":true},{"page":{}}]}`).WantBad(
		"searches[0].search", "searches[1].featured", "searches[2].page", "searches[3].start_date", "searches[4].city", "searches[5].month",
		"searches[6].venue", "searches[7].search", "searches[8].page")
	ask(`{"searches":[{},5]}`).WantBad("searches[1]")
	ask(`{"searches":[{}],"x":1}`).Want(http.StatusOK)
	ask(`{"searches":[]}`).WantBad("searches")
	ask(`{"searches":{}}`).WantBad("searches")
	ask(obj{"searches": make([]obj, 21)}).WantBad("searches")
	for _, body := range []string{"", "{}", `{"searches":null}`} {
		ask(body).WantCode(http.StatusBadRequest, "rest_missing_callback_param")
	}
	for _, body := range []string{"{", "[]", "{}{}", "{\"searches\":\"\xff\"}"} {
		ask(body).WantCode(http.StatusBadRequest, "rest_invalid_json")
	}
	ask(`{"searches":["`+strings.Repeat("x", 64<<10)+`"]}`).WantCode(http.StatusRequestEntityTooLarge, "rest_body_too_large")
	nobody.Under(calendar.LangFR).With("Daybook-Min-Position", "x").Post("/events/search?multilang_language=xx", `{"searches":[{"status":"draft"}]}`).
		WantBad("multilang_language", "searches[0].status", "Daybook-Min-Position")
	dear := obj{"sort": "distance", "geoloc_lat": 1, "geoloc_lng": 1}
	searches := make([]obj, 20)
	for i := range searches {
		searches[i] = dear
	}
	ask(obj{"searches": searches}).Want(http.StatusOK) // 20 · 2 of 60
	dear["facets"] = "city,month"
	ask(obj{"searches": searches}).WantCode(http.StatusBadRequest, "rest_query_too_costly").WantField("data.cost", 80).WantField("data.limit", 60)
	nobody.With("Authorization", "Bearer wrong").Post("/events/search", `{`).Want(http.StatusUnauthorized)
}

// LISTINGS 8.41: a page of another origin asks without a preflight, and with one.
func TestSeveralSearchesAcrossOrigins(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	nobody := w.As(calendar.Anonymous).With("Origin", "https://listing.example")
	for _, media := range []string{"text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data", "nonsense"} {
		nobody.With("Content-Type", media).Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK)
	}
	plain := nobody.With("Content-Type", "text/plain").Post("/events/search", `{"searches":[{}]}`).Want(http.StatusOK)
	refused := nobody.With("Content-Type", "text/plain").Post("/events/search", `{`).Want(http.StatusBadRequest)
	for _, r := range []*world.Response{plain, refused} {
		if got := r.Header.Get("Access-Control-Allow-Origin"); got != "*" || !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Daybook-Position") {
			t.Errorf("%s: origin %q, %v", r.Request, got, r.Header)
		}
	}
	pre := nobody.With("Access-Control-Request-Method", "POST").Do(http.MethodOptions, "/events/search", nil).Want(http.StatusOK)
	if got := pre.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(got, "POST") || pre.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight: %v", pre.Header)
	}
	if got := nobody.Post("/events", `{}`).Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a write of another origin: %q", got)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
		if r := nobody.Do(method, "/events/search", nil).Want(http.StatusMethodNotAllowed); r.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: Allow %q", method, r.Header.Get("Allow"))
		}
	}
	if got := plain.Header.Get("Allow"); got != "POST, OPTIONS" {
		t.Errorf("Allow %q", got)
	}
}
