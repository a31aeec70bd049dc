package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func recordsOf(list []LinkedView) []calendar.ID {
	out := ids()
	for _, l := range list {
		out = append(out, l.Record.ID)
	}
	return out
}

// counted gives id, count, id, count …
func counted(list []LinkedView) []calendar.ID {
	out := ids()
	for _, l := range list {
		out = append(out, l.Record.ID, calendar.ID(l.Count))
	}
	return out
}

func viewByID(tb testing.TB, l *List, id calendar.ID) View {
	tb.Helper()
	for _, v := range l.Views {
		if v.Record.ID == id {
			return v
		}
	}
	tb.Fatalf("%s is not listed", id)
	return View{}
}

// What events embed, in lists and singly (interface 3.1.7, 4.5, 6.3).
func TestEmbedded(t *testing.T) {
	t.Parallel()
	s, store, _, _ := setup(t, world(t))
	shown := func(v *View) string {
		if v.Blanked && len(v.Venues)+len(v.Organizers)+len(v.Categories)+len(v.Tags) == 0 {
			return "blanked"
		}
		return fmt.Sprint(recordsOf(v.Venues), recordsOf(v.Organizers), counted(v.Categories), counted(v.Tags))
	}
	for _, line := range readLines(t, "embedded.txt") {
		row, want, _ := strings.Cut(line, " => ")
		r := asked(t, row)
		id, _ := calendar.ParseID(r.Input["id"])
		l, _, err := list(t, s, r.Kind, r.Caller, input("per_page=50"))
		if err != nil {
			t.Fatal(err)
		}
		v := viewByID(t, l, id)
		single, err := s.View(t.Context(), r.Caller, store.byID[id], calendar.LangEN, EmbedAll, Moment{})
		if got := shown(&v); got != want || err != nil {
			t.Errorf("%s in a list: %s, want %s, %v", row, got, want, err)
		}
		if got := shown(&single); !v.Blanked && (got != want || single.Mark != v.Mark) {
			t.Errorf("%s alone: %s, want %s, with mark %x of %x", row, got, want, single.Mark, v.Mark)
		}
	}
}

func TestTermCounts(t *testing.T) {
	t.Parallel()
	s, store, index, now := setup(t, world(t))
	counts := func() map[calendar.ID]int {
		t.Helper()
		out := map[calendar.ID]int{}
		for _, k := range []calendar.Kind{calendar.KindCategory, calendar.KindTag} {
			l, _, err := list(t, s, k, anonymous, input("hide_empty=0"))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range l.Views {
				out[v.Record.ID] = v.Count
				single, err := s.View(t.Context(), anonymous, store.byID[v.Record.ID], calendar.LangEN, EmbedAll, Moment{})
				if err != nil || single.Count != v.Count || single.Mark != v.Mark {
					t.Errorf("%s: count %d in the list, %d singly, %v", v.Record.ID, v.Count, single.Count, err)
				}
			}
		}
		return out
	}
	// Children do not count, nor hidden and protected events, drafts and the scheduled one.
	want := map[calendar.ID]int{30: 1, 31: 1, 32: 1, 33: 1, 34: 0, 40: 2, 41: 1, 42: 1, 43: 0, 44: 0}
	if d := cmp.Diff(want, counts()); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	*now = at(t, "2030-06-01", time.UTC) // event 108 is due
	want[42] = 2
	if d := cmp.Diff(want, counts()); d != "" {
		t.Errorf("counts once a scheduled event is due (-want +got):\n%s", d)
	}
	index.put(event(t, 121, "Another", "2030-05-10", "2030-05-10", fields{"tags": ids(43)}))
	want[43] = 1
	if v, err := s.View(t.Context(), anonymous, store.byID[43], calendar.LangEN, EmbedAll, Moment{}); err != nil || v.Count != 1 {
		t.Errorf("single, after a change: count %d, %v", v.Count, err)
	}
	if d := cmp.Diff(want, counts()); d != "" {
		t.Errorf("counts after a change (-want +got):\n%s", d)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("from the store", func(t *testing.T) {
		t.Parallel()
		s, _, _, _ := setup(t, world(t))
		reads(t, s)
	})
	t.Run("from a local index", func(t *testing.T) {
		t.Parallel()
		s, _, _, _ := setup(t, world(t))
		s.o.LocalIndex = true
		reads(t, s)
	})
}

// TestReadFromLocalIndex: single reads never see less than the last write.
func TestReadFromLocalIndex(t *testing.T) {
	t.Parallel()
	s, store, index, _ := setup(t, world(t))
	s.o.LocalIndex = true
	older := store.byID[100]
	newer := event(t, 100, "Newer", "2030-05-10 10:00:00", "2030-05-10 12:00:00", nil)
	want := func(what string, r *calendar.Record) {
		t.Helper()
		got, err := s.Read(t.Context(), calendar.KindEvent, 100, "", anonymous, calendar.LangEN, EmbedAll, nil)
		if err != nil || got.Record != r {
			t.Errorf("%s: got %v, %v", what, got.Record, err)
		}
	}
	store.byID[100] = nil // so it is seen where a record comes from
	want("index at the head", older)
	store.byID[100], store.head = newer, 2
	want("index behind the head", newer)
	index.put()
	want("index at the head again", older)
	mark := func(b readmodel.Batch) {
		if _, err := index.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	mark(readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 100, Position: 2}}})
	want("an entry is quarantined", newer)
	mark(readmodel.Batch{Healed: ids(100)})
	index.fail(readmodel.ErrUnavailable)
	want("index out of reach", newer)
	index.fail(errDamaged)
	if _, err := s.Read(t.Context(), calendar.KindEvent, 100, "", anonymous, calendar.LangEN, EmbedAll, nil); !errors.Is(err, errDamaged) {
		t.Errorf("index damaged: got %v", err)
	}
}

