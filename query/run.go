package query

import (
	"cmp"
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Run answers the criteria. A page past the end of a list of posts is
// *calendar.Error with CodePageNotFound.
func (s *Service) Run(ctx context.Context, criteria *Criteria) (*List, error) {
	list, err := present(ctx, s, func(st *state) (*List, error) { return st.list(ctx, criteria) })
	if err == nil && criteria.Page > 1 && len(list.Views) == 0 && criteria.Kind.IsPost() {
		return nil, calendar.Fail(calendar.CodePageNotFound, criteria.Kind)
	}
	return list, err
}

// Several answers the criteria of several lists of events as of one state, and calls use
// with each list in their order; a page past the end is an empty one. It may begin again:
// use is called for the first again then.
func (s *Service) Several(ctx context.Context, all []*Criteria, use func(i int, list *List) error) error {
	_, err := present(ctx, s, func(st *state) (none struct{}, err error) {
		for i, criteria := range all {
			list, err := st.list(ctx, criteria)
			if err == nil {
				err = use(i, list)
			}
			if err != nil {
				return none, err
			}
		}
		return none, nil
	})
	return err
}

// list answers the criteria; a page past the end is empty.
func (st *state) list(ctx context.Context, criteria *Criteria) (*List, error) {
	found, err := st.search(ctx, criteria)
	if err != nil {
		return nil, err
	}
	page, order := &found.page, found.query.Sort
	list := &List{
		Total:      page.Total,
		TotalPages: (page.Total + criteria.PerPage - 1) / criteria.PerPage,
		Position:   st.view.Shown().Position,
		Facets:     found.facets,
		Spelling:   found.criteria.spelling(),
	}
	if walk := criteria.walk; walk != nil && len(page.Documents) > criteria.PerPage {
		page.Documents = page.Documents[:criteria.PerPage]
		list.Next = walk.next(order, page.Documents[criteria.PerPage-1].Record, found.criteria.step)
	}
	list.Views, err = st.views(ctx, found.criteria, page.Documents, order)
	return list, err
}

// found is what a search found.
type found struct {
	criteria *Criteria // of the step that found something
	query    readmodel.Query
	page     readmodel.Page
	facets   []Facet // nil: none were asked for
}

// search searches in the steps of typos=auto.
func (st *state) search(ctx context.Context, criteria *Criteria) (*found, error) {
	var out *found
	at, err := stepped(criteria, func(criteria *Criteria) (int, error) {
		q, counts, err := st.query(ctx, criteria)
		if err != nil {
			return 0, err
		}
		page, err := st.page(ctx, criteria, q)
		if err == nil && (out == nil || page.Total > 0) { // where no step finds anything, the facets are of the first
			out = &found{query: q, page: page}
			for i, count := range counts {
				out.facets = append(out.facets, count.made(&page.Tallied[i]))
			}
		}
		return page.Total, err
	})
	if err != nil {
		return nil, err
	}
	out.criteria = at
	return out, nil
}

// query returns what a list asks of the index, and the facets that are made of the answer.
func (st *state) query(ctx context.Context, criteria *Criteria) (q readmodel.Query, counts []*facetCount, err error) {
	chosen, err := st.choice(ctx, criteria)
	if err != nil {
		return q, nil, err
	}
	order, err := st.order(ctx, criteria)
	if err != nil {
		return q, nil, err
	}
	isCounted := func(name string) bool { return slices.Contains(criteria.Facets, name) }
	q = readmodel.Query{
		Kind: criteria.Kind, Filter: criteria.protect(chosen.parts(func(name string) bool { return !isCounted(name) })),
		Sort: order, Offset: (criteria.Page - 1) * criteria.PerPage, Limit: criteria.PerPage,
	}
	if rest := chosen.parts(isCounted); len(rest) > 0 {
		q.Narrow = rest
	}
	for _, name := range criteria.Facets {
		count, err := st.facet(ctx, criteria, name)
		if err != nil {
			return q, nil, err
		}
		among := chosen.parts(func(other string) bool { return isCounted(other) && other != name })
		if filter := blanked(criteria.Caller); filter != nil && !count.blanked && !criteria.hides {
			among = append(among, not(filter))
		}
		q.Tallies = append(q.Tallies, count.tally(among))
		counts = append(counts, count)
	}
	if criteria.collapse {
		q.Collapse = &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: blanked(criteria.Caller)}
	}
	if walk := criteria.walk; walk != nil && criteria.PerPage > 0 {
		if len(walk.At) == len(order) { // else it is of another order, made up
			q.After = walk.At
		}
		q.Limit++ // one more, to know whether there is a next page
	}
	return q, counts, nil
}

