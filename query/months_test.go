package query_test

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query"
	"daybook/query/readmodel"
)

// TestMonths: months are those that a look at each event gives, on the clock of the site and
// on that of the event (PAGES P3.1).
func TestMonths(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x readmodel.Index, _ bool) {
		t.Helper()
		site, err := time.LoadLocation("America/New_York")
		if err != nil {
			t.Fatal(err)
		}
		g := rand.New(rand.NewPCG(7, 24))
		month := func(w calendar.Wall) time.Time {
			y, m, _ := w.UTC().Date()
			return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
		}
		started, touched := map[time.Time]int{}, map[time.Time]bool{}
		var records []*calendar.Record
		add := func(start time.Time, length, offset int, more calendar.Fields) {
			from := calendar.WallOf(start)
			to := from + calendar.Wall(length)
			f := calendar.Fields{"utc_start_date": from - calendar.Wall(offset), "utc_end_date": to - calendar.Wall(offset)}
			maps.Copy(f, more)
			records = append(records, query.Event(t, calendar.ID(100+len(records)), "Event", from.String(), to.String(), f))
			if f["hide_from_listings"] == true || f["status"] != nil {
				return
			}
			if f["protected"] != true {
				started[month(calendar.WallOf(time.Unix(int64(from)-int64(offset), 0).In(site)))]++
			}
			for m := month(from); m.Equal(month(from)) || calendar.WallOf(m) < to; m = m.AddDate(0, 1, 0) {
				touched[m] = true
			}
		}
		for i := range 60 {
			var more calendar.Fields
			switch i % 6 {
			case 3:
				more = calendar.Fields{"protected": true}
			case 4:
				more = calendar.Fields{"hide_from_listings": true}
			case 5:
				more = calendar.Fields{"status": "draft"}
			}
			edge := time.Date(2020, time.Month(3*g.IntN(60)), 1, 0, 0, 0, 0, time.UTC)
			lengths := []int{0, 3600, 12 * 3600, 40 * 86400, 200 * 86400}
			add(edge.Add(time.Duration(g.IntN(97)-48)*time.Hour), lengths[g.IntN(len(lengths))], (g.IntN(25)-12)*3600, more)
		}
		add(time.Date(1900, 1, 31, 23, 0, 0, 0, time.UTC), 3600, 0, nil) // ends as the month does
		add(time.Date(9999, 12, 31, 22, 0, 0, 0, time.UTC), 3600, 0, nil)
		add(time.Date(2100, 2, 1, 0, 0, 0, 0, time.UTC), 86400*365*20, 0, nil)
		query.Fill(t, x, 0, records...)
		s, err := query.New(x, struct{ query.Records }{}, query.Options{Site: site, Now: func() time.Time { return time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC) }})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Months(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gotStarted, gotTouched := map[time.Time]int{}, map[time.Time]bool{}
		for _, m := range got.Started {
			gotStarted[m.First] = m.Events
		}
		for _, m := range got.Touched {
			gotTouched[m] = true
		}
		if diff := cmp.Diff(started, gotStarted); diff != "" {
			t.Errorf("started (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(touched, gotTouched); diff != "" {
			t.Errorf("touched (-want +got):\n%s", diff)
		}
	})
}
