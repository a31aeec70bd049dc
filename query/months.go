package query

import (
	"cmp"
	"context"
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

const (
	firstMonth = 12 // as FieldMonth has January of the year 1
	lastMonth  = 9999*12 + 11
	// partsAtOnce is how many months are counted in one question.
	partsAtOnce = 500
)

func firstOf(month calendar.ID) time.Time {
	return time.Date(int(month/12), time.Month(month%12+1), 1, 0, 0, 0, 0, time.UTC)
}

// Months returns the months of the listed events.
func (service *Service) Months(ctx context.Context) (*Months, error) {
	return present(ctx, service, func(st *state) (*Months, error) { return st.months(ctx) })
}

func (state *state) months(ctx context.Context) (*Months, error) {
	listed := readmodel.And{state.published, notHidden}
	open := readmodel.And{not(isProtected)}
	months, err := state.tallied(ctx, listed, readmodel.Tally{Field: readmodel.FieldMonth}, readmodel.Tally{Filter: open, Field: readmodel.FieldMonth})
	if err != nil {
		return nil, err
	}
	out := &Months{}
	if out.Touched, err = state.touched(ctx, listed, keys(months[0].Values)); err != nil {
		return nil, err
	}
	// On the clock of the site an event may start in the month before or after.
	near := map[calendar.ID]int{}
	for month := range months[1].Values {
		for at := max(month-1, firstMonth); at <= min(month+1, lastMonth); at++ {
			near[at]++
		}
	}
	for some := range slices.Chunk(keys(near), partsAtOnce) {
		parts := make([]readmodel.Filter, len(some))
		for i, month := range some {
			parts[i] = state.StartingIn(firstOf(month)).window.filters()
		}
		counts, err := state.tallied(ctx, append(listed, open...), readmodel.Tally{Parts: parts})
		if err != nil {
			return nil, err
		}
		for i, n := range counts[0].Parts {
			if n > 0 {
				out.Started = append(out.Started, MonthCount{firstOf(some[i]), n})
			}
		}
	}
	return out, nil
}

// StartingIn returns the list of the events that a month of Months.Started counts.
func (service *Service) StartingIn(first time.Time) *Criteria {
	criteria := &Criteria{Kind: calendar.KindEvent, window: newWindow(), lap: newWindow(), hides: true}
	begin, _ := calendar.Day(calendar.WallOf(first), service.o.Site)
	next, _ := calendar.Day(calendar.WallOf(first.AddDate(0, 1, 0)), service.o.Site)
	criteria.window[utcStart] = readmodel.Span{Min: begin.Unix(), Max: next.Unix() - 1}
	return criteria
}

// touched adds to the months in which events start those that they only go on in: where none
// starts, the event that ends last of those before touches all months up to its end.
func (state *state) touched(ctx context.Context, listed readmodel.And, started []calendar.ID) (out []time.Time, err error) {
	for i, first := range started {
		out = append(out, firstOf(first))
		next := calendar.ID(lastMonth + 1)
		if i+1 < len(started) {
			next = started[i+1]
		}
		if next == first+1 {
			continue
		}
		before := readmodel.AtMost(readmodel.FieldMonth, int64(first))
		longest, err := state.view.Search(ctx, readmodel.Query{
			Kind: calendar.KindEvent, Filter: append(listed, before), Limit: 1,
			Sort: readmodel.By(true, readmodel.FieldEnd, readmodel.FieldID),
		})
		if err != nil {
			return nil, err
		}
		for _, document := range longest.Documents {
			for month := first + 1; month < next && calendar.WallOf(firstOf(month)) < document.Record.Fields.Wall("end_date"); month++ {
				out = append(out, firstOf(month))
			}
		}
	}
	return out, nil
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
