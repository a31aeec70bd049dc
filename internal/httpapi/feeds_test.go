package httpapi_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	golang "github.com/arran4/golang-ical"
	emersion "github.com/emersion/go-ical"
	"github.com/google/go-cmp/cmp"
	"github.com/mmcdole/gofeed"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// uidsOf gives the uids of a feed in order; those of cancelled events with a minus.
func uidsOf(t *testing.T, format string, body []byte) (out []string) {
	t.Helper()
	switch format {
	case "ics":
		c, err := golang.ParseCalendar(strings.NewReader(string(body)))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if _, err := emersion.NewDecoder(strings.NewReader(string(body))).Decode(); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, e := range c.Events() {
			if e.GetProperty("STATUS").Value == "CANCELLED" {
				out = append(out, "-"+e.Id())
			} else {
				out = append(out, e.Id())
			}
		}
	case "csv":
		rows, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			out = append(out, row[1])
		}
	case "geojson":
		var c struct {
			Features []struct{ Properties struct{ UID string } }
		}
		if err := json.Unmarshal(body, &c); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Features {
			out = append(out, f.Properties.UID)
		}
	default:
		f, err := gofeed.NewParser().ParseString(string(body))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, i := range f.Items {
			out = append(out, strings.TrimPrefix(i.GUID, "urn:uuid:"))
		}
	}
	return out
}

var feedFormats = []string{"ics", "rss", "atom", "jsonfeed", "geojson", "csv"}

// uidByID gives the uid of each event by its id.
func uidByID(t *testing.T, c *world.Client) map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(c.Read("/events.csv?_fields=id,uid").Body))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, row := range rows[1:] {
		out[row[0]] = row[1]
	}
	return out
}

// LISTINGS 8.1, 8.8, 8.44
func TestFormatsHaveOneSelection(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	jazz := editor.Create(calendar.KindCategory, obj{"name": "Jazz"}).ID()
	zones := []string{"America/New_York", "Asia/Tokyo", "UTC", "UTC+5.5"}
	for i := range 23 {
		editor.Event(fmt.Sprintf("Event %d; 音乐会, & more", i), obj{
			"timezone": zones[i%4], "start_date": fmt.Sprintf("2026-06-%02d 10:00:00", 28-i), "end_date": "2026-07-01 12:00:00",
			"categories": []calendar.ID{jazz}, "status": []string{"publish", "draft"}[i%8/7], "all_day": i%5 == 4,
		})
	}
	uids := uidByID(t, editor)
	for _, query := range []string{"?", "?categories=jazz&start_date=2026-06-10", "?search=event%201", "?start_date=2030-01-01", "?include=3"} {
		for _, c := range []*world.Client{nobody, editor, nobody.Under(calendar.LangFR)} {
			var want, ids []string
			for page := 1; ; page++ {
				list := c.Read(fmt.Sprintf("/events%s&per_page=5&page=%d", query, page))
				for _, id := range list.IDs(calendar.KindEvent) {
					want = append(want, uids[id.String()])
					ids = append(ids, id.String())
				}
				if page >= list.Int("total_pages") {
					break
				}
			}
			for _, format := range feedFormats {
				feed := c.Read("/events." + format + query)
				if diff := cmp.Diff(want, uidsOf(t, format, feed.Body)); diff != "" {
					t.Errorf("%s %s:\n%s", format, query, diff)
				}
				if got := feed.Header.Get("X-Total"); got != fmt.Sprint(len(want)) {
					t.Errorf("%s %s: X-Total %s, want %d", format, query, got, len(want))
				}
			}
			var got []string
			for line := range strings.Lines(string(c.Read("/events.ndjson" + query).Body)) {
				var record struct {
					ID calendar.ID `json:"id"`
				}
				if err := json.Unmarshal([]byte(line), &record); err != nil || !strings.HasSuffix(line, "}\n") {
					t.Fatalf("line %q: %v", line, err)
				}
				got = append(got, record.ID.String())
			}
			if diff := cmp.Diff(ids, got); diff != "" {
				t.Errorf("ndjson %s:\n%s", query, diff)
			}
		}
	}
}

