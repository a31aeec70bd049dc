package query

import (
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// SourceParams are the parameters of the source of calendar widgets (LISTINGS 1.13). The
// caller must not change them.
func SourceParams() Parameters { return sourceTable.params }

var sourceTable = newTable(sourceParams())

// notOfSource are the parameters of the list of events that the source does not know.
var notOfSource = []string{
	"page", "per_page", "start_date", "end_date", "starts_before", "starts_after", "ends_before", "ends_after", "strict_dates", "include", "_fields",
	"as_of", "format", "features", "csv_bom", "csv_raw", "overlap", "when", "sort", "order",
	"facets", "facet_limit", "facet_query", "collapse", "highlight", "highlight_length", "cursor",
}

func sourceParams() Parameters {
	own := extensions(
		row("start", "date", readBound(func(s *source) *bound { return &s.from })),
		row("end", "date", readBound(func(s *source) *bound { return &s.to })),
		row("timeZone", "string", readTimeZone).early(1),
	)
	own[0].Required, own[1].Required = true, true
	return append(own, eventParams().without(notOfSource)...)
}

// source is the range that a calendar widget shows.
type source struct {
	from, to bound
	zone     *time.Location // of the answer; nil: that of each event
}

// bound is one end of a range.
type bound struct {
	digits  calendar.Wall // wall clock as sent
	instant bool          // at is it, else digits as a clock of the event shows them
	at      int64         // Unix seconds
}

func readBound(of func(*source) *bound) func(*parser, *param.Value) {
	return func(q *parser, v *param.Value) {
		if q.run.source == nil {
			q.run.source = &source{}
		}
		d, ok := v.Date()
		if !ok {
			return
		}
		if !inYears(d, q.now, q.s.o.Site) {
			v.Refuse(calendar.ReasonDateRange)
			return
		}
		b := of(q.run.source)
		b.digits = d.Wall(q.now, q.s.o.Site)
		switch {
		case d.IsInstant():
			b.instant, b.at = true, d.Instant(q.now, q.s.o.Site).Unix()
			sent, _ := v.Sent()
			text, _ := sent.(string)
			if digits, ok := withoutOffset(text); ok {
				b.digits = digits
			}
		case q.run.source.zone != nil:
			b.instant, b.at = true, calendar.WallToInstant(b.digits, q.run.source.zone).Unix()
		}
		q.resolved = q.resolved.Number(int64(b.digits)).Number(b.at)
	}
}

// withoutOffset gives the wall clock of an instant as it was sent; false for seconds.
func withoutOffset(text string) (calendar.Wall, bool) {
	text = strings.TrimRight(calendar.Trim(text), "Zz")
	if colon := strings.IndexByte(text, ':'); colon > 0 {
		if i := strings.IndexAny(text[colon:], "+-"); i > 0 {
			text = text[:colon+i]
		}
	}
	text, _, _ = strings.Cut(text, ".")
	d, ok := calendar.ParseDate(text)
	if !ok || d.IsInstant() {
		return 0, false
	}
	return d.Wall(time.Time{}, time.UTC), true
}

func readTimeZone(q *parser, v *param.Value) {
	if q.run.source == nil {
		q.run.source = &source{}
	}
	text, ok := v.Text(0)
	if !ok || strings.EqualFold(text, "local") {
		return
	}
	z, ok := calendar.ParseZone(text)
	if !ok {
		v.Refuse(calendar.ReasonZone)
		return
	}
	q.run.source.zone = z.Location
}

// empty tells whether the range has nothing in it.
func (s *source) empty() bool {
	if s.from.instant && s.to.instant {
		return s.to.at <= s.from.at
	}
	return s.to.digits <= s.from.digits
}

// filter admits what is in the range; blanked events show no whole days.
func (s *source) filter(blanked readmodel.Filter) readmodel.Filter {
	if s.empty() {
		return readmodel.Or{}
	}
	allDay := readmodel.And{isTrue(readmodel.FieldAllDay)}
	if blanked != nil {
		allDay = append(allDay, not(blanked))
	}
	most := func(field string, n int64) readmodel.Filter { return readmodel.Range{Field: field, Max: &n} }
	least := func(field string, n int64) readmodel.Filter { return readmodel.Range{Field: field, Min: &n} }
	timed := readmodel.And{}
	if s.to.instant {
		timed = append(timed, most(readmodel.FieldUTCStart, s.to.at-1))
	} else {
		timed = append(timed, most(readmodel.FieldStart, int64(s.to.digits)-1))
	}
	if s.from.instant {
		timed = append(timed, readmodel.Or{least(readmodel.FieldUTCEnd, s.from.at+1), least(readmodel.FieldUTCStart, s.from.at)})
	} else {
		timed = append(timed, readmodel.Or{least(readmodel.FieldEnd, int64(s.from.digits)+1), least(readmodel.FieldStart, int64(s.from.digits))})
	}
	days := append(slices.Clone(allDay), most(readmodel.FieldStart, int64(s.to.digits)-1), least(readmodel.FieldEnd, int64(s.from.digits)))
	return readmodel.Or{append(timed, not(allDay)), days}
}

// Zone is the zone of the answer to a calendar widget, nil for that of each event.
func (c *Criteria) Zone() *time.Location { return c.run.source.zone }

// Shows tells whether an event of the selection is in the range of a calendar widget.
func (c *Criteria) Shows(*calendar.Record) bool { return true }
