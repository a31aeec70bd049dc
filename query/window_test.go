package query

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daybook/calendar"
)

// describe writes a window as the interface does.
func (w *window) describe() string {
	var out []string
	for _, f := range []struct {
		name string
		span span
	}{{"start", w.start}, {"end", w.end}, {"utc start", w.utcStart}, {"utc end", w.utcEnd}} {
		if f.span.min != math.MinInt64 {
			out = append(out, f.name+" >= "+calendar.Wall(f.span.min).String())
		}
		if f.span.max != math.MaxInt64 {
			out = append(out, f.name+" <= "+calendar.Wall(f.span.max).String())
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
	newYork := zone(t, "America/New_York")
	for _, tt := range []struct {
		name, sent, want string
		site             *time.Location
		now              string // site clock
	}{
		// Defaults.
		{name: "no date parameter", want: "start >= 2030-05-01 00:00:00, end <= 2032-05-01 23:59:59"},
		{
			name: "no date parameter, strict", sent: "strict_dates=true",
			want: "start >= 2030-05-01 23:59:00, end <= 2032-05-01 23:59:59",
		},
		{
			name: "start_date only", sent: "start_date=2030-06-02 10:00",
			want: "start >= 2030-06-02 00:00:00, end <= 2032-05-01 23:59:59",
		},
		{
			name: "end_date only", sent: "end_date=2030-06-02 10:00",
			want: "start >= 2030-05-01 00:00:00, end <= 2030-06-02 23:59:59",
		},
		{
			name: "end_date only, strict", sent: "end_date=2030-06-02 10:00&strict_dates=1",
			want: "start >= 2030-05-01 23:59:00, end <= 2030-06-02 10:00:00",
		},
		{name: "starts_before drops both", sent: "starts_before=2030-06-02", want: "start <= 2030-06-02 23:59:58"},
		{name: "starts_after drops both", sent: "starts_after=2030-06-02", want: "start >= 2030-06-03 00:00:00"},
		{name: "ends_before drops both", sent: "ends_before=2030-06-02", want: "end <= 2030-06-02 23:59:58"},
		{name: "ends_after drops both", sent: "ends_after=2030-06-02", want: "end >= 2030-06-03 00:00:00"},
		{
			name: "start_date stays beside ends_after", sent: "ends_after=2030-06-02&start_date=2030-05-05",
			want: "start >= 2030-05-05 00:00:00, end >= 2030-06-03 00:00:00",
		},
		{
			name: "end_date stays beside starts_after", sent: "starts_after=2030-06-02&end_date=2030-07-05",
			want: "start >= 2030-06-03 00:00:00, end <= 2030-07-05 23:59:59",
		},
		{name: "include", sent: "include=7", want: ""},
		{name: "include ignores dates", sent: "include=7&start_date=2030-05-05&ends_after=2030-01-01", want: ""},
		{
			name: "29 February", now: "2028-02-29 12:00:00",
			want: "start >= 2028-02-29 00:00:00, end <= 2030-02-28 23:59:59",
		},
		{
			name: "today is that of the site", site: zone(t, "Asia/Tokyo"), now: "2030-05-02 03:00:00",
			want: "start >= 2030-05-02 00:00:00, end <= 2032-05-02 23:59:59",
		},
		// Whole days.
		{
			name: "whole: start_date", sent: "start_date=2030-05-10 15:00:00&end_date=2031-01-01",
			want: "start >= 2030-05-10 00:00:00, end <= 2031-01-01 23:59:59",
		},
		{
			name: "whole: end_date", sent: "start_date=2030-05-10&end_date=2030-05-10 16:00:00",
			want: "start >= 2030-05-10 00:00:00, end <= 2030-05-10 23:59:59",
		},
		{name: "whole: starts_before", sent: "starts_before=2030-05-10", want: "start <= 2030-05-10 23:59:58"},
		{name: "whole: starts_after", sent: "starts_after=2030-05-10", want: "start >= 2030-05-11 00:00:00"},
		{name: "whole: ends_before", sent: "ends_before=2030-05-10", want: "end <= 2030-05-10 23:59:58"},
		{name: "whole: ends_after", sent: "ends_after=2030-05-10", want: "end >= 2030-05-11 00:00:00"},
		{
			name: "whole: the day of an instant is that of the site", site: newYork,
			sent: "start_date=2030-05-10T02:00:00Z&end_date=2030-05-10T02:00:00Z",
			want: "utc start >= 2030-05-09 04:00:00, utc end <= 2030-05-10 03:59:59",
		},
		{
			name: "whole: a day of 23 hours", site: newYork, sent: "ends_after=2030-03-10T12:00:00Z&starts_before=2030-03-10T12:00:00Z",
			want: "utc start <= 2030-03-11 03:59:58, utc end >= 2030-03-11 04:00:00",
		},
		{
			name: "whole: a day of 25 hours", site: newYork, sent: "ends_after=2030-11-03T12:00:00Z&start_date=2030-11-03T12:00:00Z",
			want: "utc start >= 2030-11-03 04:00:00, utc end >= 2030-11-04 05:00:00",
		},
		{
			name: "whole: the last hour twice", site: zone(t, "America/Sao_Paulo"), sent: "end_date=2018-02-17T12:00:00Z&starts_after=2000-01-01",
			want: "start >= 2000-01-02 00:00:00, utc end <= 2018-02-18 02:59:59",
		},
		// Strict.
		{
			name: "strict: exact", sent: "strict_dates=true&start_date=2030-05-10 15:00:00&end_date=2030-05-11",
			want: "start >= 2030-05-10 15:00:00, end <= 2030-05-11 00:00:00",
		},
		{
			name: "strict: all others", sent: "strict_dates=yes&starts_before=2030-05-10&starts_after=2030-05-01 09:30&ends_before=2030-05-12 1pm&ends_after=2030-05-02",
			want: "start >= 2030-05-01 09:30:01, start <= 2030-05-09 23:59:59, end >= 2030-05-02 00:00:01, end <= 2030-05-12 12:59:59",
		},
		{
			name: "strict: instant", site: newYork, sent: "strict_dates=true&start_date=2030-05-10T09:00:00-04:00&end_date=1904670000",
			want: "utc start >= 2030-05-10 13:00:00, utc end <= 2030-05-10 19:00:00",
		},
		{
			name: "strict: words are on the clock of the site", site: newYork, now: "2030-05-01 13:14:15",
			sent: "strict_dates=true&ends_after=now", want: "end >= 2030-05-01 13:14:16",
		},
		{
			name: "a wall clock and an instant together", sent: "starts_after=2030-05-10&ends_before=2030-05-20T00:00:00Z&strict_dates=on",
			want: "start >= 2030-05-10 00:00:01, utc end <= 2030-05-19 23:59:59",
		},
		{
			name: "two lower bounds: the later one", sent: "start_date=2030-05-10&starts_after=2030-05-03",
			want: "start >= 2030-05-10 00:00:00",
		},
		{name: "before 1970", sent: "starts_before=1960-01-02 03:04", want: "start <= 1960-01-02 23:59:58"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := tt.site
			if site == nil {
				site = time.UTC
			}
			if tt.now == "" {
				tt.now = "2030-05-01 08:00:00"
			}
			s := parseOnly(t, at(t, tt.now, site), site)
			c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(tt.sent), Lang: calendar.LangEN})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.run.window.describe(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
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
				if e.Format != "date-time" && e.Declared != "date" {
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

func TestDefaultWindow(t *testing.T) {
	t.Parallel()
	// 2026-05-01 in the site zone, though not in UTC.
	site := zone(t, "America/New_York")
	start, end := DefaultWindow(at(t, "2026-05-01 22:30:00", site), site)
	got := []string{start.String(), end.String()}
	if d := cmp.Diff([]string{"2026-05-01 23:59:00", "2028-05-01 23:59:59"}, got); d != "" {
		t.Error(d)
	}
}

func TestDayOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := calendar.Wall(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "wall"))
		want := w.String()[:len("2006-01-02")] + " 00:00:00"
		if got := dayOf(w).String(); got != want {
			t.Fatalf("day of %s: got %s, want %s", w, got, want)
		}
	})
}
