package query

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/internal/testkit/golden"
)

var repeated = regexp.MustCompile(`\{(\d+) times ([^{}]*)\}`)

// readLines returns the lines of a file in testdata without comments, which begin with "  #".
// {3 times w%d } stands for w1 w2 w3 in them.
func readLines(tb testing.TB, file string) (lines []string) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut("  "+line, "  #")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		lines = append(lines, repeated.ReplaceAllStringFunc(line, func(s string) (out string) {
			part := repeated.FindStringSubmatch(s)
			n, _ := strconv.Atoi(part[1])
			for i := range n {
				out += strings.ReplaceAll(part[2], "%d", strconv.Itoa(i+1))
			}
			return out
		}))
	}
	return lines
}

// readLists reads a file of testdata/lists. Its form is described in README.md there.
func readLists(tb testing.TB, file string) (records []*calendar.Record, rows [][2]string) {
	tb.Helper()
	for _, line := range readLines(tb, filepath.Join("lists", file)) {
		if row, want, is := strings.Cut(line, "=>"); is {
			before, values, _ := strings.Cut(row, "<")
			values, after, _ := strings.Cut(values, ">")
			for value := range strings.SplitSeq(values, "|") {
				rows = append(rows, [2]string{strings.TrimSpace(before + value + after), strings.TrimSpace(want)})
			}
			continue
		}
		if file, is := strings.CutPrefix(line, "include "); is {
			records = append(records, recordsIn(tb, file)...)
			continue
		}
		cells := strings.Split(line+" | ", " | ")
		head, isEvent := strings.SplitN(cells[0], " ", 3), strings.HasPrefix(line, "event ")
		stored := cells[1]
		if isEvent {
			stored = cells[3]
		}
		r, err := calendar.DecodeRecord(fmt.Appendf(nil,
			`{"changed":"2030-01-01T00:00:00.000Z","fields":{%s},"home":"en","id":%s,"kind":%q,"version":1}`, stored, head[1], head[0]))
		if err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		if isEvent {
			r = event(tb, r.ID, head[2], cells[1], cells[2], r.Fields)
		} else {
			r = record(tb, r.Kind, r.ID, head[2], r.Fields)
		}
		records = append(records, r)
	}
	return records, rows
}

// recordsIn returns the records of a file of testdata/lists.
func recordsIn(tb testing.TB, file string) []*calendar.Record {
	tb.Helper()
	records, _ := readLists(tb, file)
	return records
}

const always = "&start_date=1970-01-01&end_date=2050-01-01"

// input reads parameters; see testdata/lists/README.md.
func input(query string) calendar.Input {
	input := calendar.Input{}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			input[name] = value
			var decoded any
			if (strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{")) && json.Unmarshal([]byte(value), &decoded) == nil {
				input[name] = decoded
			}
		}
	}
	return input
}

// asked reads the request of a row, "CALLER KIND PARAMETERS".
func asked(tb testing.TB, row string) Request {
	tb.Helper()
	words := strings.SplitN(row+"  ", " ", 3)
	who, known := callers[words[0]]
	kind, listed := calendar.ParseKind(words[1])
	if !known || !listed {
		tb.Fatalf("%q has no caller or kind", row)
	}
	sent, whole := strings.CutPrefix(strings.TrimSpace(words[2]), "*")
	if whole {
		sent += always
	}
	return Request{Kind: kind, Caller: who, Input: input(sent), Lang: calendar.LangEN}
}

// shownFacets writes facets down: value=count, * for a selected one, cities as they are shown.
func shownFacets(facets []Facet) string {
	out := make([]string, len(facets))
	for i, facet := range facets {
		out[i] = fmt.Sprintf("%s %d:", facet.Name, facet.Total)
		for _, facetValue := range facet.Values {
			value, selected := facetValue.Value, map[bool]string{true: "*"}
			if facet.Name == "city" {
				value = facetValue.Label
			}
			out[i] += fmt.Sprintf(" %s=%d%s", value, facetValue.Count, selected[facetValue.Selected])
		}
	}
	return strings.Join(out, "; ")
}

