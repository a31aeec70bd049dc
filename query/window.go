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

func newWindow() window {
	return window{readmodel.AllNumbers, readmodel.AllNumbers, readmodel.AllNumbers, readmodel.AllNumbers}
}

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

// readWindow reads the window of interface 4.6. Of the parameters that have a default the
// bound is the date itself, and with overlap they bound what events overlap.
func (parser *parser) readWindow() {
	strict, _ := parser.parameter("strict_dates").Bool()
	overlap, _ := parser.parameter("overlap").Bool()
	site, sheet := parser.service.settings.Site, &parser.sheet
	window := &parser.window
	if overlap || sheet.Period {
		window = &parser.lap
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
		wall, bound := date.Wall(parser.now, zone), date.Instant(parser.now, zone).Unix()
		if !instant {
			zone, bound = nil, int64(wall)
		}
		if !strict {
			first, last := daysIn(wall, wall, zone)
			if bound = last; name == "start_date" {
				bound = first
			}
		}
		parser.resolved = parser.resolved.Number(bound)
		from, until := window.spans(zone)
		start, end := parser.window.spans(zone)
		switch name {
		case "start_date":
			from.Min = max(from.Min, bound)
		case "end_date":
			until.Max = min(until.Max, bound)
		case "starts_before":
			start.Max = min(start.Max, bound-1)
		case "starts_after":
			start.Min = max(start.Min, bound+1)
		case "ends_before":
			end.Max = min(end.Max, bound-1)
		case "ends_after":
			end.Min = max(end.Min, bound+1)
		}
	}
	fixed = parser.readWhen() || fixed
	if parser.include != nil || parser.source != nil { // dates are checked, and then of no effect
		parser.window, parser.lap, parser.Moves = newWindow(), newWindow(), false
		return
	}
	if ends := &parser.window; sheet.Past && ends[wallEnd].Max >= int64(calendar.WallOf(parser.now.In(site))) { // else it says more
		ends[wallEnd].Max = readmodel.AllNumbers.Max
		ends[utcEnd].Max = min(ends[utcEnd].Max, parser.now.Unix()-1)
	}
	if fixed {
		return
	}
	site = cmp.Or(sheet.Zone, site)
	from, until := window.spans(sheet.Zone)
	if !parser.sent("start_date") {
		parser.startDefault, parser.Moves = param.StartOfWindow(parser.now, site), true
		if !strict {
			parser.startDefault = parser.startDefault.Midnight()
		}
		from.Min = calendar.WallToInstant(parser.startDefault, sheet.Zone).Unix()
	}
	if !parser.sent("end_date") {
		parser.endDefault, parser.Moves = param.EndOfWindow(parser.now, site), true
		until.Max = calendar.WallToInstant(parser.endDefault, sheet.Zone).Unix()
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
	first, last := param.DaysOf(word, parser.now, parser.service.settings.Site, parser.service.settings.Sunday)
	parser.lap.days(first, last, parser.sheet.Zone)
	parser.resolved = parser.resolved.Number(int64(first))
	parser.Moves = true
	return true
}
