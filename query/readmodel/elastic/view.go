package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// errSecond says that a view sent a second search after one of no point in time.
var errSecond = errors.New("second search of a view")

// view is a readmodel.View. A single search shows one state by itself. A view that needs
// more of them holds a point in time of all indices.
type view struct {
	x *Index

	mu    sync.Mutex
	state state
	reads int    // that have begun
	asked bool   // a search was sent without the point in time
	point string // its id; "": there is none
}

// View implements readmodel.Index.
func (x *Index) View(ctx context.Context) (readmodel.View, error) { return x.view(ctx) }

func (x *Index) view(ctx context.Context) (*view, error) {
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

// read runs a read of the view. When that needs a point in time too late, or its generation
// was dropped, it is run again from a point in time, and so are all reads before it.
func (v *view) read(ctx context.Context, read func(s state) error) error {
	v.mu.Lock()
	s := v.state
	v.reads++
	v.mu.Unlock()
	err := read(s)
	gone := errors.Is(err, errGone)
	if !gone && !errors.Is(err, errSecond) {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.point == "" {
		since := v.x.recent()
		if gone {
			since = v.x.o.Now()
		}
		if v.state, err = v.x.answering(ctx, since); err == nil {
			err = v.open(ctx)
		}
		if err != nil {
			return unavailable(err)
		}
	}
	if v.reads > 1 {
		return readmodel.ErrViewMoved
	}
	s = v.state
	v.mu.Unlock()
	defer v.mu.Lock()
	return read(s)
}

// hold has the view hold a point in time, for a read of several searches.
func (v *view) hold(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.point != "":
		return nil
	case v.asked:
		return errSecond
	}
	return v.open(ctx)
}

// open opens the point in time; v.mu is held.
func (v *view) open(ctx context.Context) error {
	select {
	case v.x.points <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	path := "/" + strings.Join(v.x.names().all(v.state.gen), ",")
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

// search sends a search of a collection, or of all ("").
func (v *view) search(ctx context.Context, s state, collection string, r searchRequest, answer any) error {
	v.mu.Lock()
	point, second := v.point, v.asked
	v.asked = v.asked || point == ""
	v.mu.Unlock()
	indices := v.x.names().all(s.gen)
	if collection != "" {
		indices = []string{v.x.names().index(collection, s.gen)}
	}
	switch {
	case point != "":
		r.Point = object{"id": point, "keep_alive": pointLife}
		if collection != "" {
			r.Query = object{"bool": object{"must": list{r.Query}, "filter": list{term("_index", indices[0])}}}
		}
		indices = nil
	case second:
		return errSecond
	}
	partial := false // totals are exact
	err := v.x.c.do(ctx, v.x.o.Timeout, "search", esapi.SearchRequest{
		Index: indices, Body: bytes.NewReader(encode(r)), AllowPartialSearchResults: &partial,
	}, answer)
	if point != "" {
		err = unavailable(err)
	}
	return err
}

// Get implements readmodel.View, by a search over all kinds for each 10,000 ids.
func (v *view) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	var out map[calendar.ID]readmodel.Document
	err := v.read(ctx, func(s state) error {
		out = make(map[calendar.ID]readmodel.Document, len(ids))
		for some := range slices.Chunk(ids, min(walkPage, v.x.o.MaxResultWindow)) {
			live := object{"bool": object{
				"filter":   list{in(readmodel.FieldID, some)},
				"must_not": list{term(fieldDeleted, true), term(fieldWhat, whatQuarantined)},
			}}
			found, _, err := v.documents(ctx, s, "", searchRequest{Query: live, Size: len(some)})
			if err != nil {
				return err
			}
			for _, d := range found {
				out[d.Record.ID] = d
			}
		}
		return ctx.Err()
	})
	return out, err
}

// Digest implements readmodel.Index: it reads all documents.
func (x *Index) Digest(ctx context.Context) (readmodel.Digest, error) {
	sum := readmodel.Digest{Counts: map[calendar.Kind]int{}}
	v, err := x.view(ctx)
	if err != nil {
		return sum, err
	}
	defer v.Close() //nolint:contextcheck // the point in time is closed after the request
	for k := calendar.KindEvent; k <= calendar.KindUser && err == nil; k++ {
		err = v.Walk(ctx, readmodel.Query{Kind: k}, func(documents []readmodel.Document) error {
			for _, d := range documents {
				sum.Counts[k]++
				for i, b := range readmodel.Leaf(k, d.Record.ID, d.Record.Version, d.Body) {
					sum.Sum[i] ^= b
				}
			}
			return nil
		})
	}
	return sum, err
}

// Quarantined implements readmodel.Index.
func (x *Index) Quarantined(ctx context.Context) ([]readmodel.Quarantined, error) {
	s, err := x.answering(ctx, x.recent())
	if err == nil {
		err = x.refresh(ctx, x.names().index(stateName, s.gen))
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return x.QuarantinedLately(ctx)
}

// QuarantinedLately implements readmodel.Generations without a refresh.
func (x *Index) QuarantinedLately(ctx context.Context) (out []readmodel.Quarantined, err error) {
	v, err := x.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Close() //nolint:contextcheck // the point in time is closed after the request
	err = v.read(ctx, func(s state) error {
		var a answer
		out = nil
		if err := v.search(ctx, s, stateName, searchRequest{Query: term(fieldWhat, whatQuarantined), Sort: list{object{readmodel.FieldID: "asc"}}, Size: x.o.MaxResultWindow}, &a); err != nil {
			return err
		}
		for i := range a.Hits.Hits {
			var q struct {
				ID       calendar.ID       `json:"id"`
				Position calendar.Position `json:"position"`
				Reason   string            `json:"reason"`
			}
			if err := json.Unmarshal(a.Hits.Hits[i].Source, &q); err != nil {
				return fmt.Errorf("read quarantined record %s: %w", a.Hits.Hits[i].ID, err)
			}
			out = append(out, readmodel.Quarantined(q))
		}
		return nil
	})
	return out, err
}
