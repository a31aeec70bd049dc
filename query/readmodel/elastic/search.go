package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// walkPage is how many documents a walk takes at a time when only their place
// counts, scanPage when their bodies are read.
const (
	walkPage = 10_000
	scanPage = 500

	// scanBytes is what the bodies of a page come to, about: pages begin with
	// firstScan documents and follow the size of those before.
	scanBytes = 4 << 20
	firstScan = 50
)

// answer is the answer to a search.
type answer struct {
	TimedOut bool `json:"timed_out"`
	Hits     struct {
		Total struct {
			Value int `json:"value"`
		} `json:"total"`
		Hits []hit `json:"hits"`
	} `json:"hits"`
	Aggregations aggregations `json:"aggregations"`
}

type hit struct {
	Index   string            `json:"_index"`
	ID      string            `json:"_id"`
	Version int64             `json:"_version"`
	Fields  fields            `json:"fields"`
	Source  json.RawMessage   `json:"_source"`
	Sort    []json.RawMessage `json:"sort"`
	// Matched are the names of the named queries that it fits.
	Matched []string `json:"matched_queries"`
}

// fields are those that a search asks for: the body, or the values of one id field.
type fields struct {
	Body []string
	IDs  []calendar.ID
}

// UnmarshalJSON is for encoding/json.
func (f *fields) UnmarshalJSON(b []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for key, value := range all {
		if key != fieldBody {
			f.take(value)
		} else if err := json.Unmarshal(value, &f.Body); err != nil {
			return err
		}
	}
	return nil
}

// take takes a list of ids, and nothing else.
func (f *fields) take(value json.RawMessage) {
	var ids []calendar.ID
	if json.Unmarshal(value, &ids) == nil {
		f.IDs = ids
	}
}

func (h *hit) id() (calendar.ID, error) {
	n, err := strconv.ParseInt(h.ID, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("document with the id %q: %w", h.ID, err)
	}
	return calendar.ID(n), nil
}

func (x *Index) hitDocument(h *hit) (readmodel.Document, error) {
	id, err := h.id()
	if err != nil {
		return readmodel.Document{}, err
	}
	if len(h.Fields.Body) != 1 {
		return readmodel.Document{}, fmt.Errorf("document %d of %s has no body", id, h.Index)
	}
	return x.document(id, calendar.Position(h.Version), h.Fields.Body[0])
}

// search sends one search. Answers of a part of the shards are errors: totals
// are exact.
func (x *Index) search(ctx context.Context, body object, indices ...string) (*answer, error) {
	var a answer
	err := x.ask(ctx, "search", body, &a, indices...)
	if err == nil && a.TimedOut {
		err = fmt.Errorf("search: %w: it timed out", readmodel.ErrUnavailable)
	}
	return &a, err
}

// ask sends a search, of the point in time of reads that show one state.
func (x *Index) ask(ctx context.Context, what string, body object, answer any, indices ...string) error {
	if s := stillOf(ctx); s != nil && len(indices) > 0 {
		var err error
		if body, err = s.search(ctx, x, body, indices); err != nil {
			return err
		}
		indices = nil
	}
	partial := false
	return x.c.do(ctx, x.o.Timeout, what, esapi.SearchRequest{
		Index: indices, Body: bytes.NewReader(encode(body)), AllowPartialSearchResults: &partial,
	}, answer)
}

// reading runs a read in the generation that answers. When that is dropped
// meanwhile, it is run once more in the one that took its place.
func (x *Index) reading(ctx context.Context, read func(v view) error) error {
	if s := stillOf(ctx); s != nil {
		return read(s.view)
	}
	v, err := x.answering(ctx, x.o.Now().Add(-x.o.RefreshInterval))
	if err != nil {
		return err
	}
	if err = read(v); !errors.Is(err, errGone) {
		return err
	}
	if v, err = x.answering(ctx, x.o.Now()); err != nil {
		return err
	}
	if err = read(v); errors.Is(err, errGone) {
		return fmt.Errorf("%w: %w", readmodel.ErrUnavailable, err)
	}
	return err
}

// answering gives the generation to read from and what it shows.
func (x *Index) answering(ctx context.Context, age timeOf) (view, error) {
	v, err := x.look(ctx, age, 0)
	if err == nil && !v.gen.current() {
		err = ErrSchema
	}
	return v, err
}

