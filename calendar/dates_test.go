package calendar

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zoneOf(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, ok := ParseZone(name)
	if !ok {
		tb.Fatalf("zone %q is not known", name)
	}
	return z.Location
}

func wallOf(tb testing.TB, s string) Wall {
	tb.Helper()
	w, err := ParseWall(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func TestParseDateForms(t *testing.T) {
	t.Parallel()
	// Wednesday, 2026-03-04, 14:05:06 in New York.
	now := time.Date(2026, 3, 4, 19, 5, 6, 789, time.UTC)
	ny := zoneOf(t, "America/New_York")
	tests := []struct{ in, want string }{
		{"2026-12-01", "2026-12-01 00:00:00"},
		{"  2026-12-01\u00a0", "2026-12-01 00:00:00"},
		{"2026-12-01 09:30", "2026-12-01 09:30:00"},
		{"2026-12-01   9:30:15", "2026-12-01 09:30:15"},
		{"2026-12-01 9am", "2026-12-01 09:00:00"},
		{"2026-12-01 9:30 PM", "2026-12-01 21:30:00"},
		{"2026-12-01 12:00:01AM", "2026-12-01 00:00:01"},
		{"2026-12-01 12pm", "2026-12-01 12:00:00"},
		{"2026-12-01 00:00", "2026-12-01 00:00:00"},
		{"2026-12-01T09:30:00", "2026-12-01 09:30:00"},
		{"2026-12-01t9:30", "2026-12-01 09:30:00"},
		{"2026-12-01T09:30:00-05:00", "2026-12-01 09:30:00"},
		{"2026-12-01T09:30:00Z", "2026-12-01 04:30:00"},
		{"2026-12-01 09:30Z", "2026-12-01 04:30:00"},
		{"2026-12-01 09:30+0530", "2026-11-30 23:00:00"},
		{"2026-12-01T09:30:00.999Z", "2026-12-01 04:30:00"},
		{"2026-12-01T09:30:00.123456", "2026-12-01 09:30:00"},
		{"2026-12-01 9:30:15.9", "2026-12-01 09:30:15"},
		{"2026-12-01 09:30:00.5+05:30", "2026-11-30 23:00:00"},
		{"20270301", "2027-03-01 00:00:00"},
		{"18000101", "1800-01-01 00:00:00"},
		{"21991231", "2199-12-31 00:00:00"},
		{"20261201T093000", "2026-12-01 09:30:00"},
		{"20261201t0930", "2026-12-01 09:30:00"},
		{"20261201T0930+02:00", "2026-12-01 02:30:00"},
		{"20261201T093000Z", "2026-12-01 04:30:00"},
		{"20261201T093000-0500", "2026-12-01 09:30:00"},
		{"17991231", "1970-07-28 01:33:51"}, // Unix seconds
		{"22000101", "1970-09-12 11:08:21"},
		{"1904670000", "2030-05-10 15:00:00"},
		{"10000", "1969-12-31 21:46:40"},
		{"now", "2026-03-04 14:05:06"},
		{"NOW", "2026-03-04 14:05:06"},
		{"today", "2026-03-04 00:00:00"},
		{"tomorrow 9am", "2026-03-05 09:00:00"},
		{"yesterday 23:59:59", "2026-03-03 23:59:59"},
		{"+5 days 11am", "2026-03-09 11:00:00"},
		{"+1 day", "2026-03-05 14:05:06"},
		{"-2 weeks", "2026-02-18 14:05:06"},
		{"+1 Month 0:00", "2026-04-04 00:00:00"},
		{"-3 years", "2023-03-04 14:05:06"},
		{"monday", "2026-03-09 00:00:00"},
		{"Wednesday", "2026-03-04 00:00:00"},
		{"this wednesday 4 pm", "2026-03-04 16:00:00"},
		{"next wednesday 4pm", "2026-03-11 16:00:00"},
		{"next thursday", "2026-03-05 00:00:00"},
		{"last wednesday", "2026-02-25 00:00:00"},
		{"last tuesday 7:30", "2026-03-03 07:30:00"},
		{"Dec 1 2026 9am", "2026-12-01 09:00:00"},
		{"Dec 1, 2026", "2026-12-01 00:00:00"},
		{"december 01,2026 9:15 pm", "2026-12-01 21:15:00"},
		{"1 December 2026", "2026-12-01 00:00:00"},
		{"29 feb 2028 18:00", "2028-02-29 18:00:00"},
		{"12/01/2026", "2026-12-01 00:00:00"},
		{"12/01/2026 9am", "2026-12-01 09:00:00"},
		{"1970-01-01 00:00:00", "1970-01-01 00:00:00"},
		{"0001-01-02", "0001-01-02 00:00:00"},
		{"9999-12-31", "9999-12-31 00:00:00"},
		{"2026-03-08 02:30", "2026-03-08 03:30:00"}, // gap
		{"2026-11-01 01:30", "2026-11-01 01:30:00"}, // overlap
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			d, ok := ParseDate(tt.in)
			if !ok {
				t.Fatalf("ParseDate(%q) refuses it", tt.in)
			}
			if got := d.Wall(now, ny).String(); got != tt.want {
				t.Errorf("Wall of %q: got %s, want %s", tt.in, got, tt.want)
			}
			if got := WallOf(d.Instant(now, ny).In(ny)).String(); got != tt.want {
				t.Errorf("Instant of %q: shows %s, want %s", tt.in, got, tt.want)
			}
			if w, utc := d.Wall(now, ny), WallOf(d.Instant(now, ny)); !w.InYears() || !utc.InYears() {
				t.Errorf("%q is said to be out of range", tt.in)
			}
		})
	}
}

func TestParseDateRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "2026-02-30", "2026", "12", "1234", "-100000", "soonish", "9am", "09:30", "2026-13-01", "2026-00-10",
		"2026-12-00", "2026-1-1", "20261-01-01", "0000-01-01", "2026-12-01 24:00", "2026-12-01 09:60",
		"2026-12-01 09:30:60", "2026-12-01T9am", "2026-12-01 13pm", "2026-12-01 0am", "2026-12-01 9", "2026-12-01 9:3",
		"2026-12-01 09:30 -05:00", "2026-12-01Z", "2026-12-01 9amZ", "2026-12-01T09:30:00,5", "2026-12-01T09:30.5Z", "2026-12-01T09:30.5",
		"2026-12-01 9:30:00.5am", "2026-12-01 9:30:00.5 am", "2026-12-01T09:30:00.", "today 9:30:00.5", "Dec 1 2026 9:30:00.5",
		"20300230", "20301301", "20260000", "20261201 0930", "20261201 9am", "20261201T", "20261201T09", "20261201T09300", "20261201T0930.5",
		"20261201T093000.5", "20261201T2400", "20261201T0960", "20261201T09:30", "20261201T0930+2", "20261201Z", "17991231T0930", "2026120T0930",
		"2026-12-01T09:30.5+05:00", "2026-12-01T09:30:00.Z", "2026-12-01T09:30:00+5", "2026-12-01T09:30:00+05:60",
		"2026-12-01T09:30:00+24:00", "2026-12-01T 09:30", "2026-12-01T", "2026-12-01\t09:30", "now 9am", "today tomorrow",
		"+5", "+ 5 days", "5 days", "+5days", "+5 fortnights", "+1.5 days", "+99999999 days", "+5 days 11am x",
		"next", "next month", "next week", "last", "this 9am", "mon", "next mon", "first monday",
		"Dec 1", "Dec 2026", "Dec 1st 2026", "Sept 1 2026", "1 Dec 26", "Dec 32 2026", "Feb 29 2026", "Dec 1 , , 2026",
		"1, Dec 2026", "1 Dec, 2026", "1/2/2026", "13/01/2026", "12/1/2026", "12-01-2026", "2026/12/01",
		"99999999999999999999", "253402300800", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
		"２０２６-12-01", "toda\u212A", "2026-12-01 09:30:00 UTC", "@1904670000", "midnight", "noon", "null",
		"2026-12-01, 9am", "Dec 001 2026",
	} {
		if d, ok := ParseDate(in); ok {
			t.Errorf("ParseDate(%q) = %+v, want it refused", in, d)
		}
	}
}

func TestDateKinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in            string
		instant, word bool
	}{
		{"2026-12-01", false, false},
		{"Dec 1 2026", false, false},
		{"1904670000", true, false},
		{"2026-12-01T09:30Z", true, false},
		{"now", false, true},
		{"today", false, true},
		{"+1 week", false, true},
		{"friday", false, true},
	}
	for _, tt := range tests {
		d, ok := ParseDate(tt.in)
		if !ok || d.IsInstant() != tt.instant || d.IsWord() != tt.word {
			t.Errorf("%q: ok %v, instant %v, word %v; want true, %v, %v", tt.in, ok, d.IsInstant(), d.IsWord(), tt.instant, tt.word)
		}
	}
}

