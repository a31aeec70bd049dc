package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/history"
	"daybook/internal/testkit/world"
	"daybook/query/past"
)

// TestPastTooLarge: a point that needs more memory than there is for the past is 422 with
// the limit, in the order of HISTORY 17.
func TestPastTooLarge(t *testing.T) {
	t.Parallel()
	const memory = 2500 // for two events
	w := world.New(t, world.Options{Past: past.Options{Memory: memory}})
	admin, nobody := w.As(calendar.Administrator), w.As(calendar.Anonymous)
	for i := range 3 {
		admin.Event(fmt.Sprintf("Event %d", i), nil)
	}
	nobody.Get("/events?as_of=now").WantCode(http.StatusUnprocessableEntity, "rest_as_of_too_large").WantField("data.limit", memory)
	nobody.Get("/events?as_of=now&page=0").WantBad("page")
	nobody.Get("/events?as_of=position:99").WantBad("as_of")
	nobody.Read("/events?as_of=position:3").WantField("total", 2)
	nobody.Get("/events?as_of=now").WantCode(http.StatusUnprocessableEntity, "rest_as_of_too_large")
}

// TestPastNotReady: a list that takes too long is 503 with Retry-After, and is there
// later (HISTORY 7.2).
func TestPastNotReady(t *testing.T) {
	t.Parallel()
	heldLog := newHeldLog()
	w := world.New(t, world.Options{Store: heldLog, Past: past.Options{Wait: time.Second}})
	w.As(calendar.Administrator).Event("First", nil)
	nobody, head := w.As(calendar.Anonymous), int(w.Head())
	heldLog.hold(head)
	late := nobody.Get("/events?as_of=now").WantCode(http.StatusServiceUnavailable, "rest_as_of_not_ready")
	if header := late.Header; header.Get("Retry-After") != "5" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", header)
	}
	close(heldLog.held[head])
	until(t, "the list", func() bool { return nobody.Get("/events?as_of=now").Status == http.StatusOK })
	if built := w.Past.Stats().Built; built != 1 {
		t.Errorf("%d points built, want the one that was begun", built)
	}
}

// TestPastOfAnErasedRecord: what is erased is in no answer of the past, though points,
// answers and records were cached (HISTORY 20.35), and what linked it answers without it
// and is written as before (HISTORY 20.36).
func TestPastOfAnErasedRecord(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	admin, auditor, nobody := w.As(calendar.Administrator), w.As(calendar.Auditor), w.As(calendar.Anonymous)
	first := w.Head() + 1
	venue := admin.Create(calendar.KindVenue, obj{"venue": "Erased words", "slug": "erased-words"})
	of := venue.Path()
	event := admin.Event("Stays", obj{"venue": venue.ID()}).Path()
	w.Clock.Add(time.Second)
	admin.Update(of, obj{"city": "Erased words"})
	admin.Event("Later", nil)
	at := history.Time{Time: w.Clock.Now().UTC()}.String()
	w.Clock.Add(time.Second)
	points := []string{"as_of=" + at}
	for position := first; position <= w.Head(); position++ {
		points = append(points, fmt.Sprintf("as_of=position:%d", position))
	}
	gone, lists := []string{of, of + "/timemap", "/venues/by-slug/erased-words"}, []string{event, "/venues", "/events"}
	each := func(look func(path string, response *world.Response)) {
		for _, point := range points {
			for _, path := range slices.Concat(gone, lists) {
				for _, who := range []*world.Client{nobody, auditor, nobody} { // also one that was kept
					look(path, who.Get(path+"?"+point))
				}
			}
		}
	}
	told := 0
	each(func(_ string, response *world.Response) { told += strings.Count(string(response.Body), "Erased words") })
	if told < 6*len(points) {
		t.Fatalf("the past told the words %d times before", told)
	}
	if _, err := w.Commands.Erase(t.Context(), command.Request{Kind: calendar.KindVenue, Target: command.Target{ID: venue.ID()}}); err != nil {
		t.Fatal(err)
	}
	points = append(points, "as_of=position:"+w.Head().String())
	each(func(path string, response *world.Response) {
		if body := strings.ReplaceAll(strings.ToLower(string(response.Body)), "-", " "); strings.Contains(body, "erased words") {
			t.Errorf("%s tells of what was erased: %s", response.Request, response.Body)
		}
		if want := map[string]int{gone[0]: http.StatusGone, gone[1]: http.StatusGone, gone[2]: http.StatusNotFound}[path]; want != 0 {
			response.Want(want)
		} else if path != event || response.Status != http.StatusNotFound { // it was not yet
			response.Want(http.StatusOK)
		}
	})
	for _, path := range []string{of + "/events", of + "/events.ics", of + "?as_of=version:1"} {
		admin.Get(path).WantCode(http.StatusGone, "rest_record_erased")
	}
	nobody.Read("/venues?as_of="+at).WantField("total", 0)
	nobody.Read("/events?as_of="+at).WantField("total", 2).WantField("events.0.venue", []any{}).WantField("events.1.venue", []any{})
	admin.Update(event, obj{"title": "Stays so"}).WantField("venue", []any{})
}

// heldLog holds back who reads the log up to some positions, until it is let through.
type heldLog struct {
	eventstore.Store
	resolved atomic.Int64 // requests that came as far as to read the entry of their point
	counted  atomic.Int64 // those that had the entries at it counted

	mu    sync.Mutex
	begun []int // the positions up to which the log was wanted, in order
	ended int   // reads that ended with their context
	held  map[int]chan struct{}
}

