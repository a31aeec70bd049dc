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
	s, err := x.answering(ctx, x.recent())
	return &view{x: x, state: s}, err
}

// answering returns the generation to read from, as of since or later.
func (x *Index) answering(ctx context.Context, since time.Time) (state, error) {
	s, err := x.look(ctx, since, 0)
	if err == nil && !s.gen.current() {
		err = ErrSchema
	}
	return s, err
}

// Shown implements readmodel.View.
func (v *view) Shown() readmodel.Shown {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state.shown
}

// Close closes the point in time while the caller goes on.
func (v *view) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.point == "" {
		return
	}
	path, body := "/_pit", object{"id": v.point}
	if v.x.o.Flavour == OpenSearch {
		path, body = "/_search/point_in_time", object{"pit_id": list{v.point}}
	}
	v.point = ""
	go func() {
		defer func() { <-v.x.points }()
		_ = v.x.c.do(context.Background(), closeLimit, "close point in time", plainRequest{http.MethodDelete, path, encode(body)}, nil)
	}()
}

// hold has the view hold a point in time, for a read of several searches. One that sent a
// search already shows a state as of since or later from then on, and is ErrViewMoved.
func (v *view) hold(ctx context.Context, since time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.point != "" {
		return nil
	}
	if v.asked {
		var err error
		if v.state, err = v.x.answering(ctx, since); err != nil {
			return err
		}
	}
	if err := v.open(ctx); err != nil {
		return unavailable(err)
	}
	if v.asked {
		return readmodel.ErrViewMoved
	}
	return nil
}

// open opens the point in time; v.mu is held.
func (v *view) open(ctx context.Context) error {
	select {
	case v.x.points <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	path := "/" + strings.Join(v.x.names().records(v.state.gen), ",")
	if v.x.o.Flavour == OpenSearch {
		path += "/_search/point_in_time?keep_alive=" + pointLife
	} else {
		path += "/_pit?keep_alive=" + pointLife
	}
	var opened struct {
		ID    string `json:"id"`
		Other string `json:"pit_id"` // OpenSearch
	}
	if err := v.x.c.do(ctx, v.x.o.Timeout, "open point in time", plainRequest{http.MethodPost, path, nil}, &opened); err != nil {
		<-v.x.points
		return err
	}
	v.point = opened.ID + opened.Other
	return nil
}

// search sends a search of a kind, or of all (0). When that needs a point in time too late,
// or its generation was dropped, the view has one from then on, and is ErrViewMoved.
func (v *view) search(ctx context.Context, kind calendar.Kind, r searchRequest, answer any) error {
	v.mu.Lock()
	state, point, second := v.state, v.point, v.asked
	v.asked = true
	v.mu.Unlock()
	if point == "" && second {
		if err := v.hold(ctx, v.x.recent()); err != nil {
			return err
		}
		return readmodel.ErrViewMoved // by another search
	}
	indices := v.x.names().records(state.gen)
	if kind != 0 {
		indices = []string{v.x.names().index(kind.Collection(), state.gen)}
	}
	if point != "" {
		r.Point = object{"id": point, "keep_alive": pointLife}
		if kind != 0 {
			r.Query = object{"bool": object{"must": list{r.Query}, "filter": list{term("_index", indices[0])}}}
		}
		indices = nil
	}
	partial := false // totals are exact
	err := v.x.c.do(ctx, v.x.o.Timeout, "search", esapi.SearchRequest{
		Index: indices, Body: bytes.NewReader(encode(r)), AllowPartialSearchResults: &partial,
	}, answer)
	if point == "" && errors.Is(err, errGone) {
		err = cmp.Or(v.hold(ctx, v.x.o.Now()), readmodel.ErrViewMoved)
	}
	return unavailable(err)
}

// Get implements readmodel.View, by a search over all kinds for each 10,000 ids.
func (v *view) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	size := min(walkPage, v.x.o.MaxResultWindow)
	if len(ids) > size {
		if err := v.hold(ctx, v.x.recent()); err != nil {
			return nil, err
		}
	}
	out := make(map[calendar.ID]readmodel.Document, len(ids))
	for some := range slices.Chunk(ids, size) {
		found, _, err := v.documents(ctx, 0, searchRequest{Query: live(in(readmodel.FieldID, some)), Size: len(some)})
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
	state, err := x.look(ctx, x.o.Now(), noRefresh)
	if err == nil && !state.gen.current() {
		err = ErrSchema
	}
	return state.quarantine.records, err
}