func TestDateWordsInZone(t *testing.T) {
	t.Parallel()
	// 23:30 UTC of the 30th is the 31st in Tokyo.
	now := time.Date(2026, 1, 30, 23, 30, 0, 0, time.UTC)
	tests := []struct{ in, zone, want string }{
		{"today", "UTC", "2026-01-30 00:00:00"},
		{"today", "Asia/Tokyo", "2026-01-31 00:00:00"},
		{"+1 month", "Asia/Tokyo", "2026-02-28 08:30:00"},
		{"+1 month", "UTC", "2026-02-28 23:30:00"},
		{"+25 months", "Asia/Tokyo", "2028-02-29 08:30:00"},
		{"-2 months", "Asia/Tokyo", "2025-11-30 08:30:00"},
		{"saturday", "Asia/Tokyo", "2026-01-31 00:00:00"},
		{"last saturday", "Asia/Tokyo", "2026-01-24 00:00:00"},
	}
	for _, tt := range tests {
		d, ok := ParseDate(tt.in)
		if !ok {
			t.Fatalf("%q is refused", tt.in)
		}
		if got := d.Wall(now, zoneOf(t, tt.zone)).String(); got != tt.want {
			t.Errorf("%q in %s: got %s, want %s", tt.in, tt.zone, got, tt.want)
		}
	}
	leap := time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC)
	d, _ := ParseDate("+1 year 9am")
	if got := d.Wall(leap, time.UTC).String(); got != "2029-02-28 09:00:00" {
		t.Errorf("29 February plus a year: got %s", got)
	}
}

func TestNowKeepsSecondReading(t *testing.T) {
	t.Parallel()
	ny := zoneOf(t, "America/New_York")
	now := time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC) // 01:30 for the second time
	d, _ := ParseDate("now")
	if got := d.Instant(now, ny); !got.Equal(now) {
		t.Errorf("now: got %s, want %s", got, now)
	}
}

func TestInYears(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		in, zone string
		want     bool
	}{
		{"9999-12-31 23:59:59", "UTC", true},
		{"9999-12-31 23:59:59", "America/New_York", false}, // year 10000 in UTC
		{"9999-12-31T23:59:59Z", "Asia/Tokyo", false},
		{"0001-01-01", "UTC", true},
		{"0001-01-01", "Asia/Tokyo", false},
		{"+9000 years", "UTC", false},
		{"-3000 years", "UTC", false},
		{"+7000 years", "UTC", true},
	}
	for _, tt := range tests {
		d, ok := ParseDate(tt.in)
		if !ok {
			t.Fatalf("%q is refused", tt.in)
		}
		z := zoneOf(t, tt.zone)
		if got := d.Wall(now, z).InYears() && WallOf(d.Instant(now, z)).InYears(); got != tt.want {
			t.Errorf("%q in %s: in the years %v, want %v", tt.in, tt.zone, got, tt.want)
		}
	}
}

func TestWallToInstant(t *testing.T) {
	t.Parallel()
	tests := []struct{ zone, wall, want string }{
		{"UTC", "2026-07-04 18:30:00", "2026-07-04 18:30:00"},
		{"America/New_York", "2026-07-04 18:30:00", "2026-07-04 22:30:00"},
		{"America/New_York", "2026-03-08 01:59:59", "2026-03-08 06:59:59"},
		{"America/New_York", "2026-03-08 02:30:00", "2026-03-08 07:30:00"}, // shows 03:30
		{"America/New_York", "2026-03-08 03:00:00", "2026-03-08 07:00:00"},
		{"America/New_York", "2026-11-01 01:30:00", "2026-11-01 05:30:00"}, // first reading
		{"America/New_York", "2026-11-01 02:00:00", "2026-11-01 07:00:00"},
		{"Europe/Rome", "2026-10-25 02:30:00", "2026-10-25 00:30:00"},
		{"Australia/Lord_Howe", "2026-10-04 02:15:00", "2026-10-03 15:45:00"}, // gap of half an hour
		{"Pacific/Apia", "2011-12-30 10:00:00", "2011-12-30 20:00:00"},        // a day that was left out
		{"UTC+5.5", "2026-07-04 18:30:00", "2026-07-04 13:00:00"},
	}
	for _, tt := range tests {
		got := WallOf(WallToInstant(wallOf(t, tt.wall), zoneOf(t, tt.zone)))
		if got.String() != tt.want {
			t.Errorf("%s in %s: got %s UTC, want %s", tt.wall, tt.zone, got, tt.want)
		}
	}
}

