package elastic_test

import (
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
)

// TestViewsOfSearches: a view of one search opens no point in time; several searches of one
// view show one state, whatever is written between them.
func TestViewsOfSearches(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		p := e.proxy(t)
		x := e.through(t, p, elastic.Options{})
		written := calendar.ID(3)
		mustWrite(t, x, tags(1, written))
		points := func() int64 { return p.count("_pit") + p.count("point_in_time") }
		q, runs := readmodel.Query{Kind: calendar.KindTag}, 0
		err := readmodel.Read(t.Context(), x, func(v readmodel.View) error {
			runs++
			first, err := v.Search(t.Context(), q)
			if err != nil {
				return err
			}
			if got := points(); runs == 1 && got > 0 {
				t.Errorf("%d requests for points in time by one search", got)
			}
			written++
			mustWrite(t, x, tags(written, written))
			second, err := v.Search(t.Context(), q)
			if err == nil && second.Total != first.Total {
				t.Errorf("%d tags, and then %d", first.Total, second.Total)
			}
			return err
		})
		if err != nil || runs != 2 || points() == 0 {
			t.Errorf("%d runs with %d requests for points in time: %v", runs, points(), err)
		}
	})
}
