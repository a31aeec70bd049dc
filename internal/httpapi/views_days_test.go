package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// zoneOf loads a zone.
func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, ok := calendar.ParseZone(name)
	if !ok {
		t.Fatalf("no zone %s", name)
	}
	return zone.Location
}

// dateIn is the day that a clock in a zone shows.
func dateIn(instant time.Time, zone *time.Location) string {
	return instant.In(zone).Format(time.DateOnly)
}

// happening is an event of these tests.
type happening struct {
	id         string
	start, end time.Time
	dates      []string // of an all-day event
	zone       *time.Location
}

// touches are the days that the event touches by the clock of a zone: those of each minute
// from its start on, before its end.
func (happening happening) touches(zone *time.Location) (days []string) {
	if happening.dates != nil {
		return happening.dates
	}
	add := func(instant time.Time) {
		if day := dateIn(instant, zone); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	add(happening.start)
	for instant := happening.start.Add(time.Minute); instant.Before(happening.end); instant = instant.Add(time.Minute) {
		add(instant)
	}
	return days
}

// TestEventsStandOnTheDaysTheyTouch: in zones with days of 23 or 25 hours, without a midnight
// or left out, each event stands on exactly the days that it touches: by its own clock and by
// that of the zone, and every drawer holds the same (PAGES P1.2, P1.4).
func TestEventsStandOnTheDaysTheyTouch(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	for _, c := range []struct {
		zone  string
		dates []string
	}{
		{"America/Santiago", []string{"2027-04-03", "2026-09-06"}}, // 25 hours; no midnight
		{"Africa/Cairo", []string{"2030-10-31", "2030-04-26"}},
		{"Asia/Beirut", []string{"2026-10-24", "2027-03-28"}},
		{"America/Havana", []string{"2026-11-01", "2027-03-14"}}, // two midnights; none
		{"Atlantic/Azores", []string{"2026-10-25", "2027-03-28"}},
		{"America/Nuuk", []string{"2026-10-24", "2027-03-27"}},
		{"Asia/Almaty", []string{"2024-02-29"}},
		{"Asia/Tehran", []string{"2021-09-21", "2021-03-22"}},
		{"America/Sao_Paulo", []string{"2018-11-04", "2018-02-17"}},
		{"Asia/Kathmandu", []string{"1986-01-01"}},    // the first quarter of an hour is left out
		{"America/Toronto", []string{"1919-03-31"}},   // begins at 00:30
		{"Pacific/Apia", []string{"2011-12-30"}},      // left out
		{"Pacific/Kwajalein", []string{"1993-08-21"}}, // left out
		{"Europe/Berlin", []string{"2026-10-25"}},
		{"America/New_York", []string{"2026-11-01"}},
		{"Australia/Lord_Howe", []string{"2027-04-04"}},
		{"Pacific/Kiritimati", []string{"2026-06-30"}},
		{"Pacific/Pago_Pago", []string{"2026-06-30"}},
	} {
		for _, date := range c.dates {
			t.Run(c.zone+" "+date, func(t *testing.T) {
				t.Parallel()
				standsWhereItTouches(t, c.zone, date)
			})
		}
	}
}

func standsWhereItTouches(t *testing.T, name, date string) {
	t.Helper()
	world := viewsWorld(t, pages.Options{ExternalLinks: true})
	zone, editor := zoneOf(t, name), world.As(calendar.Editor).In(t)
	middle, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	begin, next := calendar.Day(calendar.WallOf(middle), zone)
	rng := rand.New(rand.NewPCG(1, uint64(begin.Unix())))
	var all []happening
	add := func(start, end time.Time, in string) {
		made := editor.Event(fmt.Sprintf("Event %d", len(all)), obj{"start_date": start.UTC().Format(time.RFC3339), "end_date": end.UTC().Format(time.RFC3339), "timezone": in})
		all = append(all, happening{id: idOf(made), start: start, end: end, zone: zoneOf(t, in)})
	}
	hour := time.Hour
	for _, instant := range []time.Time{begin, next} { // around both ends of the day
		add(instant, instant, name)
		add(instant, instant.Add(hour), name)
		add(instant.Add(-hour), instant, name)
		add(instant.Add(-hour/2), instant.Add(-hour/4), name)
		add(instant.Add(-time.Minute), instant.Add(time.Minute), name)
		add(instant.Add(-3*hour), instant, "Asia/Tokyo")
	}
	add(begin, next, name)
	add(begin.Add(-30*hour), next.Add(30*hour), name)
	for range 25 {
		start := begin.Add(time.Duration(rng.IntN(60*4)-30*4) * hour / 4)
		length := []time.Duration{0, hour / 4, hour, 5 * hour, 24 * hour, 25 * hour, 60 * hour}[rng.IntN(7)]
		add(start, start.Add(length), []string{name, name, "UTC", "America/Los_Angeles"}[rng.IntN(4)])
	}
	for _, in := range []string{name, "Pacific/Kiritimati", "Pacific/Pago_Pago"} {
		for _, day := range []time.Time{middle.AddDate(0, 0, -1), middle, middle.AddDate(0, 0, 1)} {
			at := day.Format(time.DateOnly)
			made := editor.Event("All day "+at, obj{"start_date": at, "end_date": at, "all_day": true, "timezone": in})
			at = made.String("start_date")[:len(at)] // a day that is left out is the next one
			all = append(all, happening{id: idOf(made), dates: []string{at}})
		}
	}
	for _, tz := range []string{"", name} {
		query := ""
		if tz != "" {
			query = "?tz=" + url.QueryEscape(tz)
		}
		days := map[string][]string{}
		for _, h := range all {
			clock := h.zone
			if tz != "" {
				clock = zone
			}
			for _, day := range h.touches(clock) {
				days[day] = append(days[day], h.id)
			}
		}
		month := readPage(t, world, "/events/month/"+date[:7]+"/"+query)
		for n := -2; n <= 2; n++ {
			day := middle.AddDate(0, 0, n).Format(time.DateOnly)
			want := slices.Sorted(slices.Values(days[day]))
			one := readPage(t, world, "/events/day/"+day+"/"+query)
			if diff := cmp.Diff(want, slices.Sorted(slices.Values(one.onDay(day)))); diff != "" {
				t.Errorf("page of %s%s (want, got):\n%s", day, query, diff)
			}
			if diff := cmp.Diff(want, drawnIDs(t, world, one)); diff != "" {
				t.Errorf("%s of %s%s (want, got):\n%s", one.export("json"), day, query, diff)
			}
			for _, format := range []string{"fullcalendar", "csv", "ics"} {
				if u := one.export(format); u != "" {
					if got := world.As(calendar.Anonymous).Do(http.MethodGet, below(t, u), nil).Want(http.StatusOK).Header.Get("X-Total"); got != strconv.Itoa(len(want)) {
						t.Errorf("%s%s has %d events, %s %s", day, query, len(want), u, got)
					}
				}
			}
			if day[:7] != date[:7] {
				continue
			}
			n := 0 // of the month: what is shorter than 24 hours stands on the first of its days there only
			for _, h := range all {
				clock := h.zone
				if tz != "" {
					clock = zone
				}
				on := slices.DeleteFunc(slices.Clone(h.touches(clock)), func(day string) bool { return day[:7] != date[:7] })
				if long := h.dates == nil && h.end.Sub(h.start) >= 24*time.Hour; slices.Contains(on, day) && (long || slices.Min(on) == day) {
					n++
				}
			}
			cell := month.one("td[data-date='" + day + "']")
			if label, want := valueOf(under(cell, "a")[0], "aria-label"), fmt.Sprintf(", %d event", n); !strings.Contains(label, want) {
				t.Errorf("%s in the month%s: %s, want %s", day, query, label, want)
			}
		}
		if got := drawnIDs(t, world, month); len(got) != month.total() {
			t.Errorf("month%s: %d events, %s has %d", query, month.total(), month.export("json"), len(got))
		}
	}
	// Lists have no days to look at, but their window is the same day.
	for n := -1; n <= 1; n++ {
		day := middle.AddDate(0, 0, n).Format(time.DateOnly)
		if n == 0 && begin.Equal(next) { // is read as the next one
			continue
		}
		timed := func(id string) bool { // in lists all-day events are where their instants are
			return slices.ContainsFunc(all, func(h happening) bool { return h.id == id && h.dates == nil })
		}
		var want []string
		for _, h := range all {
			if timed(h.id) && slices.Contains(h.touches(zone), day) {
				want = append(want, h.id)
			}
		}
		slices.Sort(want)
		for _, path := range []string{"/events/", "/search/", "/events/map/", "/embed/events/"} {
			sheet := readPage(t, world, path+"?tz="+url.QueryEscape(name)+"&overlap=true&per_page=100&start_date="+day+"&end_date="+day)
			got := slices.DeleteFunc(slices.Sorted(slices.Values(idsUnder(sheet.results()))), func(id string) bool { return !timed(id) })
			if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
				t.Errorf("%s of %s (want, got):\n%s", path, day, diff)
			}
		}
	}
}

// drawnIDs are the ids of the JSON of the drawer of a page, all pages of it.
func drawnIDs(t *testing.T, w *world.World, sheet sheet) (ids []string) {
	t.Helper()
	nobody := w.As(calendar.Anonymous).In(t)
	for next := below(t, sheet.export("json")); ; {
		response := nobody.Do(http.MethodGet, next, nil).Want(http.StatusOK)
		ids = append(ids, eventIDs(response)...)
		if !response.Has("next_rest_url") {
			slices.Sort(ids)
			return ids
		}
		next = below(t, response.String("next_rest_url"))
	}
}

// eventIDs are the ids of the events of a list.
func eventIDs(response *world.Response) (ids []string) {
	for _, id := range response.IDs() {
		ids = append(ids, id.String())
	}
	return ids
}
