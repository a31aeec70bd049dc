package query

import (
	"cmp"
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
	return present(ctx, service, func(st *state) (*Months, error) { return st.months(ctx) })
}

func (state *state) months(ctx context.Context) (*Months, error) {
	counts, err := state.tallied(ctx, readmodel.And{state.published, notHidden},
		readmodel.Tally{Filter: not(isProtected), Field: readmodel.FieldUTCStart}, readmodel.Tally{Field: readmodel.FieldStart}, readmodel.Tally{Field: readmodel.FieldEnd})
	if err != nil {
		return nil, err
	}
	out := &Months{Touched: touched(counts[1].Values, counts[2].Values)}
	for _, start := range keys(counts[0].Values) {
		first, last := monthOf(time.Unix(int64(start), 0).In(state.o.Site)), len(out.Started)-1
		if last < 0 || out.Started[last].First != first {
			out.Started, last = append(out.Started, MonthCount{First: first}), last+1
		}
		out.Started[last].Events += counts[0].Values[start]
	}
	return out, nil
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
	return present(ctx, service, func(st *state) (map[calendar.ID]bool, error) {
		and, err := st.filter(ctx, &shown)
		if err != nil {
			return nil, err
		}
		out := map[calendar.ID]bool{}
		for _, kind := range linkKinds {
			counts, failed := st.eventsOf(ctx, kind, and)
			ids, err := st.withAbove(ctx, kind, counts)
			if err := cmp.Or(failed, err); err != nil {
				return nil, err
			}
			for _, id := range ids {
				out[id] = true
			}
		}
		return out, nil
	})
}

// tallied asks about the events that a filter admits.
func (state *state) tallied(ctx context.Context, filter readmodel.Filter, tallies ...readmodel.Tally) ([]readmodel.TallyAnswer, error) {
	page, err := state.view.Search(ctx, readmodel.Query{Kind: calendar.KindEvent, Filter: filter, Tallies: tallies})
	return page.Tallied, err
}
