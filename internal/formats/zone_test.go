package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/teambition/rrule-go"

	"daybook/calendar"
)

// partsOf returns the lines of the VTIMEZONE of a zone for some years, in short.
func partsOf(tb testing.TB, name string, first, last int) string {
	tb.Helper()
	var z Zones
	z.add(name, zoneOf(tb, name).Location, first, last)
	all := string(z.append(nil))
	_, all, _ = strings.Cut(all, "TZID:"+name+"\r\n")
	all, _, _ = strings.Cut(all, "END:VTIMEZONE")
	return strings.NewReplacer("\r\n", " ", "END:STANDARD\r\n", "\n", "END:DAYLIGHT\r\n", "\n").Replace(all)
}

// LISTINGS 8.14
func TestVTIMEZONE(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		zone        string
		first, last int
		want        string
	}{
		{"Asia/Tokyo", 2026, 2027, "BEGIN:STANDARD DTSTART:19700101T000000 TZOFFSETFROM:+0900 TZOFFSETTO:+0900 TZNAME:JST \n"},
		{"Asia/Tokyo", 1960, 2027, "BEGIN:STANDARD DTSTART:19600101T000000 TZOFFSETFROM:+0900 TZOFFSETTO:+0900 TZNAME:JST \n"},
		{"UTC", 2026, 2026, "BEGIN:STANDARD DTSTART:19700101T000000 TZOFFSETFROM:+0000 TZOFFSETTO:+0000 TZNAME:UTC \n"},
		{
			"America/New_York", 2026, 2030,
			"BEGIN:STANDARD DTSTART:19701101T020000 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU TZOFFSETFROM:-0400 TZOFFSETTO:-0500 TZNAME:EST \n" +
				"BEGIN:DAYLIGHT DTSTART:19700308T020000 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU TZOFFSETFROM:-0500 TZOFFSETTO:-0400 TZNAME:EDT \n",
		},
		{ // the fourth Sunday is the last one in both
			"Europe/Paris", 2026, 2026,
			"BEGIN:STANDARD DTSTART:19701025T030000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU TZOFFSETFROM:+0200 TZOFFSETTO:+0100 TZNAME:CET \n" +
				"BEGIN:DAYLIGHT DTSTART:19700329T020000 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU TZOFFSETFROM:+0100 TZOFFSETTO:+0200 TZNAME:CEST \n",
		},
		{
			"Australia/Sydney", 2026, 2027,
			"BEGIN:STANDARD DTSTART:19700405T030000 RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU TZOFFSETFROM:+1100 TZOFFSETTO:+1000 TZNAME:AEST \n" +
				"BEGIN:DAYLIGHT DTSTART:19701004T020000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU TZOFFSETFROM:+1000 TZOFFSETTO:+1100 TZNAME:AEDT \n",
		},
		{
			"America/New_York", 2006, 2007,
			"BEGIN:STANDARD DTSTART:20060101T000000 TZOFFSETFROM:-0500 TZOFFSETTO:-0500 TZNAME:EST \n" +
				"BEGIN:DAYLIGHT DTSTART:20060402T020000 TZOFFSETFROM:-0500 TZOFFSETTO:-0400 TZNAME:EDT \n" +
				"BEGIN:STANDARD DTSTART:20061029T020000 TZOFFSETFROM:-0400 TZOFFSETTO:-0500 TZNAME:EST \n" +
				"BEGIN:DAYLIGHT DTSTART:20070311T020000 TZOFFSETFROM:-0500 TZOFFSETTO:-0400 TZNAME:EDT \n" +
				"BEGIN:STANDARD DTSTART:20071104T020000 TZOFFSETFROM:-0400 TZOFFSETTO:-0500 TZNAME:EST \n",
		},
		{ // from the year before the first one
			"Europe/London", 1966, 1966,
			"BEGIN:STANDARD DTSTART:19651024T030000 RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=4SU TZOFFSETFROM:+0100 TZOFFSETTO:+0000 TZNAME:GMT \n" +
				"BEGIN:DAYLIGHT DTSTART:19650321T020000 RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=3SU TZOFFSETFROM:+0000 TZOFFSETTO:+0100 TZNAME:BST \n",
		},
	} {
		got := strings.ReplaceAll(partsOf(t, tc.zone, tc.first, tc.last), "END:STANDARD ", "\n")
		got = strings.ReplaceAll(got, "END:DAYLIGHT ", "\n")
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s %d–%d:\n%s", tc.zone, tc.first, tc.last, diff)
		}
	}
}