// The last day of a leap year beyond the table of a zone has odd bounds in the
// standard library.
func TestWallAtTheEndOfLeapYears(t *testing.T) {
	t.Parallel()
	for _, name := range zoneNames {
		z := zoneOf(t, name)
		for _, year := range []int{2040, 2096, 9996} {
			first := time.Date(year, time.December, 30, 0, 0, 0, 0, time.UTC)
			for hour := range 96 {
				at := first.Add(time.Duration(hour) * time.Hour).In(z)
				if back := WallToInstant(WallOf(at), z); !back.Equal(at) {
					t.Fatalf("%s: %s reads back as %s", name, at, back.In(z))
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
		name := rapid.SampledFrom(zoneNames[:]).Draw(t, "zone")
		z, ok := ParseZone(name)
		if !ok {
			t.Fatalf("zone %q is not known", name)
		}
		at := time.Unix(rapid.Int64Range(-3_000_000_000, 5_000_000_000).Draw(t, "unix"), 0).In(z.Location)
		w := WallOf(at)
		back := WallToInstant(w, z.Location)
		if got := WallOf(back.In(z.Location)); got != w || back.After(at) {
			t.Fatalf("%s: %s reads back as %s", name, at, back.In(z.Location))
		}
		free := Wall(rapid.Int64Range(-3_000_000_000, 5_000_000_000).Draw(t, "wall"))
		if got := WallOf(WallToInstant(free, z.Location).In(z.Location)); got < free {
			t.Fatalf("%s: %s moved back to %s", name, free, got)
		}
		d, ok := ParseDate(w.String())
		if !ok || d.Wall(at, z.Location) != w {
			t.Fatalf("%s: %s reads back as %s, %v", name, w, d.Wall(at, z.Location), ok)
		}
		u, ok := ParseDate(at.Format(time.RFC3339))
		if _, offset := at.Zone(); offset%60 == 0 && (!ok || !u.Instant(at, time.UTC).Equal(at)) {
			t.Fatalf("%s reads back as %s, %v", at.Format(time.RFC3339), u.Instant(at, time.UTC), ok)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{
		"2026-12-01", "2026-12-01T09:30:00.5Z", "2026-12-01 9:30 pm", "1904670000", "now", "tomorrow 9am", "+5 days 11am",
		"-3 months", "next wednesday 4pm", "Dec 1, 2026 9am", "1 December 2026", "12/01/2026 9am", "0001-01-01T00:00-1400", ",",
	} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 4, 19, 5, 6, 0, time.UTC)
	z := zoneOf(f, "America/New_York")
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := ParseDate(s)
		if !ok {
			return
		}
		if !d.Wall(now, z).InYears() || !WallOf(d.Instant(now, z)).InYears() {
			return
		}
		w := d.Wall(now, z)
		back, err := ParseWall(w.String())
		if err != nil || back != w {
			t.Fatalf("%q gives the wall clock %s, which reads back as %s: %v", s, w, back, err)
		}
		if WallOf(d.Instant(now, z).In(z)) != w {
			t.Fatalf("%q: wall clock %s, instant %s", s, w, d.Instant(now, z).In(z))
		}
		if again, ok := ParseDate("  " + s + " "); !ok || !again.Equal(d) {
			t.Fatalf("%q reads otherwise with spaces around it", s)
		}
	})
}

// A day ends where the next one begins, and has both readings of a clock.
func TestDay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, day, begin, end string }{
		{"UTC", "2026-05-01", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{"America/Santiago", "2027-04-03", "2027-04-03T03:00:00Z", "2027-04-04T04:00:00Z"}, // 24:00 is 23:00
		{"America/Santiago", "2026-09-05", "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}, // begins at 01:00
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},   // 00:00 twice
		{"America/Toronto", "1919-03-30", "1919-03-30T05:00:00Z", "1919-03-31T04:30:00Z"},  // 23:30 is 00:30
		{"America/Toronto", "1919-03-31", "1919-03-31T04:30:00Z", "1919-04-01T04:00:00Z"},
		{"America/St_Johns", "2010-11-06", "2010-11-06T02:30:00Z", "2010-11-07T03:30:00Z"}, // 00:01 is 23:01 of the day before
		{"America/St_Johns", "2010-11-07", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"},
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"}, // left out
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
		{"Europe/Berlin", "2040-12-31", "2040-12-30T23:00:00Z", "2040-12-31T23:00:00Z"}, // beyond the table, a leap year
	} {
		zone, ok := ParseZone(tc.zone)
		if !ok {
			t.Fatal(tc.zone)
		}
		day, err := time.Parse(time.DateOnly, tc.day)
		if err != nil {
			t.Fatal(err)
		}
		begin, end := Day(WallOf(day)+12*3600, zone.Location)
		if got, want := begin.Format(time.RFC3339)+" "+end.Format(time.RFC3339), tc.begin+" "+tc.end; got != want {
			t.Errorf("%s in %s: %s, want %s", tc.day, tc.zone, got, want)
		}
	}
}
