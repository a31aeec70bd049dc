package demo_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/demo"
)

// events takes the writes of events, and keeps what each is at last.
type events struct {
	mu sync.Mutex
	of map[calendar.ID]calendar.Input
	id calendar.ID
}

func (events *events) Create(_ context.Context, request command.Request) (command.Result, error) {
	events.mu.Lock()
	defer events.mu.Unlock()
	events.id++
	if request.Kind == calendar.KindEvent {
		events.of[events.id] = request.Input
	}
	return command.Result{Record: &calendar.Record{ID: events.id}}, nil
}

func (events *events) Update(_ context.Context, request command.Request) (command.Result, error) {
	events.mu.Lock()
	defer events.mu.Unlock()
	for name, value := range request.Input {
		if input := events.of[request.Target.ID]; input != nil && request.Lang == calendar.LangEN {
			input[name] = value
		}
	}
	return command.Result{Record: &calendar.Record{ID: request.Target.ID}}, nil
}

// TestEveryDay makes the calendar as it is on days of a year: it always has all its
// events, full weekends in this month and the next, and what is featured lies ahead.
func TestEveryDay(t *testing.T) {
	t.Parallel()
	for ago := range 28 {
		now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, 13*ago)
		town, err := demo.Read()
		if err != nil {
			t.Fatal(err)
		}
		w := &events{of: map[calendar.ID]calendar.Input{}}
		filled, err := town.Fill(t.Context(), w, demo.Options{Seed: int64(ago), Now: now})
		if err != nil {
			t.Fatalf("%s: %v", now, err)
		}
		titles, load, featured := map[any]bool{}, map[string]int{}, 0
		for id, input := range w.of {
			titles[input["title"]] = true
			start, err1 := time.Parse(time.DateTime, input["start_date"].(string))
			end, err2 := time.Parse(time.DateTime, input["end_date"].(string))
			if err1 != nil || err2 != nil || end.Before(start) || start.Before(now.AddDate(0, 0, -100)) || start.After(now.AddDate(1, 0, 0)) {
				t.Errorf("%s: %v from %v to %v", now, input["title"], input["start_date"], input["end_date"])
			}
			for moment := start.Truncate(24 * time.Hour); !moment.After(end); moment = moment.AddDate(0, 0, 1) {
				load[moment.Format(time.DateOnly)]++
			}
			if input["featured"] == true {
				featured++
			}
			if (input["featured"] == true || id == filled.Moved) && !start.After(now) {
				t.Errorf("%s: %v is over", now, input["title"])
			}
		}
		if len(w.of) != demo.Events || len(titles) != demo.Events || featured != 3 {
			t.Errorf("%s: %d events with %d titles, %d featured", now, len(w.of), len(titles), featured)
		}
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		for moment := month; moment.Before(month.AddDate(0, 2, 0)); moment = moment.AddDate(0, 0, 1) {
			if n := load[moment.Format(time.DateOnly)]; moment.Weekday()%6 == 0 && n < 8 {
				t.Errorf("%s: %d events on %s", now, n, moment)
			}
		}
	}
}
