package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

// onBoth runs a test on the meaning alone and on the memory image.
func onBoth(t *testing.T, records []*calendar.Record, test func(t *testing.T, s *Service)) {
	t.Helper()
	meaning, _, _, _ := setup(t, records)
	memory, _, _, _ := setup(t, records)
	memory.index = memoryIndex(t, records)
	for name, s := range map[string]*Service{"meaning": meaning, "memory image": memory} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// shownFacets writes facets down: value=count, * for a selected one.
func shownFacets(facets []Facet) string {
	var b strings.Builder
	for i, f := range facets {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %d:", f.Name, f.Total)
		for _, v := range f.Values {
			fmt.Fprintf(&b, " %s=%d", v.Value, v.Count)
			if v.Selected {
				b.WriteByte('*')
			}
		}
	}
	return b.String()
}

func facetsOf(t *testing.T, s *Service, c calendar.Caller, sent string) []Facet {
	t.Helper()
	l, _, err := list(t, s, calendar.KindEvent, c, input(sent))
	if err != nil {
		t.Fatalf("%s: %v", sent, err)
	}
	return l.Facets
}

// TestFacetsByHand is line LISTINGS 8.35: each count is the total of the list with the
// value as the only one of its parameter. Every facet, alone and beside others.
func TestFacetsByHand(t *testing.T) {
	t.Parallel()
	onBoth(t, slices.Concat(recordsIn(t, "listings.txt"), []*calendar.Record{
		record(t, calendar.KindCategory, 30, "Music", nil),
		record(t, calendar.KindCategory, 31, "Jazz", fields{"parent": calendar.ID(30)}),
		record(t, calendar.KindCategory, 32, "Bebop", fields{"parent": calendar.ID(31)}),
		record(t, calendar.KindTag, 40, "open", nil),
		record(t, calendar.KindOrganizer, 60, "Trust", nil),
		record(t, calendar.KindOrganizer, 61, "Club", fields{"status": "private", "author": calendar.ID(8)}),
		record(t, calendar.KindVenue, 55, "E", fields{"city": "Washington", "country": "USA"}),
		event(t, 200, "Jam", "2030-05-09 20:00:00", "2030-05-09 22:00:00", fields{"categories": ids(31, 32), "tags": ids(40), "venue": ids(50, 55, 54), "organizer": ids(60, 61), "featured": true}),
		event(t, 201, "Jam", "2030-05-09 21:00:00", "2030-05-09 22:00:00", fields{"categories": ids(30), "organizer": ids(61), "ticketed": true, "cost": []string{"7"}}),
		event(t, 202, "Jam", "2030-05-09 21:00:00", "2030-05-09 22:00:00", fields{"categories": ids(32), "venue": ids(55), "protected": true, "author": calendar.ID(8)}),
		event(t, 203, "Jam", "2030-05-09 21:00:00", "2030-05-09 22:00:00", fields{"categories": ids(32), "venue": ids(55, 55), "ticketed": true, "featured": true}),
	}), func(t *testing.T, s *Service) {
		t.Helper()
		checked := 0
		for _, who := range []calendar.Caller{anonymous, author, editor} {
			for _, sent := range []string{
				"", "search=jam", "search=jam -folk", "categories=31", "venue=55&city=munchen", "featured=true&month=2030-05",
				"weekday=thu&time_of_day=evening,22:00-02:00", "in_language=es", "free=true&cost_band=5-8,free", "organizer=60,61&tags=40&country=usa", "include=100,200,202",
			} {
				for _, f := range facetsOf(t, s, who, sent+always+"&facets="+strings.Join(Facets, ",")) {
					for _, v := range f.Values {
						one := input(sent + always)
						one[f.Name] = []any{v.Value}
						if f.Name == "ticketed" || f.Name == "featured" || f.Name == "free" {
							one[f.Name] = v.Value
						}
						l, _, err := list(t, s, calendar.KindEvent, who, one)
						if err != nil {
							t.Fatalf("%s, %s=%s: %v", sent, f.Name, v.Value, err)
						}
						if v.Count != l.Total {
							t.Errorf("%v %q: %s=%s counts %d, the list has %d", who.Role, sent, f.Name, v.Value, v.Count, l.Total)
						}
						checked++
					}
				}
			}
		}
		if checked < 500 {
			t.Errorf("%d counts are checked only", checked)
		}
	})
}

// TestFacetsOfLinks is line LISTINGS 8.36.
func TestFacetsOfLinks(t *testing.T) {
	t.Parallel()
	onBoth(t, []*calendar.Record{
		record(t, calendar.KindCategory, 30, "Music", nil),
		record(t, calendar.KindCategory, 31, "Jazz", fields{"parent": calendar.ID(30)}),
		record(t, calendar.KindCategory, 32, "Folk", fields{"parent": calendar.ID(30)}),
		record(t, calendar.KindVenue, 50, "A", fields{"city": "Boston"}),
		record(t, calendar.KindVenue, 51, "B", fields{"city": "BOSTON"}),
		record(t, calendar.KindVenue, 52, "C", fields{"city": "Rome", "status": "trash"}),
		event(t, 100, "Two of one parent, two venues of one city", "2030-05-10", "2030-05-10", fields{"categories": ids(31, 32), "venue": ids(50, 51)}),
		event(t, 101, "In a trashed venue", "2030-05-11", "2030-05-11", fields{"venue": ids(52, 51), "categories": ids(99)}),
		event(t, 102, "Blanked", "2030-06-11", "2030-06-11", fields{"venue": ids(50), "categories": ids(31), "protected": true, "cost": []string{"5"}}),
	}, func(t *testing.T, s *Service) {
		t.Helper()
		got := facetsOf(t, s, anonymous, "facets="+strings.Join(Facets, ","))
		want := "categories 3: 30=1 32=1 31=1; tags 0:; venue 2: 51=2 50=1; organizer 0:; city 1: boston=2; country 0:; " +
			"month 2: 2030-05=2 2030-06=1; weekday 3: 2=1 5=1 6=1; time_of_day 1: night=2; in_language 1: en=3; ticketed 1: false=2; featured 1: false=2; " +
			"free 1: false=2; cost_band 1: unknown=2"
		if diff := cmp.Diff(want, shownFacets(got)); diff != "" {
			t.Errorf("facets (-want +got):\n%s", diff)
		}
		if city := got[4].Values[0]; city.Label != "Boston" { // of the lowest id that is counted
			t.Errorf("city %+v", city)
		}
		if c := got[0].Values; c[0].Level != 0 || c[1].Level != 1 || c[1].Parent != 30 || c[1].Label != "Folk" || c[1].Slug != "category-32" {
			t.Errorf("categories %+v", c)
		}
		if v := got[2].Values[0]; v.City != "BOSTON" || v.Label != "B" {
			t.Errorf("venue %+v", v)
		}
		editors := facetsOf(t, s, editor, "facets=city,free") // who gets nothing blanked
		if want := "city 1: boston=3; free 1: false=3"; shownFacets(editors) != want {
			t.Errorf("of an editor: %s, want %s", shownFacets(editors), want)
		}
		// Chosen ones of which the caller sees nothing stay too, with and without events.
		if got := facetsOf(t, s, anonymous, "venue=50,52&facets=venue"); shownFacets(got) != "venue 2: 51=2 50=1* 52=0*" || got[0].Values[2].Label != "52" {
			t.Errorf("a trashed venue with an event: %s, %+v", shownFacets(got), got[0].Values)
		}
		// Where no step of auto finds anything, the counts are those of the first, as typos is.
		for sent, want := range map[string]string{
			"auto": "venue 0: 52=0*", "off": "venue 0: 52=0*", "on": "venue 2: 50=1 51=1 52=0*",
		} {
			if got := shownFacets(facetsOf(t, s, anonymous, "search=parant&venue=52&facets=venue&typos="+sent)); got != want {
				t.Errorf("typos=%s that find nothing: %s, want %s", sent, got, want)
			}
		}
		if got := facetsOf(t, s, anonymous, "venue=51&facets=city"); got[0].Values[0].Label != "Boston" {
			t.Errorf("city of the events of a venue: %+v", got) // 100 is at 50, too
		}
	})
}

// TestChosenValues is line LISTINGS 8.37.
func TestChosenValues(t *testing.T) {
	t.Parallel()
	records := []*calendar.Record{
		record(t, calendar.KindVenue, 60, "Unseen", fields{"status": "private", "author": calendar.ID(8), "city": "Suva"}),
		record(t, calendar.KindTag, 400, "Nobody’s", nil),
	}
	for i := range 5 { // tags 1 to 5, of 5, 4, 3, 3 and 1 events
		records = append(records, record(t, calendar.KindTag, calendar.ID(41+i), []string{"Éclair", "Zoo", "beta", "Alpha", "last"}[i], nil))
		for j := range []int{5, 4, 3, 3, 1}[i] {
			records = append(records, event(t, calendar.ID(1000+10*i+j), "E", "2030-05-10 10:00:00", "2030-05-10 11:00:00", fields{"tags": ids(calendar.ID(41 + i)), "cost": []string{"12"}}))
		}
	}
	onBoth(t, records, func(t *testing.T, s *Service) {
		t.Helper()
		for sent, want := range map[string]string{
			"facets=tags":                                          "tags 5: 41=5 42=4 44=3 43=3 45=1",
			"facets=tags&facet_limit=3":                            "tags 5: 41=5 42=4 44=3",
			"facets=tags&facet_limit=2&tags=44,45":                 "tags 5: 41=5 42=4 44=3* 45=1*",
			"facets=tags&facet_limit=2&tags=400,tag-45,zoo":        "tags 5: 41=5 42=4* 45=1* 400=0*",
			"facets=tags&tags=43&weekday=1":                        "tags 0: 43=0*",
			"facets=tags,weekday&tags=43&weekday=1":                "tags 0: 43=0*; weekday 1: 1=0* 5=3",
			"facets=tags&facet_query=tags:  ECL":                   "tags 1: 41=5",
			"facets=tags&facet_query=tags:a&facet_limit=1":         "tags 4: 41=5",
			"facets=tags&facet_query=tags:zoo&tags=42,43":          "tags 1: 42=4*",
			"facets=venue,city&venue=60&city=Nowhere  At,ÀLL":      "venue 0: 60=0*; city 0: all=0* nowhere at=0*",
			"facets=month&month=2030-05,2031-01,2030-02":           "month 1: 2030-02=0* 2030-05=16* 2031-01=0*",
			"facets=time_of_day&time_of_day=06:00-12:00":           "time_of_day 1: morning=16*",
			"facets=time_of_day&time_of_day=09:00-10:01,all_day":   "time_of_day 1: morning=16 all_day=0* 09:00-10:01=16*",
			"facets=time_of_day&time_of_day=10:01-10:00":           "time_of_day 1: morning=16 10:01-10:00=0*",
			"facets=cost_band&cost_band=10-25,unknown":             "cost_band 1: 10-25=16* unknown=0*",
			"facets=cost_band&cost_band=10.00-25,3-13,12-12.01":    "cost_band 1: 10-25=16* 3-13=16* 12-12.01=16*",
			"facets=free,ticketed,in_language&free=0&ticketed=yes": "free 0: false=0*; ticketed 1: true=0* false=16; in_language 0:",
		} {
			if got := shownFacets(facetsOf(t, s, anonymous, sent)); got != want {
				t.Errorf("%s: %s, want %s", sent, got, want)
			}
		}
		if v := facetsOf(t, s, anonymous, "facets=venue&venue=60")[0].Values[0]; v.Label != "60" || v.City != "" {
			t.Errorf("a venue that the caller does not see: %+v", v)
		}
		if v := facetsOf(t, s, editor, "facets=venue&venue=60")[0].Values[0]; v.Label != "Unseen" || v.City != "Suva" {
			t.Errorf("a venue that an editor sees: %+v", v)
		}
	})
	s, _, _, _ := setup(t, nil)
	if c, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input("facets=tags,city,free&collapse=repeats")}); err != nil || c.Cost != 6 {
		t.Errorf("three facets of groups: %v, %v", c, err)
	}
	for _, sent := range []string{
		"facets=", "facets=,", "facets=tags,places", "facets=status", "facet_limit=", "facet_limit=0", "facet_limit=101", "facet_limit=x",
		"facet_query=", "facet_query=tags:jazz", "facets=tags&facet_query=tags", "facets=tags&facet_query=tags: ", "facets=tags,month&facet_query=month:2030",
		"facets=tags&facet_query=venue:x", "facets=tags&facet_query=:x", "collapse=", "collapse=true", "collapse=Repeats",
	} {
		name, _, _ := strings.Cut(sent[strings.LastIndex(sent, "&")+1:], "=")
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent)})
		if refused, ok := asError(err); !ok || len(refused.Fields) != 1 || refused.Fields[0].Field != name {
			t.Errorf("%q: %v", sent, err)
		}
		if _, err := s.Parse(t.Context(), Request{Kind: calendar.KindVenue, Input: input(sent)}); err != nil {
			t.Errorf("%q of venues: %v", sent, err)
		}
	}
}