// LISTINGS 8.2, 8.3
func TestWhichFormat(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Hall"}).ID().String()
	id := editor.Event("Concert", nil).ID().String()
	const json, ics, rss = "application/json; charset=utf-8", "text/calendar; charset=utf-8", "application/rss+xml; charset=utf-8"
	for _, tc := range []struct{ path, accept, want string }{
		{"/events", "", json},
		{"/events", "text/html", json},
		{"/events", "application/xml", json},
		{"/events", "text/calendar", ics},
		{"/events", "TEXT/Calendar; charset=utf-8", ics},
		{"/events", "application/rss+xml;q=0.5, text/calendar", ics},
		{"/events", "application/json, text/calendar", json},
		{"/events", "text/calendar;q=0, application/geo+json;q=0.1", "application/geo+json"},
		{"/events", "application/*, text/calendar;q=0.9", json},
		{"/events?format=rss", "text/calendar", rss},
		{"/events?format=json", "text/calendar", json},
		{"/events?format=jsonfeed", "", "application/feed+json; charset=utf-8"},
		{"/events.ics?format=rss", "application/rss+xml", ics},
		{"/events.csv", "", "text/csv; charset=utf-8; header=present"},
		{"/events.ndjson/", "", "application/x-ndjson; charset=utf-8"},
		{"/events.atom", "", "application/atom+xml; charset=utf-8"},
		{"/events/" + id, "application/rss+xml", json},
		{"/events/" + id, "text/calendar", ics},
		{"/events/" + id + "?format=geojson", "text/calendar", "application/geo+json"},
		{"/events/by-slug/concert?format=ics", "", ics},
		{"/events/" + id + ".geojson", "", "application/geo+json"},
		{"/venues/" + venue + "/events", "", json},
		{"/venues/" + venue + "/events", "application/rss+xml", rss},
		{"/venues/" + venue + "/events.ics", "", ics},
		{"/venues?format=ics", "text/calendar", json},
	} {
		got := nobody.With("Accept", tc.accept).Read(tc.path).Header
		if got.Get("Content-Type") != tc.want {
			t.Errorf("%s, Accept %q: %s, want %s", tc.path, tc.accept, got.Get("Content-Type"), tc.want)
		}
	}
	for _, path := range []string{"/events?format=xml", "/events?format=ICS", "/events?format=", "/events.ics?format=xml", "/events/" + id + "?format=rss", "/events/" + id + ".ics?format=csv", "/venues/" + venue + "/events?format=x"} {
		nobody.Get(path).WantBad("format")
	}
	for _, path := range []string{"/events.xml", "/events.ICS", "/events.ics.gz", "/events.xrss5", "/events.xndjson", "/events/" + id + ".icss", "/events/" + id + ".xgeojson", "/venues.ics", "/events/" + id + ".rss", "/venues/" + venue + ".ics", "/events.", "/events/x.ics", "/venues/" + venue + "/events.xml"} {
		nobody.Get(path).WantCode(http.StatusNotFound, "rest_no_route")
	}
	nobody.Post("/events.ics", nil).WantCode(http.StatusMethodNotAllowed, "rest_method_not_allowed")
	if got := nobody.Do(http.MethodOptions, "/events.ics", nil).Want(http.StatusOK).Header.Get("Allow"); got != "GET, HEAD, OPTIONS" {
		t.Errorf("Allow %s", got)
	}
	for path, want := range map[string]string{
		"/events.ics": `inline; filename="events.ics"`, "/events?format=jsonfeed": `inline; filename="events.json"`, "/events.csv": `attachment; filename="events.csv"`,
		"/venues/" + venue + "/events.rss": `inline; filename="hall.rss"`, "/events/" + id + ".ics": `inline; filename="concert.ics"`,
	} {
		if got := nobody.Get(path).Header.Get("Content-Disposition"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// LISTINGS 8.4, 8.5
func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{ExportLimit: 251}})
	for i := range 250 {
		editor.Event(fmt.Sprintf("Event %d", i), obj{"description": strings.Repeat("word ", 200)})
	}
	for _, format := range append([]string{"ndjson"}, feedFormats...) {
		path := "/events." + format
		whole := nobody.Read(path)
		if format != "ndjson" && len(uidsOf(t, format, whole.Body)) != 250 {
			t.Errorf("%s: %d events", format, len(uidsOf(t, format, whole.Body)))
		}
		h := whole.Header
		if h.Get("X-Total") != "250" || h.Get("X-TotalPages") != "1" || h.Get("Link") != "" || !strings.HasPrefix(h.Get("ETag"), `W/"`) ||
			h.Get("Content-Language") != "en" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Daybook-Position") == "" ||
			!strings.Contains(h.Get("Access-Control-Expose-Headers"), "Content-Disposition, Last-Modified") || h.Get("Vary") == "" {
			t.Errorf("%s: %v", format, h)
		}
		head := nobody.Do(http.MethodHead, path, nil).Want(http.StatusOK)
		for _, same := range []http.Header{h, head.Header} {
			same.Del(headerRequest)
		}
		if diff := cmp.Diff(h, head.Header); diff != "" || len(head.Body) != 0 {
			t.Errorf("%s: HEAD with %d bytes (-GET +HEAD):\n%s", format, len(head.Body), diff)
		}
		if got := nobody.With("If-None-Match", whole.ETag()).Get(path).Want(http.StatusNotModified); got.Header.Get("X-Total") != "250" || len(got.Body) != 0 {
			t.Errorf("%s: 304 with %v", format, got.Header)
		}
		paged := nobody.Read(path + "?per_page=100")
		if format != "ndjson" && len(uidsOf(t, format, paged.Body)) != 100 {
			t.Errorf("%s: %d events in a page", format, len(uidsOf(t, format, paged.Body)))
		}
		next := `<` + world.Base + world.Root + path + `?page=2&per_page=100&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59>; rel="next"`
		if link := paged.Header.Get("Link"); !strings.HasPrefix(link, next) || paged.Header.Get("X-TotalPages") != "3" {
			t.Errorf("%s: Link %s, want %s", format, link, next)
		}
		nobody.Get(path+"?per_page=100&page=9").WantCode(http.StatusNotFound, "event-archive-page-not-found")
		if paged.ETag() == whole.ETag() || nobody.Get(path+"?per_page=250").ETag() == whole.ETag() {
			t.Errorf("%s: a page has the tag of the whole", format)
		}
	}
	for range 2 {
		editor.Event("One more", nil)
	}
	refused := nobody.Get("/events.ics").WantCode(http.StatusBadRequest, "rest_selection_too_large")
	refused.WantField("data.total", 252.0)
	refused.WantField("data.limit", 251.0)
	nobody.Read("/events.ics?per_page=10")
	nobody.Read("/events.ics?search=more")
}