// answered gives what the list of a row answers, as testdata/lists/README.md describes it.
func answered(tb testing.TB, service *Service, row string) string {
	tb.Helper()
	list, _, err := answer(tb, service, asked(tb, row))
	if problem, is := asError(err); is && problem.Kind > 0 {
		return err.Error() + " of " + problem.Kind.String()
	}
	if err != nil {
		return err.Error()
	}
	shown, err := service.index.Visible(tb.Context())
	if err != nil || shown.Position != list.Position {
		tb.Errorf("%s: at position %d of %d, %v", row, list.Position, shown.Position, err)
	}
	if list.Facets != nil {
		return shownFacets(list.Facets)
	}
	out := strings.Trim(fmt.Sprint(idsOf(list)), "[]")
	if list.Total != len(list.Views) || list.TotalPages != min(list.Total, 1) {
		out += fmt.Sprintf(" of %d on %d pages", list.Total, list.TotalPages)
	}
	return strings.TrimSpace(out)
}

// TestLists asks for the lists of testdata/lists.
func TestLists(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/lists/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			records, rows := readLists(t, filepath.Base(file))
			onBoth(t, records, func(t *testing.T, service *Service) {
				t.Helper()
				for _, row := range rows {
					if got := answered(t, service, row[0]); got != row[1] {
						t.Errorf("%s => %s, want %s", row[0], got, row[1])
					}
				}
			})
		})
	}
}

func embedded(views []LinkedView) (all, counted []calendar.ID) {
	for _, linkedView := range views {
		all, counted = append(all, linkedView.Record.ID), append(counted, linkedView.Record.ID, calendar.ID(linkedView.Count))
	}
	return all, counted
}

// shown writes down what a view embeds.
func shown(view *View) string {
	venues, _ := embedded(view.Venues)
	organizers, _ := embedded(view.Organizers)
	_, categories := embedded(view.Categories)
	_, tags := embedded(view.Tags)
	if out := fmt.Sprint(venues, organizers, categories, tags); !view.Blanked || len(out) > len("[] [] [] []") {
		return out
	}
	return "blanked"
}

// What events embed, in lists and alone (interface 3.1.7, 4.5, 6.3).
func TestEmbedded(t *testing.T) {
	t.Parallel()
	service, store, _, _ := setup(t, world(t))
	for _, line := range readLines(t, "embedded.txt") {
		row, want, _ := strings.Cut(line, " => ")
		request := asked(t, row)
		id, _ := calendar.ParseID(request.Input["id"])
		criteria, err := service.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input("per_page=50"), Caller: request.Caller, Lang: calendar.LangEN})
		if err != nil {
			t.Fatal(err)
		}
		criteria.Embeds |= EmbedTouched // as in feeds, which look at what blanked events link to
		list, err := service.Run(t.Context(), criteria)
		if err != nil {
			t.Fatal(err)
		}
		for _, view := range list.Views {
			if view.Record.ID != id {
				continue
			}
			single, err := service.View(t.Context(), request.Caller, store.byID[id], calendar.LangEN, EmbedAll, Moment{})
			if got := shown(&view); got != want || err != nil || !view.Blanked && (shown(&single) != want || single.Mark != view.Mark) {
				t.Errorf("%s in a list: %s with mark %x, alone: %s with %x, want %s, %v", row, got, view.Mark, shown(&single), single.Mark, want, err)
			}
			want = ""
		}
		if want != "" {
			t.Errorf("%s: not listed", row)
		}
	}
}

