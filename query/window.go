package query

import (
	"cmp"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

const (
	daySeconds = 24 * 60 * 60
	// declaredStart is the time of day of the declared default of start_date,
	// 23:59:00; without strict_dates it is widened to the whole day.
	declaredStart = 23*3600 + 59*60
)

// window is what the date parameters of events ask for (interface 4.6): wall
// clocks are compared with the event's own wall clock, instants with its UTC
// times. Starts and ends take turns in it.
type window [4]readmodel.Span

// The places in a window.
const (
	wallStart = iota
	wallEnd
	utcStart
	utcEnd
)

var windowFields = [...]string{readmodel.FieldStart, readmodel.FieldEnd, readmodel.FieldUTCStart, readmodel.FieldUTCEnd}

func newWindow() window {
	return window{readmodel.AllNumbers, readmodel.AllNumbers, readmodel.AllNumbers, readmodel.AllNumbers}
}

// filters are the ranges of the window.
func (window *window) filters() (and readmodel.And) {
	for at, span := range window {
		if span != readmodel.AllNumbers {
			and = append(and, readmodel.Range{Field: windowFields[at], Span: span})
		}
	}
	return and
}

// overlaps adds what events overlap that window holds the bounds of (listings, section 2).
func (window *window) overlaps(and readmodel.And) readmodel.And {
	for at := 0; at < len(window); at += 2 {
		start, end := windowFields[at], windowFields[at+1]
		if last := window[at+1].Max; last != readmodel.AllNumbers.Max {
			and = append(and, readmodel.AtMost(start, last))
		}
		if first := window[at].Min; first != readmodel.AllNumbers.Min {
			and = append(and, readmodel.Or{readmodel.AtLeast(end, first+1), readmodel.AtLeast(start, first)})
		}
	}
	return and
}

// edge is one bound of the window before it is put on a field.
type edge struct {
	start bool // of the start, else of the end
	lower bool // a lower bound, else an upper one
}

// spans are those of a zone: of instants, for nil of wall clocks.
func (window *window) spans(zone *time.Location) (start, end *readmodel.Span) {
	if zone != nil {
		return &window[utcStart], &window[utcEnd]
	}
	return &window[wallStart], &window[wallEnd]
}

// days puts days on the window.
func (window *window) days(first, last calendar.Wall, zone *time.Location) {
	from, until := daysIn(first, last, zone)
	start, end := window.spans(zone)
	start.Min, end.Max = max(start.Min, from), min(end.Max, until)
}

// daysIn returns the first and the last second of the days from the one of a wall clock to that
// of another, in a zone; nil: as wall clocks. A day with a change of the clock is whole.
func daysIn(first, last calendar.Wall, zone *time.Location) (from, until int64) {
	zone = cmp.Or(zone, time.UTC)
	begin, _ := calendar.Day(first, zone)
	_, over := calendar.Day(last, zone)
	return begin.Unix(), over.Unix() - 1
}

// startOfWindow returns the declared default of start_date on the day that a clock in the
// site zone shows, 23:59:00.
func startOfWindow(now time.Time, site *time.Location) calendar.Wall {
	return calendar.WallOf(now.In(site)).Midnight() + declaredStart
}

// endOfWindow returns the declared default of end_date: 23:59:59, two years later; 29 February
// goes to the 28th.
func endOfWindow(now time.Time, site *time.Location) calendar.Wall {
	y, month, d := now.In(site).Date()
	if month == time.February {
		d = min(d, 28)
	}
	return calendar.Wall(time.Date(y+2, month, d, 23, 59, 59, 0, time.UTC).Unix())
}

// Days are the words of when (listings, section 2).
var Days = []string{"today", "tomorrow", "this_weekend", "next_weekend", "this_week", "next_7_days", "this_month", "next_month"}

// DaysOf returns 00:00:00 of the first and the last day of a word of Days, on the day that
// a clock in the site zone shows.
func DaysOf(word string, now time.Time, site *time.Location, sunday bool) (first, last calendar.Wall) {
	today := calendar.WallOf(now.In(site)).Midnight()
	instant := today.UTC()
	weekday := calendar.Wall(instant.Weekday())
	toSunday := (7 - weekday) % 7
	days := func(first, last calendar.Wall) (calendar.Wall, calendar.Wall) {
		return today + first*daySeconds, today + last*daySeconds
	}
	month := func(n int) calendar.Wall {
		return calendar.Wall(time.Date(instant.Year(), instant.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC).Unix())
	}
	switch word {
	case "tomorrow":
		return days(1, 1)
	case "this_weekend":
		return days(max(toSunday-1, 0), toSunday)
	case "next_weekend":
		return days(toSunday+6, toSunday+7)
	case "this_week":
		if !sunday {
			weekday = (weekday + 6) % 7
		}
		return days(-weekday, 6-weekday)
	case "next_7_days":
		return days(0, 6)
	case "this_month":
		return month(0), month(1) - daySeconds
	case "next_month":
		return month(1), month(2) - daySeconds
	default:
		return days(0, 0)
	}
}