const headerRequest = "X-Request-Id"

// LISTINGS 8.6, 8.7
func TestFeedsAreKept(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t, world.Options{Now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)})
	event := editor.Event("Concert", nil)
	modified := func(c *world.Client, path string) string {
		t.Helper()
		return c.Read(path).Header.Get("Last-Modified")
	}
	for _, path := range []string{"/events.rss", "/events.rss?per_page=3", "/events/" + event.ID().String() + ".ics"} {
		w.Clock.Add(10 * time.Second)
		editor.Create(calendar.KindTag, obj{"name": "Tag " + path}) // any record
		if strings.Contains(path, ".ics") {
			editor.Update("/events/"+event.ID().String(), obj{"featured": true})
		}
		written := w.Clock.Now()
		if got := modified(nobody, path); got != "" {
			t.Errorf("%s: Last-Modified %s at once", path, got)
		}
		w.Clock.Add(2 * time.Second)
		shown := modified(nobody, path)
		if shown != written.Format(http.TimeFormat) {
			t.Errorf("%s: Last-Modified %q, want %s", path, shown, written.Format(http.TimeFormat))
		}
		since := nobody.With("If-Modified-Since", shown)
		since.Get(path).Want(http.StatusNotModified)
		since.With("If-None-Match", `"x"`).Read(path)
		nobody.With("If-Modified-Since", w.Clock.Now().Format(http.TimeFormat)).Read(path)
		for _, tc := range []struct {
			c    *world.Client
			path string
			want string
		}{
			{nobody, path, "public, max-age=300"},
			{since, path, "public, max-age=300"},
			{editor, path, "no-store, private"},
			{nobody, path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "password=x", "no-store, private"},
		} {
			if got := tc.c.Get(tc.path).Header.Get("Cache-Control"); got != tc.want {
				t.Errorf("%s: Cache-Control %s, want %s", tc.path, got, tc.want)
			}
		}
	}
	if got := nobody.With("If-Modified-Since", w.Clock.Now().Format(http.TimeFormat)).Read("/events").Header.Get("Last-Modified"); got != "" {
		t.Errorf("JSON has Last-Modified %s", got)
	}
	// A default window moves at midnight.
	w.Clock.Add(time.Date(2026, 5, 2, 0, 0, 3, 0, time.UTC).Sub(w.Clock.Now()))
	if got := modified(nobody, "/events.rss"); got != "Sat, 02 May 2026 00:00:00 GMT" {
		t.Errorf("after midnight: %s", got)
	}
	if got := modified(nobody, "/events.rss?start_date=2026-05-01&end_date=2026-06-01"); !strings.HasPrefix(got, "Fri, 01 May 2026 12:") {
		t.Errorf("a fixed window after midnight: %s", got)
	}
	// What comes due is a change.
	editor.Event("Later", obj{"date_utc": "2026-05-02 10:00:00"})
	w.Clock.Add(time.Date(2026, 5, 2, 10, 0, 5, 0, time.UTC).Sub(w.Clock.Now()))
	if got := modified(nobody, "/events.rss"); got != "Sat, 02 May 2026 10:00:00 GMT" {
		t.Errorf("after a publication: %s", got)
	}
}

// lineOf gives the value of a property of the only event of a calendar.
func lineOf(t *testing.T, body []byte, name string) string {
	t.Helper()
	c, err := golang.ParseCalendar(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Events()) != 1 {
		t.Fatalf("%d events in %s", len(c.Events()), body)
	}
	p := c.Events()[0].GetProperty(golang.ComponentProperty(name))
	if p == nil {
		return ""
	}
	return p.Value
}