func (x *Index) compiler(g generation, k calendar.Kind) *compiler {
	index := x.names().index(collectionOf(k), g)
	return &compiler{
		schema: readmodel.SchemaOf(k),
		scan: func(ctx context.Context, query object, each func(*readmodel.Document)) error {
			return x.scan(ctx, index, query, func(d *readmodel.Document) { each(d) })
		},
	}
}

var byID = list{object{readmodel.FieldID: "asc"}}

// walk goes through all hits of a search in its order, without a limit: each page
// begins after the last hit of the page before. It ends when each gives false. Without an
// index the search has a point in time.
func (x *Index) walk(ctx context.Context, index string, body object, page int, each func(*hit) (bool, error)) error {
	body["size"] = min(page, x.o.MaxResultWindow)
	if _, bodies := body["version"]; bodies { // see withBody
		body["size"] = min(page, firstScan, x.o.MaxResultWindow)
	}
	body["track_total_hits"] = false
	indices := []string{index}
	if index == "" {
		indices = nil
	}
	for {
		a, err := x.search(ctx, body, indices...)
		if err != nil {
			return err
		}
		for i := range a.Hits.Hits {
			if more, err := each(&a.Hits.Hits[i]); err != nil || !more {
				return err
			}
		}
		n := len(a.Hits.Hits)
		if n < body["size"].(int) { //nolint:forcetypeassert // set above
			return nil
		}
		body["search_after"] = a.Hits.Hits[n-1].Sort
		held := 0
		for i := range a.Hits.Hits {
			for _, b := range a.Hits.Hits[i].Fields.Body {
				held += len(b)
			}
		}
		if held > 0 {
			body["size"] = min(max(1, n*scanBytes/held), page, 2*n, x.o.MaxResultWindow)
		}
	}
}

// scan reads all documents that fit a query, by id.
func (x *Index) scan(ctx context.Context, index string, query object, each func(*readmodel.Document)) error {
	return x.walk(ctx, index, withBody(object{"query": query, "sort": byID}), scanPage, func(h *hit) (bool, error) {
		d, err := x.hitDocument(h)
		if err == nil {
			each(&d)
		}
		return true, err
	})
}

func withBody(body object) object {
	body["stored_fields"] = list{fieldBody}
	body["version"] = true
	return body
}

// sortOf gives the order of a query, ending with the id.
func sortOf(order []readmodel.Sort) list {
	out := make(list, 0, len(order)+1)
	total := false
	for _, k := range order {
		if k.Rank != nil {
			out = append(out, object{"_score": object{"order": "desc"}})
			continue
		}
		direction := "asc"
		if k.Desc {
			direction = "desc"
		}
		key := object{"order": direction}
		if k.Field != readmodel.FieldID {
			key["missing"] = "_last"
		}
		out = append(out, object{k.Field: key})
		if k.Tail {
			out = append(out, object{fieldLacks + k.Field: object{"order": "asc", "missing": "_last"}})
		}
		total = total || k.Field == readmodel.FieldID
	}
	if !total {
		out = append(out, object{readmodel.FieldID: object{"order": "asc"}})
	}
	return out
}

// searchBody gives the search of a query; from 0 on when its page lies too deep
// to be asked for directly.
func searchBody(q readmodel.Query, query object, window int) (body object, deep bool) {
	body = object{"query": query, "track_total_hits": true, "size": q.Limit}
	if q.Limit == 0 {
		return body, false
	}
	body["sort"] = sortOf(q.Sort)
	if deep = q.Offset > window-q.Limit; deep {
		body["size"] = 0
		return body, true
	}
	if q.Offset > 0 {
		body["from"] = q.Offset
	}
	if q.After != nil {
		body["search_after"] = searchAfter(q.Sort, q.After)
	}
	return withBody(body), false
}

