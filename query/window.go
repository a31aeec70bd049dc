package query

import (
	"cmp"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

const daySeconds = 24 * 60 * 60

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

// openWindow has no bounds.
var openWindow = window{readmodel.AllNumbers, readmodel.AllNumbers, readmodel.AllNumbers, readmodel.AllNumbers}

// filters are the ranges of the window.
func (window *window) filters() (and readmodel.And) {
	for index, span := range window {
		if span != readmodel.AllNumbers {
			and = append(and, readmodel.Range{Field: windowFields[index], Span: span})
		}
	}
	return and
}

// overlaps adds what events overlap that window holds the bounds of (listings, section 2).
func (window *window) overlaps(and readmodel.And) readmodel.And {
	for index := 0; index < len(window); index += 2 {
		start, end := windowFields[index], windowFields[index+1]
		if last := window[index+1].Max; last != readmodel.AllNumbers.Max {
			and = append(and, readmodel.AtMost(start, last))
		}
		if first := window[index].Min; first != readmodel.AllNumbers.Min {
			and = append(and, readmodel.Or{readmodel.AtLeast(end, first+1), readmodel.AtLeast(start, first)})
		}
	}
	return and
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

// DateParams are the parameters that bound the dates of a list; when does not stand next to them.
var DateParams = []string{"start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after"}

// beyond is how far behind the value of a date parameter its bound lies, in seconds.
var beyond = [...]int64{0, 0, -1, 1, -1, 1}

// bounds are those of the date parameters in a zone, the first two in the window around.
func (criteria *Criteria) bounds(around *window, zone *time.Location) [len(beyond)]*int64 {
	first, last := around.spans(zone)
	start, end := criteria.window.spans(zone)
	return [...]*int64{&first.Min, &last.Max, &start.Max, &start.Min, &end.Max, &end.Min}
}

// readWindow reads the window of interface 4.6. Of the parameters that have a default the
// bound is the date itself, and with overlap they bound what events overlap.
func (parser *parser) readWindow() {
	strict, _ := parser.parameter("strict_dates").Bool()
	overlap, _ := parser.parameter("overlap").Bool()
	site, sheet, around := parser.settings.Site, &parser.Sheet, &parser.window
	if overlap || sheet.Period {
		around = &parser.lap
	}
	fixed := sheet.Past || sheet.Period
	for index, name := range DateParams {
		fixed = fixed || index > 1 && parser.sent(name)
		date, ok := parser.parameter(name).Date(parser.now, site)
		if !ok {
			continue
		}
		parser.Moves = parser.Moves || date.IsWord()
		instant, zone := date.IsInstant(), site
		if *sheet != (Sheet{}) { // the bounds are of one kind, so that Exact can tell them
			instant, zone = sheet.Zone != nil, cmp.Or(sheet.Zone, zone)
		}
		wall, second := date.Wall(parser.now, zone), date.Instant(parser.now, zone).Unix()
		if !instant {
			zone, second = nil, int64(wall)
		}
		if !strict {
			first, last := daysIn(wall, wall, zone)
			if second = last; name == "start_date" {
				second = first
			}
		}
		bound, limit := parser.bounds(around, zone)[index], second+beyond[index]
		if name == "start_date" || limit > second {
			*bound = max(*bound, limit)
		} else {
			*bound = min(*bound, limit)
		}
	}
	fixed = parser.readWhen() || fixed
	if parser.include != nil { // dates are checked, and then of no effect
		parser.window, parser.lap, parser.Moves = openWindow, openWindow, false
		return
	}
	if ends := &parser.window; sheet.Past && ends[wallEnd].Max >= int64(calendar.WallOf(parser.now.In(site))) { // else it says more
		ends[wallEnd].Max = readmodel.AllNumbers.Max
		ends[utcEnd].Max = min(ends[utcEnd].Max, parser.now.Unix()-1)
	}
	if fixed || parser.Params.Find(DateParams[0]) == nil { // the list has no dates
		return
	}
	for index, name := range DateParams[:len(parser.defaults)] {
		if parser.sent(name) {
			continue
		}
		wall := parser.Params.Find(name).Moving(parser.now, cmp.Or(sheet.Zone, site))
		if index == 0 && !strict {
			wall = wall.Midnight()
		}
		parser.defaults[index], parser.Moves = wall.String(), true
		*parser.bounds(around, sheet.Zone)[index] = calendar.WallToInstant(wall, sheet.Zone).Unix()
	}
}

// readWhen puts the days of a word on the window that events overlap, and reports whether
// there is one.
func (parser *parser) readWhen() bool {
	value := parser.parameter("when")
	word, ok := value.Word()
	if !ok {
		return false
	}
	for _, name := range DateParams {
		if parser.sent(name) {
			value.Refuse(calendar.ReasonTogether, name)
			parser.bad.Add(name, calendar.ReasonTogether, value.Name)
		}
	}
	first, last := param.DaysOf(word, parser.now, parser.settings.Site, parser.settings.Sunday)
	parser.lap.days(first, last, parser.Sheet.Zone)
	parser.Moves = true
	return true
}
