package query

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// town is a large calendar: events over two years, with links.
func town(tb testing.TB, events int) (*Service, *fakeRecords) {
	tb.Helper()
	store := &fakeRecords{byID: map[calendar.ID]*calendar.Record{}}
	add := func(r *calendar.Record) { store.byID[r.ID] = r }
	for i := range 40 {
		add(record(tb, calendar.KindCategory, calendar.ID(1+i), "Category "+strconv.Itoa(i), fields{"parent": calendar.ID(i / 4)}))
		add(record(tb, calendar.KindTag, calendar.ID(101+i), "Tag "+strconv.Itoa(i), nil))
	}
	for i := range 500 {
		add(record(tb, calendar.KindVenue, calendar.ID(1001+i), "Hall "+strconv.Itoa(i), fields{
			"geo_lat": 40 + float64(i%100)/20, "geo_lng": -75 + float64(i/100),
		}))
		add(record(tb, calendar.KindOrganizer, calendar.ID(2001+i), "Club "+strconv.Itoa(i), nil))
	}
	words := []string{"concert", "picnic", "lecture", "market", "dance", "reading", "opening", "festival"}
	from := wall(tb, "2029-06-01")
	for i := range events {
		start := from + calendar.Wall(i*7919%(700*24))*3600
		f := fields{
			"categories": ids(calendar.ID(1 + i%40)), "tags": ids(calendar.ID(101+i%40), calendar.ID(101+i*7%40)),
			"venue": ids(calendar.ID(1001 + i%500)), "organizer": ids(calendar.ID(2001 + i%500)),
			"description": english("An evening with " + words[i%8] + " and " + words[i/8%8]), "featured": i%50 == 0,
		}
		if i%200 == 0 {
			f["protected"] = true
		}
		add(event(tb, calendar.ID(10_001+i), words[i/64%8]+" number "+strconv.Itoa(i), start.String(), (start + 7200).String(), f))
	}
	index := memoryIndex(tb, slices.Collect(maps.Values(store.byID)))
	now := at(tb, worldNow, time.UTC)
	s, err := New(index, store, Options{Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	return s, store
}

func BenchmarkList(b *testing.B) {
	s, store := town(b, 50_000)
	for _, bb := range []struct {
		name string
		kind calendar.Kind
		who  calendar.Caller
		sent string
	}{
		{"default", calendar.KindEvent, anonymous, ""},
		{"own", calendar.KindEvent, contributor, ""},
		{"editor", calendar.KindEvent, editor, ""},
		{"window", calendar.KindEvent, anonymous, "start_date=2030-06-01&end_date=2030-06-30"},
		{"search", calendar.KindEvent, anonymous, "search=market dance"},
		{"search-not", calendar.KindEvent, anonymous, "search=market -dance"},
		{"search-editor", calendar.KindEvent, editor, "search=market dance"},
		{"categories", calendar.KindEvent, anonymous, "categories=1,7"},
		{"near", calendar.KindEvent, anonymous, "geoloc_lat=41&geoloc_lng=-74&geoloc_radius=100"},
		{"venue", calendar.KindEvent, anonymous, "venue=1005"},
		{"venues-upcoming", calendar.KindVenue, anonymous, "only_with_upcoming=true"},
		{"venues-has-events", calendar.KindVenue, anonymous, "has_events=true"},
		{"tags", calendar.KindTag, anonymous, ""},
		{"tags-by-count", calendar.KindTag, anonymous, "orderby=count&order=desc"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			in := input(bb.sent)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := list(b, s, bb.kind, bb.who, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Parse(b.Context(), Request{Kind: calendar.KindEvent, Lang: calendar.LangEN}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("generation", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Generation(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("view", func(b *testing.B) {
		b.ReportAllocs()
		r := store.byID[10_500]
		for b.Loop() {
			if _, err := s.View(b.Context(), anonymous, r, calendar.LangEN, EmbedAll, Moment{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFacets compares lists with facets to lists without, on 50,000 events of real
// weight: a window that is asked for again and again, others each time, and a search.
func BenchmarkFacets(b *testing.B) {
	index := memoryIndex(b, nil)
	err := readmodeltest.NewCorpus(50_000, 1).Fill(func(batch readmodel.Batch) error {
		_, err := index.Write(b.Context(), batch)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(index, &fakeRecords{byID: map[calendar.ID]*calendar.Record{}}, Options{Now: func() time.Time { return readmodeltest.Now }})
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct{ name, sent string }{
		{"default", ""},
		{"window", "strict_dates=1&start_date=2026-05-01 00:00:%02d&end_date=2028-%02d-%02d"},
		{"chosen", "featured=false&month=2026-10"},
		{"search", "search=ba&start_date=2026-05-01 00:00:%02d&end_date=2028-%02d-%02d"},
	} {
		for _, facets := range []string{"", "&facets=categories,tags,venue,city,month", "&facets=organizer,country,weekday,time_of_day,cost_band"} {
			b.Run(bb.name+"/"+strings.TrimPrefix(facets, "&facets="), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					sent := bb.sent
					if strings.Contains(sent, "%") {
						sent = fmt.Sprintf(sent, i%60, 1+i/60%12, 1+i/720%28)
					}
					if _, _, err := list(b, s, calendar.KindEvent, anonymous, input(sent+facets)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
