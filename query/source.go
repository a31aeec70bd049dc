package query

import (
	"cmp"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// source is the range that a calendar widget shows.
type source struct {
	timed window         // that events overlap
	days  readmodel.Span // of wall clocks as sent, which whole days lie in
}

// readSource reads the range of a calendar widget. Its bounds are instants, else clocks of
// the zone or of each event.
func (parser *parser) readSource() {
	source, site := &source{timed: newWindow()}, parser.service.settings.Site
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
		parser.source = source
		zone, digits := parser.Zone, date.Wall(parser.now, cmp.Or(date.Zone(), site))
		instant := int64(digits)
		if date.IsInstant() {
			zone, instant = time.UTC, date.Instant(parser.now, site).Unix()
		} else if zone != nil {
			instant = calendar.WallToInstant(digits, zone).Unix()
		}
		if first, last := source.timed.spans(zone); name == "start" {
			first.Min, source.days.Min = instant, int64(digits)
		} else {
			last.Max, source.days.Max = instant-1, int64(digits)-1
		}
		parser.resolved = parser.resolved.Number(int64(digits)).Number(instant)
	}
	if parser.source != nil {
		parser.where(source.filter(blanked(parser.Caller)))
	}
}

// filter admits what is in the range; blanked events show no whole days.
func (source *source) filter(blanked readmodel.Filter) readmodel.Filter {
	first, last := source.timed[utcStart].Min, source.timed[utcEnd].Max
	if first == readmodel.AllNumbers.Min || last == readmodel.AllNumbers.Max {
		first, last = source.days.Min, source.days.Max
	}
	if last < first {
		return readmodel.Or{}
	}
	allDay := readmodel.And{isTrue(readmodel.FieldAllDay)}
	if blanked != nil {
		allDay = append(allDay, not(blanked))
	}
	within := readmodel.And{
		allDay, readmodel.AtMost(readmodel.FieldStart, source.days.Max), readmodel.AtLeast(readmodel.FieldEnd, source.days.Min),
	}
	return readmodel.Or{source.timed.overlaps(readmodel.And{not(allDay)}), within}
}
