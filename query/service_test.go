package query

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// TestGeneration: the generation is another one when a document is healed, and when a
// scheduled event is due.
func TestGeneration(t *testing.T) {
	t.Parallel()
	service, _, index, now := setup(t, world(t))
	seen := map[Generation]bool{}
	for i, step := range []func(){
		func() {},
		func() { *now = time.Date(2030, 5, 31, 23, 59, 59, 0, time.UTC) },
		func() { *now = now.Add(time.Second) }, // event 108 is due
		func() { _, _ = index.Write(t.Context(), readmodel.Batch{Healed: ids(100)}) },
		func() { index.put() },
	} {
		step()
		generation, err := service.Generation(t.Context())
		if err != nil || seen[generation] != (i == 1) {
			t.Errorf("step %d: %+v, %v", i, generation, err)
		}
		seen[generation] = true
	}
}

// TestReadFromLocalIndex: single reads never see less than the last write.
func TestReadFromLocalIndex(t *testing.T) {
	t.Parallel()
	service, store, index, _ := setup(t, world(t))
	service.settings.LocalIndex = true
	older := store.byID[100]
	newer := event(t, 100, "Newer", "2030-05-10 10:00:00", "2030-05-10 12:00:00", nil)
	want := func(what string, record *calendar.Record) {
		t.Helper()
		got, err := service.Read(t.Context(), calendar.KindEvent, 100, "", anonymous, calendar.LangEN, EmbedAll, nil)
		if err != nil || got.Record != record {
			t.Errorf("%s: got %v, %v", what, got.Record, err)
		}
	}
	store.byID[100] = newer // so it is seen where a record comes from
	want("index at the head", older)
	store.head = 2
	want("index behind the head", newer)
	index.put()
	want("index at the head again", older)
	_, _ = index.Write(t.Context(), readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 100, Position: 2}}})
	want("an entry is quarantined", newer)
	index.fault = func(context.Context) error { return readmodel.ErrUnavailable }
	_, _ = index.Write(t.Context(), readmodel.Batch{Healed: ids(100)})
	want("index out of reach", newer)
}

// wait calls Await while the read model moves some times, once a second.
func wait(t *testing.T, moves int, await func(ctx context.Context, service *Service, store *fakeRecords) string) (out string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service, store, index, _ := setup(t, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range moves {
				<-time.After(time.Second)
				index.put()
			}
		}()
		from := time.Now()
		got := await(t.Context(), service, store)
		out = fmt.Sprintf("%s after %s", got, time.Since(from))
		<-done
	})
	return out
}

// TestAwait: who waits how long for which position (interface 2.10). A row is the caller, the
// least position, the head of the store, and how often the read model moves from 1 on.
func TestAwait(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		"anonymous 0 9 0":  "0 after 0s",
		"anonymous 1 9 0":  "1 after 0s",
		"anonymous 3 9 4":  "3 after 2s",
		"anonymous 10 9 1": "rest_position_not_reached after 0s", // above the store
		"anonymous 3 3 1":  "rest_position_not_reached after 5s",
		"subscriber 0 3 4": "3 after 2s", // credentials wait for the head
		"editor 0 3 1":     "0 after 5s", // and go on without it
		"editor 0 1 0":     "1 after 0s",
		"editor 2 4 4":     "4 after 3s",
		"editor 2 9 4":     "2 after 5s",
	} {
		var who string
		var least, head calendar.Position
		var moves int
		if _, err := fmt.Sscan(row, &who, &least, &head, &moves); err != nil {
			t.Fatal(err)
		}
		got := wait(t, moves, func(ctx context.Context, service *Service, store *fakeRecords) string {
			store.head = head
			reached, err := service.Await(ctx, callers[who], least)
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(reached)
		})
		if got != want {
			t.Errorf("%s: %s, want %s", row, got, want)
		}
	}
}

// TestAwaitCounts: answers to writes that show counts wait a moment, others not.
func TestAwaitCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind    calendar.Kind
		version int64
		fields  calendar.Fields
		local   bool
		waits   time.Duration
	}{
		{calendar.KindEvent, 1, fields{"tags": ids(45)}, true, countWait},
		{calendar.KindEvent, 1, fields{"tags": ids(45)}, false, 0},
		{calendar.KindEvent, 1, nil, true, 0},
		{calendar.KindTag, 2, nil, true, countWait},
		{calendar.KindTag, 1, nil, true, 0},
		{calendar.KindVenue, 2, nil, true, 0},
	} {
		got := wait(t, 0, func(ctx context.Context, service *Service, _ *fakeRecords) string {
			service.settings.LocalIndex = tt.local
			service.AwaitCounts(ctx, &calendar.Record{ID: 900, Kind: tt.kind, Version: tt.version, Fields: tt.fields}, 2)
			return ""
		})
		if got != " after "+tt.waits.String() {
			t.Errorf("%+v: waits%s", tt, got)
		}
	}
}

// TestViewsWithoutReadModel: single records are read, with the last known counts, while the
// read model is out of reach or does not answer.
func TestViewsWithoutReadModel(t *testing.T) {
	t.Parallel()
	for what, fault := range map[string]error{"does not answer": nil, "out of reach": readmodel.ErrUnavailable, "another fault": errors.New("a fault")} {
		synctest.Test(t, func(t *testing.T) {
			service, store, index, _ := setup(t, world(t))
			if _, err := viewed(t, service, store.byID[31], EmbedAll); err != nil {
				t.Fatal(err)
			}
			index.put() // another generation
			index.fault = func(ctx context.Context) error {
				if fault == nil {
					<-ctx.Done()
					return ctx.Err()
				}
				return fault
			}
			from := time.Now()
			view, err := viewed(t, service, store.byID[31], EmbedAll)
			if waited := time.Since(from); waited > countsLimit || (err != nil) != (what == "another fault") || err == nil && view.Count != 1 {
				t.Errorf("%s: %d events, %v after %s", what, view.Count, err, waited)
			}
		})
	}
}

