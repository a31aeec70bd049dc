package httpapi_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/history"
	"daybook/internal/testkit"
	"daybook/query/past"
)

// TestPastOfRandomTimes: for random instants and positions of a log whose times rise and
// fall, lists and single reads by an auditor are what the entries tell that count
// (HISTORY 3, 20.16).
func TestPastOfRandomTimes(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{Unchecked: true})
	random := rand.New(rand.NewPCG(7, 11))
	begin := w.Clock.Now()
	auditor, admin := w.As(calendar.Auditor), w.As(calendar.Administrator)
	var ids []calendar.ID
	for i := range 120 {
		w.Clock.Add(begin.Add(time.Duration(random.IntN(1_000_000)) * time.Millisecond).Sub(w.Clock.Now()))
		body := testkit.Object{"title": fmt.Sprintf("Title %d", i), "start_date": "2026-06-10 10:00", "end_date": "2026-06-10 11:00", "status": []string{"publish", "draft"}[random.IntN(2)]}
		if len(ids) > 0 && random.IntN(3) > 0 {
			admin.Patch(fmt.Sprintf("/events/%d", ids[random.IntN(len(ids))]), body).Want(http.StatusOK)
			continue
		}
		ids = append(ids, calendar.ID(admin.Create(calendar.KindEvent, body).Int("id")))
	}
	w.Clock.Add(begin.Add(time.Hour).Sub(w.Clock.Now()))
	log, err := w.Store.ReadAll(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		at := begin.Add(time.Duration(random.IntN(1_000_000)) * time.Millisecond)
		position := calendar.Position(1 + random.IntN(len(log)))
		point := "as_of=" + at.UTC().Format(history.TimeLayout)
		if i%2 == 1 {
			point = fmt.Sprintf("as_of=position:%d", position)
		}
		want := map[calendar.ID]string{}
		for _, e := range log {
			if e.Kind == calendar.KindEvent && (i%2 == 1 && e.Position <= position || i%2 == 0 && !e.Time.After(at)) {
				r, err := calendar.DecodeRecord(e.State)
				if err != nil {
					t.Fatal(err)
				}
				want[e.ID], _ = r.Name(calendar.LangEN) // the last one has the greatest version
			}
		}
		got := auditor.Get("/events?per_page=100&start_date=2000-01-01&_fields=id,title&" + point).Want(http.StatusOK)
		listed, _ := got.Get("events").([]any)
		if got.Int("total") != len(want) || len(listed) != len(want) {
			t.Fatalf("%s: %d events, want %d", point, got.Int("total"), len(want))
		}
		for _, e := range listed {
			o, _ := e.(map[string]any)
			id, _ := o["id"].(float64)
			if o["title"] != want[calendar.ID(id)] {
				t.Errorf("%s: event %v is %v, want %s", point, id, o["title"], want[calendar.ID(id)])
			}
		}
		for _, id := range ids {
			single := auditor.Get(fmt.Sprintf("/events/%d?%s", id, point))
			if title, there := want[id]; !there {
				single.WantCode(http.StatusNotFound, "rest-event-not-found")
			} else {
				single.Want(http.StatusOK).WantField("title", title)
			}
		}
	}
}

// TestPastImports: an import with old times is visible at those times, in an image that is
// kept (HISTORY 20.17); one of a position never changes.
func TestPastImports(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	admin, nobody := w.As(calendar.Administrator), w.As(calendar.Anonymous)
	admin.Event("First", nil)
	at := w.Clock.Now().UTC().Format(history.TimeLayout)
	position := fmt.Sprintf("position:%d", w.Head())
	list := func(point string) int {
		return nobody.Get("/events?as_of=" + point).Want(http.StatusOK).Int("total")
	}
	if n, m := list(at), list(position); n != 1 || m != 1 {
		t.Fatalf("%d and %d events", n, m)
	}
	w.Clock.Add(-time.Hour)
	old := w.Clock.Now().UTC().Format(history.TimeLayout)
	admin.Event("Older", nil)
	w.Clock.Add(2 * time.Hour)
	for point, want := range map[string]int{at: 2, position: 1, old: 1, "now": 2} {
		if n := list(point); n != want {
			t.Errorf("as of %s: %d events, want %d", point, n, want)
		}
	}
}

// TestPastTooLarge: more records than an image may have are 422 with the limit, in the
// order of HISTORY 17.
func TestPastTooLarge(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{Past: past.Options{Records: 2}})
	admin, nobody := w.As(calendar.Administrator), w.As(calendar.Anonymous)
	for i := range 3 {
		admin.Event(fmt.Sprintf("Event %d", i), nil)
	}
	nobody.Get("/events?as_of=now").WantCode(http.StatusUnprocessableEntity, "rest_as_of_too_large").WantField("data.limit", 2)
	nobody.Get("/events?as_of=now&page=0").WantBad("page")
	nobody.Get("/events?as_of=position:99").WantBad("as_of")
	nobody.Get("/events?as_of=position:3").Want(http.StatusOK).WantField("total", 2)
	nobody.Get("/events?as_of=now").WantCode(http.StatusUnprocessableEntity, "rest_as_of_too_large")
}

