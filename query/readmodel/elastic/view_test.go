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
		proxy := e.proxy(t)
		index := e.through(t, proxy, elastic.Options{})
		written := calendar.ID(3)
		mustWrite(t, index, tags(1, written))
		points := func() int64 { return proxy.count("_pit") + proxy.count("point_in_time") }
		query, runs := readmodel.Query{Kind: calendar.KindTag}, 0
		err := readmodel.Read(t.Context(), index, func(view readmodel.View) error {
			runs++
			first, err := view.Search(t.Context(), query)
			if err != nil {
				return err
			}
			if got := points(); runs == 1 && got > 0 {
				t.Errorf("%d requests for points in time by one search", got)
			}
			written++
			mustWrite(t, index, tags(written, written))
			second, err := view.Search(t.Context(), query)
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
