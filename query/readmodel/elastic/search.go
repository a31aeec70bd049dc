package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// walkPage is how many places a walk reads at a time.
const walkPage = 10_000

// searchRequest is the body of a search.
type searchRequest struct {
	Query      object   `json:"query"`
	PostFilter object   `json:"post_filter,omitempty"`
	Sort       list     `json:"sort,omitempty"`
	From       int      `json:"from,omitempty"`
	Size       int      `json:"size"`
	After      any      `json:"search_after,omitempty"`
	Total      bool     `json:"track_total_hits"`
	Version    bool     `json:"version,omitempty"`
	Stored     string   `json:"stored_fields,omitempty"`
	DocValues  []string `json:"docvalue_fields,omitempty"`
	Aggs       object   `json:"aggs,omitempty"`
	Point      object   `json:"pit,omitempty"`
}

// answer is the answer to a search.
type answer struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []hit
	}
	Aggregations map[string]counted
}

type hit struct {
	ID      string `json:"_id"`
	Version int64  `json:"_version"`
	Fields  struct {
		Body  []string
		Venue []int64 // of an order by distance
	}
	Source json.RawMessage `json:"_source"`
	Sort   []json.RawMessage
	// Matched are the names of the named queries that it matches.
	Matched []string `json:"matched_queries"`
}

// documents sends a search for bodies.
func (v *view) documents(ctx context.Context, s state, collection string, r searchRequest) ([]readmodel.Document, *answer, error) {
	r.Stored, r.Version = fieldBody, true
	var a answer
	if err := v.search(ctx, s, collection, r, &a); err != nil {
		return nil, nil, err
	}
	out := make([]readmodel.Document, len(a.Hits.Hits))
	for i := range a.Hits.Hits {
		h := &a.Hits.Hits[i]
		id, err := strconv.ParseInt(h.ID, 10, 64)
		if err != nil || len(h.Fields.Body) != 1 {
			return nil, nil, fmt.Errorf("document %q has %d bodies", h.ID, len(h.Fields.Body))
		}
		if out[i], err = v.x.document(calendar.ID(id), calendar.Position(h.Version), h.Fields.Body[0]); err != nil {
			return nil, nil, err
		}
	}
	return out, &a, nil
}

func (v *view) compiler(s state, k calendar.Kind) *compiler {
	return &compiler{
		schema: readmodel.SchemaOf(k),
		scan: func(ctx context.Context, query object, each func(*readmodel.Document)) error {
			return v.eachPage(ctx, s, collectionOf(k), searchRequest{Query: query, Sort: byID}, func(documents []readmodel.Document) error {
				for i := range documents {
					each(&documents[i])
				}
				return nil
			})
		},
	}
}

var byID = list{object{readmodel.FieldID: "asc"}}

// eachPage calls use with all documents of a search in its order.
func (v *view) eachPage(ctx context.Context, s state, collection string, r searchRequest, use func([]readmodel.Document) error) error {
	if err := v.hold(ctx); err != nil {
		return err
	}
	r.Size = v.x.step()
	for {
		documents, a, err := v.documents(ctx, s, collection, r)
		if err != nil || len(documents) == 0 {
			return err
		}
		if err := use(documents); err != nil {
			return err
		}
		if len(documents) < r.Size {
			return nil
		}
		r.After = a.Hits.Hits[r.Size-1].Sort
	}
}

// step is how many documents are read at a time.
func (x *Index) step() int { return min(readmodel.WalkStep, x.o.MaxResultWindow) }

// sortOf makes the order of a query, which ends with the id. What is in a point in time of all
// indices has a type in each of them.
func sortOf(schema *readmodel.Schema, order []readmodel.Sort) list {
	out := make(list, 0, len(order)+1)
	total := false
	for _, k := range order {
		switch {
		case k.Least != nil: // see places
			continue
		case k.Rank != nil:
			out = append(out, object{"_score": object{"order": "desc"}})
			continue
		}
		direction, kind := "asc", "long"
		if k.Desc {
			direction = "desc"
		}
		if schema.Field(k.Field).Type == readmodel.TypeKeyword {
			kind = "keyword"
		}
		out = append(out, object{k.Field: object{"order": direction, "missing": "_last", "unmapped_type": kind}})
		total = total || k.Field == readmodel.FieldID
	}
	if !total {
		out = append(out, object{readmodel.FieldID: object{"order": "asc"}})
	}
	return out
}

