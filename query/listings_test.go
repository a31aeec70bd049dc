package query

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// listings is the world of the filters of the listings document; it is 2030-05-01 08:00.
func listings(tb testing.TB) []*calendar.Record {
	tb.Helper()
	at := func(id calendar.ID, start, end string, f fields) *calendar.Record {
		return event(tb, id, "Event", start, end, f)
	}
	spanish := english("Event")
	spanish[calendar.LangES] = "Acto"
	return []*calendar.Record{
		record(tb, calendar.KindVenue, 50, "A", fields{"city": "München", "country": "Germany", "geo_lat": 48.1, "geo_lng": 11.5}),
		record(tb, calendar.KindVenue, 51, "B", fields{"city": "Washington, D.C.", "country": "USA", "geo_lat": 38.9, "geo_lng": -77.0}),
		record(tb, calendar.KindVenue, 52, "C", fields{"city": "Suva", "geo_lat": -18.1, "geo_lng": 178.4}),
		record(tb, calendar.KindVenue, 53, "D", fields{"city": "Apia", "geo_lat": -13.8, "geo_lng": -171.8}),
		record(tb, calendar.KindVenue, 54, "Unseen", fields{"city": "Munchen", "status": "private", "author": calendar.ID(8), "geo_lat": 48.1, "geo_lng": 11.5}),

		at(100, "2030-04-30 09:00:00", "2030-05-02 10:00:00", fields{"venue": ids(50), "cost": []string{"0"}}),
		at(101, "2030-04-30 09:00:00", "2030-05-01 00:00:00", fields{"cost": []string{"free"}}),
		at(102, "2030-05-06 22:30:00", "2030-05-06 23:30:00", fields{"venue": ids(51), "cost": []string{"Gratis"}}),
		at(103, "2030-05-07 01:59:59", "2030-05-07 03:00:00", fields{"venue": ids(52), "cost": []string{"0–30"}}),
		at(104, "2030-05-08 00:00:00", "2030-05-08 23:59:59", fields{"venue": ids(53), "all_day": true, "cost": []string{"10"}}),
		at(105, "2030-06-09 11:59:00", "2030-06-09 13:59:01", fields{"venue": ids(54, 52), "title": spanish, "cost": []string{"25"}}),
		at(106, "2030-06-10 12:00:00", "2030-06-10 12:00:00", fields{"cost": []string{"ask"}}),
		at(107, "2030-07-01 18:00:00", "2030-07-03 18:00:00", fields{"protected": true, "venue": ids(50), "cost": []string{"0"}}),
		at(108, "2040-01-01 18:00:00", "2040-01-01 19:00:00", fields{"cost": []string{"10.5", "30"}}),
	}
}

// wantListed checks the ids of a list by the meaning of filters alone and by the memory
// image; those of an error are none.
func wantListed(t *testing.T, sent string, want ...calendar.ID) {
	t.Helper()
	records := listings(t)
	s, _, _, _ := setup(t, records)
	memory, _, _, _ := setup(t, records)
	memory.index = memoryIndex(t, records)
	for name, s := range map[string]*Service{"meaning": s, "memory image": memory} {
		l, _, err := list(t, s, calendar.KindEvent, anonymous, input(sent))
		if err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		if diff := cmp.Diff(ids(want...), idsOf(l)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", sent, name, diff)
		}
	}
}

const always = "&start_date=1970-01-01&end_date=2050-01-01"

