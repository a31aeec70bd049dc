package elastic

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	engine *Index

	mu    sync.Mutex
	state state
	asked bool   // a search was sent without the point in time
	point string // its id; "": there is none
}

// View implements readmodel.Index.
func (engine *Index) View(ctx context.Context) (readmodel.View, error) {
	state, err := engine.answering(ctx, engine.recent(), 0)
	return &view{engine: engine, state: state}, err
}

// answering returns the generation to read from, as look does.
func (engine *Index) answering(ctx context.Context, since time.Time, position calendar.Position) (state, error) {
	state, err := engine.look(ctx, since, position)
	if err == nil && !state.generation.current() {
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
	view.release()
}

// release is Close; view.mu is held.
func (view *view) release() {
	if view.point == "" {
		return
	}
	path, body := "/_pit", object{"id": view.point}
	if view.engine.options.Flavour == OpenSearch {
		path, body = "/_search/point_in_time", object{"pit_id": list{view.point}}
	}
	view.point = ""
	go func() {
		defer func() { <-view.engine.points }()
		_ = view.engine.conn.do(context.Background(), closeLimit, "close point in time", plainRequest{http.MethodDelete, path, encode(body)}, nil)
	}()
}

// hold has the view hold a point in time, for a read of several searches. One that sent a
// search already shows a recent state from then on, and is ErrViewMoved.
func (view *view) hold(ctx context.Context) (err error) {
	view.mu.Lock()
	defer view.mu.Unlock()
	if view.point != "" {
		return nil
	}
	if view.asked {
		if view.state, err = view.engine.answering(ctx, view.engine.recent(), 0); err != nil {
			return err
		}
		err = readmodel.ErrViewMoved
	}
	return cmp.Or(view.failed(ctx, view.state.generation, view.open(ctx)), err)
}

// failed is the error of a read of a generation, or nil: where a server refused it and another
// generation answers by now, the view shows that from then on, and is ErrViewMoved. The error
// does not tell whether the indices are being dropped. view.mu is held.
func (view *view) failed(ctx context.Context, generation generation, err error) error {
	if statusOf(err) == 0 {
		return err
	}
	answering, lookErr := view.engine.answering(ctx, view.engine.options.Now(), 0)
	if lookErr != nil || answering.generation == generation {
		return err
	}
	if view.state.generation == generation {
		view.release() //nolint:contextcheck // while the caller goes on
		view.state, view.asked = answering, false
	}
	return readmodel.ErrViewMoved
}

// open opens the point in time; view.mu is held.
func (view *view) open(ctx context.Context) error {
	select {
	case view.engine.points <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	route := "/_pit"
	if view.engine.options.Flavour == OpenSearch {
		route = "/_search/point_in_time"
	}
	path := "/" + strings.Join(view.engine.names().records(view.state.generation), ",") + route + "?keep_alive=" + pointLife
	var opened struct {
		ID    string `json:"id"`
		Other string `json:"pit_id"` // OpenSearch
	}
	if err := view.engine.conn.do(ctx, view.engine.options.Timeout, "open point in time", plainRequest{http.MethodPost, path, nil}, &opened); err != nil {
		<-view.engine.points
		return err
	}
	view.point = opened.ID + opened.Other
	return nil
}

// search sends a search of a kind, or of all (0). When that needs a point in time too late,
// or its generation was dropped, the view shows another state from then on, and is
// ErrViewMoved.
func (view *view) search(ctx context.Context, kind calendar.Kind, searchRequest searchRequest, answer any) error {
	view.mu.Lock()
	state, point, second := view.state, view.point, view.asked
	view.asked = true
	view.mu.Unlock()
	if point == "" && second {
		return cmp.Or(view.hold(ctx), readmodel.ErrViewMoved) // by another search
	}
	indices := view.engine.names().records(state.generation)
	if kind != 0 {
		indices = []string{view.engine.names().index(kind.Collection(), state.generation)}
	}
	if point != "" {
		searchRequest.Point = object{"id": point, "keep_alive": pointLife}
		if kind != 0 {
			searchRequest.Query = object{"bool": object{"must": list{searchRequest.Query}, "filter": list{term("_index", indices[0])}}}
		}
		indices = nil
	}
	err := view.engine.conn.do(ctx, view.engine.options.Timeout, "search", esapi.SearchRequest{Index: indices, Body: bytes.NewReader(encode(searchRequest)), AllowPartialSearchResults: new(false)}, answer) // totals are exact
	view.mu.Lock()
	defer view.mu.Unlock()
	return view.failed(ctx, state.generation, err)
}

// linkedDocuments are the documents of ids that were asked for in one state, for which there
// was room, without a record where there is none: lists link to the same few again and again.
type linkedDocuments struct {
	sync.Map // calendar.ID → readmodel.Document

	shown readmodel.VisibleState
	bytes atomic.Int64
}

// Get implements readmodel.View, by a search over all kinds for each 10,000 ids.
func (view *view) Get(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	known := view.engine.linked.Load()
	if shown := view.Shown(); known == nil || known.shown != shown {
		known = &linkedDocuments{shown: shown}
		view.engine.linked.Store(known)
	}
	result := map[calendar.ID]readmodel.Document{}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool {
		value, is := known.Load(id)
		result[id], _ = value.(readmodel.Document)
		return is
	})
	size := min(walkPage, view.engine.options.MaxResultWindow)
	if len(missing) > size {
		if err := view.hold(ctx); err != nil {
			return nil, err
		}
	}
	for subset := range slices.Chunk(missing, size) {
		found, _, err := view.documents(ctx, 0, searchRequest{Query: live(in(readmodel.FieldID, subset)), Size: len(subset)})
		if err != nil {
			return nil, err
		}
		for _, document := range found {
			result[document.Record.ID] = document
		}
	}
	for _, id := range missing { // up to 32 MiB, of which each takes some 3 KiB besides its text
		if known.bytes.Add(int64(3<<10+len(result[id].Body))) < 32<<20 {
			known.Store(id, result[id])
		}
	}
	records := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		records[i] = result[id].Record
	}
	return records, nil
}

// Quarantined implements readmodel.Index.
func (engine *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	state, err := engine.answering(ctx, engine.options.Now(), noRefresh)
	return state.quarantine.records, err
}
