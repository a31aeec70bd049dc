package query

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/calendar"
)

// readLines returns the lines of a file in testdata without comments, which begin with "  #".
func readLines(tb testing.TB, file string) (lines []string) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut("  "+line, "  #")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
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
			included, _ := readLists(tb, file)
			records = append(records, included...)
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

// asked reads the request of a row, "CALLER KIND PARAMETERS".
func asked(tb testing.TB, row string) Request {
	tb.Helper()
	words := strings.SplitN(row+"  ", " ", 3)
	who, known := callers[words[0]]
	k, listed := calendar.ParseKind(words[1])
	if !known || !listed {
		tb.Fatalf("%q has no caller or kind", row)
	}
	sent, whole := strings.CutPrefix(strings.TrimSpace(words[2]), "*")
	if whole {
		sent += always
	}
	return Request{Kind: k, Caller: who, Input: input(sent), Lang: calendar.LangEN}
}

// answered gives what the list of a row answers, as testdata/lists/README.md describes it.
func answered(tb testing.TB, s *Service, row string) string {
	tb.Helper()
	r := asked(tb, row)
	l, _, err := list(tb, s, r.Kind, r.Caller, r.Input)
	if e, is := asError(err); is && e.Kind > 0 {
		return err.Error() + " of " + e.Kind.String()
	}
	if err != nil {
		return err.Error()
	}
	shown, err := s.index.Visible(tb.Context())
	if err != nil || shown.Position != l.Position {
		tb.Errorf("%s: at position %d of %d, %v", row, l.Position, shown.Position, err)
	}
	if l.Facets != nil {
		return shownFacets(l.Facets)
	}
	out := strings.Trim(fmt.Sprint(idsOf(l)), "[]")
	if l.Total != len(l.Views) || l.TotalPages != min(l.Total, 1) {
		out += fmt.Sprintf(" of %d on %d pages", l.Total, l.TotalPages)
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
			onBoth(t, records, func(t *testing.T, s *Service) {
				t.Helper()
				for _, row := range rows {
					if got := answered(t, s, row[0]); got != row[1] {
						t.Errorf("%s => %s, want %s", row[0], got, row[1])
					}
				}
			})
		})
	}
}
