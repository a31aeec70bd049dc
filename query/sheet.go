package query

import (
	"math"
	"slices"
	"time"

	"daybook/calendar"
)

// Sheet is what a page shows of a list of events beyond its parameters. The zero value shows
// the list.
type Sheet struct {
	// Zone is that of the page: dates are read in it, and events compared as instants. Nil: each
	// event is where its own clock is.
	Zone *time.Location
	// Past leaves out what has not ended.
	Past bool
	// Period limits the list to what overlaps the days from First to Last; dates that are sent
	// narrow it further.
	Period      bool
	First, Last calendar.Wall
}

// How far zones are from UTC at most, in seconds, and the first and the last second that there are.
const (
	eastmost    = 14 * 60 * 60
	westmost    = 12 * 60 * 60
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// window is that of the period, open for none.
func (sheet *Sheet) window() window {
	window := openWindow
	if !sheet.Period {
		return window
	}
	if window.overlap(sheet.First, sheet.Last, sheet.Zone); sheet.Zone != nil { // all-day events are on their own dates, which may be beyond
		bounds := window.of(sheet.Zone)
		bounds[overlapsFrom] = min(bounds[overlapsFrom], int64(sheet.First)+daySeconds-eastmost-2)
		bounds[overlapsUntil] = max(bounds[overlapsUntil], int64(sheet.Last)+westmost)
	}
	return window
}

// Exact are the parameters of a list without a sheet that has the same events: those that
// were sent, with all bounds of the sheet.
func (criteria *Criteria) Exact() []LinkParam {
	if criteria.Sheet == (Sheet{}) {
		return criteria.Sent
	}
	var exact []LinkParam
	names, overlaps := slices.Concat(DateParams, []string{"when", "strict_dates"}), false
	for clock, zone := range []*time.Location{nil, time.UTC} {
		for i, bound := range criteria.window[clock] {
			if bound != openBounds[i] {
				exact = append(exact, LinkParam{Name: DateParams[i], Value: told(bound-beyond[i], zone)})
				overlaps = overlaps || i <= overlapsUntil
			}
		}
	}
	if overlaps {
		names, exact = append(names, "overlap"), append(exact, LinkParam{Name: "overlap", Value: "true"})
	}
	sent := slices.DeleteFunc(slices.Clone(criteria.Sent), func(linkParam LinkParam) bool { return slices.Contains(names, linkParam.Name) })
	return append(append(sent, exact...), LinkParam{Name: "strict_dates", Value: "true"})
}

// told is a second as a bound, in the years that there are: in a zone, for nil as a wall clock.
func told(second int64, zone *time.Location) string {
	instant := time.Unix(min(max(second, firstSecond), lastSecond), 0)
	if zone == nil {
		return instant.UTC().Format(calendar.WallLayout)
	}
	return instant.In(zone).Format(time.RFC3339)
}

// Range is the window that events overlap, as the source of calendar widgets takes it: its
// end is not in it; false where that cannot tell the list.
func (criteria *Criteria) Range() (from, until string, ok bool) {
	sheet, window := criteria.Sheet, criteria.window
	if sheet.Period {
		window.overlap(sheet.First, sheet.Last, sheet.Zone)
	}
	zone := sheet.Zone
	bounds := window.of(zone)
	first, last := bounds[overlapsFrom], bounds[overlapsUntil]
	bounds[overlapsFrom], bounds[overlapsUntil] = math.MinInt64, math.MaxInt64
	if zone != nil {
		// All-day events are in it or not by its digits: a day ends at 24:00:00, also where the
		// next one begins later.
		_, offset := time.Unix(last, 0).In(zone).Zone()
		zone = time.FixedZone("", offset)
	}
	ok = first != math.MinInt64 && first <= last && last < lastSecond-eastmost && window == openWindow && !criteria.collapse
	return told(first, sheet.Zone), told(last+1, zone), ok
}
