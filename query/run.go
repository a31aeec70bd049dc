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
	list, documents := &found.List, found.documents
	if walk := criteria.walk; walk != nil && len(documents) > criteria.PerPage {
		documents = documents[:criteria.PerPage]
		list.Next = walk.next(found.query.Sort, documents[criteria.PerPage-1].Record, found.criteria.step)
	}
	list.Views, err = found.views(ctx, documents)
	return list, err
}

// search searches in the steps of typos=auto.
func (state *state) search(ctx context.Context, criteria *Criteria) (found *Selection, err error) {
	at, err := stepped(criteria, func(criteria *Criteria) (int, error) {
		query, counts, err := state.query(ctx, criteria)
		if err != nil {
			return 0, err
		}
		page, err := state.view.Search(ctx, query)
		if err == nil && (found == nil || page.Total > 0) { // where no step finds anything, the facets are of the first
			found = &Selection{state: state, query: query, documents: page.Documents}
			found.Total, found.Position = page.Total, state.view.Shown().Position
			for i, count := range counts {
				found.Facets = append(found.Facets, count.made(&page.Tallied[i]))
			}
		}
		return page.Total, err
	})
	if err != nil {
		return nil, err
	}
	perPage := cmp.Or(at.PerPage, max(found.Total, 1))
	found.criteria, found.Spelling, found.TotalPages = at, at.spelling(), (found.Total+perPage-1)/perPage
	return found, nil
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
	case criteria.Kind.IsTerm() && (criteria.orderBy == "count" || criteria.orderBy == "include" && criteria.include != nil):
		ranks, err := state.ranks(ctx, criteria)
		return []readmodel.Sort{{Field: readmodel.FieldID, Desc: criteria.desc, Least: ranks}, {Field: readmodel.FieldID}}, err
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

// ranks returns the numbers by which all terms of a list are ordered that are in no field.
func (state *state) ranks(ctx context.Context, criteria *Criteria) (map[calendar.ID]int64, error) {
	ranks := map[calendar.ID]int64{}
	if criteria.orderBy == "include" {
		for i, id := range criteria.include {
			ranks[id] = int64(i)
		}
		return ranks, nil
	}
	counts, err := state.countedOf(ctx, criteria.Kind)
	if err != nil {
		return nil, err
	}
	directory, err := state.directory(ctx, criteria.Kind)
	if err != nil {
		return nil, err
	}
	for _, record := range directory.records {
		ranks[record.ID] = int64(counts[record.ID])
	}
	return ranks, nil
}

// views makes the views of documents, with what events embed.
func (selection *Selection) views(ctx context.Context, documents []readmodel.Document) ([]View, error) {
	criteria, now := selection.criteria, selection.moment()
	out := make([]View, len(documents))
	for i, document := range documents {
		out[i] = View{
			Record: document.Record, Repeats: document.Repeats, Status: document.Record.Status(now),
			Blanked: calendar.NeedsPassword(criteria.Caller, document.Record),
		}
		if criteria.sort == "distance" {
			if key := readmodel.Place(selection.query.Sort[:1], document.Record)[0]; key.Has {
				out[i].Distance = &key.N
			}
		}
	}
	join := selection.join(criteria.Caller, criteria.Lang, criteria.Embeds)
	join.withdrawn = criteria.withdrawn
	return out, join.views(ctx, criteria.Kind, out)
}

// join returns the join of what events of the state embed.
func (state *state) join(caller calendar.Caller, lang calendar.Lang, embeds Embeds) *join {
	return &join{
		records: state.load, counts: state.countsOf, caller: caller, lang: lang, now: state.moment(), embeds: embeds, left: state.o.MaxAnswer,
	}
}
