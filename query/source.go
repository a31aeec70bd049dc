package query

import (
	"cmp"
	"math"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// readSource reads the range of a calendar widget. Its bounds are instants, else clocks of
// the zone or of each event; whole days are held against the digits that were sent.
func (parser *parser) readSource() {
	site, timed, days := parser.settings.Site, openWindow, readmodel.AllNumbers
	value := parser.parameter("timeZone")
	if text, ok := value.Text(); ok && !strings.EqualFold(text, "local") {
		zone, known := calendar.ParseZone(text)
		if parser.Zone = zone.Location; !known {
			value.Refuse(calendar.ReasonZone)
		}
	}
	for _, name := range []string{"start", "end"} {
		date, ok := parser.parameter(name).Date(parser.now, site)
		if !ok {
			continue
		}
		zone, digits := parser.Zone, date.Wall(parser.now, cmp.Or(date.Zone(), site))
		instant := calendar.WallToInstant(digits, zone).Unix()
		if date.IsInstant() {
			zone, instant = time.UTC, date.Instant(parser.now, site).Unix()
		}
		if bounds := timed.of(zone); name == "start" {
			bounds[overlapsFrom], days.Min = instant, int64(digits)
		} else {
			bounds[overlapsUntil], days.Max = instant-1, int64(digits)-1
		}
		parser.resolved = parser.resolved.Number(int64(digits)).Number(instant)
	}
	if days == readmodel.AllNumbers {
		return
	}
	instants := timed.of(time.UTC)
	first, last := instants[overlapsFrom], instants[overlapsUntil]
	if first == math.MinInt64 || last == math.MaxInt64 {
		first, last = days.Min, days.Max
	}
	if last < first {
		parser.where(readmodel.Or{})
		return
	}
	allDay := readmodel.And{isTrue(readmodel.FieldAllDay)}
	if hidden := blanked(parser.Caller); hidden != nil { // shows no whole days
		allDay = append(allDay, not(hidden))
	}
	within := readmodel.And{allDay, readmodel.AtMost(readmodel.FieldStart, days.Max), readmodel.AtLeast(readmodel.FieldEnd, days.Min)}
	parser.where(readmodel.Or{append(timed.filters(), not(allDay)), within})
}
