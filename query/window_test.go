package query

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
)

// describe writes a window as the interface does.
func (w *window) describe() string {
	var out []string
	for at, name := range []string{"start", "end", "utc start", "utc end"} {
		if w[at].min != math.MinInt64 {
			out = append(out, name+" >= "+calendar.Wall(w[at].min).String())
		}
		if w[at].max != math.MaxInt64 {
			out = append(out, name+" <= "+calendar.Wall(w[at].max).String())
		}
	}
	return strings.Join(out, ", ")
}

// input reads parameters; see testdata/lists/README.md.
func input(query string) calendar.Input {
	in := calendar.Input{}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			in[name] = value
			var decoded any
			if (strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{")) && json.Unmarshal([]byte(value), &decoded) == nil {
				in[name] = decoded
			}
		}
	}
	return in
}

// parseOnly gives a service for tests of Parse alone.
func parseOnly(tb testing.TB, now time.Time, site *time.Location, records ...*calendar.Record) *Service {
	tb.Helper()
	f := &fakeRecords{byID: map[calendar.ID]*calendar.Record{}}
	for _, r := range records {
		f.byID[r.ID] = r
	}
	s, err := New(noIndex{}, f, Options{Site: site, Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Every row of the tables of interface 4.6; "start > x" is written as the next
// second.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, line := range readLines(t, "windows.txt") {
		row, want, _ := strings.Cut(line, " =>")
		words := strings.SplitN(row+" ", " ", 4)
		site := zone(t, words[2])
		s := parseOnly(t, at(t, words[0]+" "+words[1], site), site)
		c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(strings.TrimSpace(words[3])), Lang: calendar.LangEN})
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		if got := c.window.describe(); got != strings.TrimSpace(want) {
			t.Errorf("%s: got %s, want%s", row, got, want)
		}
	}
}

func TestWindowRefusesDates(t *testing.T) {
	t.Parallel()
	s := parseOnly(t, time.Date(2030, 5, 1, 8, 0, 0, 0, time.UTC), nil)
	for _, value := range []string{
		"2026-02-30", "2026", "soonish", "09:30", "2026-01-01 25:00", "+9000 years", "-3000 years", "99999999999999",
	} {
		for _, prefix := range []string{"", "include=4&"} {
			for _, e := range Params(calendar.KindEvent) {
				if e.Format != "date-time" && e.Type != "date" {
					continue
				}
				_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(prefix + e.Name + "=" + value)})
				if got := problems(t, err); len(got) != 1 || got[e.Name] == "" {
					t.Errorf("%s%s=%s: %v", prefix, e.Name, value, got)
				}
			}
		}
	}
}

// TestDaysOf is the table of when in LISTINGS 2, by hand.
func TestDaysOf(t *testing.T) {
	t.Parallel()
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ now, today, tomorrow, weekend, nextWeekend, week, sunWeek, seven, month, nextMonth string }{
		// A Wednesday, where it is still Tuesday in New York.
		{"2024-02-28T03:00:00Z", "02-27 02-27", "02-28 02-28", "03-02 03-03", "03-09 03-10", "02-26 03-03", "02-25 03-02", "02-27 03-04", "02-01 02-29", "03-01 03-31"},
		{"2024-03-01T12:00:00Z", "03-01 03-01", "03-02 03-02", "03-02 03-03", "03-09 03-10", "02-26 03-03", "02-25 03-02", "03-01 03-07", "03-01 03-31", "04-01 04-30"},                                              // Friday
		{"2024-11-02T12:00:00Z", "11-02 11-02", "11-03 11-03", "11-02 11-03", "11-09 11-10", "10-28 11-03", "10-27 11-02", "11-02 11-08", "11-01 11-30", "12-01 12-31"},                                              // Saturday
		{"2024-03-31T12:00:00Z", "03-31 03-31", "04-01 04-01", "03-31 03-31", "04-06 04-07", "03-25 03-31", "03-31 04-06", "03-31 04-06", "03-01 03-31", "04-01 04-30"},                                              // Sunday
		{"2024-12-30T12:00:00Z", "12-30 12-30", "12-31 12-31", "2025-01-04 2025-01-05", "2025-01-11 2025-01-12", "12-30 2025-01-05", "12-29 2025-01-04", "12-30 2025-01-05", "12-01 12-31", "2025-01-01 2025-01-31"}, // Monday
	} {
		now, err := time.Parse(time.RFC3339, tc.now)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{tc.today, tc.tomorrow, tc.weekend, tc.nextWeekend, tc.week, tc.seven, tc.month, tc.nextMonth, tc.sunWeek} {
			word, sunday := "this_week", i == len(Days)
			if !sunday {
				word = Days[i]
			}
			first, last := DaysOf(word, now, newYork, sunday)
			got := first.UTC().Format(time.DateOnly) + " " + last.UTC().Format(time.DateOnly)
			if got = strings.ReplaceAll(got, "2024-", ""); got != want || first%daySeconds != 0 || last%daySeconds != 0 {
				t.Errorf("%s at %s, Sunday first %t: got %s, want %s", word, tc.now, sunday, got, want)
			}
		}
	}
}
