package httpapi_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/world"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// goingBack is an index of which another generation answers after waits and looks at its
// position: one that is an entry behind, as many views as older says.
type goingBack struct {
	readmodel.Index
	older atomic.Int64
}

func (goingBack *goingBack) View(ctx context.Context) (readmodel.View, error) {
	view, err := goingBack.Index.View(ctx)
	if err == nil && goingBack.older.Add(-1) >= 0 {
		view = viewBehind{view}
	}
	return view, err
}

type viewBehind struct{ readmodel.View }

func (viewBehind viewBehind) Shown() readmodel.VisibleState {
	shown := viewBehind.View.Shown()
	shown.Position--
	return shown
}

// TestListsOfAnotherGeneration: a list of any kind is not older than the position that it
// was asked for, also where another generation of the read model comes to answer after the
// wait; one that does not get there is 503.
func TestListsOfAnotherGeneration(t *testing.T) {
	t.Parallel()
	index := &goingBack{Index: memindex.New(memindex.Options{})}
	_, editor, nobody := newWorld(t, world.Options{Index: index, Wait: 10 * time.Second})
	venue := editor.Create(calendar.KindVenue, obj{"venue": "Hall", "geo_lat": 1, "geo_lng": 2}).ID()
	for _, path := range []string{
		"/events?", "/venues?", "/organizers?", "/categories?", "/tags?", "/events?facets=city&", "/venues/" + itoa(venue) + "/events?", "/events.csv?", "/events.csv?facets=city&",
		"/events.ics?page=1&", "/events/calendar?start=2020-01-01&end=2040-01-01&", "/events/clusters?zoom=3&", "/suggest?q=ha&", "/events/search?",
	} {
		for _, client := range []*world.Client{nobody, editor} {
			for _, older := range []int64{0, 1, 2, 1000} {
				index.older.Store(0)
				position := editor.Event("Jazz in the hall", obj{"venue": venue}).Position()
				index.older.Store(older)
				method, body := http.MethodGet, any(nil)
				if path == "/events/search?" {
					method, body = http.MethodPost, obj{"searches": []any{obj{}, obj{"search": "jazz"}}}
				}
				response := client.With("Daybook-Min-Position", position.String()).Do(method, path+"start_date=2020-01-01&end_date=2040-01-01", body)
				switch {
				case older > 2:
					response.WantCode(http.StatusServiceUnavailable, "rest_position_not_reached")
				case response.Want(http.StatusOK).Position() < position:
					t.Errorf("%s, %d views behind: shows %d, asked for %d", response.Request, older, response.Position(), position)
				}
			}
		}
	}
	// Without a position who has credentials gets what there is.
	editor.Read("/events")
	editor.Read("/events.csv")
}
