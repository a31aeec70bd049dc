package query

import (
	"cmp"
	"math"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

const daySeconds = 24 * 60 * 60

// window is what the date parameters of events ask for (interface 4.6) on two clocks: wall
// clocks are compared with the event's own wall clock, instants with its UTC times.
type window [len(windowFields)]bounds

var windowFields = [...][2]string{{readmodel.FieldStart, readmodel.FieldEnd}, {readmodel.FieldUTCStart, readmodel.FieldUTCEnd}}

// bounds are those of what events overlap (listings, section 2), of their starts and of their ends,
// in the order of DateParams.
type bounds [len(beyond)]int64

// The places in bounds.
const (
	overlapsFrom = iota
	overlapsUntil
	startsUntil
	startsFrom
	endsUntil
	endsFrom
)

// openBounds and openWindow admit everything.
var (
	openBounds = bounds{math.MinInt64, math.MaxInt64, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64}
	openWindow = window{openBounds, openBounds}
)

// filters are those of the window.
func (window *window) filters() (and readmodel.And) {
	for clock, bounds := range window {
		start, end := windowFields[clock][0], windowFields[clock][1]
		starts := readmodel.Span{Min: bounds[startsFrom], Max: min(bounds[startsUntil], bounds[overlapsUntil])}
		ends := readmodel.Span{Min: bounds[endsFrom], Max: bounds[endsUntil]}
		if starts != readmodel.AllNumbers {
			and = append(and, readmodel.Range{Field: start, Span: starts})
		}
		if ends != readmodel.AllNumbers {
			and = append(and, readmodel.Range{Field: end, Span: ends})
		}
		if first := bounds[overlapsFrom]; first != math.MinInt64 {
			and = append(and, readmodel.Or{readmodel.AtLeast(end, first+1), readmodel.AtLeast(start, first)})
		}
	}
	return and
}

// of returns the bounds in a zone: of instants, for nil of wall clocks.
func (window *window) of(zone *time.Location) *bounds {
	if zone != nil {
		return &window[1]
	}
	return &window[0]
}

// overlap narrows what events overlap to some days.
func (window *window) overlap(first, last calendar.Wall, zone *time.Location) {
	from, until := daysIn(first, last, zone)
	bounds := window.of(zone)
	bounds[overlapsFrom], bounds[overlapsUntil] = max(bounds[overlapsFrom], from), min(bounds[overlapsUntil], until)
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

// readWindow reads the window of interface 4.6. Of the parameters that have a default the
// bound is the date itself, and with overlap they bound what events overlap.
func (parser *parser) readWindow() {
	strict, _ := parser.parameter("strict_dates").Bool()
	overlap, _ := parser.parameter("overlap").Bool()
	site, sheet, places := parser.settings.Site, &parser.Sheet, []int{startsFrom, endsUntil, startsUntil, startsFrom, endsUntil, endsFrom}
	if overlap || sheet.Period {
		places[0], places[1] = overlapsFrom, overlapsUntil
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
		bound, limit := &parser.window.of(zone)[places[index]], second+beyond[index]
		if name == "start_date" || limit > second {
			*bound = max(*bound, limit)
		} else {
			*bound = min(*bound, limit)
		}
	}
	fixed = parser.readWhen() || fixed
	if parser.include != nil { // dates are checked, and then of no effect
		parser.window, parser.Moves = openWindow, false
		return
	}
	wall, utc := &parser.window.of(nil)[endsUntil], &parser.window.of(time.UTC)[endsUntil]
	if sheet.Past && *wall >= int64(calendar.WallOf(parser.now.In(site))) { // else it says more
		*wall, *utc = math.MaxInt64, min(*utc, parser.now.Unix()-1)
	}
	if fixed {
		return
	}
	for index, name := range DateParams[:len(parser.defaults)] {
		value := parser.parameter(name)
		if value.Moving == nil || parser.sent(name) { // the list has no dates, or its own
			continue
		}
		wall := value.Moving(parser.now, cmp.Or(sheet.Zone, site))
		if index == 0 && !strict {
			wall = wall.Midnight()
		}
		parser.defaults[index], parser.Moves = wall.String(), true
		parser.window.of(sheet.Zone)[places[index]] = calendar.WallToInstant(wall, sheet.Zone).Unix()
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
	parser.window.overlap(first, last, parser.Sheet.Zone)
	parser.Moves = true
	return true
}
