package query

import (
	"regexp"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// source is the range that a calendar widget shows.
type source struct {
	timed window         // that events overlap
	days  readmodel.Span // of wall clocks as sent, which whole days lie in
	zone  *time.Location // of the answer; nil: that of each event
}

func (parser *parser) widget() *source {
	if parser.source == nil {
		parser.source = &source{timed: newWindow(), days: readmodel.AllNumbers}
	}
	return parser.source
}

// readBound reads the first or the last bound of the range: an instant, else a clock of the
// zone or of each event.
func readBound(lower bool) reader {
	return func(q *parser, value *param.Value) {
		date, ok := q.date(value)
		if !ok {
			return
		}
		source := q.widget()
		zone, digits := source.zone, date.Wall(q.now, q.service.o.Site)
		at := int64(digits)
		switch {
		case date.IsInstant():
			zone, at = time.UTC, date.Instant(q.now, q.service.o.Site).Unix()
			sent, _ := value.Sent()
			text, _ := sent.(string)
			if clock, ok := calendar.ParseDate(offsetForm.ReplaceAllString(calendar.Trim(text), "")); ok && !clock.IsInstant() {
				digits = clock.Wall(q.now, time.UTC)
			}
		case zone != nil:
			at = calendar.WallToInstant(digits, zone).Unix()
		}
		if first, last := source.timed.spans(zone); lower {
			first.Min, source.days.Min = at, int64(digits)
		} else {
			last.Max, source.days.Max = at-1, int64(digits)-1
		}
		q.resolved = q.resolved.Number(int64(digits)).Number(at)
	}
}

// offsetForm is what makes a wall clock an instant, with a fraction of a second before it.
var offsetForm = regexp.MustCompile(`(?i)(\.\d+)?(z|[+-]\d\d:?\d\d)$`)

func readTimeZone(parser *parser, value *param.Value) {
	text, ok := value.Text(0)
	if !ok || strings.EqualFold(text, "local") {
		return
	}
	zone, ok := calendar.ParseZone(text)
	if !ok {
		value.Refuse(calendar.ReasonZone)
		return
	}
	parser.widget().zone = zone.Location
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

// Zone is the zone of the answer to a calendar widget, nil for that of each event.
func (criteria *Criteria) Zone() *time.Location {
	if criteria.source == nil {
		return nil
	}
	return criteria.source.zone
}