// reader reads wall clocks by a VTIMEZONE as a client does: the part that began last.
type reader []struct {
	starts []time.Time
	offset int
}

func readZone(tb testing.TB, text string, last int) reader {
	tb.Helper()
	var r reader
	for chunk := range strings.SplitSeq(text, "BEGIN:") {
		var at time.Time
		offset, rule := 0, ""
		for line := range strings.SplitSeq(chunk, "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "DTSTART":
				at, _ = time.Parse(clockLayout, value)
			case "RRULE":
				rule = value
			case "TZOFFSETTO":
				var h, m, s int
				_, _ = fmt.Sscanf(value[1:], "%2d%2d%2d", &h, &m, &s)
				if offset = h*3600 + m*60 + s; value[0] == '-' {
					offset = -offset
				}
			}
		}
		switch {
		case at.IsZero():
			continue
		case rule == "":
			r = append(r, struct {
				starts []time.Time
				offset int
			}{[]time.Time{at}, offset})
		default:
			set, err := rrule.StrToRRule("DTSTART:" + at.Format(stampLayout) + "\nRRULE:" + rule)
			if err != nil {
				tb.Fatal(err)
			}
			r = append(r, struct {
				starts []time.Time
				offset int
			}{set.Between(at, time.Date(last+1, 1, 1, 0, 0, 0, 0, time.UTC), true), offset})
		}
	}
	return r
}

func (r reader) offset(w calendar.Wall) (offset int, found bool) {
	var best time.Time
	for _, p := range r {
		for _, s := range slices.Backward(p.starts) {
			if !s.After(w.UTC()) {
				if s.After(best) {
					best, offset, found = s, p.offset, true
				}
				break
			}
		}
	}
	return offset, found
}

// Every wall clock of the years that is written with its zone, read by the VTIMEZONE,
// gives its moment: in zones with all kinds of rules.
func TestVTIMEZONEReads(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"America/New_York", "Europe/Paris", "Europe/Dublin", "Europe/London", "Africa/Casablanca", "Asia/Jerusalem", "Asia/Tehran", "America/Sao_Paulo",
		"Antarctica/Troll", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Gaza", "America/Caracas", "Europe/Lisbon", "Europe/Istanbul", "Africa/Cairo",
		"Asia/Kathmandu", "America/Santiago", "Europe/Moscow", "Asia/Pyongyang", "America/Argentina/San_Luis", "America/Havana", "Asia/Singapore", "Africa/Monrovia",
	} {
		l := zoneOf(t, name).Location
		for first := 1940; first < 2045; first += 3 {
			last := first + first%4
			var z Zones
			z.add(name, l, first, last)
			r := readZone(t, string(z.append(nil)), last)
			end := time.Date(last+1, 1, 1, 0, 0, 0, 0, time.UTC)
			for at := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(end); at = at.Add(7 * time.Hour / 2) {
				w := calendar.Wall(at.Unix())
				utc := calendar.WallToInstant(w, l).Unix()
				times := Times{Zone: calendar.Zone{Name: name, Location: l}, Start: w, End: w, UTCStart: calendar.Wall(utc), UTCEnd: calendar.Wall(utc)}
				if !times.zoned() || calendar.WallOf(time.Unix(utc, 0).In(l)) != w { // none such is stored
					continue
				}
				if offset, ok := r.offset(w); !ok || int64(w)-int64(offset) != utc {
					t.Fatalf("%s %d–%d: %v has offset %d, %v, want %d in\n%s", name, first, last, w, offset, ok, int64(w)-utc, z.append(nil))
				}
			}
		}
	}
}
