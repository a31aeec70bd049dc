package query

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
)

// sheetOf reads a sheet: "zone", "past", "first..last" with blanks between, "-" for the zero one.
func sheetOf(tb testing.TB, text string) (s Sheet) {
	tb.Helper()
	for word := range strings.FieldsSeq(strings.Trim(text, "-")) {
		first, last, period := strings.Cut(word, "..")
		switch {
		case word == "past":
			s.Past = true
		case period:
			s.Period, s.First, s.Last = true, wall(tb, first), wall(tb, last)
		default:
			s.Zone = zone(tb, word)
		}
	}
	return s
}

// TestSheets: what the parameters of a list on a sheet are without it, and the range of
// calendar widgets, on 2030-05-01 08:00:00 in New York.
func TestSheets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ sheet, sent, exact, source string }{
		{"-", "search=a&overlap=true", "search=a overlap=true", "2030-05-01 00:00:00 2032-05-02 00:00:00"},
		{"-", "when=tomorrow&strict_dates=1", "strict_dates=1 when=tomorrow", "2030-05-02 00:00:00 2030-05-03 00:00:00"},
		{"-", "overlap=true&collapse=repeats", "overlap=true collapse=repeats", ""},
		{"-", "overlap=true&ends_after=2030-05-01", "ends_after=2030-05-01 overlap=true", ""},
		{"-", "", "", ""},
		{
			"Asia/Tokyo", "search=a&overlap=1", "search=a start_date=2030-04-30T15:00:00Z end_date=2032-05-01T14:59:59Z overlap=true strict_dates=true",
			"2030-05-01T00:00:00+09:00 2032-05-02T00:00:00+09:00",
		},
		{"Asia/Tokyo", "strict_dates=1", "starts_after=2030-05-01T14:58:59Z ends_before=2032-05-01T15:00:00Z strict_dates=true", ""},
		{"Asia/Tokyo", "start_date=2030-05-10&starts_before=2030-05-20", "starts_before=2030-05-20T14:59:59Z starts_after=2030-05-09T14:59:59Z strict_dates=true", ""},
		{"Asia/Tokyo", "start_date=2030-05-10T20:00:00Z&overlap=1&ends_after=now&strict_dates=1", "start_date=2030-05-10T20:00:00Z ends_after=2030-05-01T12:00:00Z overlap=true strict_dates=true", ""},
		{"Asia/Tokyo", "include=5&start_date=2030-05-10", "include=5 strict_dates=true", ""},
		{"past", "", "ends_before=2030-05-01T12:00:00Z strict_dates=true", ""},
		{"past", "ends_before=2030-04-20&start_date=2030-04-10T02:00:00Z", "starts_after=2030-04-08 23:59:59 ends_before=2030-04-20 23:59:59 strict_dates=true", ""},
		{"past", "when=today", "start_date=2030-05-01 00:00:00 end_date=2030-05-01 23:59:59 ends_before=2030-05-01T12:00:00Z overlap=true strict_dates=true", ""},
		{"past Asia/Tokyo", "ends_before=2030-04-20", "ends_before=2030-04-20T14:59:59Z strict_dates=true", ""},
		{"past Asia/Tokyo", "when=today&overlap=0", "start_date=2030-04-30T15:00:00Z end_date=2030-05-01T14:59:59Z ends_before=2030-05-01T12:00:00Z overlap=true strict_dates=true", ""},
		{"2030-05-01..2030-05-31", "overlap=false", "start_date=2030-05-01 00:00:00 end_date=2030-05-31 23:59:59 overlap=true strict_dates=true", "2030-05-01 00:00:00 2030-06-01 00:00:00"},
		{
			"2030-05-01..2030-05-31", "start_date=2030-04-20&end_date=2030-05-20T03:00:00Z&strict_dates=1", "start_date=2030-05-01 00:00:00 end_date=2030-05-19 23:00:00 overlap=true strict_dates=true",
			"2030-05-01 00:00:00 2030-05-19 23:00:01",
		},
		{"2030-05-01..2030-05-31", "when=tomorrow", "start_date=2030-05-02 00:00:00 end_date=2030-05-02 23:59:59 overlap=true strict_dates=true", "2030-05-02 00:00:00 2030-05-03 00:00:00"},
		{"2030-05-01..2030-05-31", "start_date=2030-06-01", "start_date=2030-06-01 00:00:00 end_date=2030-05-31 23:59:59 overlap=true strict_dates=true", ""},
		{"0001-01-01..0001-01-31", "", "start_date=0001-01-01 00:00:00 end_date=0001-01-31 23:59:59 overlap=true strict_dates=true", "0001-01-01 00:00:00 0001-02-01 00:00:00"},
		{"9999-12-31..9999-12-31", "", "start_date=9999-12-31 00:00:00 end_date=9999-12-31 23:59:59 overlap=true strict_dates=true", ""},
		{"0001-01-01..0001-01-01 UTC+14", "", "start_date=0001-01-01T00:00:00Z end_date=0001-01-01T12:00:00Z overlap=true strict_dates=true", "0001-01-01T14:00:00+14:00 0001-01-02T00:00:00+14:00"},
		// All-day events of other zones are on the day, and not in the range by its instants.
		{"2030-05-01..2030-05-01 Pacific/Pago_Pago", "", "start_date=2030-05-01T09:59:58Z end_date=2030-05-02T10:59:59Z overlap=true strict_dates=true", "2030-05-01T00:00:00-11:00 2030-05-02T00:00:00-11:00"},
		{"2030-05-01..2030-05-01 UTC+14", "", "start_date=2030-04-30T10:00:00Z end_date=2030-05-01T12:00:00Z overlap=true strict_dates=true", "2030-05-01T00:00:00+14:00 2030-05-02T00:00:00+14:00"},
		// The clock went forward at the end of one day, and back over the midnight of the other.
		{"2018-11-03..2018-11-03 America/Sao_Paulo", "", "start_date=2018-11-03T03:00:00Z end_date=2018-11-04T02:59:59Z overlap=true strict_dates=true", "2018-11-03T00:00:00-03:00 2018-11-04T00:00:00-03:00"},
		{"2018-02-17..2018-02-17 America/Sao_Paulo", "", "start_date=2018-02-17T02:00:00Z end_date=2018-02-18T02:59:59Z overlap=true strict_dates=true", "2018-02-17T00:00:00-02:00 2018-02-18T00:00:00-03:00"},
	} {
		site := zone(t, "America/New_York")
		s := parseOnly(t, at(t, "2030-05-01 08:00:00", site), site)
		c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(tc.sent), Lang: calendar.LangEN, Sheet: sheetOf(t, tc.sheet)})
		if err != nil {
			t.Fatalf("%s of %s: %v", tc.sent, tc.sheet, err)
		}
		var exact []string
		for _, p := range c.Exact() {
			exact = append(exact, p.Name+"="+p.Value)
		}
		if got := strings.Join(exact, " "); got != tc.exact {
			t.Errorf("%s of %s:\n got %s\nwant %s", tc.sent, tc.sheet, got, tc.exact)
		}
		from, until, ok := c.Range()
		if got := from + " " + until; ok != (tc.source != "") || ok && got != tc.source {
			t.Errorf("%s of %s: range %s %t, want %s", tc.sent, tc.sheet, got, ok, tc.source)
		}
	}
}