// LISTINGS 8.8, 8.9, 8.15
func TestEventInACalendar(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Hall", "city": "Boston", "geo_lat": 42.36, "geo_lng": -71.05}).ID()
	id := editor.Event("Concert", obj{"venue": venue}).ID()
	path := "/events/" + id.String()
	feed := func() []byte { return nobody.Read("/events.ics").Body }
	uid := lineOf(t, feed(), "UID")
	same := func(what string, version int) {
		t.Helper()
		w.Clock.Add(time.Minute)
		body := feed()
		if got := lineOf(t, body, "UID"); got != uid {
			t.Errorf("%s: UID %s, want %s", what, got, uid)
		}
		if got := lineOf(t, body, "SEQUENCE"); got != fmt.Sprint(version) {
			t.Errorf("%s: SEQUENCE %s, want %d", what, got, version)
		}
	}
	same("first", 1)
	editor.Update(path, obj{"title": "Recital"})
	same("renamed", 2)
	editor.Update(path, obj{"start_date": "2026-05-20 10:00:00", "end_date": "2026-05-20 11:00:00"})
	same("moved", 3)
	stamp := lineOf(t, feed(), "DTSTAMP")
	w.Clock.Add(time.Minute)
	editor.Update("/venues/"+venue.String(), obj{"venue": "Great Hall"})
	if got := lineOf(t, feed(), "DTSTAMP"); got != w.Clock.Now().Format("20060102T150405Z") || got == stamp {
		t.Errorf("DTSTAMP %s after a change of the venue, before %s", got, stamp)
	}
	if got := lineOf(t, feed(), "LOCATION"); got != "Great Hall, Boston" {
		t.Errorf("LOCATION %s", got)
	}
	w.Clock.Add(time.Minute)
	editor.Delete("/venues/" + venue.String()).Want(http.StatusOK) // it is not seen, and counts
	if got := lineOf(t, feed(), "DTSTAMP"); got != w.Clock.Now().Format("20060102T150405Z") || lineOf(t, feed(), "LOCATION") != "" {
		t.Errorf("DTSTAMP %s after the venue was trashed", got)
	}

	// In the trash it is a tombstone without its title, and comes back.
	w.Clock.Add(time.Minute)
	editor.Delete(path).Want(http.StatusOK)
	gone := feed()
	if lineOf(t, gone, "UID") != uid || lineOf(t, gone, "STATUS") != "CANCELLED" || lineOf(t, gone, "SEQUENCE") != "4" ||
		lineOf(t, gone, "SUMMARY") != "Cancelled" || strings.Contains(string(gone), "Recital") || lineOf(t, gone, "DTSTART") != "20260520T100000Z" {
		t.Errorf("tombstone: %s", gone)
	}
	if got := nobody.Get("/events.ics").Header.Get("X-Total"); got != "0" {
		t.Errorf("X-Total %s with a tombstone", got)
	}
	if got := lineOf(t, nobody.Under(calendar.LangFR).Get("/events.ics").Body, "SUMMARY"); got != "Annulé" {
		t.Errorf("in French: %s", got)
	}
	nobody.Get(path+".ics").WantCode(http.StatusForbidden, "event-no-longer-available")
	for _, query := range []string{"?status=publish", "?search=recital", "?per_page=5", "?page=1", "?start_date=2027-01-01", "?featured=1"} {
		if got := uidsOf(t, "ics", nobody.Read("/events.ics"+query).Body); got != nil {
			t.Errorf("%s: %v", query, got)
		}
	}
	for _, format := range feedFormats[1:] {
		if got := uidsOf(t, format, nobody.Get("/events."+format).Body); got != nil {
			t.Errorf("%s: %v", format, got)
		}
	}
	editor.Update(path, nil)
	same("restored", 5)
	if got := lineOf(t, feed(), "STATUS"); got != "CONFIRMED" {
		t.Errorf("restored: %s", got)
	}

	// Hidden, protected and never published ones leave none, nor do old ones.
	for title, more := range map[string]obj{"Hidden": {"hide_from_listings": true}, "Draft": {"status": "draft"}} {
		editor.Delete("/events/" + editor.Event(title, more).ID().String()).Want(http.StatusOK)
	}
	secret := editor.Event("Secret", nil).Path(calendar.KindEvent)
	editor.Update(secret, obj{"password": "open"})
	editor.Delete(secret).Want(http.StatusOK)
	if got := uidsOf(t, "ics", feed()); !slices.Equal(got, []string{uid}) {
		t.Errorf("tombstones %v", got)
	}
	editor.Delete(path).Want(http.StatusOK)
	for days, want := range map[int]int{89: 1, 91: 0} {
		w.Clock.Add(time.Duration(days) * 24 * time.Hour)
		if got := uidsOf(t, "ics", nobody.Get("/events.ics?start_date=2026-05-01").Body); len(got) != want {
			t.Errorf("after %d days: %v", days, got)
		}
		w.Clock.Add(-time.Duration(days) * 24 * time.Hour)
	}
}

// LISTINGS 8.8
func TestUIDsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{TrustForwarded: true}})
	id := editor.Event("Concert", nil).ID().String()
	want := uidByID(t, nobody)[id]
	for _, c := range []*world.Client{nobody, editor, nobody.Under(calendar.LangFR), nobody.With("X-Forwarded-Host", "other.example")} {
		for _, format := range feedFormats {
			if got := uidsOf(t, format, c.Get("/events."+format).Body); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %v, want %s", format, got, want)
			}
		}
		if got := lineOf(t, c.Get("/events/"+id+".ics").Body, "UID"); got != want {
			t.Errorf("single: %s, want %s", got, want)
		}
	}
	other := world.New(t, world.Options{Now: world.Now.Add(time.Hour)})
	if otherID := other.As(calendar.Editor).Event("Concert", nil).ID().String(); uidByID(t, other.As(calendar.Anonymous))[otherID] == want {
		t.Error("an event of another store has the uid")
	}
}