// TestLinks: links carry what was sent, in the order of the table (interface 4.3), and the
// rows of testdata/links.txt name what else is read.
func TestLinks(t *testing.T) {
	t.Parallel()
	service, _, _, now := setup(t, world(t))
	*now = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	for _, line := range readLines(t, "links.txt") {
		row, want, _ := strings.Cut(line, " =>")
		criteria, err := service.Parse(t.Context(), asked(t, "anonymous "+row))
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		links := param.LinksTo("", criteria.Links)
		got := links.Page(criteria.Page)
		if criteria.Fields != nil {
			got += fmt.Sprint(" ", criteria.Fields)
		}
		if want = strings.TrimSpace(want); got != want {
			t.Errorf("%s\n got  %s\n want %s", row, got, want)
		}
	}
}

// TestMonths: events are counted in the month that they start in on the clock of the site, and
// stand in each month that they touch on their own (PAGES P3.1).
func TestMonths(t *testing.T) {
	t.Parallel()
	onBoth(t, []*calendar.Record{
		event(t, 100, "To the end of July", "2030-05-31 23:00:00", "2030-08-01 00:00:00", fields{"utc_start_date": wall(t, "2030-06-01 03:00:00")}),
		event(t, 101, "June in New York", "2030-07-01 00:00:00", "2030-07-01 01:00:00", nil),
		event(t, 102, "Protected", "2031-01-01 00:00:00", "2031-01-02 00:00:00", fields{"protected": true}),
		event(t, 103, "Hidden", "2032-01-01 00:00:00", "2032-01-02 00:00:00", fields{"hide_from_listings": true}),
		event(t, 104, "First of all", "0001-01-01 12:00:00", "0001-01-01 13:00:00", nil),
	}, func(t *testing.T, service *Service) {
		t.Helper()
		service.settings.Site = zone(t, "America/New_York")
		months, err := service.Months(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, monthCount := range months.Started {
			got += fmt.Sprint(monthCount.First.Format("2006-01 "), monthCount.Events, ", ")
		}
		for _, first := range months.Touched {
			got += first.Format(" 2006-01")
		}
		if want := "0001-01 1, 2030-05 1, 2030-06 1,  0001-01 2030-05 2030-06 2030-07 2031-01"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// describe writes a window as the interface does.
func (window *window) describe() string {
	var out []string
	for clock, bounds := range window {
		for _, place := range []int{startsFrom, startsUntil, endsFrom, endsUntil} {
			if bounds[place] != openBounds[place] {
				name := []string{"start <= ", "start >= ", "end <= ", "end >= "}[place-startsUntil]
				out = append(out, []string{"", "utc "}[clock]+name+calendar.Wall(bounds[place]).String())
			}
		}
	}
	return strings.Join(out, ", ")
}

// onClock gives a service of a site whose clock shows a time; the rest of the words, if any,
// are returned.
func onClock(tb testing.TB, text string) (service *Service, rest string) {
	tb.Helper()
	words := strings.SplitN(text+" ", " ", 4)
	service, _, _, now := setup(tb, nil)
	service.settings.Site = zone(tb, words[2])
	*now = calendar.WallToInstant(wall(tb, words[0]+" "+words[1]), service.settings.Site)
	return service, strings.TrimSpace(words[3])
}

// Every row of the tables of interface 4.6; "start > x" is written as the next
// second.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, line := range readLines(t, "windows.txt") {
		row, want, _ := strings.Cut(line, " =>")
		service, sent := onClock(t, row)
		criteria, err := service.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Lang: calendar.LangEN})
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		if got := criteria.window.describe(); got != strings.TrimSpace(want) {
			t.Errorf("%s: got %s, want%s", row, got, want)
		}
	}
}

// TestParamsGolden: the file was written by hand from the tables of interface 4.5, 4.10, 4.11.
func TestParamsGolden(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, kind := range calendar.Kinds {
		fmt.Fprintf(&out, "\n%s\n", kind.Collection())
		for _, param := range Params(kind.Collection()) {
			extension := map[bool]string{true: "extension"}[param.Extension]
			fmt.Fprintln(&out, strings.Join([]string{param.Name, param.Type, param.Format, param.Default, strings.Join(param.Enum, " "), extension}, " | "))
		}
	}
	golden.Compare(t, "params.golden", out.String())
}