var errDamaged = errors.New("damaged")

func reads(t *testing.T, s *Service) {
	t.Helper()
	for _, line := range readLines(t, "reads.txt") {
		row, want, _ := strings.Cut(line, " => ")
		r := asked(t, row)
		id, _ := calendar.ParseID(r.Input["id"])
		slug, _ := r.Input["slug"].(string)
		password, asks := r.Input["password"]
		verify := func(context.Context, calendar.ID) (bool, error) {
			if !asks {
				t.Errorf("%s: the password is asked for", row)
			}
			return password == "right", nil
		}
		if slug != "" {
			verify = nil
		}
		v, err := s.Read(t.Context(), r.Kind, id, slug, r.Caller, calendar.LangEN, EmbedAll, verify)
		if e, is := asError(err); is && v.Record == nil {
			if got := fmt.Sprint(err, " of ", e.Kind); got != want {
				t.Errorf("%s: %s, want %s", row, got, want)
			}
			continue
		}
		if err != nil || v.Record == nil || v.Record.Kind != r.Kind || v.Blanked || want != "found" {
			t.Fatalf("%s: %v, %v, want %s", row, v.Record, err, want)
		}
		single, err := s.View(t.Context(), r.Caller, v.Record, calendar.LangEN, EmbedAll, Moment{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, &v, &single)
	}
	failing := errors.New("hash store is down")
	_, err := s.Read(t.Context(), calendar.KindEvent, 106, "", anonymous, calendar.LangEN, EmbedAll, func(context.Context, calendar.ID) (bool, error) { return false, failing })
	if !errors.Is(err, failing) {
		t.Errorf("got %v", err)
	}
}

// same compares what answers are made of.
func same(t *testing.T, got, want *View) {
	t.Helper()
	if got.Mark != want.Mark || got.Status != want.Status || got.Blanked != want.Blanked {
		t.Errorf("got mark %x, %q, %v, want %x, %q, %v", got.Mark, got.Status, got.Blanked, want.Mark, want.Status, want.Blanked)
	}
	if len(got.Venues) != len(want.Venues) || len(got.Organizers) != len(want.Organizers) ||
		len(got.Categories) != len(want.Categories) || len(got.Tags) != len(want.Tags) {
		t.Error("other records are embedded")
	}
}

func TestMarkFollowsWhatIsEmbedded(t *testing.T) {
	t.Parallel()
	base := func() View {
		return View{
			Record: record(t, calendar.KindEvent, 1, "x", nil), Status: calendar.StatusPublish,
			Venues:     []LinkedView{{Record: record(t, calendar.KindVenue, 2, "v", nil), Status: calendar.StatusPublish}},
			Organizers: []LinkedView{{Record: record(t, calendar.KindOrganizer, 3, "o", nil), Status: calendar.StatusPublish}},
			Categories: []LinkedView{{Record: record(t, calendar.KindCategory, 4, "c", nil), Count: 5}},
			Tags:       []LinkedView{{Record: record(t, calendar.KindTag, 6, "t", nil), Count: 7}},
		}
	}
	seen := map[uint64]string{}
	for name, change := range map[string]func(v *View){
		"nothing":                func(*View) {},
		"due":                    func(v *View) { v.Status = calendar.StatusFuture },
		"blanked":                func(v *View) { v.Blanked = true },
		"count":                  func(v *View) { v.Count = 1 },
		"venue version":          func(v *View) { v.Venues[0].Record.Version++ },
		"venue status":           func(v *View) { v.Venues[0].Status = calendar.StatusPrivate },
		"organizer is the venue": func(v *View) { v.Organizers, v.Venues = append(v.Venues, v.Organizers...), nil },
		"term count":             func(v *View) { v.Categories[0].Count++ },
		"no tag":                 func(v *View) { v.Tags = nil },
	} {
		v := base()
		change(&v)
		if other, ok := seen[v.mark()]; ok {
			t.Errorf("%s and %s have one mark", name, other)
		}
		seen[v.mark()] = name
	}
	v := base()
	v.Record.Version++
	if seen[v.mark()] != "nothing" {
		t.Error("the record's own version is in the mark")
	}
}

func TestReadModelDown(t *testing.T) {
	t.Parallel()
	s, store, index, _ := setup(t, world(t))
	if _, _, err := list(t, s, calendar.KindEvent, anonymous, nil); err != nil {
		t.Fatal(err)
	}
	index.fail(readmodel.ErrUnavailable)
	criteria, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Lang: calendar.LangEN})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), criteria); !errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("list: got %v", err)
	}
	if _, err := s.Generation(t.Context()); !errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("generation: got %v", err)
	}
	// Single records are still read, with the last known counts.
	v, err := s.View(t.Context(), anonymous, store.byID[100], calendar.LangEN, EmbedAll, Moment{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(ids(33, 1, 31, 1), counted(v.Categories)); d != "" {
		t.Error(d)
	}
	index.fail(errors.New("a fault"))
	if _, err := s.View(t.Context(), anonymous, store.byID[100], calendar.LangEN, EmbedAll, Moment{}); err == nil {
		t.Error("another error of the read model is hidden")
	}
}
