package query

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit/engines"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/memindex"
)

// randomRecords are those of testdata/lists, and events like them at other times, with links
// and states of others.
func randomRecords(t *testing.T, rng *rand.Rand) []*calendar.Record {
	t.Helper()
	files, _ := filepath.Glob("testdata/lists/*.txt")
	byID := map[calendar.ID]*calendar.Record{}
	var events []*calendar.Record
	for _, file := range files {
		for _, record := range recordsIn(t, filepath.Base(file)) {
			if record.Kind == calendar.KindEvent {
				events = append(events, record)
			} else if record.ID < 100 {
				byID[record.ID] = record
			}
		}
	}
	for id := calendar.ID(100); id < 500; id++ {
		fields := maps.Clone(events[rng.IntN(len(events))].Fields)
		for _, name := range []string{"venue", "tags", "categories", "organizer", "status", "former_status", "cost", "title", "date"} {
			if other := events[rng.IntN(len(events))].Fields[name]; other != nil && rng.IntN(2) == 0 {
				fields[name] = other
			}
		}
		move := calendar.Wall(rng.IntN(400*96)-20*96) * 900
		for _, name := range []string{"start_date", "end_date", "utc_start_date", "utc_end_date"} {
			fields[name] = fields.Wall(name) + move
		}
		byID[id] = &calendar.Record{ID: id, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangEN, Fields: fields}
	}
	return slices.Collect(maps.Values(byID))
}

// TestRequests: random lists of random events, with every parameter of LISTINGS 2 and 3,
// are those of readmodel.Match: ids in order, totals, facets, steps of typos, groups of
// repeats, distances and cursors, and the whole selections of formats (LISTINGS 7, 8.44).
//
// DAYBOOK_REQUESTS compares another number of lists on each index.
func TestRequests(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, index readmodel.Index, local bool) {
		t.Helper()
		requests := 50
		if local {
			requests = 400
		}
		if more, given := os.LookupEnv("DAYBOOK_REQUESTS"); given {
			var err error
			if requests, err = strconv.Atoi(more); err != nil {
				t.Fatalf("DAYBOOK_REQUESTS: %v", err)
			}
		}
		compareRequests(t, index, requests)
	})
}

// onEach runs a test on each index; local is the one in this process.
func onEach(t *testing.T, run func(t *testing.T, index readmodel.Index, local bool)) {
	t.Helper()
	t.Run("memory image", func(t *testing.T) {
		t.Parallel()
		run(t, memindex.New(memindex.Options{}), true)
	})
	for _, name := range []string{engines.Elasticsearch, engines.OpenSearch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, prefix := engines.Shared(t, name)
			index, err := elastic.Open(url, elastic.Options{Prefix: prefix, Flavour: elastic.Flavour(name)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = index.Close() })
			if err = index.Reach(t.Context()); err == nil {
				if _, err = index.Next(t.Context()); err == nil {
					err = index.Promote(t.Context())
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			run(t, index, false)
		})
	}
}

func compareRequests(t *testing.T, x readmodel.Index, requests int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(12, 2))
	records := randomRecords(t, rng)
	fill(t, x, records)
	meaning, _, _, _ := setup(t, records)
	index, _, _, _ := setup(t, records)
	index.index = x
	found := map[string]bool{}
	var rows [][]string
	for _, line := range readLines(t, "requests.txt") {
		rows = append(rows, strings.Split(line, " | "))
	}
	for range requests {
		request := Request{Kind: calendar.KindEvent, Lang: calendar.Langs[rng.IntN(4)], Caller: callers[[]string{"anonymous", "author", "editor"}[rng.IntN(3)]]}
		sent := ""
		for _, row := range rows {
			if one, _ := strconv.Atoi(row[0]); rng.IntN(one) == 0 {
				sent += "&" + row[1] + row[2+rng.IntN(len(row)-2)]
			}
		}
		request.Input = input(sent)
		for step := range 4 {
			want, _, wantErr := answer(t, meaning, request)
			got, criteria, err := answer(t, index, request)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%v: %v, want %v", request, err, wantErr)
			}
			if err != nil {
				break
			}
			if diff := cmp.Diff(listText(t, want), listText(t, got)); diff != "" {
				t.Fatalf("%v (-want +got):\n%s", request, diff)
			}
			if step == 0 && rng.IntN(5) == 0 {
				if diff := cmp.Diff(wholeText(t, meaning, criteria), wholeText(t, index, criteria)); diff != "" {
					t.Fatalf("whole %v (-want +got):\n%s", request, diff)
				}
			}
			if got.Total > 0 {
				for name := range request.Input {
					found[name] = true
				}
			}
			if request.Input["cursor"] = got.Next; got.Next == "" {
				break
			}
		}
	}
	var missing []string
	for _, row := range rows {
		if name, _, _ := strings.Cut(row[1], "="); name != "&" && !found[name] {
			missing = append(missing, name)
		}
	}
	if requests > 100 && len(missing) > 2 {
		t.Errorf("no list with %q found anything", missing)
	}
}

// listText writes a list down.
func listText(t *testing.T, list *List) string {
	t.Helper()
	facets, err := json.Marshal(list.Facets)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%d on %d pages, %+v, next %q, facets %s", list.Total, list.TotalPages, list.Spelling, list.Next, facets)
	for i := range list.Views {
		out += viewText(&list.Views[i])
	}
	return out
}

func viewText(view *View) string {
	repeats, _ := json.Marshal(view.Repeats)
	distance, _ := json.Marshal(view.Distance)
	return fmt.Sprintf("\n%s %s %s %s", view.Record.ID, repeats, distance, shown(view))
}

// wholeText writes down the selection that formats give over all pages.
func wholeText(t *testing.T, service *Service, criteria *Criteria) string {
	t.Helper()
	whole, err := service.Whole(t.Context(), criteria)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	out := fmt.Sprintf("%d, %+v", whole.Total, whole.Spelling)
	err = whole.Each(t.Context(), func(view *View) error {
		out += viewText(view)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