// LISTINGS 8.16, 8.24
func TestRightsInFormats(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Vault", "city": "Boston", "geo_lat": 1, "geo_lng": 2}).ID()
	organizer := editor.Create(calendar.KindOrganizer, obj{"organizer": "Keepers", "email": "keepers@example.org"}).ID()
	secret := editor.Event("Secret", obj{
		"venue": venue, "organizer": organizer, "description": "hush", "excerpt": "hush", "cost": "77", "website": "https://hush.example/", "all_day": true,
		"image": "https://img.example/hush.jpg", "featured": true, "ticketed": true, "tags": []string{"hushed"}, "categories": []string{"hushed"},
	})
	path := "/events/" + secret.ID().String()
	editor.Update(path, obj{"password": "open"})
	hidden := editor.Event("Hidden", obj{"hide_from_listings": true}).Path(calendar.KindEvent)
	draft := editor.Event("Draft", obj{"status": "draft"}).Path(calendar.KindEvent)
	for _, ending := range []string{".ics", ".geojson"} {
		nobody.Get(path+ending).WantCode(http.StatusForbidden, "event-password-protected")
		nobody.Read(path + ending + "?password=open")
		editor.Read(path + ending)
		nobody.Read(hidden + ending)
		nobody.Get(draft+ending).WantCode(http.StatusForbidden, "event-not-accessible")
		editor.Read(draft + ending)
		nobody.Get("/events/99999"+ending).WantCode(http.StatusNotFound, "rest-event-not-found")
	}
	told := regexp.MustCompile(`(?i)hush|vault|boston|keepers|\b77\b|img\.example`)
	for _, format := range append([]string{"ndjson"}, feedFormats...) {
		body := string(nobody.Read("/events." + format).Body)
		if !strings.Contains(body, "Secret") || strings.Contains(body, "Hidden") || strings.Contains(body, "Draft") {
			t.Errorf("%s: %s", format, body)
		}
		if found := told.FindString(body); found != "" {
			t.Errorf("%s tells %q of a blanked event: %s", format, found, body)
		}
		whole := string(editor.Read("/events." + format).Body)
		if told.FindString(whole) == "" || strings.Contains(whole, "Hidden") {
			t.Errorf("%s for an editor: %s", format, whole)
		}
	}
	body := nobody.Get("/events.ics").Body
	if lineOf(t, body, "TRANSP") != "OPAQUE" || !strings.HasSuffix(lineOf(t, body, "DTSTART"), "T000000Z") {
		t.Errorf("blanked: %s", body)
	}
	entry := nobody.Read("/events/calendar?start=2026-05-01&end=2026-06-01")
	if found := told.FindString(string(entry.Body)); found != "" || !strings.Contains(string(entry.Body), `"allDay":false`) || strings.Contains(string(entry.Body), "Hidden") {
		t.Errorf("calendar: %s", entry.Body)
	}
}

// LISTINGS 8.23
func TestEventsOfARecord(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Hall & Bar"}).ID()
	organizer := editor.Create(calendar.KindOrganizer, obj{"organizer": "Trust"}).ID()
	music := editor.Create(calendar.KindCategory, obj{"name": "Music"}).ID()
	jazz := editor.Create(calendar.KindCategory, obj{"name": "Jazz", "parent": music}).ID()
	tag := editor.Create(calendar.KindTag, obj{"name": "Late"}).ID()
	one := editor.Event("One", obj{"venue": venue, "organizer": organizer, "categories": []calendar.ID{jazz}, "tags": []calendar.ID{tag}}).ID()
	two := editor.Event("Two", obj{"venue": venue, "featured": true}).ID()
	secret := editor.Event("Secret", obj{"venue": venue}).Path(calendar.KindEvent)
	editor.Update(secret, obj{"password": "open"})
	editor.Event("Elsewhere", nil)
	for path, want := range map[string][]calendar.ID{
		fmt.Sprintf("/venues/%d/events", venue): {one, two}, fmt.Sprintf("/organizers/%d/events", organizer): {one},
		fmt.Sprintf("/categories/%d/events", music): {one}, fmt.Sprintf("/tags/%d/events", tag): {one},
		fmt.Sprintf("/venues/%d/events?featured=1", venue): {two}, fmt.Sprintf("/venues/%d/events?venue=%[1]d&categories=jazz", venue): {one},
		fmt.Sprintf("/organizers/%d/events?featured=1", organizer): nil,
	} {
		list := nobody.Read(path)
		if got := list.IDs(calendar.KindEvent); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		collection, _, _ := strings.Cut(path, "?")
		if got := list.String("rest_url"); !strings.HasPrefix(got, world.Base+world.Root+collection+"/?per_page=10&start_date=") {
			t.Errorf("%s: rest_url %s", path, got)
		}
		before, after, _ := strings.Cut(path, "?")
		if got := uidsOf(t, "ics", nobody.Read(before+".ics?"+after).Body); len(got) != len(want) {
			t.Errorf("%s.ics: %v", path, got)
		}
	}
	like := nobody.Get(fmt.Sprintf("/events?venue=%d", venue))
	if diff := cmp.Diff(like.Get("events"), nobody.Get(fmt.Sprintf("/venues/%d/events", venue)).Get("events")); diff != "" {
		t.Errorf("not as the filter:\n%s", diff)
	}
	feed, err := gofeed.NewParser().ParseString(string(nobody.Get(fmt.Sprintf("/venues/%d/events.rss", venue)).Body))
	if err != nil || feed.Title != "Hall & Bar – Events" || feed.Link != world.Base+"/venue/hall-bar/" ||
		feed.FeedLink != fmt.Sprintf("%s%s/venues/%d/events.rss", world.Base, world.Root, venue) {
		t.Errorf("title %q, link %q, self %q, %v", feed.Title, feed.Link, feed.FeedLink, err)
	}
	nobody.Get("/venues/99999/events").WantCode(http.StatusNotFound, "venue-not-found")
	nobody.Get(fmt.Sprintf("/venues/%d/events", organizer)).WantCode(http.StatusNotFound, "venue-not-found")
	nobody.Get("/tags/99999/events.ics").WantCode(http.StatusNotFound, "tag-not-found")
	nobody.Get("/venues/99999/events?page=0").WantBad("page")
	editor.Delete(fmt.Sprintf("/venues/%d", venue)).Want(http.StatusOK)
	nobody.Get(fmt.Sprintf("/venues/%d/events", venue)).WantCode(http.StatusForbidden, "venue-not-accessible")
	nobody.Get(fmt.Sprintf("/venues/%d/events.ics", venue)).WantCode(http.StatusForbidden, "venue-not-accessible")
	editor.Read(fmt.Sprintf("/venues/%d/events", venue))
}

