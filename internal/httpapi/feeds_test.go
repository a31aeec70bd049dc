package httpapi_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
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
		calendar, err := golang.ParseCalendar(strings.NewReader(string(body)))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if _, err := emersion.NewDecoder(strings.NewReader(string(body))).Decode(); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, vEvent := range calendar.Events() {
			if vEvent.GetProperty("STATUS").Value == "CANCELLED" {
				out = append(out, "-"+vEvent.Id())
			} else {
				out = append(out, vEvent.Id())
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
		feed, err := gofeed.NewParser().ParseString(string(body))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, i := range feed.Items {
			out = append(out, strings.TrimPrefix(i.GUID, "urn:uuid:"))
		}
	}
	return out
}

var feedFormats = []string{"ics", "rss", "atom", "jsonfeed", "geojson", "csv"}

// LISTINGS 8.1, 8.8, 8.44: the formats hold the same events in the same order, by uids that
// are the same everywhere.
func TestFormatsHaveOneSelection(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	_, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{TrustForwarded: true}})
	zones := []string{"America/New_York", "Asia/Tokyo", "UTC", "UTC+5.5"}
	for i := range 23 {
		editor.Event(fmt.Sprintf("Event %d; 音乐会, & more", i), obj{
			"timezone": zones[i%4], "start_date": fmt.Sprintf("2026-06-%02d 10:00:00", 28-i), "end_date": "2026-07-01 12:00:00",
			"categories": "Jazz", "status": []string{"publish", "draft"}[i%8/7], "all_day": i%5 == 4,
		})
	}
	rows, err := csv.NewReader(strings.NewReader(string(editor.Read("/events.csv?_fields=id,uid").Body))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	uids := map[string]string{}
	for _, row := range rows {
		uids[row[0]] = row[1]
	}
	for _, query := range []string{"?", "?categories=jazz&start_date=2026-06-10", "?search=event%201", "?start_date=2030-01-01", "?include=3"} {
		for _, client := range []*world.Client{nobody, editor, nobody.Under(calendar.LangFR), nobody.With("X-Forwarded-Host", "other.example")} {
			var want []string
			for page, more := 1, true; more; page++ {
				list := client.Read(fmt.Sprintf("/events%s&per_page=5&page=%d", query, page))
				for _, id := range list.IDs() {
					want = append(want, uids[id.String()])
				}
				more = list.Has("next_rest_url")
			}
			for _, format := range feedFormats {
				feed := client.Read("/events." + format + query)
				if diff := cmp.Diff(want, uidsOf(t, format, feed.Body)); diff != "" || feed.Header.Get("X-Total") != fmt.Sprint(len(want)) {
					t.Errorf("%s %s: X-Total %s\n%s", format, query, feed.Header.Get("X-Total"), diff)
				}
			}
			var got []string
			for line := range strings.Lines(string(client.Read("/events.ndjson" + query).Body)) {
				var record struct {
					ID calendar.ID `json:"id"`
				}
				if err := json.Unmarshal([]byte(line), &record); err != nil || !strings.HasSuffix(line, "}\n") {
					t.Fatalf("line %q: %v", line, err)
				}
				got = append(got, uids[record.ID.String()])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ndjson %s:\n%s", query, diff)
			}
		}
	}
}

// LISTINGS 8.4, 8.5
func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	_, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{ExportLimit: 151}})
	for i := range 150 {
		editor.Event(fmt.Sprintf("Event %d", i), obj{"description": strings.Repeat("word ", 200)})
	}
	for _, format := range feedFormats {
		path := "/events." + format
		whole, paged := nobody.Read(path), nobody.Read(path+"?per_page=100")
		if n, m := len(uidsOf(t, format, whole.Body)), len(uidsOf(t, format, paged.Body)); n != 150 || m != 100 {
			t.Errorf("%s: %d events, %d in a page", format, n, m)
		}
		next := `<` + world.Base + world.Root + path + `?page=2&per_page=100&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59>; rel="next"`
		for name, want := range map[string][2]string{
			"X-Total": {"150", "150"}, "X-TotalPages": {"1", "2"}, "Link": {"", next}, "Etag": {`W/"`, `W/"`}, "Content-Language": {"en", "en"}, "Access-Control-Allow-Origin": {"*", "*"},
			"Access-Control-Expose-Headers": {"X-Total,", "X-Total,"}, "Vary": {"Accept,", "Accept,"}, "Daybook-Position": {"1", "1"},
		} {
			if got := [2]string{whole.Header.Get(name), paged.Header.Get(name)}; !strings.HasPrefix(got[0], want[0]) || !strings.HasPrefix(got[1], want[1]) || want[0] == "" && got[0] != "" {
				t.Errorf("%s: %s %q, want %q", format, name, got, want)
			}
		}
		head := nobody.Do(http.MethodHead, path, nil).Want(http.StatusOK)
		head.Header["X-Request-Id"] = whole.Header["X-Request-Id"]
		if diff := cmp.Diff(whole.Header, head.Header); diff != "" || len(head.Body) != 0 {
			t.Errorf("%s: HEAD with %d bytes (-GET +HEAD):\n%s", format, len(head.Body), diff)
		}
		if got := nobody.With("If-None-Match", whole.ETag()).Get(path).Want(http.StatusNotModified); got.Header.Get("X-Total") != "150" || len(got.Body) != 0 {
			t.Errorf("%s: 304 with %v", format, got.Header)
		}
		nobody.Get(path+"?per_page=100&page=9").WantCode(http.StatusNotFound, "event-archive-page-not-found")
		if paged.ETag() == whole.ETag() || nobody.Get(path+"?per_page=150").ETag() == whole.ETag() {
			t.Errorf("%s: a page has the tag of the whole", format)
		}
	}
	for range 2 {
		editor.Event("One more", nil)
	}
	nobody.Get("/events.ics").WantCode(http.StatusBadRequest, "rest_selection_too_large").WantField("data.total", 152.0).WantField("data.limit", 151.0)
	nobody.Read("/events.ics?per_page=10")
	nobody.Read("/events.ics?search=more")
}

