package query

import (
	"cmp"
	"context"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Run answers the criteria. A page past the end of a list of posts is
// *calendar.Error with CodePageNotFound.
func (service *Service) Run(ctx context.Context, criteria *Criteria) (*List, error) {
	list, err := planned(ctx, service, criteria, (*listPlan).list)
	if err == nil && criteria.Page > 1 && len(list.Views) == 0 && criteria.Kind.IsPost() {
		return nil, calendar.Fail(calendar.CodePageNotFound, criteria.Kind)
	}
	return list, err
}

// Several answers the criteria of several lists of events as of one state, and calls use
// with each list in their order; a page past the end is an empty one. It may begin again:
// use is called for the first again then.
func (service *Service) Several(ctx context.Context, criteria []*Criteria, use func(i int, list *List) error) error {
	_, err := planned(ctx, service, nil, func(plan *listPlan) (none struct{}) {
		for i := 0; i < len(criteria) && plan.err == nil; i++ {
			plan.Criteria = criteria[i]
			if list := plan.list(); plan.err == nil {
				plan.err = use(i, list)
			}
		}
		return none
	})
	return err
}

// list answers the criteria; a page past the end is empty.
func (plan *listPlan) list() *List {
	found := plan.find()
	if plan.err != nil {
		return nil
	}
	list, documents := &found.List, found.documents
	if walk := plan.Walk; walk != nil && len(documents) > plan.PerPage {
		documents = documents[:plan.PerPage]
		place := readmodel.Place(found.query.Sort, documents[plan.PerPage-1].Record)
		list.Next = cursor{Now: walk.Now, Step: uint8(found.step), At: place}.encode(walk.params)
	}
	list.Views, plan.err = found.views(plan.ctx, documents)
	return list
}

// find searches in the steps of typos=auto.
func (plan *listPlan) find() (found *Selection) {
	plan.stepped(func() int {
		query, counts := plan.query()
		page := plan.search(query)
		if found == nil || page.Total > 0 { // where no step finds anything, the facets are of the first
			found = &Selection{listPlan: plan, query: query, documents: page.Documents}
			found.Total, found.Position = page.Total, plan.view.Shown().Position
			for i, count := range counts {
				found.Facets = append(found.Facets, count.made(&page.Tallied[i]))
			}
		}
		return page.Total
	})
	perPage := cmp.Or(plan.PerPage, max(found.Total, 1))
	found.Spelling, found.TotalPages = plan.spelling(), (found.Total+perPage-1)/perPage
	return found
}

// spelling returns the one of the step of the search.
func (plan *listPlan) spelling() readmodel.Spelling { return readmodel.Spellings[plan.step] }

// steps are the places in readmodel.Spellings of the searches that are made, one after the
// other, until one finds something.
func (criteria *Criteria) steps() []int {
	last := len(readmodel.Spellings) - 1
	switch {
	case criteria.Search.Query == "" || criteria.typos == "":
		return []int{0}
	case criteria.typos == typosOn:
		return []int{last}
	case criteria.Walk != nil && criteria.Walk.sent != "": // that of its beginning
		return []int{min(int(criteria.Walk.Step), last)}
	}
	return criteria.Search.Steps()
}

// stepped calls try in each step until one finds something, and leaves the plan in that one; in
// the first step where none does.
func (plan *listPlan) stepped(try func() (total int)) {
	steps := plan.steps()
	for _, plan.step = range steps {
		if try() > 0 || plan.err != nil {
			return
		}
	}
	plan.step = steps[0]
}

// Highlighter marks what the search of the list fits in shown texts; nil where no marks
// are wanted.
func (criteria *Criteria) Highlighter(spelling readmodel.Spelling) *readmodel.Highlighter {
	if !criteria.Highlight || criteria.Search.Query == "" {
		return nil
	}
	return &readmodel.Highlighter{Search: criteria.Search, Spelling: spelling}
}

// query returns what a list asks of the index, and the facets that are made of the answer.
func (plan *listPlan) query() (query readmodel.Query, counts []*facetCount) {
	counted, hidden := map[string]readmodel.And{}, blanked(plan.Caller)
	for _, name := range plan.Facets {
		counted[name] = plan.byFacet(name)
	}
	narrow := func(without string) (among readmodel.And) {
		for _, name := range plan.Facets {
			if name != without {
				among = append(among, counted[name]...)
			}
		}
		return among
	}
	query = readmodel.Query{
		Kind: plan.Kind, Filter: plan.filter(plan.Facets...), Sort: plan.order(), Offset: (plan.Page - 1) * plan.PerPage, Limit: plan.PerPage,
	}
	if all := narrow(""); all != nil {
		query.Narrow = all
	}
	for _, name := range plan.Facets {
		count, among := plan.facetCount(name), narrow(name)
		if hidden != nil && !count.blanked && !plan.hides {
			among = append(among, not(hidden))
		}
		query.Tallies = append(query.Tallies, tallyOf(count.field, count.options, among))
		counts = append(counts, count)
	}
	if plan.collapse {
		query.Collapse = &readmodel.Collapse{Field: readmodel.FieldRepeats, Alone: hidden}
	}
	if walk := plan.Walk; walk != nil && plan.PerPage > 0 {
		if len(walk.At) == len(query.Sort) { // else it is of another order, made up
			query.After = walk.At
		}
		query.Limit++ // one more, to know whether there is a next page
	}
	return query, counts
}

// order returns the order of the list (interface 4.4, 4.11).
func (plan *listPlan) order() []readmodel.Sort {
	isEvent := plan.Kind == calendar.KindEvent
	switch field := sortFields[plan.sort]; {
	case plan.sort == "distance":
		return append([]readmodel.Sort{{Field: readmodel.FieldVenue, Desc: plan.desc, Least: plan.metres(plan.near)}}, byStart(plan.desc)...)
	case plan.sort == sortRelevance && plan.Search.Query != "":
		// That of events which the caller gets blanked is of their title.
		rank := &readmodel.Relevance{Text: plan.text(), Title: blanked(plan.Caller)}
		return append([]readmodel.Sort{{Rank: rank, Desc: true}}, byStart(false)...)
	case field != "": // events without one are last, by id
		return []readmodel.Sort{{Field: field, Desc: plan.desc}, {Field: readmodel.FieldLack(field)}, {Field: readmodel.FieldID, Desc: plan.desc}}
	case plan.sort == "end":
		return readmodel.By(plan.desc, readmodel.FieldEnd, readmodel.FieldStart, readmodel.FieldID)
	case isEvent && (plan.sort != "" || plan.include == nil):
		return byStart(plan.desc)
	case plan.Kind.IsPost():
		return readmodel.By(!isEvent, readmodel.FieldDate, readmodel.FieldID)
	}
	key, ranks := readmodel.Sort{Field: readmodel.FieldNameKey.In(plan.Lang), Desc: plan.desc}, map[calendar.ID]int64{}
	switch plan.orderBy {
	case "id", "none":
		return readmodel.By(plan.desc, readmodel.FieldID)
	case "slug":
		key.Field = readmodel.FieldSlug
	case "description":
		key.Field = readmodel.FieldDescriptionKey.In(plan.Lang)
	case "include":
		for index, id := range plan.include {
			ranks[id] = int64(index)
		}
	case "count":
		counts := plan.countedOf(plan.Kind)
		for _, option := range plan.directory(plan.Kind).options {
			ranks[option.record.ID] = int64(counts[option.record.ID])
		}
	}
	if len(ranks) > 0 { // in no field
		key.Field, key.Least = readmodel.FieldID, ranks
	}
	return []readmodel.Sort{key, {Field: readmodel.FieldID}}
}

// byStart is the order of events by start (interface 4.4).
func byStart(desc bool) []readmodel.Sort {
	return readmodel.By(desc, readmodel.FieldStart, readmodel.FieldDate, readmodel.FieldID)
}

// views makes the views of documents, with what events embed.
func (selection *Selection) views(ctx context.Context, documents []readmodel.Document) ([]View, error) {
	now, views := selection.moment, make([]View, len(documents))
	for i, document := range documents {
		views[i] = View{
			Record: document.Record, Repeats: document.Repeats, Status: document.Record.Status(now),
			Blanked: calendar.NeedsPassword(selection.Caller, document.Record),
		}
		if selection.sort == "distance" {
			if key := readmodel.Place(selection.query.Sort[:1], document.Record)[0]; key.Has {
				views[i].Distance = &key.N
			}
		}
	}
	join := join{
		records: selection.view.Get, counts: selection.countsOf, caller: selection.Caller, language: selection.Lang, now: now,
		embeds: selection.Embeds, withdrawn: selection.Past.Withdrawn, left: selection.settings.MaxAnswer,
	}
	return views, join.views(ctx, views)
}