// Links to a feed itself hold what was sent, and no default.
func TestFeedsNameThemselves(t *testing.T) {
	t.Parallel()
	_, _, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{CalendarName: "Town"}})
	root := world.Base + world.Root
	for path, want := range map[string]string{
		"/events.atom":                             root + "/events.atom",
		"/events.atom?categories=&x=1":             "",
		"/events.atom?search=a%20b&start_date=now": root + "/events.atom?start_date=now&search=a%20b",
		"/events?format=atom&featured=1":           root + "/events/?featured=1&format=atom",
		"/events.atom?per_page=500&page=1":         root + "/events.atom?per_page=100",
		"/events.atom/?multilang_language=es":      root + "/events.atom?multilang_language=es",
	} {
		if want == "" {
			nobody.Get(path).WantBad("categories")
			continue
		}
		feed, err := gofeed.NewParser().ParseString(string(nobody.Read(path).Body))
		if err != nil || feed.FeedLink != want || feed.Title != "Town" {
			t.Errorf("%s: %q, %q, %v, want %s", path, feed.FeedLink, feed.Title, err, want)
		}
	}
	for l, want := range map[calendar.Lang]string{calendar.LangCN: "活动", calendar.LangEN: "Events", calendar.LangFR: "Événements", calendar.LangES: "Eventos"} {
		other := world.New(t, world.Options{})
		feed, err := gofeed.NewParser().ParseString(string(other.As(calendar.Anonymous).Under(l).Get("/events.rss").Body))
		if err != nil || feed.Title != want || feed.Language != l.Tag() {
			t.Errorf("%s: %q in %s, %v", l, feed.Title, feed.Language, err)
		}
	}
}

