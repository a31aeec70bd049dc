package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"daybook/calendar"
	"daybook/internal/ground/compact"
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
	Aggregations map[string]aggregationAnswer
}

type hit struct {
	ID      string `json:"_id"`
	Version int64  `json:"_version"`
	Fields  struct {
		Body      [][]byte // packed
		ID, Venue []int64  // of an order by the numbers of ids
	}
	Sort []json.RawMessage
	// Matched are the names of the named queries that it matches.
	Matched []string `json:"matched_queries"`
}

// documents sends a search for bodies.
func (view *view) documents(ctx context.Context, kind calendar.Kind, searchRequest searchRequest) ([]readmodel.Document, *answer, error) {
	searchRequest.Stored, searchRequest.Version = fieldBody, true
	var reply answer
	if err := view.search(ctx, kind, searchRequest, &reply); err != nil {
		return nil, nil, err
	}
	documents := make([]readmodel.Document, len(reply.Hits.Hits))
	for i := range reply.Hits.Hits {
		hit := &reply.Hits.Hits[i]
		if len(hit.Fields.Body) != 1 {
			return nil, nil, fmt.Errorf("document %q has %d bodies", hit.ID, len(hit.Fields.Body))
		}
		body, err := compact.Unpack(nil, hit.Fields.Body[0])
		var record *calendar.Record
		if err == nil {
			record, err = calendar.DecodeRecord(body)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read document %s: %w", hit.ID, err)
		}
		documents[i] = readmodel.Document{Position: calendar.Position(hit.Version), Record: record, Body: body}
	}
	return documents, &reply, nil
}

func (view *view) compiler(ctx context.Context, kind calendar.Kind) *compiler {
	c := &compiler{}
	c.scan = func(query object, use func([]readmodel.Document) error) error {
		return view.walk(ctx, c, query, &readmodel.Query{Kind: kind}, use)
	}
	return c
}

// sortOf makes the order of a query, which ends with the id.
func sortOf(order []readmodel.Sort) (result list) {
	for _, sort := range order {
		direction := "asc"
		if sort.Desc {
			direction = "desc"
		}
		switch {
		case sort.Least != nil: // see places
		case sort.Rank != nil:
			result = append(result, object{"_score": object{"order": direction}})
		default:
			result = append(result, object{sort.Field: object{"order": direction, "missing": "_last"}})
		}
	}
	return result
}

// lacking is what engines sort a document by that has no value of a key.
func lacking(desc bool) int64 {
	if desc {
		return math.MinInt64
	}
	return math.MaxInt64
}

// searchAfter makes a place of an order as engines take it.
func searchAfter(order []readmodel.Sort, after []readmodel.Key) (result list) {
	for i, key := range after {
		switch {
		case !key.Has:
			result = append(result, lacking(order[i].Desc))
		case key.Text != "":
			result = append(result, key.Text)
		default:
			result = append(result, key.N)
		}
	}
	return result
}

// walks reports whether the order of a query is not one of the engines'.
func walks(query *readmodel.Query) bool { return query.Collapse != nil || byNumbers(query) }

func byNumbers(query *readmodel.Query) bool {
	return len(query.Sort) > 0 && query.Sort[0].Least != nil
}

// Search implements readmodel.View.
func (view *view) Search(ctx context.Context, query readmodel.Query) (page readmodel.Page, err error) {
	compiler := view.compiler(ctx, query.Kind)
	request := searchRequest{Query: compiler.ranked(&query), Total: true}
	if query.Narrow != nil {
		request.PostFilter = compiler.query(query.Narrow)
	}
	walked := query.Collapse != nil || query.Limit > 0 && (walks(&query) || query.Offset > view.engine.options.MaxResultWindow-query.Limit)
	if walked {
		if page.Total, page.Documents, err = view.walkedPage(ctx, compiler, request, &query); err != nil || query.Tallies == nil {
			return page, err
		}
		request.PostFilter, request.Total = nil, false
	} else if request.Size = query.Limit; query.Limit > 0 {
		request.Sort, request.From = sortOf(query.Sort), query.Offset
		if query.After != nil {
			request.After = searchAfter(query.Sort, query.After)
		}
	}
	if request.Aggs = view.tallies(compiler, query.Tallies); compiler.err != nil {
		return page, compiler.err
	}
	documents, answer, err := view.documents(ctx, query.Kind, request)
	if err != nil {
		return page, err
	}
	if !walked {
		page.Total, page.Documents = answer.Hits.Total.Value, documents
	}
	page.Tallied, err = view.readTallies(ctx, &query, answer.Aggregations)
	return page, err
}

