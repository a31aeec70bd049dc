package httpapi_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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

// uidsOf returns the uids of a feed in order; those of cancelled events with a minus.
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

// uidByID returns the uid of each event by its id.
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
	world.Slow(t)
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

// LISTINGS 8.4, 8.5
func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	world.Slow(t)
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

// LISTINGS 8.8
func TestUIDsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	_, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{TrustForwarded: true}})
	id := editor.Event("Concert", nil).ID().String()
	want := uidByID(t, nobody)[id]
	for _, c := range []*world.Client{nobody, editor, nobody.Under(calendar.LangFR), nobody.With("X-Forwarded-Host", "other.example")} {
		for _, format := range feedFormats {
			if got := uidsOf(t, format, c.Get("/events."+format).Body); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %v, want %s", format, got, want)
			}
		}
		has(t, c.Get("/events/"+id+".ics"), "\r\nUID:"+want+"\r\n")
	}
	other := world.New(t, world.Options{Now: world.Now.Add(time.Hour)})
	if otherID := other.As(calendar.Editor).Event("Concert", nil).ID().String(); uidByID(t, other.As(calendar.Anonymous))[otherID] == want {
		t.Error("an event of another store has the uid")
	}
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
	world.Slow(t)
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