// Search answers a query; one that does not fit the schema is ErrQuery. The page
// states a position that was visible before it was asked for.
func (x *Index) Search(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	if err := readmodel.Check(q); err != nil {
		return readmodel.Page{}, err
	}
	least := q.Limit > 0 && len(q.Sort) > 0 && q.Sort[0].Least != nil
	if q.Tallies == nil {
		q.Filter, q.Narrow = readmodel.Both(q.Filter, q.Narrow), nil
	} else if q.Collapse != nil || least || q.Limit > 0 && q.Offset > x.o.MaxResultWindow-q.Limit {
		return x.searchApart(ctx, q)
	}
	if q.Collapse != nil {
		return x.searchCollapsed(ctx, q)
	}
	var page readmodel.Page
	err := x.reading(ctx, func(v view) error {
		page = readmodel.Page{Position: v.visible.Position}
		c, index := x.compiler(v.gen, q.Kind), x.names().index(collectionOf(q.Kind), v.gen)
		var hits []hit
		query, err := c.ranked(ctx, q)
		switch {
		case err != nil:
		case least:
			page.Total, hits, err = newRings(x, index, query, q.Sort).page(ctx, q)
		case q.Tallies != nil:
			page.Total, hits, page.Tallied, err = x.tallied(ctx, c, index, q, query)
		default:
			page.Total, hits, err = x.page(ctx, index, q, query)
		}
		if err != nil {
			return err
		}
		if len(hits) > 0 {
			page.Documents = make([]readmodel.Document, len(hits))
		}
		for i := range hits {
			if page.Documents[i], err = x.hitDocument(&hits[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errMore) {
		err = x.Still(ctx, func(ctx context.Context) error {
			page, err = x.Search(ctx, q)
			return err
		})
	}
	if err != nil {
		return readmodel.Page{}, err
	}
	return page, nil
}

// page finds the hits of a page, and their total.
func (x *Index) page(ctx context.Context, index string, q readmodel.Query, query object) (int, []hit, error) {
	body, deep := searchBody(q, query, x.o.MaxResultWindow)
	if deep {
		delete(body, "sort")
	}
	a, err := x.search(ctx, body, index)
	if err != nil {
		return 0, nil, err
	}
	if total := a.Hits.Total.Value; deep && q.Offset < total {
		hits, err := x.deep(ctx, index, q, query)
		return total, hits, err
	}
	return a.Hits.Total.Value, a.Hits.Hits, nil
}

// deep finds a page far down: it goes near to it by counting, and walks the rest.
func (x *Index) deep(ctx context.Context, index string, q readmodel.Query, query object) ([]hit, error) {
	query, skip, err := x.near(ctx, index, q, query)
	if err != nil {
		return nil, err
	}
	order := sortOf(q.Sort)
	body := object{"query": query, "sort": order}
	if skip > 0 && skip <= x.o.MaxResultWindow-q.Limit {
		a, err := x.search(ctx, withBody(object{
			"query": query, "sort": order, "from": skip, "size": q.Limit, "track_total_hits": false,
		}), index)
		return a.Hits.Hits, err
	}
	if skip > 0 {
		var last []json.RawMessage
		left := skip
		err := x.walk(ctx, index, object{"query": query, "sort": order, "stored_fields": "_none_"}, min(walkPage, skip), func(h *hit) (bool, error) {
			left--
			last = h.Sort
			return left > 0, nil
		})
		if err != nil || left > 0 {
			return nil, err
		}
		body["search_after"] = last
	}
	var out []hit
	err = x.walk(ctx, index, withBody(body), min(scanPage, q.Limit), func(h *hit) (bool, error) {
		out = append(out, *h)
		return len(out) < q.Limit, nil
	})
	return out, err
}

// nearPieces is in how many pieces values are counted at a time.
const nearPieces = 64

// near leaves out documents that come before a page by the first key of its order,
// until few enough of them are left; skip is their number. It asks for counts in
// smaller and smaller pieces, a handful of times however deep the page lies. Equal
// values, and orders by text or rank, stay as they are.
func (x *Index) near(ctx context.Context, index string, q readmodel.Query, query object) (left object, skip int, err error) {
	key := readmodel.Sort{Field: readmodel.FieldID}
	if len(q.Sort) > 0 {
		key = q.Sort[0]
	}
	skip = q.Offset
	if key.Rank != nil || readmodel.SchemaOf(q.Kind).Field(key.Field).Type == readmodel.TypeKeyword {
		return query, skip, nil
	}
	counted := func(aggregations object) (*answer, error) {
		return x.search(ctx, object{"query": query, "size": 0, "track_total_hits": false, "aggs": aggregations}, index)
	}
	a, err := counted(object{"stats": object{"stats": object{"field": key.Field}}})
	if err != nil {
		return nil, 0, err
	}
	stats := &a.Aggregations.Stats
	if skip >= stats.Count { // the page lies behind all that have a value
		return object{"bool": object{"filter": list{query}, "must_not": list{has(key.Field)}}}, skip - stats.Count, nil
	}
	lo, hi := int64(*stats.Min), int64(*stats.Max)
	for lo < hi && skip > x.o.MaxResultWindow-q.Limit {
		width := (hi-lo)/nearPieces + 1
		var ranges list
		for from := lo; from <= hi; from += width {
			ranges = append(ranges, object{"from": from, "to": from + width})
		}
		if a, err = counted(object{"pieces": object{"range": object{"field": key.Field, "ranges": ranges}}}); err != nil {
			return nil, 0, err
		}
		counts := a.Aggregations.Pieces.Buckets
		if len(counts) != len(ranges) {
			return nil, 0, fmt.Errorf("count in pieces: %d of %d pieces", len(counts), len(ranges))
		}
		piece := 0
		for i := range counts {
			if piece = i; key.Desc {
				piece = len(counts) - 1 - i
			}
			if skip < counts[piece].Count {
				break
			}
			skip -= counts[piece].Count
		}
		lo += int64(piece) * width
		hi = min(hi, lo+width-1)
	}
	before := object{"lt": lo}
	if key.Desc {
		before = object{"gt": hi}
	}
	return object{"bool": object{"filter": list{query}, "must_not": list{object{"range": object{key.Field: before}}}}}, skip, nil
}

// Get gives the live documents of ids as lists show them, in one search over all
// kinds for each 10,000 of them.
func (x *Index) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make(map[calendar.ID]readmodel.Document, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	err := x.reading(ctx, func(v view) error {
		clear(out)
		most := min(walkPage, x.o.MaxResultWindow)
		for part := range slices.Chunk(ids, most) {
			a, err := x.search(ctx, withBody(object{
				"size": len(part), "track_total_hits": false,
				"query": object{"bool": object{
					"filter":   list{in(readmodel.FieldID, part)},
					"must_not": list{term(fieldDeleted, true), term(fieldWhat, whatQuarantined)},
				}},
			}), x.names().all(v.gen)...)
			if err != nil {
				return err
			}
			for i := range a.Hits.Hits {
				d, err := x.hitDocument(&a.Hits.Hits[i])
				if err != nil {
					return err
				}
				out[d.Record.ID] = d
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Counts counts the admitted documents by the values of an id field, all of them,
// page by page.
func (x *Index) Counts(ctx context.Context, kind calendar.Kind, field string, f readmodel.Filter) (map[calendar.ID]int, error) {
	if err := readmodel.CheckCounts(kind, field, f); err != nil {
		return nil, err
	}
	out := map[calendar.ID]int{}
	err := x.reading(ctx, func(v view) error {
		clear(out)
		query, err := x.compiler(v.gen, kind).query(ctx, f)
		if err != nil {
			return err
		}
		values := object{"size": walkPage, "sources": list{object{"id": object{"terms": object{"field": field}}}}}
		body := object{
			"size": 0, "track_total_hits": false, "query": query,
			"aggs": object{"values": object{"composite": values}},
		}
		for {
			a, err := x.search(ctx, body, x.names().index(collectionOf(kind), v.gen))
			if err != nil {
				return err
			}
			found := &a.Aggregations.Values
			for i := range found.Buckets {
				out[found.Buckets[i].Key.ID] = found.Buckets[i].Count
			}
			if len(found.Buckets) < walkPage {
				return nil
			}
			values["after"] = found.After
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Digest sums up the live documents: it reads all of them.
func (x *Index) Digest(ctx context.Context) (readmodel.Digest, error) {
	var sum readmodel.Digest
	err := x.reading(ctx, func(v view) error {
		sum = readmodel.Digest{Counts: map[calendar.Kind]int{}}
		for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
			err := x.scan(ctx, x.names().index(collectionOf(k), v.gen), x.compiler(v.gen, k).live(matchAll), func(d *readmodel.Document) {
				sum.Counts[k]++
				leaf := readmodel.Leaf(k, d.Record.ID, d.Record.Version, d.Body)
				for i := range leaf {
					sum.Sum[i] ^= leaf[i]
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return sum, err
}
