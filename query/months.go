package query

import (
	"context"
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

// monthOf returns the first day of the month that a clock shows, as a time in UTC.
func monthOf(clock time.Time) time.Time {
	return time.Date(clock.Year(), clock.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// Months returns the months of the listed events.
func (service *Service) Months(ctx context.Context) (*Months, error) {
	return planned(ctx, service, nil, (*listPlan).months)
}

func (plan *listPlan) months() *Months {
	listed := readmodel.And{plan.published, notHidden}
	count := func(field string, filters ...readmodel.Filter) map[calendar.ID]int {
		return plan.tally(calendar.KindEvent, field, append(listed, filters...))
	}
	out := &Months{Touched: touched(count(readmodel.FieldStart), count(readmodel.FieldEnd))}
	open := count(readmodel.FieldUTCStart, not(isProtected))
	for _, start := range keys(open) {
		first, last := monthOf(time.Unix(int64(start), 0).In(plan.o.Site)), len(out.Started)-1
		if last < 0 || out.Started[last].First != first {
			out.Started, last = append(out.Started, MonthCount{First: first}), last+1
		}
		out.Started[last].Events += open[start]
	}
	return out
}

// touched returns the months that events stand in, of how many start and end at each wall
// clock. One that ends as a month begins does not stand in it.
func touched(starting, ending map[calendar.ID]int) (months []time.Time) {
	starts, ends, running := keys(starting), keys(ending), 0
	next := time.Time{} // the first of all months
	for len(ends) > 0 {
		month := next
		next = month.AddDate(0, 1, 0)
		for len(ends) > 0 && ends[0] <= calendar.ID(calendar.WallOf(month)) {
			running, ends = running-ending[ends[0]], ends[1:]
		}
		stands := running > 0
		for len(starts) > 0 && starts[0] < calendar.ID(calendar.WallOf(next)) {
			running, starts, stands = running+starting[starts[0]], starts[1:], true
		}
		if stands {
			months = append(months, month)
		}
	}
	return months
}

// StartingIn returns the list of the events that a month of Months.Started counts.
func (service *Service) StartingIn(first time.Time) *Criteria {
	criteria := &Criteria{Kind: calendar.KindEvent, window: newWindow(), lap: newWindow(), hides: true}
	begin, _ := calendar.Day(calendar.WallOf(first), service.o.Site)
	next, _ := calendar.Day(calendar.WallOf(first.AddDate(0, 1, 0)), service.o.Site)
	criteria.window[utcStart] = readmodel.Span{Min: begin.Unix(), Max: next.Unix() - 1}
	return criteria
}

// LinkedFrom returns the venues, organizers, categories and tags that the events of a list
// without a search link to, and the categories above those; but for events that the caller
// gets blanked.
func (service *Service) LinkedFrom(ctx context.Context, criteria *Criteria) (map[calendar.ID]bool, error) {
	shown := *criteria
	shown.hides = true
	return planned(ctx, service, &shown, func(plan *listPlan) map[calendar.ID]bool {
		filter, out := plan.filter(), map[calendar.ID]bool{}
		for _, kind := range linkKinds {
			for _, id := range plan.withAbove(kind, plan.eventsOf(kind, filter)) {
				out[id] = true
			}
		}
		return out
	})
}