// cutting is a client that takes nothing, or goes away.
type cutting struct {
	*httptest.ResponseRecorder
	after int
}

func (cutting *cutting) Write(data []byte) (int, error) {
	if cutting.Body.Len() > cutting.after {
		return 0, fmt.Errorf("gone")
	}
	return cutting.ResponseRecorder.Write(data)
}

// slow holds its first write until it is released.
type slow struct {
	*httptest.ResponseRecorder
	first, release chan struct{}
	held           bool
}

func (slow *slow) Write(data []byte) (int, error) {
	if !slow.held {
		slow.held = true
		close(slow.first)
		<-slow.release
	}
	return slow.ResponseRecorder.Write(data)
}

// TestWholeAnswersOfOneClient: one client has half of the places for whole answers and no
// more; callers with credentials have as many again. What is in the cache needs none, nor
// what is sent from a buffer. What has to break off is cut where the client sees it (LISTINGS
// 8.4).
func TestWholeAnswersOfOneClient(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{WholeAnswers: 4}})
	for i := range 40 {
		editor.Event(fmt.Sprintf("Event %d", i), obj{"description": strings.Repeat("word ", 1000)})
	}
	serve := func(writer http.ResponseWriter, path, address, token string) (end any) {
		defer func() { end = recover() }()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, world.Root+path, http.NoBody)
		if request.RemoteAddr = address + ":1"; token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		w.Handler.ServeHTTP(writer, request)
		return nil
	}
	var all sync.WaitGroup
	release := make(chan struct{})
	hold := func(path, address string) {
		first := make(chan struct{})
		all.Go(func() {
			rec := httptest.NewRecorder()
			if serve(&slow{ResponseRecorder: rec, first: first, release: release}, path, address, ""); rec.Code != http.StatusOK {
				t.Errorf("%s of %s: %d %s", path, address, rec.Code, rec.Body)
			}
		})
		<-first
	}
	want := func(status int, what, path, address, token string) {
		t.Helper()
		rec := httptest.NewRecorder()
		if serve(rec, path, address, token); rec.Code != status || status != http.StatusOK && rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", what, rec.Code, rec.Header())
		}
	}
	const one, other, third, small = "192.0.2.1", "198.51.100.1", "203.0.113.1", "/events.ics?include=1,2,3"
	if end := serve(&cutting{httptest.NewRecorder(), 100_000}, "/events.ics", third, ""); end != http.ErrAbortHandler { //nolint:errorlint // the very value
		t.Errorf("a client that went away: %v", end)
	}
	tag := nobody.Read("/events.ics").ETag()
	want(http.StatusOK, "a small feed", small, third, "")
	hold("/events.rss?include=1,2", one) // they fit the buffer
	hold("/events.rss?include=2,3", one)
	hold("/events.ics", one)
	hold("/events.ics", one)
	want(http.StatusServiceUnavailable, "a third of one client", "/events.ics", one, "")
	want(http.StatusOK, "another client", "/events.ics", other, "")
	hold("/events.ics", other)
	hold("/events.ics", other)
	want(http.StatusServiceUnavailable, "a fifth of all", "/events.ics", third, "")
	want(http.StatusOK, "a small feed again", small, third, "")
	want(http.StatusOK, "with credentials", "/events.ics", one, editor.Token)
	nobody.With("If-None-Match", tag).Get("/events.ics").Want(http.StatusNotModified)
	nobody.Do(http.MethodHead, "/events.csv", nil).Want(http.StatusOK)
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

func (dialUp *dialUp) SetWriteDeadline(instant time.Time) error {
	dialUp.until = instant
	return nil
}

func (dialUp *dialUp) Write(data []byte) (int, error) {
	end := time.Now().Add(time.Duration(len(data)) * time.Second / time.Duration(dialUp.rate))
	if !dialUp.until.IsZero() && dialUp.until.Before(end) {
		<-time.After(time.Until(dialUp.until))
		return 0, os.ErrDeadlineExceeded
	}
	<-time.After(time.Until(end))
	return dialUp.ResponseRecorder.Write(data)
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
				end := func() (value any) {
					defer func() { value = recover() }()
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
