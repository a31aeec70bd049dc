package conferences_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// noRecords is a store that nothing is looked up in.
type noRecords struct{ query.Records }

// serviceOf answers lists of records as of a moment, which may move.
func serviceOf(t *testing.T, records map[calendar.ID]*calendar.Record, at *time.Time) *query.Service {
	t.Helper()
	index, err := memindex.New(memindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	batch := readmodel.Batch{}
	for _, r := range records {
		body, err := calendar.EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		batch.Mark.Position++
		batch.Documents = append(batch.Documents, readmodel.Document{Position: batch.Mark.Position, Record: r, Body: body})
	}
	if _, err := index.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	s, err := query.New(index, noRecords{}, query.Options{Now: func() time.Time { return *at }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// suggestNames types three letters of each word of the names of conferences, two months
// before they begin, of places and topics: the record has to be among the suggestions
// (LISTINGS 4, 8.40).
func suggestNames(t *testing.T, records map[calendar.ID]*calendar.Record) {
	t.Helper()
	var at time.Time
	s := serviceOf(t, records, &at)
	linked := map[calendar.ID]bool{}
	for _, r := range records {
		if r.Kind == calendar.KindEvent && !r.Deleted && r.Status(now) == calendar.StatusPublish {
			linked[r.ID] = true
			for _, field := range []string{"venue", "organizer", "categories", "tags"} {
				for _, id := range r.Fields.IDs(field) {
					linked[id] = true
				}
			}
		}
	}
	typed, named := map[calendar.Kind]int{}, map[calendar.Kind]int{}
	for i, id := range slices.Sorted(maps.Keys(linked)) {
		r := records[id]
		if r.Kind == calendar.KindEvent && i%5 > 0 {
			continue
		}
		name, _ := r.Name(calendar.LangEN)
		var letters []string
		for _, w := range readmodel.Tokens(name) {
			word := []rune(w)
			letters = append(letters, string(word[:min(3, len(word))]))
		}
		at = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // all is to come
		if r.Kind == calendar.KindEvent {
			at = r.Fields.Wall("utc_start_date").UTC().AddDate(0, -2, 0)
		}
		c, err := s.Parse(t.Context(), query.Request{Kind: calendar.KindEvent, Lang: calendar.LangEN, Suggest: true, Input: calendar.Input{
			"q": strings.Join(letters, " "), "kinds": []any{r.Kind.Collection()}, "limit": "20",
		}})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		all, _, err := s.Suggest(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		typed[r.Kind]++
		if slices.ContainsFunc(all[0].List, func(found query.Suggestion) bool {
			other, _ := found.View.Record.Name(calendar.LangEN)
			return slices.Equal(readmodel.Tokens(other), readmodel.Tokens(name))
		}) {
			named[r.Kind]++
		}
	}
	for k, n := range typed {
		t.Logf("%d of %d %s are named after three letters of each word", named[k], n, k.Collection())
		if named[k]*100 < n*95 {
			t.Errorf("%d of %d %s are named after three letters of each word, want 95 %%", named[k], n, k.Collection())
		}
	}
	if typed[calendar.KindEvent] < 1000 || typed[calendar.KindVenue] < 100 {
		t.Errorf("typed %v", typed)
	}
}

// compareFacets holds the facets of the list of all conferences, and of one with a chosen
// value, against a count over the records (LISTINGS 8.35 to 8.37).
func compareFacets(t *testing.T, records map[calendar.ID]*calendar.Record) {
	t.Helper()
	s := serviceOf(t, records, &now)
	for _, month := range []int{0, 5} { // of 2019
		counts := countByHand(records, month)
		in := calendar.Input{
			"start_date": "1990-01-01", "end_date": "2100-01-01", "facet_limit": "100",
			"facets": "categories,tags,venue,city,country,month,weekday,in_language,featured",
		}
		if month > 0 {
			in["month"] = "2019-0" + strconv.Itoa(month)
		}
		for name, f := range facetsOf(t.Context(), t, s, in) {
			want := counts[name]
			if month == 0 && (f.Total != len(want) || len(f.Values) == 0) {
				t.Errorf("month %d: %s: %d values of %d, want %d", month, name, len(f.Values), f.Total, len(want))
			}
			// What is given are the greatest counts, and each is right.
			all := slices.Sorted(maps.Values(want))
			for i, v := range f.Values {
				if v.Count != want[v.Value] {
					t.Errorf("month %d: %s=%s counts %d, want %d", month, name, v.Value, v.Count, want[v.Value])
				}
				if least := all[max(0, len(all)-len(f.Values))]; name != "month" && !v.Selected && v.Count < least {
					t.Errorf("month %d: value %d of %s has %d, one that is left out %d", month, i, name, v.Count, least)
				}
			}
			if len(f.Values) == len(want) && len(want) > 0 {
				got := map[string]int{}
				for _, v := range f.Values {
					got[v.Value] = v.Count
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("month %d: %s (-want +got):\n%s", month, name, diff)
				}
			}
		}
	}
}

func facetsOf(ctx context.Context, t *testing.T, s *query.Service, in calendar.Input) map[string]query.Facet {
	t.Helper()
	c, err := s.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: calendar.LangEN})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]query.Facet{}
	for _, f := range list.Facets {
		out[f.Name] = f
	}
	return out
}

// countByHand counts published events; with a month, those of that month of 2019, but
// for the counts of months.
func countByHand(byID map[calendar.ID]*calendar.Record, month int) map[string]map[string]int {
	out := map[string]map[string]int{}
	for _, r := range byID {
		if r.Kind != calendar.KindEvent || r.Deleted || r.Status(now) != calendar.StatusPublish || r.Fields.Bool("hide_from_listings") {
			continue
		}
		carried := map[string]map[string]bool{}
		add := func(facet, value string) {
			if carried[facet] == nil {
				carried[facet] = map[string]bool{}
			}
			carried[facet][value] = true
		}
		for facet, k := range map[string]calendar.Kind{"categories": calendar.KindCategory, "tags": calendar.KindTag, "venue": calendar.KindVenue} {
			for _, id := range r.Fields.IDs(facet) {
				linked := byID[id]
				if linked == nil || linked.Kind != k || linked.Deleted || k.IsPost() && linked.Status(now) != calendar.StatusPublish {
					continue
				}
				add(facet, id.String())
				for above := linked; facet == "categories" && above.Fields.ID("parent") != 0; {
					if above = byID[above.Fields.ID("parent")]; above == nil {
						break
					}
					add(facet, above.ID.String())
				}
				for _, detail := range []string{"city", "country"} {
					if key := readmodel.PlaceKey(linked.Fields.String(detail)); facet == "venue" && key != "" {
						add(detail, key)
					}
				}
			}
		}
		start := time.Unix(int64(r.Fields.Wall("start_date")), 0).UTC()
		add("month", start.Format("2006-01"))
		add("weekday", strconv.Itoa((int(start.Weekday())+6)%7+1))
		for _, l := range r.Langs() {
			add("in_language", l.String())
		}
		add("featured", strconv.FormatBool(r.Fields.Bool("featured")))
		in := month == 0 || start.Year() == 2019 && int(start.Month()) == month
		for facet, values := range carried {
			for v := range values {
				if in || facet == "month" {
					if out[facet] == nil {
						out[facet] = map[string]int{}
					}
					out[facet][v]++
				}
			}
		}
	}
	return out
}
