package query

import (
	"fmt"
	"strings"
	"testing"

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
// value as the only one of its parameter. Every facet, alone and next to others.
func TestFacetsByHand(t *testing.T) {
	t.Parallel()
	onBoth(t, recordsIn(t, "jams.txt"), func(t *testing.T, s *Service) {
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

// Listings 3.5: the label of a city is its most frequent spelling among the venues counted.
func TestCityLabel(t *testing.T) {
	t.Parallel()
	records := []*calendar.Record{record(t, calendar.KindVenue, 59, "Hidden", fields{"city": "BOSTON", "status": "private"})}
	for i, city := range []string{"boston", "Boston", "BOSTON", "Boston"} {
		venue := calendar.ID(50 + i)
		records = append(records,
			record(t, calendar.KindVenue, venue, "Hall", fields{"city": city}),
			event(t, 100+calendar.ID(i), "E", "2030-05-10", "2030-05-10", fields{"venue": append(ids(venue), 59)}))
	}
	onBoth(t, records, func(t *testing.T, s *Service) {
		t.Helper()
		for sent, want := range map[string]string{"": "Boston", "&venue=50,51,53": "Boston", "&venue=50,51": "Boston", "&venue=50,52": "BOSTON", "&venue=50": "boston"} {
			if got := facetsOf(t, s, anonymous, "facets=city"+sent)[0].Values; len(got) != 1 || got[0].Label != want {
				t.Errorf("%q: %+v, want %s", sent, got, want)
			}
		}
	})
}