// page finds the documents of the page.
func (st *state) page(ctx context.Context, criteria *Criteria, query readmodel.Query) (readmodel.Page, error) {
	switch {
	case criteria.Kind.IsTerm() && criteria.orderBy == "count":
		counts, err := st.countedOf(ctx, criteria.Kind)
		if err != nil {
			return readmodel.Page{}, err
		}
		return st.ranked(ctx, criteria, query.Filter, counts)
	case criteria.Kind.IsTerm() && criteria.orderBy == "include" && criteria.include != nil:
		place := make(map[calendar.ID]int, len(criteria.include))
		for i, id := range criteria.include {
			place[id] = i
		}
		return st.ranked(ctx, criteria, query.Filter, place)
	}
	return st.view.Search(ctx, query)
}

// order returns the order of the list.
func (st *state) order(ctx context.Context, criteria *Criteria) ([]readmodel.Sort, error) {
	switch {
	case criteria.sort == "distance":
		venues, err := st.visible(ctx, criteria, calendar.KindVenue)
		if err != nil {
			return nil, err
		}
		return append([]readmodel.Sort{{Field: readmodel.FieldVenue, Desc: criteria.desc, Least: venues.metres(criteria.near)}}, byStart(criteria.desc)...), nil
	case criteria.sort == sortRelevance && criteria.search.Query != "":
		// That of events which the caller gets blanked is of their title.
		rank := &readmodel.Relevance{Text: criteria.text(), Title: blanked(criteria.Caller)}
		return append([]readmodel.Sort{{Rank: rank, Desc: true}}, byStart(false)...), nil
	}
	return criteria.order(), nil
}

// byStart is the order of events by start (interface 4.4).
func byStart(desc bool) []readmodel.Sort {
	return readmodel.By(desc, readmodel.FieldStart, readmodel.FieldDate, readmodel.FieldID)
}

// order returns an order by fields (interface 4.4, 4.11).
func (c *Criteria) order() []readmodel.Sort {
	isEvent := c.Kind == calendar.KindEvent
	switch field := sortFields[c.sort]; {
	case field != "": // events without one are last, by id
		return []readmodel.Sort{{Field: field, Desc: c.desc}, {Field: readmodel.FieldLack(field)}, {Field: readmodel.FieldID, Desc: c.desc}}
	case c.sort == "end":
		return readmodel.By(c.desc, readmodel.FieldEnd, readmodel.FieldStart, readmodel.FieldID)
	case isEvent && (c.sort != "" || c.include == nil):
		return byStart(c.desc)
	case c.Kind.IsPost():
		return readmodel.By(!isEvent, readmodel.FieldDate, readmodel.FieldID)
	}
	field := readmodel.FieldNameKey(c.Lang)
	switch c.orderBy {
	case "id", "none":
		return readmodel.By(c.desc, readmodel.FieldID)
	case "slug":
		field = readmodel.FieldSlug
	case "description":
		field = readmodel.FieldDescriptionKey(c.Lang)
	}
	return []readmodel.Sort{{Field: field, Desc: c.desc}, {Field: readmodel.FieldID}}
}

// ranked answers a page of terms in an order that the read model does not have: by rank,
// then by id.
func (st *state) ranked(ctx context.Context, criteria *Criteria, filter readmodel.Filter, rank map[calendar.ID]int) (readmodel.Page, error) {
	found, err := readmodel.Counts(ctx, st.view, criteria.Kind, readmodel.FieldID, filter)
	if err != nil {
		return readmodel.Page{}, err
	}
	ids := keys(found)
	slices.SortStableFunc(ids, func(a, b calendar.ID) int {
		if criteria.desc {
			a, b = b, a
		}
		return cmp.Compare(rank[a], rank[b])
	})
	page := readmodel.Page{Total: len(ids)}
	from := min((criteria.Page-1)*criteria.PerPage, len(ids))
	ids = ids[from:min(from+criteria.PerPage, len(ids))]
	documents, err := st.view.Get(ctx, ids)
	for _, id := range ids {
		if document, ok := documents[id]; ok {
			page.Documents = append(page.Documents, document)
		}
	}
	return page, err
}

// views makes the views of a page, with what its events embed.
func (st *state) views(ctx context.Context, criteria *Criteria, documents []readmodel.Document, order []readmodel.Sort) ([]View, error) {
	now := st.moment()
	out := make([]View, len(documents))
	for i, document := range documents {
		out[i] = View{
			Record: document.Record, Repeats: document.Repeats, Status: statusOf(document.Record, now),
			Blanked: criteria.Kind == calendar.KindEvent && calendar.NeedsPassword(criteria.Caller, document.Record),
		}
		if criteria.sort == "distance" {
			if at := readmodel.Place(order[:1], document.Record)[0]; at.Has {
				out[i].Distance = &at.N
			}
		}
	}
	j := st.join(criteria.Caller, criteria.Lang, criteria.Embeds)
	j.withdrawn = criteria.withdrawn
	return out, j.views(ctx, criteria.Kind, out)
}

// join returns the join of what events of the state embed.
func (st *state) join(c calendar.Caller, l calendar.Lang, e Embeds) *join {
	return &join{
		records: st.load, counts: st.countsOf, caller: c, lang: l, now: st.moment(), embeds: e, left: st.o.MaxAnswer,
	}
}
