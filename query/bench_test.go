package query

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

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