// walkedPage walks to a page that lies too deep to be asked for, or in an order that the
// engines do not have.
func (view *view) walkedPage(ctx context.Context, compiler *compiler, searchRequest searchRequest, query *readmodel.Query) (total int, result []readmodel.Document, err error) {
	var all []rankedDocument
	if err := view.places(ctx, compiler, searchRequest, query, func(places []rankedDocument) bool {
		all = append(all, places...)
		return len(all) < query.Offset+query.Limit
	}); err != nil {
		return 0, nil, err
	}
	if total = len(all); !walks(query) {
		var reply answer
		if err := view.search(ctx, query.Kind, searchRequest, &reply); err != nil {
			return 0, nil, err
		}
		total = reply.Hits.Total.Value
	}
	from := min(query.Offset, len(all))
	if query.After != nil {
		from = sort.Search(len(all), func(i int) bool { return readmodel.ComparePlaces(query.Sort, all[i].keys, query.After) > 0 })
	}
	err = view.eachPlace(ctx, query.Kind, all[from:min(from+query.Limit, len(all))], func(documents []readmodel.Document) error {
		result = append(result, documents...)
		return nil
	})
	return total, result, err
}

// Walk implements readmodel.View.
func (view *view) Walk(ctx context.Context, query readmodel.Query, use func([]readmodel.Document) error) error {
	query.Filter, query.Narrow = readmodel.And{query.Filter, query.Narrow}, nil
	compiler := view.compiler(ctx, query.Kind)
	return view.walk(ctx, compiler, compiler.ranked(&query), &query, use)
}

// walk calls use with all documents of a search.
func (view *view) walk(ctx context.Context, compiler *compiler, query object, q *readmodel.Query, use func([]readmodel.Document) error) (err error) {
	walkErr := view.places(ctx, compiler, searchRequest{Query: query}, q, func(places []rankedDocument) bool {
		err = view.eachPlace(ctx, q.Kind, places, use)
		return err == nil
	})
	return cmp.Or(err, walkErr)
}

// rankedDocument is a document in an order.
type rankedDocument struct {
	id   calendar.ID
	keys []readmodel.Key // of an order by the numbers of ids

	// Of a query that collapses: the number of its group, its start, whether it is a group
	// alone, and in the end the group.
	group, start readmodel.Key
	alone        bool
	repeats      *readmodel.Repeats
}

// nameAlone is the name of the query of documents that are groups of their own.
const nameAlone = "alone"

