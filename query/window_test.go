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
	for _, line := range readLines(t, "windows.txt") {
		row, want, _ := strings.Cut(line, " =>")
		words := strings.SplitN(row+" ", " ", 4)
		site := zone(t, words[2])
		s := parseOnly(t, at(t, words[0]+" "+words[1], site), site)
		c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(strings.TrimSpace(words[3])), Lang: calendar.LangEN})
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		if got := c.run.window.describe(); got != strings.TrimSpace(want) {
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
