package elastic

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// pointLife is how long the server keeps a point in time for the next step of a walk.
const pointLife = "5m"

// walk reads a point in time.
type walk struct {
	x        *Index
	still    *still // of which it shows the state; nil: of none
	point    *point
	query    object
	sort     list
	total    int
	position calendar.Position
	ids      []calendar.ID // in order, where an engine does not have it; nil: it has
	beside   object        // the query of what stands beside
	spans    map[string]readmodel.Span
	groups   []repeated // of a query that collapses
}

// Walk does readmodel.Index by a point in time.
func (x *Index) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	q.Offset, q.Limit, q.After, q.Tallies = 0, 0, nil, nil
	if err := readmodel.Check(q); err != nil {
		return nil, err
	}
	w, err := x.openWalk(ctx, q)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (x *Index) openWalk(ctx context.Context, q readmodel.Query) (*walk, error) {
	q.Filter = readmodel.Both(q.Filter, q.Narrow)
	least := len(q.Sort) > 0 && q.Sort[0].Least != nil
	w := &walk{x: x, still: stillOf(ctx)}
	if !least {
		w.sort = sortOf(q.Sort)
	}
	err := x.reading(ctx, func(v view) (err error) {
		w.position = v.visible.Position
		c := x.compiler(v.gen, q.Kind)
		if w.query, err = c.ranked(ctx, q); err != nil {
			return err
		}
		if err = w.open(ctx, x.names().index(collectionOf(q.Kind), v.gen)); err != nil {
			return err
		}
		err = w.begin(ctx, c, q)
		if err == nil && least {
			w.ids, err = newRings(x, "", w.query, q.Sort).all(ctx, func(body object) object { return w.body(w.query, body) })
		}
		if err == nil && q.Collapse != nil {
			w.groups, err = w.collapse(ctx, c, q.Collapse)
			w.total = len(w.groups)
		}
		if err != nil {
			w.Close() //nolint:contextcheck // also after the end of the request
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// begin finds out how many there are, and what stands beside.
func (w *walk) begin(ctx context.Context, c *compiler, q readmodel.Query) (err error) {
	if q.Beside != nil {
		if w.beside, err = c.query(ctx, q.Beside); err != nil {
			return err
		}
	}
	body := w.body(w.query, object{"size": 0, "track_total_hits": true})
	if q.Spans != nil {
		of, err := c.compile(ctx, q.Spans)
		if err != nil {
			return err
		}
		body["aggs"] = spansOf(of)
	}
	a, err := w.x.search(ctx, body)
	if err != nil {
		return err
	}
	w.total = a.Hits.Total.Value
	w.spans, err = a.Aggregations.Spans.read()
	return err
}

// mostZones is above the number of zones that there are.
const mostZones = 1000

// spansOf asks for the spans of the zones of some events.
func spansOf(of object) object {
	return object{"spans": object{"filter": of, "aggs": object{"zones": object{
		"terms": object{"field": readmodel.FieldZone, "size": mostZones},
		"aggs":  object{"start": object{"min": object{"field": readmodel.FieldStart}}, "end": object{"max": object{"field": readmodel.FieldEnd}}},
	}}}}
}

// spans is the answer to it.
type spans struct {
	Zones struct {
		Others  int `json:"sum_other_doc_count"`
		Buckets []struct {
			Key   string `json:"key"`
			Start struct {
				Value float64 `json:"value"`
			} `json:"start"`
			End struct {
				Value float64 `json:"value"`
			} `json:"end"`
		} `json:"buckets"`
	} `json:"zones"`
}

func (s *spans) read() (map[string]readmodel.Span, error) {
	if s.Zones.Others > 0 {
		return nil, fmt.Errorf("%d events are in more than %d zones", s.Zones.Others, mostZones)
	}
	out := make(map[string]readmodel.Span, len(s.Zones.Buckets))
	for i := range s.Zones.Buckets {
		b := &s.Zones.Buckets[i]
		out[b.Key] = readmodel.Span{Start: calendar.Wall(b.Start.Value), End: calendar.Wall(b.End.Value)}
	}
	return out, nil
}

// body gives a search of the point in time.
func (w *walk) body(query, body object) object {
	body["query"] = query
	body["pit"] = object{"id": w.point.id, "keep_alive": pointLife}
	return body
}

func (w *walk) Total() int                  { return w.total }
func (w *walk) Position() calendar.Position { return w.position }

func (w *walk) Spans() map[string]readmodel.Span { return w.spans }

func (w *walk) Beside(ctx context.Context, use func([]readmodel.Document) error) error {
	if w.beside == nil {
		return nil
	}
	return w.inSteps(use, func(each func(*hit) (bool, error)) error {
		return w.x.walk(ctx, "", withBody(w.body(w.beside, object{"sort": byID})), scanPage, each)
	})
}

func (w *walk) Each(ctx context.Context, use func([]readmodel.Document) error) error {
	if w.groups != nil {
		for some := range slices.Chunk(w.groups, readmodel.WalkStep) {
			documents, err := w.documents(ctx, some)
			if err != nil {
				return err
			}
			if err := use(documents); err != nil {
				return err
			}
		}
		return nil
	}
	return w.inSteps(use, func(each func(*hit) (bool, error)) error { return w.hits(ctx, each) })
}

// inSteps gives the documents of hits some at a time.
func (w *walk) inSteps(use func([]readmodel.Document) error, hits func(each func(*hit) (bool, error)) error) error {
	documents := make([]readmodel.Document, 0, readmodel.WalkStep)
	flush := func() error {
		if len(documents) == 0 {
			return nil
		}
		err := use(documents)
		documents = documents[:0]
		return err
	}
	err := hits(func(h *hit) (bool, error) {
		d, err := w.x.hitDocument(h)
		if err != nil {
			return false, err
		}
		if documents = append(documents, d); len(documents) == cap(documents) {
			err = flush()
		}
		return true, err
	})
	if err != nil {
		return err
	}
	return flush()
}

// hits calls each with all hits in order.
func (w *walk) hits(ctx context.Context, each func(*hit) (bool, error)) error {
	if w.ids == nil {
		return w.x.walk(ctx, "", withBody(w.body(w.query, object{"sort": w.sort})), scanPage, each)
	}
	for ids := range slices.Chunk(w.ids, min(scanPage, w.x.o.MaxResultWindow)) {
		a, err := w.x.search(ctx, withBody(w.body(w.query, object{"size": len(ids), "track_total_hits": false, "post_filter": in(readmodel.FieldID, ids)})))
		if err != nil {
			return err
		}
		hits, err := inOrder(a.Hits.Hits, ids)
		if err != nil {
			return err
		}
		for i := range hits {
			if _, err := each(&hits[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeLimit is how long closing a point in time may take: the server forgets it anyway.
const closeLimit = 2 * time.Second

func (w *walk) Close() {
	if w.still != nil {
		w.still.walked(w.x, w.point)
		return
	}
	w.x.closePoint(w.point.id)
}

func (w *walk) open(ctx context.Context, index string) (err error) {
	if w.still != nil {
		w.point, err = w.still.walk(ctx, w.x, index)
	} else {
		w.point = &point{}
		w.point.id, err = w.x.openPoint(ctx, pointLife, index)
	}
	return err
}

func (x *Index) closePoint(point string) {
	path, body := "/_pit", object{"id": point}
	if x.o.Flavour == OpenSearch {
		path, body = "/_search/point_in_time", object{"pit_id": list{point}}
	}
	_ = x.c.do(context.Background(), closeLimit, "close point in time", plainRequest{http.MethodDelete, path, encode(body)}, nil)
}

func (x *Index) openPoint(ctx context.Context, life string, indices ...string) (string, error) {
	path := "/" + strings.Join(indices, ",")
	if x.o.Flavour == OpenSearch {
		path += "/_search/point_in_time?keep_alive=" + life
	} else {
		path += "/_pit?keep_alive=" + life
	}
	var opened struct {
		ID    string `json:"id"`
		Other string `json:"pit_id"` // OpenSearch
	}
	err := x.c.do(ctx, x.o.Timeout, "open point in time", plainRequest{http.MethodPost, path, nil}, &opened)
	return opened.ID + opened.Other, err
}

// plainRequest is one that the client has no type for, or not for both engines.
type plainRequest struct {
	method, path string
	body         []byte
}

// Do sends it.
func (r plainRequest) Do(ctx context.Context, t esapi.Transport) (*esapi.Response, error) {
	q, err := http.NewRequestWithContext(ctx, r.method, r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if len(r.body) > 0 {
		q.Header.Set("Content-Type", "application/json")
	}
	res, err := t.Perform(q) //nolint:bodyclose // who sends closes it
	if err != nil {
		return nil, err
	}
	return &esapi.Response{StatusCode: res.StatusCode, Body: res.Body, Header: res.Header}, nil
}