// places calls use with the places of what a query finds, reading numbers alone, until it
// returns false: page by page, or all of them in an order that the engines do not have.
func (view *view) places(ctx context.Context, compiler *compiler, searchRequest searchRequest, query *readmodel.Query, use func([]rankedDocument) bool) error {
	if err := view.hold(ctx); err != nil {
		return err
	}
	order := query.Sort
	if order == nil {
		order = readmodel.By(false, readmodel.FieldID)
	}
	searchRequest.Sort, searchRequest.Total, searchRequest.Stored, searchRequest.Size = sortOf(order), false, "_none_", min(walkPage, view.engine.options.MaxResultWindow)
	if byNumbers(query) {
		searchRequest.DocValues = []string{order[0].Field}
	}
	if query.Collapse != nil { // the last keys are the group and the start
		order = append(slices.Clip(order), readmodel.By(false, query.Collapse.Field, readmodel.FieldStart)...)
		searchRequest.Sort = sortOf(order)
		if query.Collapse.Alone != nil {
			// must, as the score may be a key of the order; a filter adds nothing to it.
			alone := object{"bool": object{"filter": list{compiler.query(query.Collapse.Alone)}, "_name": nameAlone}}
			searchRequest.Query = object{"bool": object{"must": list{searchRequest.Query}, "should": list{alone}}}
		}
	}
	if compiler.err != nil {
		return compiler.err
	}
	var documents []rankedDocument
	for more := true; more; {
		var reply answer
		if err := view.search(ctx, query.Kind, searchRequest, &reply); err != nil {
			return err
		}
		page := make([]rankedDocument, len(reply.Hits.Hits))
		for i := range page {
			if err := page[i].read(&reply.Hits.Hits[i], order, query); err != nil {
				return fmt.Errorf("place of a document: %w", err)
			}
		}
		if more = len(page) == searchRequest.Size; more {
			searchRequest.After = reply.Hits.Hits[searchRequest.Size-1].Sort
		}
		if walks(query) {
			documents = append(documents, page...)
		} else if !use(page) {
			return nil
		}
	}
	if byNumbers(query) {
		slices.SortFunc(documents, func(a, b rankedDocument) int { return readmodel.ComparePlaces(query.Sort, a.keys, b.keys) })
	}
	if query.Collapse != nil {
		documents = collapsed(documents)
	}
	use(documents)
	return nil
}

// read reads the place of a hit of a walk.
func (placed *rankedDocument) read(hit *hit, order []readmodel.Sort, query *readmodel.Query) error {
	keys := make([]readmodel.Key, len(order))
	sent := hit.Sort
	for i, sort := range order {
		if sort.Least != nil {
			keys[i] = sort.KeyOf(append(hit.Fields.ID, hit.Fields.Venue...))
			continue
		}
		if len(sent) == 0 {
			return fmt.Errorf("%d keys", len(hit.Sort))
		}
		number, _ := strconv.ParseInt(string(sent[0]), 10, 64) // not of a keyword or a score, which are not looked at
		if number != lacking(sort.Desc) {
			keys[i] = readmodel.Key{N: number, Has: true}
		}
		sent = sent[1:]
	}
	if query.Collapse != nil {
		last := len(keys) - 2
		placed.group, placed.start, keys = keys[last], keys[last+1], keys[:last]
		placed.alone = !placed.group.Has || slices.Contains(hit.Matched, nameAlone)
	}
	if placed.id = calendar.ID(keys[len(keys)-1].N); byNumbers(query) {
		placed.keys = keys
	}
	return nil
}

// collapsed returns the first place of each group, with the group.
func collapsed(places []rankedDocument) (rankedDocuments []rankedDocument) {
	groups := map[int64]*readmodel.Repeats{}
	for _, placed := range places {
		group := groups[placed.group.N]
		if placed.alone || group == nil {
			group = &readmodel.Repeats{}
			placed.repeats = group
			rankedDocuments = append(rankedDocuments, placed)
		}
		if !placed.alone {
			groups[placed.group.N] = group
		}
		group.Add(placed.id, placed.start)
	}
	return rankedDocuments
}

// eachPlace calls use with the documents of places.
func (view *view) eachPlace(ctx context.Context, kind calendar.Kind, places []rankedDocument, use func([]readmodel.Document) error) error {
	for some := range slices.Chunk(places, min(readmodel.WalkStep, view.engine.options.MaxResultWindow)) {
		ids := make([]calendar.ID, len(some))
		for i, placed := range some {
			ids[i] = placed.id
		}
		found, _, err := view.documents(ctx, kind, searchRequest{Query: in(readmodel.FieldID, ids), Size: len(some)})
		if err != nil {
			return err
		}
		if len(found) != len(some) {
			return fmt.Errorf("%d of %d documents", len(found), len(some))
		}
		documents := make([]readmodel.Document, len(some))
		for _, document := range found {
			i := slices.Index(ids, document.Record.ID)
			document.Repeats = some[i].repeats
			documents[i] = document
		}
		if err := use(documents); err != nil {
			return err
		}
	}
	return nil
}
