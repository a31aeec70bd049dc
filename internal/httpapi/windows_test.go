package httpapi_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

const wallForm = "2006-01-02 15:04:05"

// TestRandomWindows asks lists of events for random windows, on a day with a
// change of the clock, and holds them against the sentences of section 4.6 over
// the dates that single answers show.
func TestRandomWindows(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	site, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, time.March, 8, 6, 59, 0, 0, time.UTC) // 01:59, a minute before the gap
	w := world.New(t, world.Options{Clock: world.NewClock(now), Site: site})
	rng := rand.New(rand.NewPCG(46, 1))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)

	var events []shownEvent
	for range 150 {
		start := now.Add(time.Duration(rng.IntN(100)-50) * time.Hour)
		if rng.IntN(6) == 0 {
			start = start.AddDate(2, 0, rng.IntN(3)-1)
		}
		made := editor.Event("Event", obj{
			"start_date": start.Format(wallForm),
			"end_date":   start.Add(time.Duration(rng.IntN(30)) * time.Hour).Format(wallForm),
			"timezone":   pick("UTC", "America/New_York", "Asia/Tokyo", "UTC+5.5", "Pacific/Kiritimati", "UTC-12", "Australia/Lord_Howe"),
			"all_day":    rng.IntN(6) == 0,
		})
		events = append(events, shownEvent{
			id: made.ID(), start: clock(made, "start_date"), end: clock(made, "end_date"),
			utcStart: clock(made, "utc_start_date"), utcEnd: clock(made, "utc_end_date"),
		})
	}
	slices.SortFunc(events, func(a, b shownEvent) int {
		return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.id, b.id))
	})

	found := 0
	for range 250 {
		values := url.Values{"per_page": {"100"}}
		var bounds []windowBound
		strict := rng.IntN(2) == 0
		if strict {
			values.Set("strict_dates", pick("true", "1", "ON"))
		}
		for _, name := range []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"} {
			if rng.IntN(4) > 0 {
				continue
			}
			event := events[rng.IntN(len(events))]
			bound := windowBound{name: name, instant: rng.IntN(2) == 0}
			bound.at = event.of(name, bound.instant).Add(time.Duration(rng.IntN(3)-1) * time.Second)
			sent := bound.at.Format(pick(wallForm, "2006-01-02T15:04:05", "Jan 2, 2006 3:04:05pm", "01/02/2006 15:04:05"))
			if bound.instant {
				zone := time.FixedZone("", rng.IntN(24)*1800-6*3600)
				sent = pick(bound.at.In(zone).Format("2006-01-02T15:04:05Z07:00"), bound.at.In(zone).Format("2006-01-02 15:04:05-0700"), fmt.Sprint(bound.at.Unix()))
			} else if bound.at.Hour() == 2 && bound.at.Format("01-02") == "03-08" {
				bound.at = bound.at.Add(time.Hour) // in the gap
			}
			values.Set(name, sent)
			bounds = append(bounds, bound)
		}
		for i := range bounds {
			if !strict {
				bounds[i].widen(site)
			}
		}
		bounds = append(bounds, defaultBounds(bounds, strict, time.Date(2026, time.March, 8, 0, 0, 0, 0, time.UTC))...)
		var want []calendar.ID
		for _, event := range events {
			if !slices.ContainsFunc(bounds, func(bound windowBound) bool { return !bound.admits(event) }) {
				want = append(want, event.id)
			}
		}
		got := nobody.Read("/events?" + values.Encode()).IDs()
		if len(want) > 100 {
			want = want[:100]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v\ngot  %v\nwant %v", values, got, want)
		}
		found += len(want)
	}
	if found < 1000 {
		t.Errorf("only %d events found: the windows try nothing", found)
	}
}

// shownEvent is an event by the dates of its answer, read as if in UTC.
type shownEvent struct {
	id                           calendar.ID
	start, end, utcStart, utcEnd time.Time
}

// of returns the date that a parameter is compared with.
func (shownEvent shownEvent) of(name string, instant bool) time.Time {
	switch start := strings.HasPrefix(name, "start"); {
	case start && instant:
		return shownEvent.utcStart
	case start:
		return shownEvent.start
	case instant:
		return shownEvent.utcEnd
	default:
		return shownEvent.end
	}
}

// windowBound is a date parameter with its value.
type windowBound struct {
	name    string
	instant bool // compared with UTC times
	at      time.Time
}

// widen moves the value to the end of its day that section 4.6 names.
func (windowBound *windowBound) widen(site *time.Location) {
	zone := time.UTC
	if windowBound.instant {
		zone = site
	}
	y, month, d := windowBound.at.In(zone).Date()
	if windowBound.name == "start_date" {
		windowBound.at = time.Date(y, month, d, 0, 0, 0, 0, zone)
	} else {
		windowBound.at = time.Date(y, month, d+1, 0, 0, 0, 0, zone).Add(-time.Second)
	}
}

func (windowBound *windowBound) admits(shownEvent shownEvent) bool {
	c := shownEvent.of(windowBound.name, windowBound.instant).Compare(windowBound.at)
	switch windowBound.name {
	case "start_date":
		return c >= 0
	case "end_date":
		return c <= 0
	case "starts_before", "ends_before":
		return c < 0
	default:
		return c > 0
	}
}

// defaultBounds are the defaults besides what was sent.
func defaultBounds(sent []windowBound, strict bool, today time.Time) []windowBound {
	has := map[string]bool{}
	for _, bound := range sent {
		has[bound.name] = true
	}
	if has["starts_before"] || has["starts_after"] || has["ends_before"] || has["ends_after"] {
		return nil
	}
	var out []windowBound
	if !has["start_date"] {
		bound := windowBound{name: "start_date", at: today}
		if strict {
			bound.at = today.Add(24*time.Hour - time.Minute)
		}
		out = append(out, bound)
	}
	if !has["end_date"] {
		out = append(out, windowBound{name: "end_date", at: today.AddDate(2, 0, 1).Add(-time.Second)})
	}
	return out
}

func clock(response *world.Response, name string) time.Time {
	instant, err := time.Parse(wallForm, response.String(name))
	if err != nil {
		panic(err)
	}
	return instant
}