// LISTINGS 8.21, 8.22
func TestCalendarSource(t *testing.T) {
	t.Parallel()
	_, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{CalendarLimit: 9}})
	event := func(title, zone, start, end string, allDay bool) {
		editor.Event(title, obj{"timezone": zone, "start_date": start, "end_date": end, "all_day": allDay})
	}
	event("ends at start", "UTC", "2026-05-31 22:00:00", "2026-06-01 00:00:00", false)
	event("runs over start", "UTC", "2026-05-31 22:00:00", "2026-06-01 00:00:01", false)
	event("moment at start", "UTC", "2026-06-01 00:00:00", "2026-06-01 00:00:00", false)
	event("Tokyo", "Asia/Tokyo", "2026-06-15 09:00:00", "2026-06-15 10:00:00", false)
	event("last second", "UTC", "2026-06-30 23:59:59", "2026-07-02 00:00:00", false)
	event("starts at end", "UTC", "2026-07-01 00:00:00", "2026-07-01 01:00:00", false)
	event("day before", "UTC", "2026-05-31", "2026-05-31", true)
	event("first day", "America/New_York", "2026-06-01", "2026-06-01", true)
	event("days", "UTC", "2026-06-29", "2026-07-03", true)
	event("day of end", "UTC", "2026-07-01", "2026-07-01", true)
	titles := func(query string) (out []string) {
		t.Helper()
		r := nobody.Read("/events/calendar?" + query)
		for _, e := range r.JSON().([]any) {
			e := e.(map[string]any)
			out = append(out, fmt.Sprint(e["title"], " ", e["start"], " ", e["end"], " ", e["allDay"]))
		}
		if got := r.Header.Get("X-Total"); got != fmt.Sprint(len(out)) || !strings.HasPrefix(r.ETag(), "W/") || r.Position() == 0 {
			t.Errorf("%s: headers %v", query, r.Header)
		}
		return out
	}
	own := []string{
		"runs over start 2026-05-31T22:00:00+00:00 2026-06-01T00:00:01+00:00 false",
		"moment at start 2026-06-01T00:00:00+00:00 2026-06-01T00:00:00+00:00 false",
		"first day 2026-06-01 2026-06-02 true",
		"Tokyo 2026-06-15T09:00:00+09:00 2026-06-15T10:00:00+09:00 false",
		"days 2026-06-29 2026-07-04 true",
		"last second 2026-06-30T23:59:59+00:00 2026-07-02T00:00:00+00:00 false",
	}
	for _, query := range []string{"start=2026-06-01&end=2026-07-01", "start=2026-06-01T00:00:00&end=2026-07-01T00:00:00&timeZone=local", "start=2026-06-01T00:00:00Z&end=2026-07-01T00:00:00Z", "start=1780272000&end=1782864000"} {
		if diff := cmp.Diff(own, titles(query)); diff != "" {
			t.Errorf("%s:\n%s", query, diff)
		}
	}
	paris := []string{ // from 22:00 to 22:00 UTC
		"ends at start 2026-06-01T00:00:00+02:00 2026-06-01T02:00:00+02:00 false",
		"runs over start 2026-06-01T00:00:00+02:00 2026-06-01T02:00:01+02:00 false",
		"moment at start 2026-06-01T02:00:00+02:00 2026-06-01T02:00:00+02:00 false",
		"first day 2026-06-01 2026-06-02 true",
		"Tokyo 2026-06-15T02:00:00+02:00 2026-06-15T03:00:00+02:00 false",
		"days 2026-06-29 2026-07-04 true",
	}
	for _, query := range []string{"start=2026-06-01&end=2026-07-01&timeZone=Europe/Paris", "start=2026-06-01T00:00:00%2B02:00&end=2026-07-01T00:00:00%2B0200&timeZone=europe/paris"} {
		if diff := cmp.Diff(paris, titles(query)); diff != "" {
			t.Errorf("%s:\n%s", query, diff)
		}
	}
	if got := titles("start=2026-06-15&end=2026-06-16&timeZone=UTC"); !slices.Equal(got, []string{"Tokyo 2026-06-15T00:00:00Z 2026-06-15T01:00:00Z false"}) {
		t.Errorf("in UTC: %v", got)
	}
	for _, query := range []string{"start=2026-07-01&end=2026-06-01", "start=2026-06-01&end=2026-06-01", "start=2026-06-01&end=2026-07-01&search=nothing"} {
		if got := nobody.Read("/events/calendar?" + query); string(got.Body) != "[]" {
			t.Errorf("%s: %s", query, got.Body)
		}
	}
	if got := titles("start=2026-06-01&end=2026-07-01&search=tokyo"); len(got) != 1 {
		t.Errorf("search: %v", got)
	}
	missing := nobody.Get("/events/calendar?start=x").WantCode(http.StatusBadRequest, "rest_missing_callback_param")
	missing.WantField("data.params", []any{"end"})
	nobody.Get("/events/calendar?start=2026-06-01&end=2026-07-01&timeZone=Mars").WantBad("timeZone")
	nobody.Get("/events/calendar?start=x&end=&featured=2").WantBad("start", "end", "featured")
	nobody.Get("/events/calendar?start=2026-01-01&end=2027-01-01").WantCode(http.StatusBadRequest, "rest_selection_too_large")
	tagged := nobody.Get("/events/calendar?start=2026-06-01&end=2026-07-01")
	nobody.With("If-None-Match", tagged.ETag()).Get("/events/calendar?start=2026-06-01&end=2026-07-01").Want(http.StatusNotModified)
}

// cutting is a client that takes nothing, or goes away.
type cutting struct {
	*httptest.ResponseRecorder
	after int
}

func (c *cutting) Write(b []byte) (int, error) {
	if c.Body.Len() > c.after {
		return 0, fmt.Errorf("gone")
	}
	return c.ResponseRecorder.Write(b)
}

// LISTINGS 8.4: what has to break off is cut where the client sees it, and answers that
// are under way have an end to their number.
func TestWholeAnswersAtOnce(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{WholeAnswers: 1}})
	for i := range 120 {
		editor.Event(fmt.Sprintf("Event %d", i), obj{"description": strings.Repeat("word ", 1000)})
	}
	request := func() *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, world.Root+"/events.ics", nil)
		r.Host = "calendar.example.org"
		return r
	}
	cut := func() (p any) {
		defer func() { p = recover() }()
		w.Handler.ServeHTTP(&cutting{httptest.NewRecorder(), 100_000}, request())
		return nil
	}
	if p := cut(); p != http.ErrAbortHandler { //nolint:errorlint // the very value
		t.Errorf("a client that went away: %v", p)
	}
	tag := nobody.Read("/events.ics").ETag()
	first, release := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Handler.ServeHTTP(&slow{ResponseRecorder: httptest.NewRecorder(), first: first, release: release}, request())
	}()
	<-first
	refused := nobody.Get("/events.rss").WantCode(http.StatusServiceUnavailable, "rest_unavailable")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	nobody.With("If-None-Match", tag).Get("/events.ics").Want(http.StatusNotModified)
	nobody.Do(http.MethodHead, "/events.csv", nil).Want(http.StatusOK)
	nobody.Read("/events.rss?per_page=2")
	close(release)
	<-done
	nobody.Read("/events.rss")
}

