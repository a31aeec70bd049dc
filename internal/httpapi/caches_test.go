package httpapi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
	"daybook/query"
)

// TestCachedAnswers writes at random and holds every answer of a service that
// keeps answers, fragments and counts against one that keeps nothing: they are
// the same, and equal tags name equal bodies.
func TestCachedAnswers(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			cached := newCached(t, seed)
			for range 12 {
				cached.create(cached.kind())
			}
			for range 60 {
				what := cached.step()
				bare := cached.bare()
				for _, path := range cached.paths() {
					for i, who := range cached.callers {
						if i == 0 || cached.rng.IntN(4) == 0 {
							cached.compare(what, who, path, bare)
						}
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// cached is a world with what a random walk has made in it.
type cached struct {
	t       *testing.T
	world   *world.World
	rng     *rand.Rand
	callers []*world.Client
	writers []*world.Client
	made    [calendar.KindTag + 1][]calendar.ID
	slugs   []string
	bodies  map[string]string // by caller, path and tag
	release func()
}

func newCached(t *testing.T, seed uint64) *cached {
	t.Helper()
	w := world.New(t, world.Options{Site: time.FixedZone("", -5*3600), Wait: time.Microsecond})
	c := &cached{t: t, world: w, rng: rand.New(rand.NewPCG(seed, 1)), bodies: map[string]string{}}
	author, editor := w.As(calendar.Author), w.As(calendar.Editor)
	c.writers = []*world.Client{author, editor, editor.Under(calendar.LangFR)}
	c.callers = []*world.Client{w.As(calendar.Anonymous), w.As(calendar.Subscriber), author, editor}
	return c
}

func (cached *cached) any(kind calendar.Kind) string {
	if len(cached.made[kind]) == 0 {
		return "9999"
	}
	return cached.made[kind][cached.rng.IntN(len(cached.made[kind]))].String()
}

func (cached *cached) date() string {
	return cached.world.Clock.Now().Add(time.Duration(cached.rng.IntN(96)-24) * time.Hour).Format("2006-01-02 15:04:05")
}

func (cached *cached) word() string {
	return []string{"jazz", "river", "night", "été"}[cached.rng.IntN(4)]
}

func (cached *cached) fields(kind calendar.Kind) obj {
	name := fmt.Sprintf("%s %s", cached.word(), cached.word())
	o := obj{}
	maybe := func(name string, value any) {
		if cached.rng.IntN(2) == 0 {
			o[name] = value
		}
	}
	if kind.IsPost() {
		maybe("status", []string{"publish", "publish", "draft", "private", "future"}[cached.rng.IntN(5)])
		if o["status"] == "future" {
			o["date_utc"] = cached.world.Clock.Now().Add(time.Duration(1+cached.rng.IntN(40)) * time.Hour).Format("2006-01-02 15:04:05")
		}
	}
	switch kind {
	case calendar.KindEvent:
		start := cached.date()
		o["title"], o["start_date"], o["end_date"] = name, start, start
		maybe("venue", cached.any(calendar.KindVenue))
		maybe("organizer", cached.any(calendar.KindOrganizer))
		maybe("categories", cached.any(calendar.KindCategory))
		maybe("tags", cached.any(calendar.KindTag))
		maybe("hide_from_listings", cached.rng.IntN(3) == 0)
		maybe("description", name)
	case calendar.KindVenue:
		o["venue"] = name
		maybe("city", cached.word())
	case calendar.KindOrganizer:
		o["organizer"] = name
	case calendar.KindCategory:
		o["name"] = name
		maybe("parent", cached.any(calendar.KindCategory))
	default:
		o["name"] = name
	}
	return o
}

func (cached *cached) kind() calendar.Kind {
	return []calendar.Kind{
		calendar.KindEvent, calendar.KindEvent, calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer,
		calendar.KindCategory, calendar.KindTag,
	}[cached.rng.IntN(7)]
}

func (cached *cached) writer() *world.Client {
	return cached.writers[cached.rng.IntN(len(cached.writers))]
}

func (cached *cached) create(kind calendar.Kind) string {
	made := cached.writer().Post("/"+kind.Collection(), cached.fields(kind))
	if made.Status == http.StatusCreated {
		cached.made[kind] = append(cached.made[kind], made.ID())
		if kind.IsPost() && made.Has("slug") {
			cached.slugs = append(cached.slugs, "/"+kind.Collection()+"/by-slug/"+made.String("slug"))
		}
	}
	return fmt.Sprint(made.Status, " ", made.Request)
}

// step makes one change, or moves the clock; it tells what it did.
func (cached *cached) step() string {
	client, kind := cached.writer(), cached.kind()
	path := "/" + kind.Collection() + "/" + cached.any(kind)
	switch n := cached.rng.IntN(20); {
	case n < 2:
		return cached.create(kind)
	case n < 12:
		return fmt.Sprint(client.Do(http.MethodPatch, path, cached.fields(kind)).Status, " update ", path)
	case n == 12:
		return fmt.Sprint(client.Do(http.MethodPatch, "/events/"+cached.any(calendar.KindEvent), obj{"password": []string{"", "pw"}[cached.rng.IntN(2)]}).Status, " password")
	case n == 13:
		return fmt.Sprint(client.Do(http.MethodDelete, path, nil).Status, " delete ", path)
	case n < 18:
		duration := []time.Duration{time.Second, time.Hour, 13 * time.Hour}[cached.rng.IntN(3)]
		cached.world.Clock.Add(duration)
		return "clock " + duration.String()
	case cached.release == nil:
		cached.release = cached.world.Hold()
		return "hold"
	default:
		cached.release()
		cached.release = nil
		return "release"
	}
}

func (cached *cached) paths() []string {
	out := []string{
		"", "/events", "/events?per_page=3&page=2", "/events?search=jazz", "/events?ends_after=now&strict_dates=true", "/events?_fields=id,venue",
		"/events?start_date=yesterday", "/venues", "/venues?has_events=true", "/organizers?only_with_upcoming=true", "/venues?search=nights",
		"/categories", "/categories?orderby=count&order=desc", "/tags?hide_empty=0", "/categories?search=jazz",
		"/events?categories=" + cached.any(calendar.KindCategory), "/events?categories=jazz+river", "/events?tags=jazz-river", "/events?venue=" + cached.any(calendar.KindVenue),
		"/categories?event=" + cached.any(calendar.KindEvent), "/venues?event=" + cached.any(calendar.KindEvent), "/events?include=" + cached.any(calendar.KindEvent),
	}
	for _, kind := range calendar.Kinds {
		for _, id := range cached.made[kind] {
			out = append(out, "/"+kind.Collection()+"/"+id.String())
		}
	}
	out = append(out, cached.slugs...)
	for i, path := range out {
		if i%3 == 0 {
			sep := "?"
			if strings.Contains(path, "?") {
				sep = "&"
			}
			out = append(out, path+sep+"multilang_language=fr")
		}
	}
	return out
}

// bare is the service as it would be without anything kept.
func (cached *cached) bare() http.Handler {
	cached.t.Helper()
	site := time.FixedZone("", -5*3600)
	lists := query.Options{Site: site, Now: cached.world.Clock.Now, PositionWait: time.Microsecond}
	queries := query.New(cached.world.Index, cached.world.Records, lists)
	deps := cached.world.Deps
	deps.Queries, deps.History = queries, history.New(cached.world.Store, cached.world.Clock.Now)
	api, err := httpapi.New(
		deps,
		httpapi.Options{BaseURL: world.Base, Options: lists, AnswerBytes: -1},
	)
	if err != nil {
		cached.t.Fatal(err)
	}
	return api
}

func (cached *cached) compare(what string, who *world.Client, path string, bare http.Handler) {
	cached.t.Helper()
	ask := func(handler http.Handler) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(cached.t.Context(), http.MethodGet, world.Root+path, nil)
		if who.Token != "" {
			request.Header.Set("Authorization", "Bearer "+who.Token)
		}
		request.Header.Set("X-Request-Id", "same")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, request)
		return rec
	}
	got, want := ask(cached.world.Handler), ask(bare)
	if got.Code != want.Code || !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
		cached.t.Errorf("after %s: %s %s:\n%d %s\nwithout caches:\n%d %s", what, who.Name, path, got.Code, got.Body, want.Code, want.Body)
	}
	for name, values := range want.Header() {
		if !slices.Equal(values, got.Header()[name]) {
			cached.t.Errorf("after %s: %s %s: header %s %q, without caches %q", what, who.Name, path, name, got.Header()[name], values)
		}
	}
	if tag := got.Header().Get("ETag"); tag != "" {
		key := who.Name + " " + path + " " + tag
		if body, known := cached.bodies[key]; known && body != got.Body.String() {
			cached.t.Errorf("after %s: %s %s: the tag %s stood for\n%s\nand now for\n%s", what, who.Name, path, tag, body, got.Body)
		}
		cached.bodies[key] = got.Body.String()
	}
}

// TestHostileKeys: whatever texts a request is made of, its answer is kept for
// that request alone. Each is asked often enough to be kept, in both orders, and
// held against a service that keeps nothing.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	cached := newCached(t, 1)
	editor := cached.world.As(calendar.Editor)
	event := editor.Event("Jazz", obj{"slug": "jazz"})
	cached.slugs = []string{"/events/" + event.ID().String(), "/events/by-slug/jazz", "/venues/" + editor.Create(calendar.KindVenue, obj{"venue": "Hall"}).ID().String(), "/events", "/venues"}
	var paths []string
	for _, path := range cached.slugs {
		for _, fields := range []string{
			"", "title,slug", "title%0Aslug", "title%0aslug,id", "title,slug%0Aid", "title%00slug", "title%20slug", "%0Atitle", "title%0A", "venue%0Aslug",
			"venue,slug", "t%05title", "%02t%05title", "title%0A_fields%0Aslug",
		} {
			paths = append(paths, path+"?_fields="+fields, path+"?_fields[]="+fields)
		}
		for _, fields := range []string{"title&_fields[]=slug", "title%0Aslug&_fields[]=id", "title&_fields[]=slug%0Aid"} {
			paths = append(paths, path+"?_fields[]="+fields)
		}
	}
	for _, slug := range []string{"jazz%0Atitle", "jazz%0atitle?_fields=slug", "jazz%20", "%20jazz", "jazz?_fields=title", "jazz%0A"} {
		paths = append(paths, "/events/by-slug/"+slug)
	}
	nobody, bare := cached.world.As(calendar.Anonymous), cached.bare()
	for range 3 {
		for _, path := range paths {
			cached.compare("keeping others", nobody, path, bare)
		}
		slices.Reverse(paths)
	}
}