// slowStore holds back who reads a whole log.
type slowStore struct {
	eventstore.Store
	hold sync.RWMutex
}

func (s *slowStore) ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	if after == 0 && limit > 1 {
		s.hold.RLock()
		defer s.hold.RUnlock()
	}
	return s.Store.ReadAll(ctx, after, limit)
}

// TestPastNotReady: a list whose image takes too long is 503 with Retry-After, and is there
// later (HISTORY 7.2).
func TestPastNotReady(t *testing.T) {
	t.Parallel()
	s := &slowStore{Store: memstore.New()}
	w := testkit.New(t, testkit.Options{Store: s, Past: past.Options{Wait: time.Second}})
	w.As(calendar.Administrator).Event("First", nil)
	nobody := w.As(calendar.Anonymous)
	s.hold.Lock()
	late := nobody.Get("/events?as_of=now").WantCode(http.StatusServiceUnavailable, "rest_as_of_not_ready")
	if h := late.Header; h.Get("Retry-After") != "5" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
	s.hold.Unlock()
	for end := time.Now().Add(time.Minute); ; {
		got := nobody.Get("/events?as_of=now")
		if got.Status == http.StatusOK {
			got.WantField("total", 1)
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still %d %s", got.Status, got.Body)
		}
	}
	if filled := w.Past.Stats().Filled; filled != 1 {
		t.Errorf("%d images filled, want the one that was begun", filled)
	}
}

// TestPastOfAnErasedRecord: what is erased is in no answer of the past, though images,
// answers and records were kept (HISTORY 20.35), and what linked it answers without it
// and is written as before (HISTORY 20.36).
func TestPastOfAnErasedRecord(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	admin, auditor, nobody := w.As(calendar.Administrator), w.As(calendar.Auditor), w.As(calendar.Anonymous)
	first := w.Head() + 1
	venue := admin.Create(calendar.KindVenue, testkit.Object{"venue": "Erased words", "slug": "erased-words"})
	of := venue.Path(calendar.KindVenue)
	event := admin.Event("Stays", testkit.Object{"venue": venue.ID()}).Path(calendar.KindEvent)
	w.Clock.Add(time.Second)
	admin.Patch(of, testkit.Object{"city": "Erased words"}).Want(http.StatusOK)
	admin.Event("Later", nil)
	at := w.Clock.Now().UTC().Format(history.TimeLayout)
	w.Clock.Add(time.Second)
	head := w.Head()
	points := []string{"as_of=" + at}
	for p := first; p <= head; p++ {
		points = append(points, fmt.Sprintf("as_of=position:%d", p))
	}
	get := func(path, point string) (got []*testkit.Response) {
		for _, who := range []*testkit.Client{nobody, auditor, nobody} { // also one that was kept
			got = append(got, who.Get(path+"?"+point))
		}
		return got
	}
	paths := []string{of, of + "/timemap", event, "/venues", "/events", "/venues/by-slug/erased-words"}
	told := 0
	for _, point := range points {
		for _, path := range paths {
			for _, a := range get(path, point) {
				told += strings.Count(string(a.Body), "Erased words")
			}
		}
	}
	if told < 6*len(points) {
		t.Fatalf("the past told the words %d times before", told)
	}
	if _, err := w.Commands.Erase(t.Context(), command.Erasure{Kind: calendar.KindVenue, ID: venue.ID()}); err != nil {
		t.Fatal(err)
	}
	for _, events := range []string{"/events", "/events.ics"} {
		admin.Get(of+events).WantCode(http.StatusGone, "rest_record_erased")
	}
	for _, point := range append(points, fmt.Sprintf("as_of=position:%d", head+1), "as_of=version:1") {
		for _, path := range paths {
			if strings.Contains(point, "version") && path != of {
				continue
			}
			for _, a := range get(path, point) {
				if body := strings.ToLower(string(a.Body)); strings.Contains(body, "erased words") || strings.Contains(body, "erased-words") {
					t.Errorf("%s?%s tells of what was erased: %s", path, point, a.Body)
				}
				switch path {
				case of, of + "/timemap":
					a.WantCode(http.StatusGone, "rest_record_erased")
				case "/venues":
					a.Want(http.StatusOK).WantField("total", 0)
				case "/events":
					a.Want(http.StatusOK)
				case event:
					if a.Status != http.StatusNotFound { // it was not yet
						a.Want(http.StatusOK).WantField("title", "Stays").WantField("venue", []any{})
					}
				default:
					a.Want(http.StatusNotFound)
				}
			}
		}
	}
	list := nobody.Get("/events?as_of="+at).Want(http.StatusOK).WantField("total", 2)
	for i := range 2 {
		list.WantField(fmt.Sprintf("events.%d.venue", i), []any{})
	}
	admin.Patch(event, testkit.Object{"title": "Stays so"}).Want(http.StatusOK).WantField("venue", []any{})
}
