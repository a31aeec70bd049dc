package param

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
)

// HISTORY 3.
func TestParsePoint(t *testing.T) {
	t.Parallel()
	site := time.FixedZone("site", -5*3600)
	now := time.Date(2026, 3, 5, 23, 0, 10, 417_900_000, time.UTC) // 18:00:10 on the clock of the site
	text, err := os.ReadFile("testdata/points.txt")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		sent     any
		versions bool
		want     string
	}
	rows := []row{{[]any{"now"}, false, "type_text"}, {json.Number("1772751610"), false, "type_text"}}
	for line := range strings.Lines(string(text)) {
		if sent, want, is := strings.Cut(strings.TrimSuffix(line, "\n"), " = "); is && line[0] != '#' {
			sent, versions := strings.CutPrefix(sent, "*")
			rows = append(rows, row{sent, versions, want})
		}
	}
	for _, tt := range rows {
		var problems calendar.Problems
		point := ParsePoint(tt.sent, tt.versions, now, site, math.MaxInt64, &problems)
		got := point.String()
		if !point.Time.IsZero() && !point.Exact {
			got += " +" + point.Time.Format(".000")[1:]
		}
		if len(problems.Fields) > 0 {
			got = string(problems.Fields[0].Reason)
			if problems.Fields[0].Field != "as_of" || point != (Point{}) {
				t.Errorf("%v: refused as %v with %v", tt.sent, problems.Fields, point)
			}
		}
		if got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.sent, got, tt.want)
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
		got, _, ok := ParseMoment(sent, time.Now(), time.UTC)
		if text := got.Format("2006-01-02T15:04:05.000Z"); ok != (want != "") || ok && text != want {
			t.Errorf("%s: got %s, %t, want %s", sent, text, ok, want)
		}
	}
}