// TestListsOfSheets: random lists on sheets are those of their exact parameters without a
// sheet, and each has a key of its own.
func TestListsOfSheets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	of := func(values ...string) string { return values[rng.IntN(len(values))] }
	var records []*calendar.Record
	for id := range calendar.ID(90) {
		start := wall(t, "2030-05-01") + calendar.Wall(rng.IntN(8*24*4)-3*24*4)*900
		end := start + calendar.Wall([]int{0, 900, 3600, 86400, 3 * 86400}[rng.IntN(5)])
		off := calendar.Wall(rng.IntN(27)-12) * 3600
		records = append(records, event(t, id+1, "Event", start.String(), end.String(), fields{"utc_start_date": start - off, "utc_end_date": end - off}))
	}
	s, _, _, _ := setup(t, records)
	s.o.Site = zone(t, "America/New_York")
	found, keys := 0, map[string]string{}
	for range 400 {
		sheet, sent := "", "per_page=100"
		add := func(chance int, to *string, text string) {
			if rng.IntN(100) < chance {
				*to += text
			}
		}
		add(50, &sheet, " "+of("Asia/Tokyo", "UTC", "Pacific/Honolulu", "UTC+5.5"))
		add(30, &sheet, " past")
		add(50, &sheet, " "+of("2030-05-01..2030-05-01", "2030-04-29..2030-05-05", "2030-05-01..2030-05-31"))
		moments := []string{"2030-05-01", "2030-04-30 14:00", "2030-05-02T04:00:00Z", "2030-05-04", "now", "tomorrow"}
		for i, name := range DateParams {
			add(30/(i/2+1), &sent, "&"+name+"="+of(moments...))
		}
		if !strings.Contains(sent, "_") || sent == "per_page=100" {
			add(50, &sent, "&when="+of(Days...))
		}
		add(30, &sent, "&overlap="+of("true", "false"))
		add(30, &sent, "&strict_dates="+of("true", "false"))
		c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Sheet: sheetOf(t, sheet)})
		if err != nil {
			t.Fatalf("%s of %s: %v", sent, sheet, err)
		}
		got, err := s.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		in := calendar.Input{}
		for _, p := range c.Exact() {
			in[p.Name] = p.Value
		}
		want, _, err := list(t, s, calendar.KindEvent, anonymous, in)
		if err != nil || !slices.Equal(idsOf(got), idsOf(want)) {
			t.Errorf("%s of%s: %v, %v has %v, %v", sent, sheet, idsOf(got), in, idsOf(want), err)
		}
		found += got.Total
		if ids := fmt.Sprint(idsOf(got)); keys[c.Key] != "" && keys[c.Key] != ids {
			t.Errorf("%s of%s has the key of another list", sent, sheet)
		} else {
			keys[c.Key] = ids
		}
	}
	if found < 2000 {
		t.Errorf("only %d events were found", found)
	}
}
