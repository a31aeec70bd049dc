package formats

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"daybook/calendar"
)

// zoned reports whether the times are written as wall clock in their zone; else they are
// written in UTC, or as days.
func (times *Times) zoned() bool {
	return !times.AllDay && times.Zone.Unambiguous(times.Start, times.UTCStart) && times.Zone.Unambiguous(times.End, times.UTCEnd)
}

// Zones are the zones that an answer uses, by name. The zero value is ready.
type Zones map[string]*zoneYears

// zoneYears are the years of the times of a zone, both included.
type zoneYears struct {
	location    *time.Location
	first, last int
}

// Add takes the times of an event.
func (zones *Zones) Add(times *Times) {
	if times.zoned() {
		zones.add(times.Zone.Name, times.Zone.Location, times.Start.UTC().Year(), times.End.UTC().Year())
	}
}

// AddSite takes the zone of the site, for a calendar that has nothing else.
func (zones *Zones) AddSite(location *time.Location, now time.Time) {
	year := now.In(location).Year()
	zones.add(location.String(), location, year, year)
}

func (zones *Zones) add(name string, location *time.Location, first, last int) {
	if *zones == nil {
		*zones = Zones{}
	}
	if years := (*zones)[name]; years != nil {
		years.first, years.last = min(years.first, first), max(years.last, last)
		return
	}
	(*zones)[name] = &zoneYears{location, first, last}
}

func (zones Zones) append(data []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		data = fmt.Appendf(data, "BEGIN:VTIMEZONE\r\nTZID:%s\r\n", name)
		for _, part := range zones[name].parts() {
			data = part.append(data)
		}
		data = append(data, "END:VTIMEZONE\r\n"...)
	}
	return data
}

// part is a part of a VTIMEZONE: from a wall clock on an offset holds.
type part struct {
	daylight    bool
	start       calendar.Wall // by the clock before
	from, until int           // offsets in seconds
	name        string
	rule        string // "" for none
}

func (part *part) append(data []byte) []byte {
	kind, rule := "STANDARD", ""
	if part.daylight {
		kind = "DAYLIGHT"
	}
	if part.rule != "" {
		rule = "RRULE:" + part.rule + "\r\n"
	}
	return fmt.Appendf(data, "BEGIN:%s\r\nDTSTART:%s\r\n%sTZOFFSETFROM:%s\r\nTZOFFSETTO:%s\r\nTZNAME:%s\r\nEND:%s\r\n",
		kind, clock(part.start), rule, offset(part.from), offset(part.until), part.name, kind)
}

// offset returns an offset of seconds as ±HHMM or ±HHMMSS.
func offset(seconds int) string {
	layout := "-0700"
	if seconds%60 != 0 {
		layout = "-070000"
	}
	return time.Unix(0, 0).In(time.FixedZone("", seconds)).Format(layout)
}

// parts gives what holds in the zone in the years: one part, two with a rule each, or one
// for each change (LISTINGS 1.6).
func (zoneYears *zoneYears) parts() []part {
	before, changes := zoneYears.changes()
	if len(changes) == 0 {
		before.start = newYear(min(1970, zoneYears.first))
		before.daylight = false
		return []part{before}
	}
	if two := zoneYears.ruled(changes); two != nil {
		return two
	}
	before.start = newYear(zoneYears.first)
	if changes[0].start <= before.start { // it holds from the first moment on
		return changes
	}
	return append([]part{before}, changes...)
}

// changes returns the changes of the offset whose wall clock lies in the years, and what
// holds before them.
func (zoneYears *zoneYears) changes() (before part, parts []part) {
	first, end := newYear(zoneYears.first), newYear(zoneYears.last+1)
	instant := time.Unix(int64(first)-daySeconds, 0).In(zoneYears.location) // offsets are less than a day
	before = partAt(instant)
	for {
		_, next := instant.ZoneBounds()
		if next.IsZero() {
			return before, parts
		}
		if !next.After(instant) { // package time ends leap years ruled by its last rule a day early
			next = instant.Add(daySeconds * time.Second)
		}
		_, from := instant.Zone()
		instant = next.In(zoneYears.location)
		part := partAt(instant)
		part.from = from
		part.start = calendar.Wall(instant.Unix() + int64(from))
		switch {
		case part.start >= end:
			return before, parts
		case part.start < first:
			before = partAt(instant)
		case part.from != part.until:
			parts = append(parts, part)
		}
	}
}

// partAt returns the part that is no change at a moment.
func partAt(instant time.Time) part {
	name, offset := instant.Zone()
	return part{daylight: instant.IsDST(), from: offset, until: offset, name: name}
}

// newYear returns the first moment of a year.
func newYear(year int) calendar.Wall {
	return calendar.Wall(time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC).Unix())
}

// ruled gives two parts with a rule each, nil where changes keep none.
func (zoneYears *zoneYears) ruled(changes []part) []part {
	if len(changes) != 2*(zoneYears.last-zoneYears.first+1) {
		return nil
	}
	var parts, down []part
	for i := 0; i < len(changes); i += 2 { // one each way in every year
		first, second := changes[i], changes[i+1]
		if year := zoneYears.first + i/2; first.start.UTC().Year() != year || second.start.UTC().Year() != year {
			return nil
		}
		if first.until < first.from {
			first, second = second, first
		}
		if first.until < first.from || second.until > second.from {
			return nil
		}
		parts, down = append(parts, first), append(down, second)
	}
	standard, ok := oneRule(down, zoneYears.first)
	if !ok {
		return nil
	}
	daylight, ok := oneRule(parts, zoneYears.first)
	if !ok || daylight.from != standard.until || daylight.until != standard.from {
		return nil
	}
	daylight.daylight, standard.daylight = true, false
	return []part{standard, daylight}
}

// weekdays are the names of days in rules.
var weekdays = [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// oneRule returns the part whose rule makes all the changes.
func oneRule(changes []part, firstYear int) (part, bool) {
	p := changes[len(changes)-1]
	instant := p.start.UTC()
	month, weekday, clock := instant.Month(), instant.Weekday(), timeOfDay(p.start)
	nth, last := (instant.Day()-1)/7+1, true
	for _, c := range changes {
		t := c.start.UTC()
		if c.from != p.from || c.until != p.until || t.Month() != month || t.Weekday() != weekday || timeOfDay(c.start) != clock {
			return part{}, false
		}
		if (t.Day()-1)/7+1 != nth {
			nth = 0
		}
		last = last && t.AddDate(0, 0, 7).Month() != month
	}
	switch {
	case last:
		nth = -1
	case nth == 0:
		return part{}, false
	}
	p.rule = "FREQ=YEARLY;BYMONTH=" + strconv.Itoa(int(month)) + ";BYDAY=" + strconv.Itoa(nth) + weekdays[weekday]
	p.start = ruleDay(min(1970, firstYear-1), month, weekday, nth) + clock
	return p, true
}

// timeOfDay returns the seconds since midnight.
func timeOfDay(wall calendar.Wall) calendar.Wall { return (wall%daySeconds + daySeconds) % daySeconds }

// ruleDay returns the n-th weekday of a month, the last one for -1.
func ruleDay(year int, month time.Month, weekday time.Weekday, count int) calendar.Wall {
	if count < 0 {
		end := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
		return calendar.Wall(end.AddDate(0, 0, -int((end.Weekday()-weekday+7)%7)).Unix())
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	return calendar.Wall(first.AddDate(0, 0, int((weekday-first.Weekday()+7)%7)+7*(count-1)).Unix())
}
