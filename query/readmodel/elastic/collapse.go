package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// nameAlone is the name of the query of documents that are groups of their own.
const nameAlone = "alone"

// repeated is the first document of a group.
type repeated struct {
	id    calendar.ID
	group *readmodel.Repeats
}

// collapse gives the groups of a query that collapses, in order: it walks all that is
// found, reading numbers alone.
func (w *walk) collapse(ctx context.Context, c *compiler, how *readmodel.Collapse) ([]repeated, error) {
	query := w.query
	if how.Alone != nil {
		alone, err := c.compile(ctx, how.Alone)
		if err != nil {
			return nil, err
		}
		// must, as the score may be a key of the order; a filter adds nothing to it.
		query = object{"bool": object{"must": list{query}, "should": list{object{"bool": object{"filter": list{alone}, "_name": nameAlone}}}}}
	}
	order := w.sort
	if w.ids != nil { // which are in order
		order = byID
	}
	id := slices.IndexFunc(order, func(key any) bool { return key.(object)[readmodel.FieldID] != nil }) //nolint:forcetypeassert // see sortOf
	// The last keys are for reading only: those before are never equal.
	missing := object{"order": "asc", "missing": "_last"}
	body := w.body(query, object{"stored_fields": "_none_", "sort": append(slices.Clone(order), object{how.Field: missing}, object{readmodel.FieldStart: missing})})
	var all []repeating
	err := w.x.walk(ctx, "", body, walkPage, func(h *hit) (bool, error) {
		var key [3]int64 // id, group, start
		for i, at := range [...]int{id, len(order), len(order) + 1} {
			if at >= len(h.Sort) || json.Unmarshal(h.Sort[at], &key[i]) != nil {
				return false, fmt.Errorf("collapse: keys %s", h.Sort)
			}
		}
		r := repeating{calendar.ID(key[0]), key[1], calendar.Wall(key[2]), key[1] != missingNumber && !slices.Contains(h.Matched, nameAlone)}
		if key[2] == missingNumber {
			r.start = calendar.NoWall
		}
		all = append(all, r)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if w.ids != nil {
		place := make(map[calendar.ID]int, len(w.ids))
		for i, id := range w.ids {
			place[id] = i
		}
		slices.SortFunc(all, func(a, b repeating) int { return place[a.id] - place[b.id] })
	}
	out := []repeated{}
	groups := map[int64]*readmodel.Repeats{}
	for i := range all {
		r := &all[i]
		g := groups[r.number]
		if !r.has || g == nil {
			g = &readmodel.Repeats{First: calendar.NoWall, Last: calendar.NoWall}
			out = append(out, repeated{r.id, g})
		}
		if r.has {
			groups[r.number] = g
		}
		g.Add(r.id, r.start)
	}
	return out, nil
}

// repeating is a document that is found, with the number of its group where it has one.
type repeating struct {
	id     calendar.ID
	number int64
	start  calendar.Wall
	has    bool
}

// missingNumber is what the engines have for a number that is not there, in an ascending
// order with those last.
const missingNumber = 1<<63 - 1

// documents gives the documents of some groups.
func (w *walk) documents(ctx context.Context, some []repeated) ([]readmodel.Document, error) {
	if len(some) == 0 {
		return nil, nil
	}
	ids := make([]calendar.ID, len(some))
	place := make(map[calendar.ID]int, len(some))
	for i, r := range some {
		ids[i], place[r.id] = r.id, i
	}
	body := w.body(in(readmodel.FieldID, ids), withBody(object{"size": len(some), "track_total_hits": false}))
	a, err := w.x.search(ctx, body)
	if err != nil {
		return nil, err
	}
	if len(a.Hits.Hits) != len(some) {
		return nil, fmt.Errorf("collapse: %d of %d documents", len(a.Hits.Hits), len(some))
	}
	out := make([]readmodel.Document, len(some))
	for i := range a.Hits.Hits {
		d, err := w.x.hitDocument(&a.Hits.Hits[i])
		if err != nil {
			return nil, err
		}
		at := place[d.Record.ID]
		d.Repeats = some[at].group
		out[at] = d
	}
	return out, nil
}

// searchCollapsed answers a page of groups.
func (x *Index) searchCollapsed(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	w, err := x.openWalk(ctx, q)
	if err != nil {
		return readmodel.Page{}, err
	}
	defer w.Close() //nolint:contextcheck // also after the end of the request
	from := min(q.Offset, len(w.groups))
	page := readmodel.Page{Total: w.total, Position: w.position}
	page.Documents, err = w.documents(ctx, w.groups[from:min(from+q.Limit, len(w.groups))])
	return page, err
}