// lacking is what engines sort a document by that has no value of a key.
func lacking(desc bool) int64 {
	if desc {
		return -1 << 63
	}
	return 1<<63 - 1
}

// searchAfter makes a place of an order as engines take it.
func searchAfter(order []readmodel.Sort, after []readmodel.Key) list {
	out := make(list, len(order))
	for i, k := range order {
		switch {
		case !after[i].Has:
			out[i] = lacking(k.Desc)
		case after[i].Text != "":
			out[i] = after[i].Text
		default:
			out[i] = after[i].N
		}
	}
	return out
}

// Search implements readmodel.View.
func (v *view) Search(ctx context.Context, q readmodel.Query) (page readmodel.Page, err error) {
	err = v.read(ctx, func(s state) error {
		page, err = v.page(ctx, s, q)
		return err
	})
	return page, err
}

// walks reports whether an order is not one of the engines'.
func walks(q *readmodel.Query) bool {
	return q.Collapse != nil || len(q.Sort) > 0 && q.Sort[0].Least != nil
}

func (v *view) page(ctx context.Context, s state, q readmodel.Query) (page readmodel.Page, err error) {
	c := v.compiler(s, q.Kind)
	query, err := c.ranked(ctx, q)
	if err != nil {
		return page, err
	}
	r := searchRequest{Query: query, Total: true}
	if q.Narrow != nil {
		if r.PostFilter, err = c.compile(ctx, q.Narrow); err != nil {
			return page, err
		}
	}
	walked := q.Collapse != nil || q.Limit > 0 && (walks(&q) || q.Offset > v.x.o.MaxResultWindow-q.Limit)
	if walked {
		if page.Total, page.Documents, err = v.walkedPage(ctx, s, c, r, q); err != nil || q.Tallies == nil {
			return page, err
		}
		r.PostFilter, r.Total = nil, false
	} else if r.Size = q.Limit; q.Limit > 0 {
		r.Sort, r.From = sortOf(c.schema, q.Sort), q.Offset
		if q.After != nil {
			r.After = searchAfter(q.Sort, q.After)
		}
	}
	if r.Aggs, err = v.askTallies(ctx, c, q.Tallies); err != nil {
		return page, err
	}
	documents, a, err := v.documents(ctx, s, collectionOf(q.Kind), r)
	if err != nil {
		return page, err
	}
	if !walked {
		page.Total, page.Documents = a.Hits.Total.Value, documents
	}
	if q.Tallies != nil {
		page.Tallied, err = v.readTallies(ctx, s, &q, a.Aggregations)
	}
	return page, err
}

// walkedPage walks to a page that lies too deep to be asked for, or in an order that the
// engines do not have.
func (v *view) walkedPage(ctx context.Context, s state, c *compiler, r searchRequest, q readmodel.Query) (total int, out []readmodel.Document, err error) {
	places, err := v.places(ctx, s, c, r, q)
	if err != nil {
		return 0, nil, err
	}
	if total = len(places); !walks(&q) {
		var a answer
		if err := v.search(ctx, s, collectionOf(q.Kind), r, &a); err != nil {
			return 0, nil, err
		}
		total = a.Hits.Total.Value
	}
	from := min(q.Offset, len(places))
	if q.After != nil {
		from = sort.Search(len(places), func(i int) bool { return readmodel.ComparePlaces(q.Sort, places[i].keys, q.After) > 0 })
	}
	err = v.eachPlace(ctx, s, q.Kind, places[from:min(from+q.Limit, len(places))], func(documents []readmodel.Document) error {
		out = append(out, documents...)
		return nil
	})
	return total, out, err
}

// Walk implements readmodel.View.
func (v *view) Walk(ctx context.Context, q readmodel.Query, use func([]readmodel.Document) error) error {
	q.Offset, q.Limit, q.After, q.Tallies = 0, 0, nil, nil
	q.Filter, q.Narrow = readmodel.Both(q.Filter, q.Narrow), nil
	return v.read(ctx, func(s state) error {
		if err := v.hold(ctx); err != nil {
			return err
		}
		c := v.compiler(s, q.Kind)
		query, err := c.ranked(ctx, q)
		if err != nil {
			return err
		}
		r := searchRequest{Query: query}
		if !walks(&q) {
			r.Sort = sortOf(c.schema, q.Sort)
			return v.eachPage(ctx, s, collectionOf(q.Kind), r, use)
		}
		places, err := v.places(ctx, s, c, r, q)
		if err != nil {
			return err
		}
		return v.eachPlace(ctx, s, q.Kind, places, use)
	})
}