// TestOverlap is line LISTINGS 8.25.
func TestOverlap(t *testing.T) {
	t.Parallel()
	listed := []calendar.ID{102, 103, 104, 105, 106, 107}
	wantListed(t, "", listed...)
	wantListed(t, "overlap=false", listed...)
	wantListed(t, "overlap=true", append(ids(100), listed...)...)
	for sent, want := range map[string][]calendar.ID{
		"start_date=2030-05-06 23:30:00&end_date=2030-05-07 01:59:59": ids(103),
		"start_date=2030-05-06 23:29:59&end_date=2030-05-07 01:59:58": ids(102),
		"start_date=2030-06-10 12:00:00&end_date=2030-06-10 12:00:00": ids(106), // begins and ends at the bound
		"start_date=2030-06-10 12:00:01&end_date=2030-06-10 13:00:00": ids(),
		// Instants are compared with the UTC times.
		"start_date=2030-05-07T01:29:59+02:00&end_date=2030-05-07T01:59:59Z":                  ids(102, 103),
		"start_date=2030-05-07T01:30:00+02:00&end_date=2030-05-06T20:59:58-05:00":             ids(),
		"start_date=2030-07-02 00:00:00&end_date=2030-07-02 01:00:00":                         ids(107),
		"start_date=2030-06-09 13:00:00&end_date=2030-06-20&starts_after=2030-06-10 00:00:00": ids(106),
	} {
		wantListed(t, "overlap=1&strict_dates=1&"+sent, want...)
	}
	wantListed(t, "overlap=true&include=101,108", 101, 108)
	wantListed(t, "overlap=true&start_date=2030-06-09&end_date=2030-06-09", 105)
}

// TestWhen is what line LISTINGS 8.25 says of when.
func TestWhen(t *testing.T) {
	t.Parallel()
	const day = daySeconds
	sites := []*time.Location{time.UTC, time.FixedZone("ahead", 14*3600), time.FixedZone("behind", -12*3600)}
	records := listings(t)
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
	for _, date := range dateParams {
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input("when=today&" + date + "=2030-05-01&overlap=true")})
		refused, ok := asError(err)
		want := []calendar.FieldError{{Field: "when", Reason: calendar.ReasonTogether, Args: []string{date}}, {Field: date, Reason: calendar.ReasonTogether, Args: []string{"when"}}}
		if diff := cmp.Diff(want, refused.Fields); !ok || diff != "" {
			t.Errorf("with %s: %v (-want +got):\n%s", date, err, diff)
		}
	}
}

// TestOwnClock is line LISTINGS 8.26.
func TestOwnClock(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string][]calendar.ID{
		"month=2030-05":                       ids(102, 103, 104),
		"month=2030-07,2030-06":               ids(105, 106, 107),
		"month=2030-05,2030-07":               ids(102, 103, 104, 107),
		"month=2030-08":                       ids(),
		"weekday=1":                           ids(102, 106, 107),
		"weekday=Monday,TUE":                  ids(100, 101, 102, 103, 106, 107),
		"weekday=mon,sun":                     ids(102, 105, 106, 107, 108),
		"time_of_day=22:00-02:00":             ids(102, 103),
		"time_of_day=night":                   ids(103),
		"time_of_day=morning,all_day":         ids(100, 101, 104, 105),
		"time_of_day=afternoon":               ids(106),
		"time_of_day=evening":                 ids(102, 108), // 107 is blanked
		"time_of_day=11:59-12:00":             ids(105),
		"time_of_day=12:00-12:00":             ids(100, 101, 102, 103, 105, 106, 108),
		"time_of_day=all_day":                 ids(104),
		"time_of_day=18:00-24:00":             ids(102, 108),
		"duration_max=60":                     ids(102, 106, 108),
		"duration_min=1440&duration_max=1440": ids(104),
		"duration_min=120":                    ids(100, 101, 104, 105),
		"duration_min=121":                    ids(100, 101, 104),
		"duration_min=60&duration_max=60":     ids(102, 108),
		"in_language=es":                      ids(105),
		"in_language=es,en&month=2030-06":     ids(105, 106),
		"in_language=cn":                      ids(),
	} {
		window := always
		if strings.HasPrefix(sent, "month") {
			window = ""
		}
		wantListed(t, sent+window, want...)
	}
}

// TestCosts is line LISTINGS 8.27.
func TestCosts(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string][]calendar.ID{
		"free=true":  ids(100, 101, 102),
		"free=false": ids(103, 104, 105, 106, 108),
		// The two are the whole list, but for what is blanked.
		"":                                 ids(100, 101, 102, 103, 104, 105, 106, 107, 108),
		"cost_band=free":                   ids(100, 101, 102),
		"cost_band=0-10":                   ids(103),
		"cost_band=10-25":                  ids(104, 108),
		"cost_band=10.01-10.51":            ids(108),
		"cost_band=25-":                    ids(105),
		"cost_band=0-1,free,25-30,unknown": ids(100, 101, 102, 103, 105, 106),
		"cost_band=unknown":                ids(106),
		"cost_band=0-99999999999999999999": ids(103, 104, 105, 108),
	} {
		wantListed(t, sent+always, want...)
	}
}