// TestCollapse is line LISTINGS 8.38.
func TestCollapse(t *testing.T) {
	t.Parallel()
	at := func(id calendar.ID, day, title string, f fields) *calendar.Record {
		return event(t, id, title, "2030-05-"+day+" 10:00:00", "2030-05-"+day+" 11:00:00", f)
	}
	records := []*calendar.Record{
		record(t, calendar.KindVenue, 50, "A", nil),
		at(100, "20", "Open mic", fields{"venue": ids(50)}),
		at(101, "18", "Another", nil),
		at(102, "10", "open MIC", fields{"venue": ids(50)}),
		at(103, "12", "Open mic", fields{"venue": ids(50), "protected": true}),
		at(104, "13", "Open mic", fields{"venue": ids(50), "featured": true}),
		at(105, "14", "Open mic", nil),
	}
	for i := range 120 {
		records = append(records, at(calendar.ID(1000+i), "25", "Daily", nil))
	}
	onBoth(t, records, func(t *testing.T, s *Service) {
		t.Helper()
		l, _, err := list(t, s, calendar.KindEvent, anonymous, input("collapse=repeats&per_page=4&facets=featured,venue"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(idsOf(l), ids(102, 103, 105, 101)) || l.Total != 5 || l.TotalPages != 2 {
			t.Fatalf("%v, %d on %d pages", idsOf(l), l.Total, l.TotalPages)
		}
		g := l.Views[0].Repeats
		if g.Count != 3 || !slices.Equal(g.IDs, ids(102, 104, 100)) || g.First != wall(t, "2030-05-10 10:00:00") || g.Last != wall(t, "2030-05-20 10:00:00") {
			t.Errorf("group %+v", g)
		}
		if got, want := shownFacets(l.Facets), "featured 2: true=1 false=124; venue 1: 50=3"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		l, _, err = list(t, s, calendar.KindEvent, editor, input("collapse=repeats&sort=start&order=desc"))
		if err != nil || !slices.Equal(idsOf(l), ids(1119, 100, 101, 105)) {
			t.Fatalf("%v, %v", idsOf(l), err)
		}
		if g := l.Views[0].Repeats; g.Count != 120 || len(g.IDs) != 100 || g.IDs[99] != 1020 {
			t.Errorf("group %+v", g)
		}
		if g := l.Views[1].Repeats; g.Count != 4 {
			t.Errorf("of an editor: %+v", g)
		}
		if l, _, err := list(t, s, calendar.KindEvent, anonymous, input("page=2&collapse=repeats&per_page=4")); err != nil || !slices.Equal(idsOf(l), ids(1000)) {
			t.Errorf("page 2: %v, %v", l, err)
		}
		if _, _, err := list(t, s, calendar.KindEvent, anonymous, input("page=3&collapse=repeats&per_page=4")); err == nil {
			t.Error("there is a page 3")
		}
	})
}

// TestManyMonths: the first 240 months are given, and chosen ones.
func TestManyMonths(t *testing.T) {
	t.Parallel()
	records := make([]*calendar.Record, 0, 250)
	for i := range 250 {
		day := strconv.Itoa(2000+i/12) + fmt.Sprintf("-%02d-10", 1+i%12)
		records = append(records, event(t, calendar.ID(100+i), "E", day, day, nil))
	}
	s, _, _, _ := setup(t, records)
	f := facetsOf(t, s, anonymous, "start_date=1999-01-01&end_date=2050-01-01&facets=month&month=2020-10,2001-01")[0]
	if f.Total != 250 || len(f.Values) != 241 || f.Values[240].Value != "2020-10" || f.Values[239].Value != "2019-12" || !f.Values[12].Selected {
		t.Errorf("%d values of %d, the last %+v", len(f.Values), f.Total, f.Values[len(f.Values)-1])
	}
}

// TestDirectories: what facets show of linked records is read once, anew when one of the
// kind has changed, and by all who ask at the same time.
func TestDirectories(t *testing.T) {
	t.Parallel()
	hall := record(t, calendar.KindVenue, 50, "Hall", fields{"city": "Rome"})
	s, _, index, _ := setup(t, []*calendar.Record{hall, event(t, 100, "E", "2030-05-10", "2030-05-10", fields{"venue": ids(50)})})
	city := func() string { return facetsOf(t, s, anonymous, "facets=city,venue,country")[0].Values[0].Label }
	if got := city(); got != "Rome" {
		t.Errorf("city %s", got)
	}
	index.calls("Stamp")
	index.calls("Search")
	for range 3 {
		city()
	}
	if stamps, walks := index.calls("Stamp"), index.calls("Search"); stamps != 0 || walks != 3 {
		t.Errorf("%d stamps and %d searches in one generation, want 0 and 3", stamps, walks)
	}
	moved := *hall
	moved.Fields = fields{"venue": english("Hall"), "city": "Turin", "status": "publish"}
	index.put(&moved)
	if got := city(); got != "Turin" {
		t.Errorf("city %s after the venue has moved, want Turin", got)
	}
	if stamps := index.calls("Stamp"); stamps != 1 {
		t.Errorf("%d stamps in a new generation, want 1", stamps)
	}
}
