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
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// HISTORY 20.22 to 20.24: filters pick the entries that fit, in either order and every format.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	editor, auditor := w.As(calendar.Editor), w.As(calendar.Auditor)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Hall"})
	event := w.As(calendar.Author).Event("Quay", obj{"venue": venue.ID(), "image": "https://img.example/a.jpg"})
	w.Clock.Add(10e9)
	since := w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	editor.Update(event.Path(calendar.KindEvent), obj{"title": "Pier"})
	editor.Delete(venue.Path(calendar.KindVenue)).Want(200)
	all := auditor.Get("/changes?order=asc&limit=1000")
	all.WantField("head", int(w.Head())).WantField("looked_to", int(w.Head()))
	type entry struct {
		Position, ID       int
		Kind, Action, Time string
		Actor              struct{ ID int }
		Changes            []struct{ Field string }
	}
	decode := func(body []byte) (out struct{ Entries []entry }) {
		if err := json.Unmarshal(body, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	changes := func(e entry, field string) bool {
		return slices.ContainsFunc(e.Changes, func(c struct{ Field string }) bool { return c.Field == field })
	}
	for sent, in := range map[string]func(e entry) bool{
		"":                                 func(entry) bool { return true },
		"kind=venue,user":                  func(e entry) bool { return e.Kind == "venue" || e.Kind == "user" },
		"kind=image":                       func(e entry) bool { return e.Kind == "image" },
		"id=" + itoa(event.ID()) + ",9999": func(e entry) bool { return e.ID == int(event.ID()) },
		"actor=0":                          func(e entry) bool { return e.Actor.ID == 0 },
		"action=trashed,updated":           func(e entry) bool { return e.Action == "trashed" || e.Action == "updated" },
		"field=title":                      func(e entry) bool { return changes(e, "title") },
		"field=url,status":                 func(e entry) bool { return changes(e, "url") || changes(e, "status") },
		"since=" + url.QueryEscape(since):  func(e entry) bool { return e.Time >= since },
		"until=" + url.QueryEscape(since):  func(e entry) bool { return e.Time < since },
		"after=3":                          func(e entry) bool { return e.Position > 3 },
		"before=3":                         func(e entry) bool { return e.Position < 3 },
	} {
		want := slices.DeleteFunc(decode(all.Body).Entries, func(e entry) bool { return !in(e) })
		got, back := decode(auditor.Read("/changes?order=asc&"+sent).Body).Entries, decode(auditor.Read("/changes?"+sent).Body).Entries
		slices.Reverse(back)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(back, want) || len(want) == 0 {
			t.Errorf("%s: got %v, and %v from behind, want %v", sent, got, back, want)
		}
	}
	lines := auditor.With("Accept", "text/csv;q=0.5, application/x-ndjson").Get("/changes?limit=3&order=asc")
	joined := `{"entries":[` + strings.ReplaceAll(strings.TrimSpace(string(lines.Body)), "\n", ",") + "]}"
	if !reflect.DeepEqual(decode([]byte(joined)), decode(auditor.Get("/changes?limit=3&order=asc").Body)) || lines.Position() != w.Head() || !strings.Contains(lines.Header.Get("Link"), "after=3") {
		t.Errorf("ndjson: %v %s", lines.Header, lines.Body)
	}
}

// HISTORY 20.23: a page over entries that do not match is empty and has a next one.
func TestChangesOverMuchElse(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	w := world.New(t, world.Options{Store: store})
	nobody := w.As(calendar.Anonymous)
	tag := w.As(calendar.Editor).Create(calendar.KindTag, obj{"name": "Jazz"})
	found, err := w.Records.Load(t.Context(), tag.ID())
	if err != nil {
		t.Fatal(err)
	}
	record := found[0]
	appends := make([]eventstore.Append, 6000)
	for i := range appends {
		change := calendar.Change{Name: "tag.updated", Kind: calendar.KindTag, ID: record.ID, Fields: calendar.Fields{"slug": fmt.Sprint("jazz-", i)}}
		draft, next, err := eventstore.NewDraft(record, change, w.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		appends[i], record = eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: w.Clock.Now()}, next
	}
	for _, res := range store.Append(t.Context(), appends) {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for _, filter := range []string{"kind=event", "field=title", "action=trashed", "order=asc&kind=event", "order=asc&field=title"} {
		first := nobody.Read("/changes?"+filter).WantField("entries", []any{})
		_, next, _ := strings.Cut(first.String("next_rest_url"), httpapi.Namespace)
		if last := nobody.Read(next).WantField("entries", []any{}); last.Has("next_rest_url") {
			t.Errorf("%s: the walk does not end", filter)
		}
	}
	path := tag.Path(calendar.KindTag) + "/history?"
	nobody.Read(path+"action=created").WantField("looked_to", 1002).WantField("entries", []any{})
	nobody.Read(path+"action=created&before=1002").WantField("entries.0.version", 1)
	nobody.Read(path+"limit=2&after=4990&before=5001").WantField("entries.0.summary", "Changed: slug: from “jazz-4997” to “jazz-4998”").
		WantField("entries.1.summary", "Changed: slug: from “jazz-4996” to “jazz-4997”")
}