// TestMark: the mark, of which the ETag is made, follows what a view embeds.
func TestMark(t *testing.T) {
	t.Parallel()
	seen := map[uint64]int{}
	for i, change := range []func(view *View){
		func(*View) {},
		func(view *View) { view.Status = calendar.StatusFuture },
		func(view *View) { view.Blanked = true },
		func(view *View) { view.Count = 1 },
		func(view *View) { view.Venues[0].Record.Version++ },
		func(view *View) { view.Venues[0].Status = calendar.StatusPrivate },
		func(view *View) { view.Organizers, view.Venues = append(view.Venues, view.Organizers...), nil },
		func(view *View) { view.Categories[0].Count++ },
		func(view *View) { view.Tags = nil },
	} {
		of := func(kind calendar.Kind, id calendar.ID) []LinkedView {
			return []LinkedView{{Record: record(t, kind, id, "x", nil), Status: calendar.StatusPublish}}
		}
		view := View{
			Record: record(t, calendar.KindEvent, 1, "x", nil), Venues: of(calendar.KindVenue, 2), Organizers: of(calendar.KindOrganizer, 3),
			Categories: of(calendar.KindCategory, 4), Tags: of(calendar.KindTag, 6),
		}
		change(&view)
		if other, known := seen[view.mark()]; known {
			t.Errorf("changes %d and %d have one mark", i, other)
		}
		seen[view.mark()] = i
	}
}

// TestHeavyLinks: an event that links to more text than an answer may have is given up
// before all of it is loaded, in lists as in views; what is not wanted is not loaded, and what
// the caller does not see counts for nothing.
func TestHeavyLinks(t *testing.T) {
	t.Parallel()
	text := calendar.Text{calendar.LangEN: strings.Repeat("x", 10_000)}
	var links []calendar.ID
	var records []*calendar.Record
	for id := calendar.ID(1000); id < 2000; id++ {
		records = append(records, record(t, calendar.KindVenue, id, "Hall", fields{"description": text}))
		links = append(links, id)
	}
	fair := event(t, 1, "Fair", "2030-05-10 10:00:00", "2030-05-10 12:00:00", fields{"venue": links})
	service, store, index, _ := setup(t, append(records, fair))
	service.settings.MaxAnswer = 800_000
	want := func(what string, embeds Embeds, sent string, tooLarge bool, limit int) {
		t.Helper()
		store.asked.Store(0)
		index.fetched = 0
		_, err := viewed(t, service, fair, embeds)
		_, _, listErr := list(t, service, anonymous, input(sent))
		if n := int(store.asked.Load()); errors.Is(err, ErrTooLarge) != tooLarge || errors.Is(listErr, ErrTooLarge) != tooLarge || max(n, index.fetched) > limit {
			t.Errorf("%s: %v after %d records, the list %v after %d", what, err, n, listErr, index.fetched)
		}
	}
	want("all", EmbedAll, "", true, loadedAtOnce)
	want("no venues", EmbedsOf([]string{"title", "tags"}), "_fields=title", false, 0)
	for _, r := range records[10:] {
		r.Fields["status"] = string(calendar.StatusDraft)
	}
	index.put(records...)
	want("drafts", EmbedAll, "", false, 2000)
}

// TestViewMoves: whatever a view is asked when it finds that it moved, the answer is that of
// the next one.
func TestViewMoves(t *testing.T) {
	t.Parallel()
	records, pointers := world(t), regexp.MustCompile("0x[0-9a-f]+")
	shown := func(answer any) string { return pointers.ReplaceAllString(fmt.Sprintf("%+v", answer), "") }
	parsed := func(service *Service, list string, input calendar.Input) *Criteria {
		request := Request{Kind: calendar.KindEvent, Input: input, Lang: calendar.LangEN}
		if list != "" {
			request.Params = Params(list)
		}
		criteria, err := service.Parse(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return criteria
	}
	for name, ask := range map[string]func(service *Service) (any, error){
		"facets and a circle": func(service *Service) (any, error) {
			return service.Run(t.Context(), parsed(service, "", calendar.Input{"facets": "categories,city,venue,month", "geoloc_lat": "44.1", "geoloc_lng": "-69.1", "geoloc_radius": "20000"}))
		},
		"map": func(service *Service) (any, error) {
			return service.Clusters(t.Context(), parsed(service, "map", calendar.Input{"zoom": "8"}))
		},
		"suggestions": func(service *Service) (any, error) {
			suggested, _, err := service.Suggest(t.Context(), parsed(service, "suggest", calendar.Input{"q": "a"}))
			return suggested, err
		},
		"months": func(service *Service) (any, error) { return service.Months(t.Context()) },
	} {
		var want any
		for at, last := 0, 1; at <= last; at++ { // 0: it does not move
			service, _, index, _ := setup(t, records)
			var calls atomic.Int64
			index.moved = func() error {
				if calls.Add(1) == int64(at) {
					return readmodel.ErrViewMoved
				}
				return nil
			}
			got, err := ask(service)
			if at == 0 {
				want, last = got, int(calls.Load())
			}
			if diff := cmp.Diff(shown(want), shown(got)); err != nil || diff != "" {
				t.Errorf("%s, moved at %d: %v\n%s", name, at, err, diff)
			}
		}
	}
}
