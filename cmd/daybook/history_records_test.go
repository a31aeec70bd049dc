package main

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// afterHistory lies behind all changes of the history.
var afterHistory = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// noRecords is a store that nothing is looked up in.
type noRecords struct{ query.Records }

// compareRecords compares the records of a data directory with the live conferences, and
// what is found in them with a count.
func compareRecords(t *testing.T, data string, live map[string]*conference) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
	must(t, err)
	records := recordsOf(t, store)
	compareFields(t, store, records, live)
	must(t, store.Close())

	index := memindex.New(memindex.Options{})
	batch := readmodel.Batch{}
	for _, r := range records {
		body, err := calendar.EncodeRecord(r)
		must(t, err)
		batch.Mark.Position++
		batch.Documents = append(batch.Documents, readmodel.Document{Position: batch.Mark.Position, Record: r, Body: body})
	}
	_, err = index.Write(t.Context(), batch)
	must(t, err)
	at := afterHistory
	s, err := query.New(index, noRecords{}, query.Options{Now: func() time.Time { return at }})
	must(t, err)
	compareFacets(t, s, records)
	findMisspelt(t, index, records)
	suggestNames(t, s, &at, records)
}

// recordsOf returns all records of a store by id.
func recordsOf(t *testing.T, store eventstore.Store) map[calendar.ID]*calendar.Record {
	t.Helper()
	out := map[calendar.ID]*calendar.Record{}
	for after := calendar.ID(0); ; {
		states, err := store.Records(t.Context(), 0, after, 1000)
		must(t, err)
		if len(states) == 0 {
			return out
		}
		for _, s := range states {
			r, err := calendar.DecodeRecord(s.Record)
			must(t, err)
			out[r.ID] = r
			after = r.ID
		}
	}
}

// compareFields compares the fields of each published event with those of its conference.
func compareFields(t *testing.T, store eventstore.Store, records map[calendar.ID]*calendar.Record, live map[string]*conference) {
	t.Helper()
	clean := htmltext.New()
	events := 0
	for _, r := range records {
		if r.Kind == calendar.KindEvent && r.Status(afterHistory) == calendar.StatusPublish {
			events++
		}
	}
	if events != len(live) {
		t.Errorf("%d published events, want %d", events, len(live))
	}
	name := func(id calendar.ID) string {
		s, _ := records[id].Name(calendar.LangEN)
		return s
	}
	for key, l := range live {
		found, err := store.Find(t.Context(), eventstore.Lookup{Claims: []calendar.Claim{calendar.ImportClaim("conferences", key)}})
		must(t, err)
		r := records[found.Holders[0]]
		if r == nil {
			t.Errorf("conference %s is missing", key)
			continue
		}
		got := conference{
			title: r.Fields.Text("title")[calendar.LangEN], website: r.Fields.String("website"),
			start: r.Fields.Wall("start_date").String(), end: r.Fields.Wall("end_date").String(),
			description: r.Fields.Text("description")[calendar.LangEN], author: records[r.Author()].Fields.String("name"),
			created: r.Fields.Wall("date_utc").UTC(), changed: r.Changed, changes: int(r.Version),
		}
		for _, id := range r.Fields.IDs("venue") {
			venue := records[id].Fields
			got.venue = strings.TrimSuffix(venue.String("city")+", "+venue.String("country"), ", ")
			if name(id) != got.venue {
				t.Errorf("venue %d is named %q", id, name(id))
			}
		}
		for _, id := range r.Fields.IDs("categories") {
			got.topic = name(id)
		}
		for _, id := range r.Fields.IDs("tags") {
			got.tags = append(got.tags, name(id))
		}
		want := *l
		want.description = clean.HTML(want.description)
		want.start += " 00:00:00"
		want.end += " 23:59:59"
		if d := cmp.Diff(want, got, cmp.AllowUnexported(conference{})); d != "" {
			t.Errorf("conference %s (-want +got):\n%s", key, d)
		}
		if !slices.Equal(r.Langs(), []calendar.Lang{calendar.LangEN}) || r.Fields.String("timezone") != "UTC" || !r.Fields.Bool("all_day") {
			t.Errorf("conference %s: %v", key, r.Fields)
		}
	}
}