func newHeldLog() *heldLog { return &heldLog{Store: memstore.New(), held: map[int]chan struct{}{}} }

func (heldLog *heldLog) hold(position int) {
	heldLog.mu.Lock()
	defer heldLog.mu.Unlock()
	heldLog.held[position] = make(chan struct{})
}

func (heldLog *heldLog) figures() (begun []int, ended int) {
	heldLog.mu.Lock()
	defer heldLog.mu.Unlock()
	return slices.Clone(heldLog.begun), heldLog.ended
}

func (heldLog *heldLog) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	if point != (eventstore.Point{}) {
		heldLog.counted.Add(1)
	}
	return heldLog.Store.Head(ctx, point)
}

func (heldLog *heldLog) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	to := int(r.After) + r.Limit
	heldLog.mu.Lock()
	held := heldLog.held[to]
	if r.Limit == 1 { // the entry of a point
		heldLog.resolved.Add(1)
		held = nil
	}
	if held != nil {
		heldLog.begun = append(heldLog.begun, to)
	}
	heldLog.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			heldLog.mu.Lock()
			heldLog.ended++
			heldLog.mu.Unlock()
			return nil, ctx.Err()
		}
	}
	return heldLog.Store.Read(ctx, r)
}

// asOf asks for a list as of a position, from an address.
func asOf(ctx context.Context, w *world.World, position int, address, token string) int {
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, world.Root+"/tags?as_of=position:"+strconv.Itoa(position), http.NoBody)
	request.RemoteAddr = address + ":1"
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	w.Handler.ServeHTTP(rec, request)
	return rec.Code
}

// until waits for something that comes by itself.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.After(20 * time.Second); !is(); {
		select {
		case <-end:
			t.Fatalf("%s: not in time", what)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestPastAbandoned: what no one waits for any more is dropped, what is built and what
// would be built next: of 40 lists of other points, each aborted after 10 ms, nothing is
// left for the next client to wait for.
func TestPastAbandoned(t *testing.T) {
	t.Parallel()
	heldLog := newHeldLog()
	w := world.New(t, world.Options{Store: heldLog})
	admin := w.As(calendar.Administrator)
	for i := range 50 {
		admin.Create(calendar.KindTag, obj{"name": fmt.Sprint("Tag ", i)})
	}
	last := int(w.Head()) - 1
	for i := range 40 {
		heldLog.hold(last - i)
	}
	for i := range 40 {
		ctx, abort := context.WithCancel(t.Context())
		timer := time.AfterFunc(10*time.Millisecond, abort)
		asOf(ctx, w, last-i, fmt.Sprintf("192.0.2.%d", 1+i%20), "")
		timer.Stop()
		abort()
	}
	until(t, "the end of what was begun", func() bool {
		begun, ended := heldLog.figures()
		return ended == len(begun)
	})
	if got := asOf(t.Context(), w, 5, "198.51.100.1", ""); got != http.StatusOK {
		t.Errorf("the next client got %d", got)
	}
	if built := w.Past.Stats().Built; built != 1 {
		t.Errorf("%d points were built, want the one that somebody waited for", built)
	}
}

// TestPastTurns: of one client two requests wait for points to be built, the others for
// their turn behind those of other clients; callers with credentials have a place of their
// own, and what is there needs none.
func TestPastTurns(t *testing.T) {
	t.Parallel()
	const one, other = "192.0.2.1", "198.51.100.1"
	heldLog := newHeldLog()
	w := world.New(t, world.Options{Store: heldLog})
	admin := w.As(calendar.Administrator)
	for i := range 20 {
		admin.Create(calendar.KindTag, obj{"name": fmt.Sprint("Tag ", i)})
	}
	heldLog.counted.Store(0)
	if got := asOf(t.Context(), w, 3, one, ""); got != http.StatusOK {
		t.Fatalf("got %d", got)
	}
	var all sync.WaitGroup
	ask := func(position int, address, token string) {
		resolved := heldLog.resolved.Load()
		all.Go(func() {
			if got := asOf(t.Context(), w, position, address, token); got != http.StatusOK {
				t.Errorf("as of %d: %d", position, got)
			}
		})
		until(t, "a request that waits", func() bool { return heldLog.resolved.Load() > resolved })
	}
	points := []int{10, 15, 14, 13, 12, 11}
	for _, p := range points {
		heldLog.hold(p)
	}
	for _, p := range points[1:] {
		ask(p, one, "")
	}
	ask(points[0], other, "")
	if got := asOf(t.Context(), w, 3, one, ""); got != http.StatusOK {
		t.Errorf("a point that is there: %d", got)
	}
	if got := asOf(t.Context(), w, 2, one, admin.Token); got != http.StatusOK {
		t.Errorf("credentials: %d", got)
	}
	until(t, "all that have a turn", func() bool { return heldLog.counted.Load() >= 5 })
	if got := heldLog.counted.Load(); got != 5 {
		t.Errorf("entries were counted for %d requests, want the first, two of one client, that of the other, that with credentials", got)
	}
	for _, p := range points {
		close(heldLog.held[p])
	}
	all.Wait()
	if begun, _ := heldLog.figures(); slices.Index(begun, points[0]) > 2 {
		t.Errorf("the log is read up to %v, want %d before the third of the other client", begun, points[0])
	}
}
