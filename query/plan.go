package query

import (
	"context"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// listPlan is how criteria are answered in one state of the read model. It reads what it needs
// of that when it is needed; err is the first error of it. It is not safe for concurrent use.
type listPlan struct {
	*Service
	*shared
	*Criteria
	view readmodel.View
	ctx  context.Context
	err  error
	step int              // of the search, a place in readmodel.Spellings
	of   readmodel.Filter // admits posts, in place of those that the caller sees; nil: these
}

// planned returns what a plan in the present state makes, again when the state moved meanwhile.
func planned[T any](ctx context.Context, service *Service, criteria *Criteria, made func(*listPlan) T) (result T, err error) {
	err = readmodel.Read(ctx, service.index, func(view readmodel.View) error {
		plan, err := service.plan(ctx, view, criteria)
		if err == nil {
			result = made(plan)
			err = plan.err
		}
		return err
	})
	return result, err
}

// plan begins a plan in the state of a view.
func (service *Service) plan(ctx context.Context, view readmodel.View, criteria *Criteria) (*listPlan, error) {
	now := service.settings.Now()
	holds := func(shared *shared) bool { return shared.holds(view.Shown(), now) }
	known, err := service.shared.get(ctx, holds, func(*shared) (*shared, error) {
		due, next, err := dueTimes(ctx, view, now.Unix())
		return &shared{
			generation: Generation{VisibleState: view.Shown(), Due: due}, moment: now, nextDue: next,
			// All moments from the last due publication on decide alike. With that one the
			// filters are the same in most generations.
			published: published(due), counted: countedEvents(due, service.settings.ProtectedNow),
		}, err
	})
	return &listPlan{service, known, criteria, view, ctx, nil, 0, nil}, err
}

// search answers a query. After an error nothing is found and counted.
func (plan *listPlan) search(query readmodel.Query) (page readmodel.Page) {
	if plan.err == nil {
		page, plan.err = plan.view.Search(plan.ctx, query)
	}
	if plan.err != nil {
		page = readmodel.Page{Tallied: make([]readmodel.TallyAnswer, len(query.Tallies))}
	}
	return page
}

// sees reports whether the caller sees a record of a directory on events: it is not trashed and
// the caller could read it singly.
func (plan *listPlan) sees(record *calendar.Record) bool {
	return isShown(record, plan.Caller, plan.moment) && !plan.Past.Withdrawn.has(record.ID)
}

// among returns those of some records of a kind that the caller sees.
func (plan *listPlan) among(kind calendar.Kind, ids []calendar.ID) (result []*option) {
	directory := plan.directory(kind)
	for _, id := range ids {
		if option := directory.find(id); option != nil && plan.sees(option.record) {
			result = append(result, option)
		}
	}
	return result
}

// recordsOf returns the ids of the records of some options.
func recordsOf(options []*option) []calendar.ID {
	ids := make([]calendar.ID, len(options))
	for i, option := range options {
		ids[i] = option.record.ID
	}
	return ids
}

// tally counts the values of a field among the records of a kind that a filter admits.
func (plan *listPlan) tally(kind calendar.Kind, field string, filter readmodel.Filter) map[calendar.ID]int {
	page := plan.search(readmodel.Query{Kind: kind, Filter: filter, Tallies: []readmodel.Tally{{Field: field}}})
	return page.Tallied[0].Values
}

// eventsOf returns how many of the events that a filter admits link to each record of a kind.
// Records without any are absent.
func (plan *listPlan) eventsOf(kind calendar.Kind, filter readmodel.Filter) map[calendar.ID]int {
	return plan.tally(calendar.KindEvent, linkFields[kind], filter)
}

// countedOf returns how many counted events link to each record of a kind; the map is shared.
func (plan *listPlan) countedOf(kind calendar.Kind) map[calendar.ID]int {
	if known, ok := plan.allCounts.Load(kind); ok {
		counts, _ := known.(map[calendar.ID]int)
		return counts
	}
	counts := plan.eventsOf(kind, plan.counted)
	if plan.err == nil {
		plan.allCounts.Store(kind, counts)
	}
	return counts
}

// withAbove returns the counted records, ascending, and of categories those above them, too,
// so that a list has whole branches.
func (plan *listPlan) withAbove(kind calendar.Kind, counts map[calendar.ID]int) (ids []calendar.ID) {
	for _, option := range plan.directory(kind).options {
		if slices.ContainsFunc(option.numbers, func(id calendar.ID) bool { return counts[id] > 0 }) {
			ids = append(ids, option.record.ID)
		}
	}
	return ids
}
