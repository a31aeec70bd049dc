package query

import (
	"context"
	"math"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Months are the months in which everybody finds events.
type Months struct {
	// Started are those in which an event without a password starts, on the clock of the site.
	Started []MonthCount
	// Touched are those that an event stands in, on its own clock, by their first days.
	Touched []time.Time
}

// MonthCount is a month, by its first day, and how many events start in it.
type MonthCount struct {
	First  time.Time
	Events int
}

// partsAtOnce is how many months are counted in one question.
const partsAtOnce = 500

// firstOf returns the first day of a number of readmodel.FieldMonth.
func firstOf(month calendar.ID) time.Time {
	return time.Date(0, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC)
}

// Months returns the months of the listed events.
func (service *Service) Months(ctx context.Context) (*Months, error) {
	return planned(ctx, service, nil, (*listPlan).months)
}

func (plan *listPlan) months() *Months {
	months := &Months{Touched: plan.touched(readmodel.And{plan.published, notHidden})}
	// On the clock of the site an event may start in the month before or after.
	started := plan.tally(calendar.KindEvent, readmodel.FieldMonth, plan.counted)
	near := make([]calendar.ID, 0, 3*len(started))
	for month := range started {
		near = append(near, month-1, month, month+1)
	}
	slices.Sort(near)
	for subset := range slices.Chunk(slices.Compact(near), partsAtOnce) {
		parts := make([]readmodel.Filter, len(subset))
		for i, month := range subset {
			parts[i] = plan.StartingIn(firstOf(month)).window.filters()
		}
		page := plan.search(readmodel.Query{Kind: calendar.KindEvent, Filter: plan.counted, Tallies: []readmodel.Tally{{Parts: parts}}})
		for i, count := range page.Tallied[0].Parts {
			if count > 0 {
				months.Started = append(months.Started, MonthCount{firstOf(subset[i]), count})
			}
		}
	}
	return months
}

// touched returns the months in which listed events start, and those that they only go on in:
// where none starts, the event that ends last of those before touches all months up to its end.
func (plan *listPlan) touched(listed readmodel.And) (months []time.Time) {
	started := append(keys(plan.tally(calendar.KindEvent, readmodel.FieldMonth, listed)), math.MaxInt64)
	for i, next := range started[1:] {
		first := started[i]
		if months = append(months, firstOf(first)); next == first+1 {
			continue
		}
		before := readmodel.AtMost(readmodel.FieldMonth, int64(first))
		longest := plan.search(readmodel.Query{
			Kind: calendar.KindEvent, Filter: append(listed, before), Limit: 1,
			Sort: readmodel.By(true, readmodel.FieldEnd, readmodel.FieldID),
		})
		for _, document := range longest.Documents {
			for month := first + 1; month < next && calendar.WallOf(firstOf(month)) < document.Record.Fields.Wall("end_date"); month++ {
				months = append(months, firstOf(month))
			}
		}
	}
	return months
}

// StartingIn returns the list of the events that a month of Months.Started counts.
func (service *Service) StartingIn(first time.Time) *Criteria {
	criteria := &Criteria{Request: Request{Kind: calendar.KindEvent}, window: openWindow, hides: true}
	begin, _ := calendar.Day(calendar.WallOf(first), service.settings.Site)
	next, _ := calendar.Day(calendar.WallOf(first.AddDate(0, 1, 0)), service.settings.Site) // months have no hour in common
	instants := criteria.window.of(time.UTC)
	instants[startsFrom], instants[startsUntil] = begin.Unix(), next.Unix()-1
	return criteria
}

// LinkedFrom returns the venues, organizers, categories and tags that the events of a list
// without a search link to, and the categories above those; but for events that the caller
// gets blanked.
func (service *Service) LinkedFrom(ctx context.Context, criteria *Criteria) (map[calendar.ID]bool, error) {
	shown := *criteria
	shown.hides = true
	return planned(ctx, service, &shown, func(plan *listPlan) map[calendar.ID]bool {
		filter, result := plan.filter(), map[calendar.ID]bool{}
		for _, kind := range linkKinds {
			for _, id := range plan.withAbove(kind, plan.eventsOf(kind, filter)) {
				result[id] = true
			}
		}
		return result
	})
}
