package calendar

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "dates.txt", "forms", 5) {
		in, want, kind := row[0], row[1], row[2]
		now, location := time.Date(2026, 3, 4, 19, 5, 6, 789, time.UTC), newYork
		if row[3] != "" {
			now, location = wall(t, row[4]).UTC(), zone(t, row[3]).Location
		}
		date, ok := ParseDate(in)
		if ok != (want != "refused") {
			t.Errorf("%q: got %+v, %v; want %s", in, date, ok, want)
		}
		if !ok {
			continue
		}
		if date.IsInstant() != (kind == "instant") || date.IsWord() != (kind == "word") {
			t.Errorf("%q: instant %v, word %v; want %s", in, date.IsInstant(), date.IsWord(), kind)
		}
		shown, instant := date.Wall(now, location), date.Instant(now, location)
		if years := shown.InYears() && WallOf(instant).InYears(); years != (want != "out of range") {
			t.Errorf("%q: in the years %v, want %s", in, years, want)
		} else if again := WallOf(instant.In(location)); years && (shown.String() != want || again != shown) {
			t.Errorf("%q: the wall clock is %s, the instant shows %s; want %s", in, shown, again, want)
		}
	}
}

func TestNowKeepsSecondReading(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC) // 01:30 for the second time
	date, _ := ParseDate("now")
	if got := date.Instant(now, newYork); !got.Equal(now) {
		t.Errorf("now: got %s, want %s", got, now)
	}
}

func TestWallToInstant(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "dates.txt", "clocks", 3) {
		if got := WallOf(WallToInstant(wall(t, row[0]), zone(t, row[1]).Location)).String(); got != row[2] {
			t.Errorf("%s in %s: got %s UTC, want %s", row[0], row[1], got, row[2])
		}
	}
}

// The last day of a leap year beyond the table of a zone has odd bounds in the
// standard library.
func TestWallAtTheEndOfLeapYears(t *testing.T) {
	t.Parallel()
	for _, name := range zoneNames {
		location := zone(t, name).Location
		for _, year := range []int{2040, 2096, 9996} {
			first := time.Date(year, time.December, 30, 0, 0, 0, 0, time.UTC)
			for hour := range 96 {
				instant := first.Add(time.Duration(hour) * time.Hour).In(location)
				if back := WallToInstant(WallOf(instant), location); !back.Equal(instant) {
					t.Fatalf("%s: %s reads back as %s", name, instant, back.In(location))
				}
			}
		}
	}
}

// In every zone: what a clock shows at an instant reads back as that instant or
// as an earlier one that the clock shows too; what is in a gap moves forward.
func TestWallRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(zoneNames).Draw(t, "zone")
		zone, ok := ParseZone(name)
		if !ok {
			t.Fatalf("zone %q is not known", name)
		}
		instant := time.Unix(rapid.Int64Range(-3_000_000_000, 5_000_000_000).Draw(t, "unix"), 0).In(zone.Location)
		wall := WallOf(instant)
		back := WallToInstant(wall, zone.Location)
		if got := WallOf(back.In(zone.Location)); got != wall || back.After(instant) {
			t.Fatalf("%s: %s reads back as %s", name, instant, back.In(zone.Location))
		}
		free := Wall(rapid.Int64Range(-3_000_000_000, 5_000_000_000).Draw(t, "wall"))
		if got := WallOf(WallToInstant(free, zone.Location).In(zone.Location)); got < free {
			t.Fatalf("%s: %s moved back to %s", name, free, got)
		}
		date, ok := ParseDate(wall.String())
		if !ok || date.Wall(instant, zone.Location) != wall {
			t.Fatalf("%s: %s reads back as %s, %v", name, wall, date.Wall(instant, zone.Location), ok)
		}
		u, ok := ParseDate(instant.Format(time.RFC3339))
		if _, offset := instant.Zone(); offset%60 == 0 && (!ok || !u.Instant(instant, time.UTC).Equal(instant)) {
			t.Fatalf("%s reads back as %s, %v", instant.Format(time.RFC3339), u.Instant(instant, time.UTC), ok)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, text := range []string{
		"2026-12-01", "2026-12-01T09:30:00.5Z", "2026-12-01 9:30 pm", "1904670000", "now", "tomorrow 9am", "+5 days 11am",
		"-3 months", "next wednesday 4pm", "Dec 1, 2026 9am", "1 December 2026", "12/01/2026 9am", "0001-01-01T00:00-1400", ",",
	} {
		f.Add(text)
	}
	now := time.Date(2026, 3, 4, 19, 5, 6, 0, time.UTC)
	location := newYork
	f.Fuzz(func(t *testing.T, text string) {
		date, ok := ParseDate(text)
		if !ok {
			return
		}
		if !date.Wall(now, location).InYears() || !WallOf(date.Instant(now, location)).InYears() {
			return
		}
		wall := date.Wall(now, location)
		back, err := ParseWall(wall.String())
		if err != nil || back != wall {
			t.Fatalf("%q gives the wall clock %s, which reads back as %s: %v", text, wall, back, err)
		}
		if WallOf(date.Instant(now, location).In(location)) != wall {
			t.Fatalf("%q: wall clock %s, instant %s", text, wall, date.Instant(now, location).In(location))
		}
		if again, ok := ParseDate("  " + text + " "); !ok || again != date {
			t.Fatalf("%q reads otherwise with spaces around it", text)
		}
	})
}

// A day ends where the next one begins, and has both readings of a clock.
func TestDay(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "dates.txt", "days", 4) {
		begin, end := Day(wall(t, row[0]+" 12:00:00"), zone(t, row[1]).Location)
		if got := []string{begin.Format(time.RFC3339), end.Format(time.RFC3339)}; !slices.Equal(got, row[2:4]) {
			t.Errorf("%s in %s: got %s, want %s", row[0], row[1], got, row[2:4])
		}
	}
}
