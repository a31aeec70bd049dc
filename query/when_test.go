package query

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

// TestWhen is what line LISTINGS 8.25 says of when.
func TestWhen(t *testing.T) {
	t.Parallel()
	const day = daySeconds
	sites := []*time.Location{time.UTC, time.FixedZone("ahead", 14*3600), time.FixedZone("behind", -12*3600)}
	records := recordsIn(t, "listings.txt")
	for i := range calendar.ID(75) { // one ends, one begins at midnight of each day, one runs over it
		midnight := wall(t, "2030-04-20") + day*calendar.Wall(i)
		for n, edge := range [][2]calendar.Wall{{-3600, 0}, {0, 3600}, {-60, 60}} {
			records = append(records, event(t, 1000+10*i+calendar.ID(n), "At midnight", (midnight+edge[0]).String(), (midnight+edge[1]).String(), nil))
		}
	}
	s, _, _, now := setup(t, records)
	memory, _, _, _ := setup(t, records)
	memory.index, memory.o.Now = memoryIndex(t, records), s.o.Now
	for _, d := range []string{"2030-05-01 11:00:00", "2030-05-03 23:30:00", "2030-05-05 00:30:00", "2030-05-06 12:00:00", "2030-05-31 09:00:00"} {
		for i, site := range sites {
			s.o.Site, memory.o.Site = site, site
			*now = at(t, d, time.UTC)
			for _, word := range Days {
				for _, sunday := range []bool{false, true} {
					s.o.Sunday, memory.o.Sunday = sunday, sunday
					first, last := DaysOf(word, *now, site, sunday)
					want, _, err := list(t, s, calendar.KindEvent, anonymous, input("per_page=100&overlap=true&start_date="+first.String()+"&end_date="+last.String()))
					if err != nil || len(want.Views) < 3 {
						t.Fatalf("%s at %s in site %d: %v, %v", word, d, i, want, err)
					}
					for _, more := range []string{"", "&overlap=false", "&strict_dates=true"} {
						for name, s := range map[string]*Service{"meaning": s, "memory image": memory} {
							got, c, err := list(t, s, calendar.KindEvent, anonymous, input("per_page=100&when="+word+more))
							if err != nil || !slices.Equal(idsOf(got), idsOf(want)) {
								t.Errorf("%s%s at %s in site %d, %s: got %v, %v, want %v", word, more, d, i, name, idsOf(got), err, idsOf(want))
							}
							if err == nil && !c.Moves {
								t.Errorf("%s%s does not move with the day", word, more)
							}
						}
					}
				}
			}
		}
	}
	s.o.Site = time.UTC
	l, c, err := list(t, s, calendar.KindEvent, anonymous, input("when=today&per_page=5&strict_dates=0"))
	if links := LinksTo("x", c.Links); err != nil || links.Page(1) != "x?per_page=5&strict_dates=0&when=today" {
		t.Errorf("links %s, %v", links.Page(1), err)
	}
	key := c.Key
	*now = now.Add(24 * time.Hour)
	if c, err = s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input("when=today&per_page=5&strict_dates=0")}); err != nil || c.Key == key {
		t.Errorf("the key of the day before: %v", err)
	}
	then := Request{Kind: calendar.KindEvent, Input: input("when=today&per_page=5&strict_dates=0"), Past: Past{Now: now.Add(-24 * time.Hour)}}
	if c, err = s.Parse(t.Context(), then); err != nil {
		t.Fatal(err)
	}
	if past, err := s.Run(t.Context(), c); err != nil || !slices.Equal(idsOf(past), idsOf(l)) {
		t.Errorf("as of the day before: %v, %v, want %v", idsOf(past), err, idsOf(l))
	}
	if l, c, err = list(t, s, calendar.KindEvent, anonymous, input("when=next_month&include=100,108")); err != nil || !slices.Equal(idsOf(l), ids(100, 108)) || c.Moves {
		t.Errorf("with include: %v, %v", l, err)
	}
	for _, date := range DateParams {
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input("when=today&" + date + "=2030-05-01&overlap=true")})
		refused, ok := asError(err)
		want := []calendar.FieldError{{Field: "when", Reason: calendar.ReasonTogether, Args: []string{date}}, {Field: date, Reason: calendar.ReasonTogether, Args: []string{"when"}}}
		if diff := cmp.Diff(want, refused.Fields); !ok || diff != "" {
			t.Errorf("with %s: %v (-want +got):\n%s", date, err, diff)
		}
	}
}
