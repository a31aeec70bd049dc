package history

import (
	"encoding/json"
	"testing"
	"time"

	"daybook/calendar"
)

// HISTORY 3.
func TestParsePoint(t *testing.T) {
	t.Parallel()
	site := time.FixedZone("site", -5*3600)
	now := time.Date(2026, 3, 5, 23, 0, 10, 417_900_000, time.UTC) // 18:00:10 on the clock of the site
	for _, tt := range []struct {
		sent     any
		versions bool
		want     string // Point.String and the last counted moment, or the reason
	}{
		{"2026-03-05T23:00:10.417Z", false, "2026-03-05T23:00:10.417Z"},
		{"2026-03-05T23:00:10.4179999Z", false, "2026-03-05T23:00:10.417Z"},
		{"2026-03-05T23:00:10.4Z", false, "2026-03-05T23:00:10.400Z"},
		{"2026-03-05T23:00:10.000Z", false, "2026-03-05T23:00:10.000Z"},
		{"2026-03-05T18:00:09.25-05:00", false, "2026-03-05T23:00:09.250Z"},
		{"2026-03-05T23:00:10Z", false, "2026-03-05T23:00:10Z +999"},
		{"2026-03-05 18:00:10", false, "2026-03-05T23:00:10Z +999"},
		{"2026-03-05", false, "2026-03-05T05:00:00Z +999"},
		{"1772751610", false, "2026-03-05T23:00:10Z +999"},
		{"now", false, "2026-03-05T23:00:10Z +999"},
		{" NOW ", false, "2026-03-05T23:00:10Z +999"},
		{"yesterday 9am", false, "2026-03-04T14:00:00Z +999"},
		{"2026-03-05T23:00:10.999Z", false, "2026-03-05T23:00:10.999Z"}, // not later than the present second
		{"2026-03-05T23:00:11Z", false, "future"},
		{"2026-03-05T23:00:11.000Z", false, "future"},
		{"tomorrow", false, "future"},
		{"9999-12-31", false, "future"},
		{"position:1", false, "position:1"},
		{"position:0412", true, "position:412"},
		{"position:99999999999999999999", false, "position:9223372036854775807"},
		{"position:0", false, "point"},
		{"position:-1", true, "point_or_version"},
		{"position:", false, "point"},
		{"position: 1", false, "point"},
		{"position:1.0", false, "point"},
		{"Position:1", false, "point"},
		{"version:4", true, "version:4"},
		{"version:4", false, "point"},
		{"version:0", true, "point_or_version"},
		{"version:x", true, "point_or_version"},
		{"", true, "point_or_version"},
		{"  ", false, "point"},
		{"2026", false, "point"},
		{"2026-02-30", false, "point"},
		{"soonish", false, "point"},
		{"2026-03-05 18:00:10.5", false, "2026-03-05T23:00:10.500Z"},
		{"20260305", false, "2026-03-05T05:00:00Z +999"},
		{"20260305T1800", false, "2026-03-05T23:00:00Z +999"},
		{"2026-03-05 18:00:10,5", false, "point"},
		{[]any{"now"}, false, "type_text"},
		{json.Number("1772751610"), false, "type_text"},
	} {
		var p calendar.Problems
		pt := ParsePoint(tt.sent, tt.versions, now, site, &p)
		got := pt.String()
		if pt.Form == ByTime && !pt.Exact {
			got += " +" + pt.Time.Format(".000")[1:]
		}
		if len(p.Fields) > 0 {
			got = string(p.Fields[0].Reason)
			if p.Fields[0].Field != "as_of" || pt != (Point{}) {
				t.Errorf("%v: refused as %v with %v", tt.sent, p.Fields, pt)
			}
		}
		if got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.sent, got, tt.want)
		}
	}
}

func TestCheckHead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pt   Point
		want int
	}{
		{Point{Form: ByPosition, Position: 12}, 0},
		{Point{Form: ByPosition, Position: 13}, 1},
		{Point{Form: ByVersion, Version: 99}, 0},
		{Point{Form: ByTime, Time: at}, 0},
	} {
		var p calendar.Problems
		tt.pt.CheckHead(12, &p)
		if len(p.Fields) != tt.want || tt.want == 1 && (p.Fields[0].Reason != calendar.ReasonAhead || p.Fields[0].Args[0] != "12") {
			t.Errorf("%s: got %v", tt.pt, p.Fields)
		}
	}
}

// since and until of /changes are to the millisecond, .000 where no fraction was sent.
func TestParseMoment(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"2026-03-05T23:00:10Z":                "2026-03-05T23:00:10.000Z",
		"2026-03-05T23:00:10.4171Z":           "2026-03-05T23:00:10.417Z",
		"2999-01-01":                          "2999-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.5-01:00":         "",
		"0001-01-01":                          "0001-01-01T00:00:00.000Z",
		"2026-03-05T23:00:10.Z":               "",
		"+1 day 9:00:00.5":                    "",
		"2026-03-05T23:00:10.12345678901234Z": "2026-03-05T23:00:10.123Z",
	} {
		got, _, ok := ParseMoment(sent, at, time.UTC)
		if text := got.Format(TimeLayout); ok != (want != "") || ok && text != want {
			t.Errorf("%s: got %s, %t, want %s", sent, text, ok, want)
		}
	}
}
