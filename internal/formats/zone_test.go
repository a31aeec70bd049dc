package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teambition/rrule-go"

	"daybook/calendar"
	"daybook/internal/testkit/golden"
)

// LISTINGS 8.14: a zone is told in as few parts as its rules have: from the year before the
// first one, or by a rule from 1970 on.
func TestVTIMEZONE(t *testing.T) {
	t.Parallel()
	var builder strings.Builder
	for _, row := range []string{
		"Asia/Tokyo 2026 2027", "Asia/Tokyo 1960 2027", "UTC 2026 2026", "America/New_York 2026 2030", "Europe/Paris 2026 2026", "Australia/Sydney 2026 2027",
		"America/New_York 2006 2007", "Europe/London 1966 1966",
	} {
		var name string
		var first, last int
		_, _ = fmt.Sscan(row, &name, &first, &last)
		var zones Zones
		zones.add(name, zoneOf(t, name).Location, first, last)
		fmt.Fprintf(&builder, "# %s\n%s", row, strings.ReplaceAll(string(zones.append(nil)), "\r\n", "\n"))
	}
	golden.Compare(t, "zones.golden", builder.String())
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
		var instant time.Time
		offset, rule := 0, ""
		for line := range strings.SplitSeq(chunk, "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "DTSTART":
				instant, _ = time.Parse(clockLayout, value)
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
		case instant.IsZero():
			continue
		case rule == "":
			r = append(r, struct {
				starts []time.Time
				offset int
			}{[]time.Time{instant}, offset})
		default:
			set, err := rrule.StrToRRule("DTSTART:" + instant.Format(stampLayout) + "\nRRULE:" + rule)
			if err != nil {
				tb.Fatal(err)
			}
			r = append(r, struct {
				starts []time.Time
				offset int
			}{set.Between(instant, time.Date(last+1, 1, 1, 0, 0, 0, 0, time.UTC), true), offset})
		}
	}
	return r
}

func (reader reader) offset(wall calendar.Wall) (offset int, found bool) {
	var best time.Time
	for _, p := range reader {
		for _, moment := range slices.Backward(p.starts) {
			if !moment.After(wall.UTC()) {
				if moment.After(best) {
					best, offset, found = moment, p.offset, true
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
		location := zoneOf(t, name).Location
		for first := 1940; first < 2045; first += 3 {
			last := first + first%4
			var zones Zones
			zones.add(name, location, first, last)
			reader := readZone(t, string(zones.append(nil)), last)
			end := time.Date(last+1, 1, 1, 0, 0, 0, 0, time.UTC)
			for instant := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC); instant.Before(end); instant = instant.Add(7 * time.Hour / 2) {
				wall := calendar.Wall(instant.Unix())
				utc := calendar.WallToInstant(wall, location).Unix()
				times := Times{Zone: calendar.Zone{Name: name, Location: location}, Start: wall, End: wall, UTCStart: calendar.Wall(utc), UTCEnd: calendar.Wall(utc)}
				if !times.zoned() || calendar.WallOf(time.Unix(utc, 0).In(location)) != wall { // none such is stored
					continue
				}
				if offset, ok := reader.offset(wall); !ok || int64(wall)-int64(offset) != utc {
					t.Fatalf("%s %d–%d: %v has offset %d, %v, want %d in\n%s", name, first, last, wall, offset, ok, int64(wall)-utc, zones.append(nil))
				}
			}
		}
	}
}