// TestPlaces is line LISTINGS 8.28.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string][]calendar.ID{
		"city=münchen":                                   ids(100),
		"city=Munchen":                                   ids(100),
		"city=suva,APIA":                                 ids(103, 104, 105),
		"country=usa":                                    ids(102),
		"city=suva&country=usa":                          ids(),
		"bbox=170,-20,-170,-10":                          ids(103, 104, 105),
		"bbox=11.5,48.1,11.5,48.1":                       ids(100),
		"bbox=-180,-90,180,90":                           ids(100, 102, 103, 104, 105),
		"bbox=11.6,48,12,49":                             ids(),
		"bbox=170,-20,180,0&city=suva":                   ids(103, 105),
		"bbox=170,-20,180,0&geoloc_lat=48&geoloc_lng=11": ids(),
	} {
		wantListed(t, sent+always, want...)
	}
	s, _, _, _ := setup(t, listings(t))
	in := input(always[1:])
	in["city"] = []any{"Washington, D.C."}
	if l, c, err := list(t, s, calendar.KindEvent, anonymous, in); err != nil || !slices.Equal(idsOf(l), ids(102)) {
		t.Errorf("a city with a comma: %v, %v", l, err)
	} else if links := LinksTo("", c.Links); !strings.Contains(links.Page(1), "city%5B%5D=Washington%2C%20D.C.") {
		t.Errorf("link %s", links.Page(1))
	}
	in = input(always[1:])
	in["bbox"] = []any{"11.5", "48.1", "11.5", "48.1"} // equal ones stay
	if l, c, err := list(t, s, calendar.KindEvent, anonymous, in); err != nil || !slices.Equal(idsOf(l), ids(100)) {
		t.Errorf("a box as an array: %v, %v", l, err)
	} else if links := LinksTo("", c.Links); !strings.Contains(links.Page(1), "bbox=11.5%2C48.1%2C11.5%2C48.1") {
		t.Errorf("link %s", links.Page(1))
	}
}

// TestFiltersRefuse is line LISTINGS 8.42, and what 8.28 says of boxes.
func TestFiltersRefuse(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, listings(t))
	names := []string{"overlap", "when", "event_status", "month", "weekday", "time_of_day", "duration_min", "duration_max", "in_language", "city", "country", "bbox", "free", "cost_band", "typos", "highlight", "highlight_length"}
	var sent []string
	for _, name := range names {
		sent = append(sent, name+"=", name+"= ")
		if slices.ContainsFunc(Params(calendar.KindEvent), func(p Param) bool { return p.Name == name && p.IsList() }) {
			sent = append(sent, name+"=,")
		}
		for _, k := range calendar.Kinds[1:] { // a name of another list
			if _, err := s.Parse(t.Context(), Request{Kind: k, Input: input(name + "=!")}); err != nil {
				t.Errorf("%s: %s: %v", k, name, err)
			}
		}
	}
	for name, values := range map[string]string{
		"overlap": "2 maybe", "when": "Today weekend today,tomorrow", "event_status": "Cancelled cancelled,x", "month": "2030 2030-13 2030-00 2030-5 0000-01 2030-05-01 05-2030 2030-05,x", "weekday": "0 8 mo mond lundi 1,x 12",
		"time_of_day":  "noon Night 24:00-01:00 10:00 10:00-24:01 10:60-11:00 1:00-2:00 10:00-11:00-12:00 10-11",
		"duration_min": "-1 1.5 x 5256001", "duration_max": "-1 x 5256001", "in_language": "de EN en,de",
		"bbox":  "1,2,3 1,2,3,4,5 a,1,2,3 1,3,2,2 -181,0,0,0 0,-91,0,0 0,0,180.1,0 0,0,0,90.1 NaN,0,0,0",
		"typos": "maybe AUTO 2 on,off", "highlight": "maybe 2", "highlight_length": "39 1001 x 40.5",
		"free": "gratis 2", "cost_band": "10 -10 10-10 20-10 a-b 1.234-2 1.-2 .5-2 10-20-30 Free 1,5-2",
	} {
		for v := range strings.SplitSeq(values, " ") {
			sent = append(sent, name+"="+v)
		}
	}
	sent = append(sent, "duration_max=59&duration_min=60")
	for _, in := range sent {
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(in)})
		name, _, _ := strings.Cut(in, "=")
		refused, ok := asError(err)
		if !ok || len(refused.Fields) != 1 || refused.Fields[0].Field != name {
			t.Errorf("%q: %v", in, err)
		}
	}
	for _, in := range []string{"duration_max=60&duration_min=60", "time_of_day=00:00-24:00", "month=9999-12", "cost_band=0-0.01"} {
		if _, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(in)}); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
	if got := readmodel.Hundredths("10.999"); got != 1099 {
		t.Errorf("hundredths %d", got)
	}
}

