package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
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

// shared is what requests of one generation share.
type shared struct {
	generation Generation
	// moment decides which scheduled posts are published: until nextDue all moments decide alike.
	moment  time.Time
	nextDue int64 // the generation ends then; MaxInt64: nothing is scheduled

	published readmodel.Filter // published posts
	counted   readmodel.And    // events that counts are of

	counts    sync.Map // counted events of the terms that were asked for: calendar.ID → int
	allCounts sync.Map // of all records that counted events link to: calendar.Kind → map[calendar.ID]int
}

// holds reports whether it is valid for a state of the index at a moment.
func (shared *shared) holds(shown readmodel.VisibleState, now time.Time) bool {
	return shared.generation.VisibleState == shown && shared.generation.Due <= now.Unix() && now.Unix() < shared.nextDue
}

// lazy is a value that is loaded by the first caller who needs it; others wait. An error is
// not stored.
type lazy[T any] struct {
	atomic.Pointer[T]
	loading keylock.Locks[struct{}]
}

// get returns the value while it is valid, else what load makes of the one before.
func (lazy *lazy[T]) get(ctx context.Context, valid func(*T) bool, load func(previous *T) (*T, error)) (*T, error) {
	if value := lazy.Load(); value != nil && valid(value) {
		return value, nil
	}
	release, err := lazy.loading.Acquire(ctx, struct{}{})
	if err != nil {
		return new(T), err
	}
	defer release()
	value := cmp.Or(lazy.Load(), new(T))
	if valid(value) {
		return value, nil
	}
	if value, err = load(value); err == nil {
		lazy.Store(value)
	}
	return value, err
}

// Generation returns the present generation. While nothing changes it costs one look at
// what the index shows and the clock.
func (service *Service) Generation(ctx context.Context) (Generation, error) {
	shown, err := service.index.Visible(ctx)
	if err != nil {
		return Generation{}, err
	}
	if shared := service.shared.Load(); shared != nil && shared.holds(shown, service.settings.Now()) {
		return shared.generation, nil
	}
	return planned(ctx, service, nil, func(plan *listPlan) Generation { return Generation{shown, plan.generation.Due} })
}

// dueTimes returns the time of the last scheduled publication that has come, 0 for none,
// and of the next one, MaxInt64 for none.
func dueTimes(ctx context.Context, view readmodel.View, now int64) (last, next int64, err error) {
	next = math.MaxInt64
	for _, kind := range calendar.Kinds {
		for _, in := range []readmodel.Range{readmodel.AtMost(readmodel.FieldPublished, now), readmodel.AtLeast(readmodel.FieldPublished, now+1)} {
			if !kind.IsPost() {
				continue
			}
			page, err := view.Search(ctx, readmodel.Query{
				Kind: kind, Filter: readmodel.And{hasStatus(calendar.StatusFuture), in}, Limit: 1,
				Sort: readmodel.By(in.Max == now, readmodel.FieldPublished, readmodel.FieldID),
			})
			if err != nil {
				return 0, 0, err
			}
			for _, document := range page.Documents {
				if instant := int64(document.Record.Fields.Wall("date_utc")); in.Max == now {
					last = max(last, instant)
				} else {
					next = min(next, instant)
				}
			}
		}
	}
	return last, next, nil
}

// countsOf returns the numbers of counted events of some terms, the same for every caller.
func (plan *listPlan) countsOf(ctx context.Context, terms []*calendar.Record) (map[calendar.ID]int, error) {
	counts, missing := plan.knownCounts(terms)
	if missing == nil {
		return counts, nil
	}
	slices.SortFunc(missing, func(a, b *calendar.Record) int { return cmp.Compare(a.ID, b.ID) }) // so that servers know the request again
	ids, each := make([]calendar.ID, len(missing)), make([]readmodel.Filter, len(missing))
	for i, term := range missing {
		ids[i], each[i] = term.ID, in(linkFields[term.Kind], term.ID)
	}
	few := readmodel.Or{in(readmodel.FieldCategories, ids...), in(readmodel.FieldTags, ids...)} // events have one of them
	page, err := plan.view.Search(ctx, readmodel.Query{
		Kind: calendar.KindEvent, Filter: readmodel.And{few, plan.counted}, Tallies: []readmodel.Tally{{Parts: each}},
	})
	if err != nil {
		return counts, err
	}
	for i, count := range page.Tallied[0].Parts {
		counts[ids[i]] = count
		plan.counts.Store(ids[i], count)
	}
	return counts, nil
}

func (shared *shared) knownCounts(terms []*calendar.Record) (known map[calendar.ID]int, missing []*calendar.Record) {
	known = map[calendar.ID]int{}
	for _, term := range terms {
		if number, ok := shared.counts.Load(term.ID); ok {
			known[term.ID], _ = number.(int)
		} else {
			missing = append(missing, term)
		}
	}
	return known, missing
}

// coming admits the counted events that end at a moment or later.
func (shared *shared) coming(wall calendar.Wall) readmodel.And {
	return append(slices.Clone(shared.counted), readmodel.AtLeast(readmodel.FieldUTCEnd, int64(wall)))
}

// keys returns the ids of counts in order, so that equal filters are equal.
func keys(counts map[calendar.ID]int) []calendar.ID { return slices.Sorted(maps.Keys(counts)) }