// slow holds its first write until it is released.
type slow struct {
	*httptest.ResponseRecorder
	first, release chan struct{}
	held           bool
}

func (s *slow) Write(b []byte) (int, error) {
	if !s.held {
		s.held = true
		close(s.first)
		<-s.release
	}
	return s.ResponseRecorder.Write(b)
}

// TestWholeAnswersOfOneClient: one client has half of the places for whole answers and no
// more; callers with credentials have as many again. What is in the cache needs none, nor
// what is sent from a buffer.
func TestWholeAnswersOfOneClient(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t, world.Options{HTTP: httpapi.Options{WholeAnswers: 4}})
	for i := range 40 {
		editor.Event(fmt.Sprintf("Event %d", i), obj{"description": strings.Repeat("word ", 1000)})
	}
	request := func(path, address, token string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, world.Root+path, http.NoBody)
		if r.RemoteAddr = address + ":1"; token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return r
	}
	var all sync.WaitGroup
	release := make(chan struct{})
	hold := func(path, address, token string) {
		first := make(chan struct{})
		all.Go(func() {
			rec := httptest.NewRecorder()
			w.Handler.ServeHTTP(&slow{ResponseRecorder: rec, first: first, release: release}, request(path, address, token))
			if rec.Code != http.StatusOK {
				t.Errorf("%s of %s: %d %s", path, address, rec.Code, rec.Body)
			}
		})
		<-first
	}
	want := func(status int, what, path, address, token string) {
		t.Helper()
		rec := httptest.NewRecorder()
		if w.Handler.ServeHTTP(rec, request(path, address, token)); rec.Code != status || status != http.StatusOK && rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", what, rec.Code, rec.Header())
		}
	}
	const one, other, third, small = "192.0.2.1", "198.51.100.1", "203.0.113.1", "/events.ics?include=1,2,3"
	want(http.StatusOK, "a small feed", small, third, "")
	hold("/events.rss?include=1,2", one, "") // they fit the buffer
	hold("/events.rss?include=2,3", one, "")
	for range 2 {
		hold("/events.ics", one, "")
	}
	want(http.StatusServiceUnavailable, "a third of one client", "/events.ics", one, "")
	want(http.StatusOK, "another client", "/events.ics", other, "")
	for range 2 {
		hold("/events.ics", other, "")
	}
	want(http.StatusServiceUnavailable, "a fifth of all", "/events.ics", third, "")
	want(http.StatusOK, "a small feed again", small, third, "")
	want(http.StatusOK, "with credentials", "/events.ics", one, editor.Token)
	close(release)
	all.Wait()
	want(http.StatusOK, "afterwards", "/events.ics", third, "")
}

// dialUp takes so many bytes a second, up to its deadline.
type dialUp struct {
	*httptest.ResponseRecorder
	rate  int
	until time.Time
}

func (d *dialUp) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

func (d *dialUp) Write(b []byte) (int, error) {
	end := time.Now().Add(time.Duration(len(b)) * time.Second / time.Duration(d.rate))
	if !d.until.IsZero() && d.until.Before(end) {
		<-time.After(time.Until(d.until))
		return 0, os.ErrDeadlineExceeded
	}
	<-time.After(time.Until(end))
	return d.ResponseRecorder.Write(b)
}

// TestWholeAnswersOfSlowClients: a client that takes less than 10,000 bytes a second of a
// whole answer for long is cut off, one that takes more gets it, however long that takes.
func TestWholeAnswersOfSlowClients(t *testing.T) {
	t.Parallel()
	for rate, cut := range map[int]bool{500: true, 5000: true, 15_000: false} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := world.New(t, world.Options{})
				editor := w.As(calendar.Editor)
				for i := range 100 {
					editor.Event(fmt.Sprintf("Event %d", i), obj{"description": strings.Repeat("word ", 2000)})
				}
				from, client := time.Now(), &dialUp{ResponseRecorder: httptest.NewRecorder(), rate: rate}
				end := func() (p any) {
					defer func() { p = recover() }()
					w.Handler.ServeHTTP(client, httptest.NewRequestWithContext(t.Context(), http.MethodGet, world.Root+"/events.ics", http.NoBody))
					return nil
				}()
				switch took := time.Since(from); {
				case cut && (end != http.ErrAbortHandler || took > 90*time.Second): //nolint:errorlint // the very value
					t.Errorf("%v after %s and %d bytes, want it cut off", end, took, client.Body.Len())
				case !cut && (end != nil || client.Code != http.StatusOK || took < time.Minute):
					t.Errorf("%v, %d after %s and %d bytes", end, client.Code, took, client.Body.Len())
				}
			})
		})
	}
}
