package elastic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

const (
	// pointLife is how long the servers hold a point in time for the next read of it.
	pointLife = "5m"
	// maxPoints is how many of them this process has at once. Each is one of every index,
	// and OpenSearch refuses more than 300.
	maxPoints = 40
	// closeLimit is how long closing a point in time may take: the servers forget it anyway.
	closeLimit = 2 * time.Second
)

// view is a readmodel.View. A single search shows one state by itself. A view that needs
// more of them holds a point in time of all indices.
type view struct {
	x *Index

	mu    sync.Mutex
	state state
	asked bool   // a search was sent without the point in time
	point string // its id; "": there is none
}

// View implements readmodel.Index.
func (x *Index) View(ctx context.Context) (readmodel.View, error) {
	state, err := x.answering(ctx, x.recent())
	return &view{x: x, state: state}, err
}

// answering returns the generation to read from, as of since or later.
func (x *Index) answering(ctx context.Context, since time.Time) (state, error) {
	state, err := x.look(ctx, since, 0)
	if err == nil && !state.gen.current() {
		err = ErrSchema
	}
	return state, err
}

// Shown implements readmodel.View.
func (view *view) Shown() readmodel.VisibleState {
	view.mu.Lock()
	defer view.mu.Unlock()
	return view.state.shown
}

// Close closes the point in time while the caller goes on.
func (view *view) Close() {
	view.mu.Lock()
	defer view.mu.Unlock()
	if view.point == "" {
		return
	}
	path, body := "/_pit", object{"id": view.point}
	if view.x.options.Flavour == OpenSearch {
		path, body = "/_search/point_in_time", object{"pit_id": list{view.point}}
	}
	view.point = ""
	go func() {
		defer func() { <-view.x.points }()
		_ = view.x.conn.do(context.Background(), closeLimit, "close point in time", plainRequest{http.MethodDelete, path, encode(body)}, nil)
	}()
}

// hold has the view hold a point in time, for a read of several searches. One that sent a
// search already shows a state as of since or later from then on, and is ErrViewMoved.
func (view *view) hold(ctx context.Context, since time.Time) error {
	view.mu.Lock()
	defer view.mu.Unlock()
	if view.point != "" {
		return nil
	}
	if view.asked {
		var err error
		if view.state, err = view.x.answering(ctx, since); err != nil {
			return err
		}
	}
	if err := view.open(ctx); err != nil {
		return unavailable(err)
	}
	if view.asked {
		return readmodel.ErrViewMoved
	}
	return nil
}

// open opens the point in time; view.mu is held.
func (view *view) open(ctx context.Context) error {
	select {
	case view.x.points <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	path := "/" + strings.Join(view.x.names().records(view.state.gen), ",")
	if view.x.options.Flavour == OpenSearch {
		path += "/_search/point_in_time?keep_alive=" + pointLife
	} else {
		path += "/_pit?keep_alive=" + pointLife
	}
	var opened struct {
		ID    string `json:"id"`
		Other string `json:"pit_id"` // OpenSearch
	}
	if err := view.x.conn.do(ctx, view.x.options.Timeout, "open point in time", plainRequest{http.MethodPost, path, nil}, &opened); err != nil {
		<-view.x.points
		return err
	}
	view.point = opened.ID + opened.Other
	return nil
}

// search sends a search of a kind, or of all (0). When that needs a point in time too late,
// or its generation was dropped, the view has one from then on, and is ErrViewMoved.
func (view *view) search(ctx context.Context, kind calendar.Kind, searchRequest searchRequest, answer any) error {
	view.mu.Lock()
	state, point, second := view.state, view.point, view.asked
	view.asked = true
	view.mu.Unlock()
	if point == "" && second {
		if err := view.hold(ctx, view.x.recent()); err != nil {
			return err
		}
		return readmodel.ErrViewMoved // by another search
	}
	indices := view.x.names().records(state.gen)
	if kind != 0 {
		indices = []string{view.x.names().index(kind.Collection(), state.gen)}
	}
	if point != "" {
		searchRequest.Point = object{"id": point, "keep_alive": pointLife}
		if kind != 0 {
			searchRequest.Query = object{"bool": object{"must": list{searchRequest.Query}, "filter": list{term("_index", indices[0])}}}
		}
		indices = nil
	}
	partial := false // totals are exact
	err := view.x.conn.do(ctx, view.x.options.Timeout, "search", esapi.SearchRequest{
		Index: indices, Body: bytes.NewReader(encode(searchRequest)), AllowPartialSearchResults: &partial,
	}, answer)
	if point == "" && errors.Is(err, errGone) {
		err = cmp.Or(view.hold(ctx, view.x.options.Now()), readmodel.ErrViewMoved)
	}
	return unavailable(err)
}

// Get implements readmodel.View, by a search over all kinds for each 10,000 ids.
func (view *view) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	size := min(walkPage, view.x.options.MaxResultWindow)
	if len(ids) > size {
		if err := view.hold(ctx, view.x.recent()); err != nil {
			return nil, err
		}
	}
	out := make(map[calendar.ID]readmodel.Document, len(ids))
	for some := range slices.Chunk(ids, size) {
		found, _, err := view.documents(ctx, 0, searchRequest{Query: live(in(readmodel.FieldID, some)), Size: len(some)})
		if err != nil {
			return nil, err
		}
		for _, document := range found {
			out[document.Record.ID] = document
		}
	}
	return out, ctx.Err()
}

// Quarantined implements readmodel.Index.
func (x *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	state, err := x.look(ctx, x.options.Now(), noRefresh)
	if err == nil && !state.gen.current() {
		err = ErrSchema
	}
	return state.quarantine.records, err
}