// TestSort are lines LISTINGS 8.29 and 8.30, as far as start, published and modified go.
func TestSort(t *testing.T) {
	t.Parallel()
	day := func(d string) calendar.Wall { return wall(t, "2030-01-"+d) }
	at := func(id calendar.ID, start string, date, published, modified calendar.Wall) *calendar.Record {
		return event(t, id, "Event", start, start, fields{"date": date, "date_utc": published, "modified_utc": modified})
	}
	records := []*calendar.Record{
		at(100, "2030-05-12", day("01"), day("05"), day("09")),
		at(101, "2030-05-11", day("02"), day("07"), day("08")),
		at(102, "2030-05-11", day("01"), day("05"), day("08")),
		at(103, "2030-05-10", day("09"), calendar.NoWall, calendar.NoWall),
		at(104, "2030-05-11", day("01"), calendar.NoWall, day("10")),
	}
	records[3].Fields["status"], records[4].Fields["status"] = "draft", "draft"
	s, _, _, _ := setup(t, records)
	memory, _, _, _ := setup(t, records)
	memory.index = memoryIndex(t, records)
	for sent, want := range map[string][]calendar.ID{
		"":                         ids(103, 102, 104, 101, 100),
		"order=desc":               ids(103, 102, 104, 101, 100),
		"order=":                   ids(103, 102, 104, 101, 100),
		"sort=start":               ids(103, 102, 104, 101, 100),
		"sort=start&order=desc":    ids(100, 101, 104, 102, 103),
		"sort=published":           ids(101, 102, 100, 103, 104),
		"sort=published&order=ASC": ids(100, 102, 101, 103, 104),
		"sort=modified":            ids(104, 100, 102, 101, 103),
		"sort=modified&order=asc":  ids(101, 102, 100, 104, 103),
		"sort=modified&order=Desc&include=100,103,101": ids(100, 101, 103),
	} {
		for name, s := range map[string]*Service{"meaning": s, "memory image": memory} {
			l, c, err := list(t, s, calendar.KindEvent, editor, input(sent))
			if err != nil {
				t.Fatalf("%s: %v", sent, err)
			}
			if diff := cmp.Diff(want, idsOf(l)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", sent, name, diff)
			}
			links := LinksTo("", c.Links)
			if strings.Contains(links.Page(1), "order") != strings.Contains(sent, "sort=") && strings.Contains(sent, "order") {
				t.Errorf("%s: link %s", sent, links.Page(1))
			}
		}
	}
	for _, sent := range []string{"sort=", "sort=title", "sort=Start", "sort=start&order=", "sort=start&order=up", "sort=relevance&order=asc", "sort=relevance&order=", "sort=relevance&order=up"} {
		if _, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent)}); err == nil {
			t.Errorf("%s is taken", sent)
		}
	}
	if _, err := s.Parse(t.Context(), Request{Kind: calendar.KindVenue, Input: input("sort=title")}); err != nil {
		t.Errorf("sort of venues: %v", err)
	}
}

// TestReadCostBands: up to 20 rising numbers above 0 (LISTINGS 6).
func TestReadCostBands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10,25,50,100": "10 25 50 100", " 0.5, 1.25 ": "0.5 1.25", "7": "7",
		"": "", "0": "", "10,10": "", "10,9.99": "", "1,,2": "", "-1": "", "1e3": "", "1.234": "",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20":    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21": "",
	} {
		bounds, err := ReadCostBands(text)
		if got := strings.Join(bounds, " "); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
