package elastic_test

import (
	"cmp"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

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

// TestViewOfDropped: a read goes on in the new generation when another process puts one in
// place and drops the one that is read, as an erasure does: before its first search, before
// its point in time, and behind it, twice. While servers drop an index, they refuse a search
// of it as if a shard were away.
func TestViewOfDropped(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		options := elastic.Options{Prefix: e.prefix(t), RefreshInterval: time.Hour}
		other, last := e.attach(t, e.url(t), options), calendar.ID(0)
		var dropping atomic.Bool
		proxy := e.proxy(t)
		proxy.set(func(request *http.Request, _ string) (int, string) {
			if request.Method == http.MethodPost && regexp.MustCompile("/(_search|_pit|point_in_time)$").MatchString(request.URL.Path) && dropping.Swap(false) {
				return 503, `{"error":{"root_cause":[],"type":"search_phase_execution_exception","reason":"all shards failed","phase":"query","failed_shards":[]},"status":503}`
			}
			return 0, ""
		})
		replace := func() {
			last++
			next, err := other.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, next, tags(1, last))
			if err := cmp.Or(other.Promote(t.Context()), other.Forget(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		replace()
		search := func(view readmodel.View) (int, error) {
			page, err := view.Search(t.Context(), readmodel.Query{Kind: calendar.KindTag})
			return page.Total, err
		}
		walk := func(view readmodel.View) (count int, err error) {
			err = view.Walk(t.Context(), readmodel.Query{Kind: calendar.KindTag}, func(documents []readmodel.Document) error {
				count += len(documents)
				return nil
			})
			return count, err
		}
		nothing := func(readmodel.View) (int, error) { return 0, nil }
		for name, reads := range map[string][2]func(readmodel.View) (int, error){
			"search": {nothing, search}, "walk": {nothing, walk}, "walk and search": {walk, search},
		} {
			for _, refused := range []bool{false, true} {
				index := e.attach(t, proxy.URL, options)
				total(t, index) // it knows the present generation from now on
				count, runs := 0, 0
				err := readmodel.Read(t.Context(), index, func(view readmodel.View) error {
					_, err := reads[0](view)
					if runs++; err == nil && runs < 3 {
						replace()
						dropping.Store(refused)
					}
					if err == nil {
						count, err = reads[1](view)
					}
					return err
				})
				if err != nil || count != int(last) || runs < 3 {
					t.Errorf("%s, refused %v: %d tags after %d runs, %v; want %d", name, refused, count, runs, err, last)
				}
			}
		}
	})
}
