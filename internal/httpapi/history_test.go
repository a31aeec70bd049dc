package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/testkit/world"
)

// told gives a value of each entry of a page.
func told(r *world.Response, path string) []any {
	out := []any{}
	for i := range r.Len("entries") {
		v, _ := r.Lookup(fmt.Sprintf("entries.%d.%s", i, path))
		out = append(out, v)
	}
	return out
}

func wantTold(t *testing.T, r *world.Response, path string, want ...any) {
	t.Helper()
	got := told(r, path)
	for i, v := range want {
		if n, ok := v.(int); ok {
			want[i] = float64(n)
		}
	}
	if !reflect.DeepEqual(got, append([]any{}, want...)) {
		t.Errorf("%s of entries: got %v, want %v", path, got, want)
	}
}

// HISTORY 20.22 to 20.24.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	editor, auditor := w.As(calendar.Editor), w.As(calendar.Auditor)
	venue := editor.With("Daybook-Reason", "=1+1").Create(calendar.KindVenue, obj{"venue": "Hall, “A”"})
	event := w.As(calendar.Author).Event("Quay", obj{"venue": venue.ID(), "image": "https://img.example/a.jpg"})
	w.Clock.Add(10e9)
	since := w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	editor.Update(event.Path(calendar.KindEvent), obj{"title": "Pier"})
	editor.Delete(venue.Path(calendar.KindVenue)).Want(200)
	all := auditor.Get("/changes?order=asc&limit=1000")
	all.WantField("head", int(w.Head())).WantField("looked_to", int(w.Head()))
	if got := all.Position(); got != w.Head() {
		t.Errorf("Daybook-Position: %d", got)
	}
	entries := all.Get("entries").([]any)
	pick := func(in func(e map[string]any) bool) (out []any) {
		for _, e := range entries {
			if in(e.(map[string]any)) {
				out = append(out, e.(map[string]any)["position"])
			}
		}
		return out
	}
	changes := func(e map[string]any, field string) bool {
		return slices.ContainsFunc(e["changes"].([]any), func(c any) bool { return c.(map[string]any)["field"] == field })
	}
	for sent, in := range map[string]func(e map[string]any) bool{
		"kind=venue,user":                     func(e map[string]any) bool { return e["kind"] == "venue" || e["kind"] == "user" },
		"kind=image":                          func(e map[string]any) bool { return e["kind"] == "image" },
		"id=" + event.ID().String() + ",9999": func(e map[string]any) bool { return e["id"] == float64(event.ID()) },
		"actor=0":                             func(e map[string]any) bool { return e["actor"].(map[string]any)["id"] == 0.0 },
		"action=trashed,updated":              func(e map[string]any) bool { return e["action"] == "trashed" || e["action"] == "updated" },
		"field=title":                         func(e map[string]any) bool { return changes(e, "title") },
		"field=url,status":                    func(e map[string]any) bool { return changes(e, "url") || changes(e, "status") },
		"since=" + url.QueryEscape(since):     func(e map[string]any) bool { return e["time"].(string) >= since },
		"until=" + url.QueryEscape(since):     func(e map[string]any) bool { return e["time"].(string) < since },
		"after=3":                             func(e map[string]any) bool { return e["position"].(float64) > 3 },
		"before=3":                            func(e map[string]any) bool { return e["position"].(float64) < 3 },
	} {
		want := pick(in)
		if got := told(auditor.Read("/changes?order=asc&"+sent), "position"); fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
			t.Errorf("%s: got %v, want %v", sent, got, want)
		}
	}
	reversed := told(auditor.Get("/changes"), "position")
	slices.Reverse(reversed)
	if fmt.Sprint(reversed) != fmt.Sprint(told(all, "position")) {
		t.Errorf("newest first: %v", reversed)
	}
	// The formats hold the same entries.
	page := auditor.Get("/changes?limit=3&order=asc")
	lines := auditor.With("Accept", "text/csv;q=0.5, application/x-ndjson").Get("/changes?limit=3&order=asc")
	var fromLines []any
	for line := range strings.Lines(string(lines.Body)) {
		var e any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		fromLines = append(fromLines, e)
	}
	if !reflect.DeepEqual(fromLines, page.Get("entries")) || lines.Header.Get("Content-Type") != "application/x-ndjson; charset=utf-8" {
		t.Errorf("ndjson: %s", lines.Body)
	}
	if lines.Header.Get("Link") == "" || lines.Position() != w.Head() || !strings.Contains(lines.Header.Get("Link"), "after=3") {
		t.Errorf("headers of ndjson: %v", lines.Header)
	}
}

// Cells of changes are quoted and marked as those of lists are (HISTORY 10.2, LISTINGS 1.12).
func TestChangesAsCSV(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	editor := w.As(calendar.Editor)
	editor.Create(calendar.KindTag, obj{"name": "=1;-2"})
	if rows := string(editor.Get("/changes?format=csv&kind=tag").Body); !strings.Contains(rows, `,"'=1;'-2",`) {
		t.Errorf("the name is neither quoted nor marked: %s", rows)
	}
}

// HISTORY 20.23: a page over entries that do not match is empty and has a next one.
func TestChangesOverMuchElse(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	w := world.New(t, world.Options{Store: store})
	tag := w.As(calendar.Editor).Create(calendar.KindTag, obj{"name": "Jazz"})
	r := recordOf(t, w, tag.ID())
	appends := make([]eventstore.Append, 6000)
	for i := range appends {
		c := calendar.Change{Name: "tag.updated", Kind: calendar.KindTag, ID: r.ID, Fields: calendar.Fields{"slug": fmt.Sprint("jazz-", i)}}
		d, next, err := eventstore.NewDraft(r, c, w.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		appends[i], r = eventstore.Append{Drafts: []eventstore.Draft{d}, Time: w.Clock.Now()}, next
	}
	for _, res := range store.Append(t.Context(), appends) {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for _, order := range []string{"asc", "desc"} {
		for _, filter := range []string{"kind=event", "field=title", "action=trashed"} {
			pages, empty := 0, 0
			for at := "/changes?" + filter + "&order=" + order; at != ""; pages++ {
				page := w.As(calendar.Anonymous).Read(at)
				if page.Len("entries") == 0 {
					empty++
				}
				at = ""
				if next, more := page.Lookup("next_rest_url"); more {
					_, at, _ = strings.Cut(next.(string), "/calendar/events/v1")
				}
				if pages > 10 {
					t.Fatalf("%s %s: the walk does not end", filter, order)
				}
			}
			if pages != 2 || empty != 2 {
				t.Errorf("%s %s: %d pages, %d of them empty, want 2", filter, order, pages, empty)
			}
		}
	}
	page := w.As(calendar.Anonymous).Get(tag.Path(calendar.KindTag) + "/history?action=created")
	page.WantField("looked_to", 1002)
	wantTold(t, page, "version")
	wantTold(t, w.As(calendar.Anonymous).Get(tag.Path(calendar.KindTag)+"/history?action=created&before=1002"), "version", 1)
	wantTold(t, w.As(calendar.Anonymous).Get(tag.Path(calendar.KindTag)+"/history?limit=2&after=4990&before=5001"), "summary",
		"Changed: slug: from “jazz-4997” to “jazz-4998”", "Changed: slug: from “jazz-4996” to “jazz-4997”")
}

// recordOf gives a record as the store has it.
func recordOf(t *testing.T, w *world.World, id calendar.ID) *calendar.Record {
	t.Helper()
	found, err := w.Records.Load(t.Context(), id)
	if err != nil || found[0] == nil {
		t.Fatalf("record %d: %v", id, err)
	}
	return found[0]
}
