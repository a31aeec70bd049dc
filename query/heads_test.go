package query

import (
	"maps"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// TestLean: lean lists and glances tell the same as whole ones, and records that
// have changed are noticed.
func TestLean(t *testing.T) {
	t.Parallel()
	records := world(t)
	store := &fakeRecords{byID: map[calendar.ID]*calendar.Record{}}
	for _, r := range records {
		store.byID[r.ID] = r
	}
	index := memoryIndex(t, slices.Collect(maps.Values(store.byID)))
	now := at(t, worldNow, time.UTC)
	s, err := New(index, store, Options{Now: func() time.Time { return now }, LocalIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := index.Visible(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store.head = shown.Position

	run := func(lean bool) []View {
		t.Helper()
		c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Lang: calendar.LangEN, Input: input("per_page=100&start_date=2000-01-01&end_date=2100-01-01")})
		if err != nil {
			t.Fatal(err)
		}
		c.Lean = lean
		l, err := s.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return l.Views
	}
	whole := run(false)
	run(true)
	lean := run(true)
	if len(whole) == 0 || len(lean) != len(whole) {
		t.Fatalf("%d views, lean %d", len(whole), len(lean))
	}
	without := 0
	for i := range whole {
		got, want := &lean[i], &whole[i]
		if got.Record == nil {
			without++
		}
		same(t, got, want)
		if ok, err := s.Whole(t.Context(), got); !ok || err != nil || got.Record == nil || got.Record.ID != want.Record.ID {
			t.Errorf("whole view of %d: %v, %v, %v", want.Record.ID, got.Record, ok, err)
		}
	}
	if without == 0 {
		t.Error("no view of a lean list is without its record")
	}

	glances := 0
	for _, r := range records {
		got, ok := s.Glance(t.Context(), r.ID, calendar.LangEN, EmbedAll)
		rec, err := s.Read(t.Context(), calendar.KindEvent, r.ID, "", anonymous, nil)
		if !ok {
			if err == nil && storedStatus(rec) != calendar.StatusFuture {
				t.Errorf("event %d may be read and gives no glance", r.ID)
			}
			continue
		}
		glances++
		if err != nil {
			t.Errorf("a glance at %s %d, which must not be read: %v", r.Kind, r.ID, err)
			continue
		}
		want, err := s.View(t.Context(), anonymous, rec, calendar.LangEN, EmbedAll, Moment{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, &got, &want)
	}
	if glances == 0 {
		t.Error("no glance at all")
	}

	// A newer version of an event: views of the older one do not hold.
	views := run(true)
	at := slices.IndexFunc(views, func(v View) bool { return v.Record == nil && !v.Blanked })
	old := views[at]
	id, version, _ := old.Key()
	newer := *store.byID[id]
	newer.Version = version + 1
	body, err := calendar.EncodeRecord(&newer)
	if err != nil {
		t.Fatal(err)
	}
	store.head++
	if _, ok := s.Glance(t.Context(), id, calendar.LangEN, EmbedAll); ok {
		t.Error("a glance while the index is behind the store")
	}
	if _, err := index.Write(t.Context(), readmodel.Batch{
		Mark: calendar.Mark{Position: store.head}, Documents: []readmodel.Document{{Position: store.head, Record: &newer, Body: body}},
	}); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Whole(t.Context(), &old); ok || err != nil {
		t.Errorf("whole view of a version that is over: %v, %v", ok, err)
	}
	if v, ok := s.Glance(t.Context(), id, calendar.LangEN, EmbedAll); !ok {
		t.Error("no glance at the newer version")
	} else if _, got, _ := v.Key(); got != version+1 {
		t.Errorf("a glance shows version %d, want %d", got, version+1)
	}
	if _, got, _ := run(true)[at].Key(); got != version+1 {
		t.Errorf("a lean list shows version %d, want %d", got, version+1)
	}
}

// storedStatus is the stored status of a record.
func storedStatus(r *calendar.Record) calendar.Status {
	return calendar.Status(r.Fields.String("status"))
}

// same compares what answers are made of.
func same(t *testing.T, got, want *View) {
	t.Helper()
	id, version, sum := got.Key()
	wantID, wantVersion, wantSum := want.Key()
	if id != wantID || version != wantVersion || sum != wantSum || got.Kind() != want.Kind() || !got.Changed().Equal(want.Changed()) {
		t.Errorf("got %d at %d, want %d at %d", id, version, wantID, wantVersion)
	}
	if got.Mark != want.Mark || got.Status != want.Status || got.Blanked != want.Blanked {
		t.Errorf("event %d: got mark %x, %q, %v, want %x, %q, %v",
			id, got.Mark, got.Status, got.Blanked, want.Mark, want.Status, want.Blanked)
	}
	if len(got.Venues) != len(want.Venues) || len(got.Organizers) != len(want.Organizers) ||
		len(got.Categories) != len(want.Categories) || len(got.Tags) != len(want.Tags) {
		t.Errorf("event %d embeds other records", id)
	}
}
