package query

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/param"
)

// sheetOf reads a sheet: "zone", "past", "first..last" with blanks between, "-" for the zero one.
func sheetOf(tb testing.TB, text string) (sheet Sheet) {
	tb.Helper()
	for word := range strings.FieldsSeq(strings.Trim(text, "-")) {
		first, last, period := strings.Cut(word, "..")
		switch {
		case word == "past":
			sheet.Past = true
		case period:
			sheet.Period, sheet.First, sheet.Last = true, wall(tb, first), wall(tb, last)
		default:
			sheet.Zone = zone(tb, word)
		}
	}
	return sheet
}

func onSheet(tb testing.TB, service *Service, sheet, sent string) *Criteria {
	tb.Helper()
	criteria, err := service.Parse(tb.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Lang: calendar.LangEN, Sheet: sheetOf(tb, sheet)})
	if err != nil {
		tb.Fatalf("%s of %s: %v", sent, sheet, err)
	}
	return criteria
}

// exact writes down what the parameters of a list are without its sheet.
func exact(criteria *Criteria, sign string) string {
	var out []string
	for _, linkParam := range criteria.Exact() {
		out = append(out, linkParam.Name+"="+linkParam.Value)
	}
	return strings.Join(out, sign)
}

// TestSheets are the rows of testdata/sheets.txt.
func TestSheets(t *testing.T) {
	t.Parallel()
	var service *Service
	for _, line := range readLines(t, "sheets.txt") {
		if clock, is := strings.CutPrefix(line, "at "); is {
			var sunday string
			service, sunday = onClock(t, clock)
			service.settings.Sunday = sunday != ""
			continue
		}
		cells := strings.Split(line+" ", " | ")
		criteria := onSheet(t, service, cells[0], cells[1])
		got := exact(criteria, " ") + " | "
		if from, until, ok := criteria.Range(); ok {
			got += from + " " + until
		}
		if want := cells[2] + " | " + strings.TrimSpace(cells[3]); got != want {
			t.Errorf("%s of %s:\n got %s\nwant %s", cells[1], cells[0], got, want)
		}
	}
}

// TestListsOfSheets: random lists on sheets are those of their exact parameters without a
// sheet, and each has a key of its own.
func TestListsOfSheets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var records []*calendar.Record
	for id := range calendar.ID(90) {
		start := wall(t, "2030-05-01") + calendar.Wall(rng.IntN(8*24*4)-3*24*4)*900
		end := start + calendar.Wall([]int{0, 900, 3600, 86400, 3 * 86400}[rng.IntN(5)])
		off := calendar.Wall(rng.IntN(27)-12) * 3600
		records = append(records, event(t, id+1, "Event", start.String(), end.String(), fields{"utc_start_date": start - off, "utc_end_date": end - off}))
	}
	service, _, _, _ := setup(t, records)
	service.settings.Site = zone(t, "America/New_York")
	pick := func(percent int, before, values string) string {
		all := strings.Split(values, "|")
		if rng.IntN(100) >= percent {
			return ""
		}
		return before + all[rng.IntN(len(all))]
	}
	keys := map[string]string{}
	for range 200 {
		sheet := pick(50, " ", "Asia/Tokyo|UTC|Pacific/Honolulu|UTC+5.5") + pick(30, " ", "past") +
			pick(50, " ", "2030-05-01..2030-05-01|2030-04-29..2030-05-05|2030-05-01..2030-05-31")
		sent := ""
		for i, name := range DateParams {
			sent += pick(30/(i/2+1), "&"+name+"=", "2030-05-01|2030-04-30 14:00|2030-05-02T04:00:00Z|2030-05-04|now|tomorrow")
		}
		if sent == "" {
			sent = pick(50, "&when=", strings.Join(param.Days, "|"))
		}
		sent += pick(30, "&overlap=", "true|false") + pick(30, "&strict_dates=", "true|false") + "&per_page=100"
		criteria := onSheet(t, service, sheet, sent)
		got, err := service.Run(t.Context(), criteria)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := list(t, service, anonymous, input(exact(criteria, "&")))
		if err != nil || !slices.Equal(idsOf(got), idsOf(want)) {
			t.Errorf("%s of%s: %v, %v has %v, %v", sent, sheet, idsOf(got), exact(criteria, "&"), idsOf(want), err)
		}
		ids := fmt.Sprint(idsOf(got))
		if other, known := keys[criteria.Key]; known && other != ids {
			t.Errorf("%s of%s has the key of another list", sent, sheet)
		}
		keys[criteria.Key] = ids
	}
}