// placed is a document in an order.
type placed struct {
	id   calendar.ID
	keys []readmodel.Key // of an order by distance

	// Of a query that collapses: the number of its group, unless it is one alone, its start,
	// and in the end the group.
	group   int64
	alone   bool
	start   calendar.Wall
	repeats *readmodel.Repeats
}

// places walks over what a query finds, reading numbers alone: all of it in an order that the
// engines do not have, else up to the end of its page.
func (v *view) places(ctx context.Context, s state, c *compiler, r searchRequest, q readmodel.Query) (out []placed, err error) {
	if err := v.hold(ctx); err != nil {
		return nil, err
	}
	distance := len(q.Sort) > 0 && q.Sort[0].Least != nil
	r.Sort, r.Total, r.Stored, r.Size = sortOf(c.schema, q.Sort), false, "_none_", min(walkPage, v.x.o.MaxResultWindow)
	id := slices.IndexFunc(r.Sort, func(key any) bool { return key.(object)[readmodel.FieldID] != nil }) //nolint:forcetypeassert // made by sortOf
	if distance {
		r.DocValues = []string{q.Sort[0].Field}
	}
	if q.Collapse != nil {
		if r, err = c.collapse(ctx, r, q.Collapse); err != nil {
			return nil, err
		}
	}
	for more := true; more && (walks(&q) || len(out) < q.Offset+q.Limit); {
		var a answer
		if err := v.search(ctx, s, collectionOf(q.Kind), r, &a); err != nil {
			return nil, err
		}
		for i := range a.Hits.Hits {
			h := &a.Hits.Hits[i]
			n, err := keyAt(h, id)
			p := placed{id: calendar.ID(n)}
			if err == nil && distance {
				p.keys, err = keysOf(q.Sort, h)
			}
			if err == nil && q.Collapse != nil {
				err = p.readGroup(h, len(r.Sort)-2)
			}
			if err != nil {
				return nil, fmt.Errorf("place of a document: %w", err)
			}
			out = append(out, p)
		}
		if more = len(a.Hits.Hits) == r.Size; more {
			r.After = a.Hits.Hits[r.Size-1].Sort
		}
	}
	if distance {
		slices.SortFunc(out, func(a, b placed) int { return readmodel.ComparePlaces(q.Sort, a.keys, b.keys) })
	}
	if q.Collapse != nil {
		out = collapsed(out)
	}
	return out, nil
}

// keyAt reads a key of a hit.
func keyAt(h *hit, key int) (int64, error) {
	if key >= len(h.Sort) {
		return 0, fmt.Errorf("%d keys", len(h.Sort))
	}
	return strconv.ParseInt(string(h.Sort[key]), 10, 64)
}

// keysOf reads the place of a hit in an order by distance, and numbers behind it.
func keysOf(order []readmodel.Sort, h *hit) ([]readmodel.Key, error) {
	keys := make([]readmodel.Key, len(order))
	keys[0] = order[0].KeyOf(h.Fields.Venue)
	for i := 1; i < len(order); i++ {
		n, err := keyAt(h, i-1)
		if err != nil {
			return nil, err
		}
		keys[i] = readmodel.Key{N: n, Has: n != lacking(order[i].Desc)}
	}
	return keys, nil
}

// eachPlace calls use with the documents of places.
func (v *view) eachPlace(ctx context.Context, s state, kind calendar.Kind, places []placed, use func([]readmodel.Document) error) error {
	for some := range slices.Chunk(places, v.x.step()) {
		at := make(map[calendar.ID]int, len(some))
		ids := make([]calendar.ID, len(some))
		for i, p := range some {
			ids[i], at[p.id] = p.id, i
		}
		found, _, err := v.documents(ctx, s, collectionOf(kind), searchRequest{Query: in(readmodel.FieldID, ids), Size: len(some)})
		if err != nil {
			return err
		}
		if len(found) != len(some) {
			return fmt.Errorf("%d of %d documents", len(found), len(some))
		}
		documents := make([]readmodel.Document, len(some))
		for _, d := range found {
			i := at[d.Record.ID]
			d.Repeats = some[i].repeats
			documents[i] = d
		}
		if err := use(documents); err != nil {
			return err
		}
	}
	return nil
}