// findMisspelt searches events by one word of their title with one typo in it, with typos
// on: LISTINGS 3.3, 8.32. What is typed has four letters, as shorter words have no typos.
func findMisspelt(t *testing.T, index *memindex.Index, records map[calendar.ID]*calendar.Record) {
	t.Helper()
	var events []*calendar.Record
	for _, r := range records {
		if r.Kind == calendar.KindEvent && !r.Deleted {
			events = append(events, r)
		}
	}
	slices.SortFunc(events, func(a, b *calendar.Record) int { return int(a.ID - b.ID) })
	g := rand.New(rand.NewPCG(12, 1))
	fields := []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}
	searched, found := 0, 0
	view, err := index.View(t.Context())
	must(t, err)
	defer view.Close()
	for i := 0; i < len(events); i += 3 {
		title, _ := events[i].Name(calendar.LangEN)
		words := slices.DeleteFunc(readmodel.Tokens(title), func(w string) bool {
			return len([]rune(w)) < 4 || strings.ContainsFunc(w, unicode.IsDigit)
		})
		if len(words) == 0 {
			continue
		}
		r := []rune(words[g.IntN(len(words))])
		at := g.IntN(len(r))
		switch kind := g.IntN(4); {
		case kind == 0:
			r = slices.Insert(r, at, rune('a'+g.IntN(26)))
		case kind == 1 && len(r) > 4:
			r = slices.Delete(r, at, at+1)
		case kind == 2 && at > 0:
			r[at], r[at-1] = r[at-1], r[at]
		default:
			r[at] = rune('a' + g.IntN(26))
		}
		searched++
		page, err := view.Search(t.Context(), readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.And{
			readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{events[i].ID}},
			readmodel.Text{Fields: fields, Search: readmodel.ParseSearch(string(r), calendar.LangEN), Spelling: readmodel.Spelling{Typos: readmodel.MaxTypos}},
		}})
		must(t, err)
		if found += page.Total; page.Total == 0 {
			t.Logf("%q does not find %q", string(r), title)
		}
	}
	if searched < 2000 || found*100 < searched*99 {
		t.Errorf("%d of %d events were found by a word with a typo, want 99 %% of at least 2000", found, searched)
	}
	t.Logf("%d of %d events were found by a word with a typo", found, searched)
}

// suggestNames types three letters of each word of the names of conferences, two months
// before they begin, of places and topics: the record has to be among the suggestions
// (LISTINGS 4, 8.40).
func suggestNames(t *testing.T, s *query.Service, now *time.Time, records map[calendar.ID]*calendar.Record) {
	t.Helper()
	linked := map[calendar.ID]bool{}
	for _, r := range records {
		if r.Kind == calendar.KindEvent && !r.Deleted && r.Status(afterHistory) == calendar.StatusPublish {
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
		*now = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // all is to come
		if r.Kind == calendar.KindEvent {
			*now = r.Fields.Wall("utc_start_date").UTC().AddDate(0, -2, 0)
		}
		c, err := s.Parse(t.Context(), query.Request{Kind: calendar.KindEvent, Lang: calendar.LangEN, Params: query.ParamsOf("suggest"), Input: calendar.Input{
			"q": strings.Join(letters, " "), "kinds": []any{r.Kind.Collection()}, "limit": "20",
		}})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		all, _, err := s.Suggest(t.Context(), c)
		must(t, err)
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
func compareFacets(t *testing.T, s *query.Service, records map[calendar.ID]*calendar.Record) {
	t.Helper()
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
	must(t, err)
	list, err := s.Run(ctx, c)
	must(t, err)
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
		if r.Kind != calendar.KindEvent || r.Deleted || r.Status(afterHistory) != calendar.StatusPublish || r.Fields.Bool("hide_from_listings") {
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
				if linked == nil || linked.Kind != k || linked.Deleted || k.IsPost() && linked.Status(afterHistory) != calendar.StatusPublish {
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
