package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit"
)

// suggested gives texts and counts of the suggestions of a kind.
func suggested(t *testing.T, r *testkit.Response, kind string) (out []string) {
	t.Helper()
	list, _ := r.Want(http.StatusOK).Get(kind).([]any)
	for _, e := range list {
		o, _ := e.(map[string]any)
		out = append(out, fmt.Sprintf("%v %v %v", o["text"], o["count"], o["highlight"]))
	}
	return out
}

// LISTINGS 8.40, 8.44
func TestSuggest(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{})
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	jazz := editor.Create(calendar.KindCategory, testkit.Object{"name": "Jazz & blues"}).ID()
	editor.Create(calendar.KindCategory, testkit.Object{"name": "Jazz of nobody"})
	hall := editor.Create(calendar.KindVenue, testkit.Object{"venue": "Jazz hall"}).ID()
	old := editor.Create(calendar.KindVenue, testkit.Object{"venue": "Jazz cellar"}).ID()
	closed := editor.Create(calendar.KindVenue, testkit.Object{"venue": "Closed"}).ID()
	trust := editor.Create(calendar.KindOrganizer, testkit.Object{"organizer": "The Jazzers"}).ID()
	event := func(title string, day int, more testkit.Object) {
		t.Helper()
		at := w.Clock.Now().AddDate(0, 0, day).Format("2006-01-02")
		o := testkit.Object{"start_date": at + " 10:00:00", "end_date": at + " 12:00:00"}
		maps.Copy(o, more)
		editor.Event(title, o)
	}
	for i := range 3 {
		event("Jazzy brunch", 5+i, testkit.Object{"venue": hall, "organizer": trust, "categories": []calendar.ID{jazz}})
	}
	event("Evening of jazz", 30, testkit.Object{"all_day": true, "venue": []calendar.ID{closed, hall}})
	editor.Delete("/venues/" + closed.String()).Want(http.StatusOK)
	event("JAZZ", 40, testkit.Object{"venue": hall, "password": "secret"}) // nothing tells of it
	event("jazz!", 50, nil)
	event("Jazz of yesterday", -1, testkit.Object{"venue": old})
	event("Jazz of nobody", 3, testkit.Object{"status": "draft"})
	event("Jazz of few", 3, testkit.Object{"hide_from_listings": true})
	event("Symphony", 9, testkit.Object{"categories": []calendar.ID{}})
	for _, c := range []*testkit.Client{nobody, editor, nobody.Under(calendar.LangFR), nobody.Under(calendar.LangCN)} {
		r := c.Get("/suggest?q=jaz").Want(http.StatusOK)
		for kind, want := range map[string][]string{
			// Whatever whole words there are, none is sent as a whole: by list order.
			"events":     {"Jazzy brunch 3 <mark>Jazzy</mark> brunch", "Evening of jazz 1 Evening of <mark>jazz</mark>", "jazz! 1 <mark>jazz</mark>!"},
			"venues":     {"Jazz hall 4 <mark>Jazz</mark> hall"},
			"organizers": {"The Jazzers 3 The <mark>Jazzers</mark>"},
			"categories": {"Jazz & blues 3 <mark>Jazz</mark> &amp; blues"},
			"tags":       nil,
		} {
			if diff := cmp.Diff(want, suggested(t, r, kind)); diff != "" {
				t.Errorf("%s:\n%s", kind, diff)
			}
		}
		r.WantField("q", "jaz").WantField("events.1.all_day", true).WantField("events.1.venue", "Jazz hall").WantField("events.2.venue", "").
			WantField("events.0.start_date", w.Clock.Now().AddDate(0, 0, 5).Format("2006-01-02")+" 10:00:00").WantField("events.0.slug", "jazzy-brunch").
			WantField("categories.0.id", jazz)
		if url := r.String("venues.0.rest_url"); !strings.HasSuffix(url, "/venues/"+hall.String()) {
			t.Errorf("rest_url %s", url)
		}
		if c != editor && c.Get("/suggest?q=jaz").Header.Get("Etag") != r.Header.Get("Etag") || r.Header.Get("Daybook-Position") == "" || r.Header.Get("X-Total") != "" {
			t.Errorf("headers %v", r.Header)
		}
	}
	// The exact name first, then what has the word.
	if got := suggested(t, nobody.Get("/suggest?q=Jazz&limit=2&kinds=events"), "events"); !cmp.Equal(got, []string{"jazz! 1 <mark>jazz</mark>!", "Evening of jazz 1 Evening of <mark>jazz</mark>"}) {
		t.Errorf("jazz: %v", got)
	}
	if _, there := nobody.Get("/suggest?q=Jazz&kinds=events,tags").Want(http.StatusOK).Lookup("venues"); there {
		t.Error("a kind that was not asked for")
	}
	// Typos step in where nothing fits, for each kind by itself.
	typo := nobody.Get("/suggest?q=jzaz").Want(http.StatusOK)
	if got := suggested(t, typo, "events"); !cmp.Equal(got, []string{"Evening of jazz 1 Evening of <mark>jazz</mark>", "jazz! 1 <mark>jazz</mark>!"}) {
		t.Errorf("jzaz: %v", got)
	}
	for q, want := range map[string]int{"q=jzaz&typos=off": 0, "q=sinphony": 1, "q=symhpnoy&typos=on": 1, "q=jzz": 0, "q=%22of+jazz%22": 1, "q=jazz+-brunch+-evening": 1} {
		if got := suggested(t, nobody.Get("/suggest?kinds=events&"+q), "events"); len(got) != want {
			t.Errorf("%s: %v", q, got)
		}
	}
	w.Clock.Add(100 * 24 * time.Hour)
	if r := nobody.Get("/suggest?q=jaz"); suggested(t, r, "events") != nil || suggested(t, r, "venues") != nil || suggested(t, r, "categories") != nil {
		t.Errorf("later: %s", r.Body)
	}
	nobody.Get("/suggest").WantCode(http.StatusBadRequest, "rest_missing_callback_param")
	nobody.Get("/suggest?q=&limit=21&kinds=nonsense&typos=x").WantBad("q", "limit", "kinds", "typos")
	nobody.Get("/suggest?q=%21%21&limit=0&kinds=").WantBad("q", "limit", "kinds")
	nobody.Get("/suggest?q=" + strings.Repeat("a", 101)).WantBad("q")
	nobody.Get("/suggest?q=jaz&multilang_language=xx").WantBad("multilang_language")
	nobody.With("Daybook-Min-Position", "999").Get("/suggest?q=jaz").WantCode(http.StatusServiceUnavailable, "rest_position_not_reached")
}
