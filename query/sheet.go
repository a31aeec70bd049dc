package query

import (
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

// lap is the window of the period, open for none.
func (s *Sheet) lap() window {
	w := newWindow()
	if s.Period {
		w.days(s.First, s.Last, s.Zone)
	}
	if s.Period && s.Zone != nil { // all-day events are on their own dates, which may be beyond
		w.utcStart.min = min(w.utcStart.min, int64(s.First)+daySeconds-eastmost-2)
		w.utcEnd.max = max(w.utcEnd.max, int64(s.Last)+westmost)
	}
	return w
}

// Exact are the parameters of a list without a sheet that has the same events: those that
// were sent, with all bounds of the sheet.
func (c *Criteria) Exact() []LinkParam {
	if c.run.sheet == (Sheet{}) {
		return c.Sent
	}
	w, lap := &c.run.window, &c.run.lap
	overlaps := *lap != newWindow()
	out := slices.DeleteFunc(slices.Clone(c.Sent), func(p LinkParam) bool {
		return slices.Contains(dateParams, p.Name) || p.Name == "when" || p.Name == "strict_dates" || p.Name == "overlap" && overlaps
	})
	for i, at := range [][2]int64{ // of clocks and in UTC; a second beyond the open end is the open end of the other side
		{lap.start.min, lap.utcStart.min}, {lap.end.max, lap.utcEnd.max},
		{w.start.max + 1, w.utcStart.max + 1}, {w.start.min - 1, w.utcStart.min - 1},
		{w.end.max + 1, w.utcEnd.max + 1}, {w.end.min - 1, w.utcEnd.min - 1},
	} {
		for j, layout := range []string{calendar.WallLayout, time.RFC3339} {
			if at[j] != open.min && at[j] != open.max {
				out = append(out, LinkParam{dateParams[i], inTime(at[j]).Format(layout)})
			}
		}
	}
	if overlaps {
		out = append(out, LinkParam{"overlap", "true"})
	}
	return append(out, LinkParam{"strict_dates", "true"})
}

// inTime is a second in UTC, the first or the last one for those beyond.
func inTime(second int64) time.Time {
	return time.Unix(min(max(second, firstSecond), lastSecond), 0).UTC()
}

// Range is the window that events overlap, as the source of calendar widgets takes it: its
// end is not in it; false where that cannot tell the list.
func (c *Criteria) Range() (from, until string, ok bool) {
	sheet, lap := c.run.sheet, c.run.lap
	if sheet.Period {
		lap.days(sheet.First, sheet.Last, sheet.Zone)
	}
	zone, layout := sheet.Zone, time.RFC3339
	start, end := lap.spans(zone)
	if zone == nil {
		zone, layout = time.UTC, calendar.WallLayout
	}
	// All-day events are in it or not by its digits: a day ends at 24:00:00, also where the next
	// one begins later.
	last := inTime(min(end.max, lastSecond-1)).In(zone)
	_, offset := last.Zone()
	ok = lap != newWindow() && c.run.window == newWindow() && start.min <= end.max && !c.run.collapse
	return inTime(start.min).In(zone).Format(layout), last.In(time.FixedZone("", offset)).Add(time.Second).Format(layout), ok
}
