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
func (service *Service) Run(ctx context.Context, criteria *Criteria) (*List, error) {
	list, err := present(ctx, service, func(st *state) (*List, error) { return st.list(ctx, criteria) })
	if err == nil && criteria.Page > 1 && len(list.Views) == 0 && criteria.Kind.IsPost() {
		return nil, calendar.Fail(calendar.CodePageNotFound, criteria.Kind)
	}
	return list, err
}

// Several answers the criteria of several lists of events as of one state, and calls use
// with each list in their order; a page past the end is an empty one. It may begin again:
// use is called for the first again then.
func (service *Service) Several(ctx context.Context, all []*Criteria, use func(i int, list *List) error) error {
	_, err := present(ctx, service, func(st *state) (none struct{}, err error) {
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
func (state *state) list(ctx context.Context, criteria *Criteria) (*List, error) {
	found, err := state.search(ctx, criteria)
	if err != nil {
		return nil, err
	}
	page, order := &found.page, found.query.Sort
	list := &List{
		Total:      page.Total,
		TotalPages: (page.Total + criteria.PerPage - 1) / criteria.PerPage,
		Position:   state.view.Shown().Position,
		Facets:     found.facets,
		Spelling:   found.criteria.spelling(),
	}
	if walk := criteria.walk; walk != nil && len(page.Documents) > criteria.PerPage {
		page.Documents = page.Documents[:criteria.PerPage]
		list.Next = walk.next(order, page.Documents[criteria.PerPage-1].Record, found.criteria.step)
	}
	list.Views, err = state.views(ctx, found.criteria, page.Documents, order)
	return list, err
}

// searchOutcome is what a search found.
type searchOutcome struct {
	criteria *Criteria // of the step that found something
	query    readmodel.Query
	page     readmodel.Page
	facets   []Facet // nil: none were asked for
}

// search searches in the steps of typos=auto.
func (state *state) search(ctx context.Context, criteria *Criteria) (*searchOutcome, error) {
	var out *searchOutcome
	at, err := stepped(criteria, func(criteria *Criteria) (int, error) {
		query, counts, err := state.query(ctx, criteria)
		if err != nil {
			return 0, err
		}
		page, err := state.page(ctx, criteria, query)
		if err == nil && (out == nil || page.Total > 0) { // where no step finds anything, the facets are of the first
			out = &searchOutcome{query: query, page: page}
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
func (state *state) query(ctx context.Context, criteria *Criteria) (query readmodel.Query, counts []*facetCount, err error) {
	chosen, err := state.choice(ctx, criteria)
	if err != nil {
		return query, nil, err
	}
	order, err := state.order(ctx, criteria)
	if err != nil {
		return query, nil, err
	}
	isCounted := func(name string) bool { return slices.Contains(criteria.Facets, name) }
	query = readmodel.Query{
		Kind: criteria.Kind, Filter: criteria.protect(chosen.parts(func(name string) bool { return !isCounted(name) })),
		Sort: order, Offset: (criteria.Page - 1) * criteria.PerPage, Limit: criteria.PerPage,
	}
	if rest := chosen.parts(isCounted); len(rest) > 0 {
		query.Narrow = rest
	}
	for _, name := range criteria.Facets {
		count, err := state.facet(ctx, criteria, name)
		if err != nil {
			return query, nil, err
		}
		among := chosen.parts(func(other string) bool { return isCounted(other) && other != name })
		if filter := blanked(criteria.Caller); filter != nil && !count.blanked && !criteria.hides {
			among = append(among, not(filter))
		}
		query.Tallies = append(query.Tallies, count.tally(among))
		counts = append(counts, count)
	}
	if criteria.collapse {
		query.Collapse = &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: blanked(criteria.Caller)}
	}
	if walk := criteria.walk; walk != nil && criteria.PerPage > 0 {
		if len(walk.At) == len(order) { // else it is of another order, made up
			query.After = walk.At
		}
		query.Limit++ // one more, to know whether there is a next page
	}
	return query, counts, nil
}

// page finds the documents of the page.
func (state *state) page(ctx context.Context, criteria *Criteria, query readmodel.Query) (readmodel.Page, error) {
	switch {
	case criteria.Kind.IsTerm() && criteria.orderBy == "count":
		counts, err := state.countedOf(ctx, criteria.Kind)
		if err != nil {
			return readmodel.Page{}, err
		}
		return state.ranked(ctx, criteria, query.Filter, counts)
	case criteria.Kind.IsTerm() && criteria.orderBy == "include" && criteria.include != nil:
		place := make(map[calendar.ID]int, len(criteria.include))
		for i, id := range criteria.include {
			place[id] = i
		}
		return state.ranked(ctx, criteria, query.Filter, place)
	}
	return state.view.Search(ctx, query)
}

// order returns the order of the list.
func (state *state) order(ctx context.Context, criteria *Criteria) ([]readmodel.Sort, error) {
	switch {
	case criteria.sort == "distance":
		venues, err := state.visible(ctx, criteria, calendar.KindVenue)
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
func (criteria *Criteria) order() []readmodel.Sort {
	isEvent := criteria.Kind == calendar.KindEvent
	switch field := sortFields[criteria.sort]; {
	case field != "": // events without one are last, by id
		return []readmodel.Sort{{Field: field, Desc: criteria.desc}, {Field: readmodel.FieldLack(field)}, {Field: readmodel.FieldID, Desc: criteria.desc}}
	case criteria.sort == "end":
		return readmodel.By(criteria.desc, readmodel.FieldEnd, readmodel.FieldStart, readmodel.FieldID)
	case isEvent && (criteria.sort != "" || criteria.include == nil):
		return byStart(criteria.desc)
	case criteria.Kind.IsPost():
		return readmodel.By(!isEvent, readmodel.FieldDate, readmodel.FieldID)
	}
	field := readmodel.FieldNameKey(criteria.Lang)
	switch criteria.orderBy {
	case "id", "none":
		return readmodel.By(criteria.desc, readmodel.FieldID)
	case "slug":
		field = readmodel.FieldSlug
	case "description":
		field = readmodel.FieldDescriptionKey(criteria.Lang)
	}
	return []readmodel.Sort{{Field: field, Desc: criteria.desc}, {Field: readmodel.FieldID}}
}

// ranked answers a page of terms in an order that the read model does not have: by rank,
// then by id.
func (state *state) ranked(ctx context.Context, criteria *Criteria, filter readmodel.Filter, rank map[calendar.ID]int) (readmodel.Page, error) {
	found, err := readmodel.Counts(ctx, state.view, criteria.Kind, readmodel.FieldID, filter)
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
	documents, err := state.view.Get(ctx, ids)
	for _, id := range ids {
		if document, ok := documents[id]; ok {
			page.Documents = append(page.Documents, document)
		}
	}
	return page, err
}

// views makes the views of a page, with what its events embed.
func (state *state) views(ctx context.Context, criteria *Criteria, documents []readmodel.Document, order []readmodel.Sort) ([]View, error) {
	now := state.moment()
	out := make([]View, len(documents))
	for i, document := range documents {
		out[i] = View{
			Record: document.Record, Repeats: document.Repeats, Status: statusOf(document.Record, now),
			Blanked: criteria.Kind == calendar.KindEvent && calendar.NeedsPassword(criteria.Caller, document.Record),
		}
		if criteria.sort == "distance" {
			if key := readmodel.Place(order[:1], document.Record)[0]; key.Has {
				out[i].Distance = &key.N
			}
		}
	}
	join := state.join(criteria.Caller, criteria.Lang, criteria.Embeds)
	join.withdrawn = criteria.withdrawn
	return out, join.views(ctx, criteria.Kind, out)
}

// join returns the join of what events of the state embed.
func (state *state) join(caller calendar.Caller, lang calendar.Lang, embeds Embeds) *join {
	return &join{
		records: state.load, counts: state.countsOf, caller: caller, lang: lang, now: state.moment(), embeds: embeds, left: state.o.MaxAnswer,
	}
}
