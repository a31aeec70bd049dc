package calendar

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// dateForm is which of the forms of 2.4 a date has.
type dateForm uint8

const (
	dateWall    dateForm = iota + 1 // a wall clock
	dateInstant                     // an instant
	dateNow                         // the present second
	dateMoved                       // today moved by days, months or years
	dateWeekday                     // a day named by its weekday
)

// presentClock in Date.clock means the present time of day, noOffset in Date.offset that the date
// is Unix seconds.
const presentClock, noOffset = -1, -1

// Date is a date of interface 2.4 that is read but not yet resolved: words and
// wall clocks need a zone, words also the present moment.
type Date struct {
	form    dateForm
	seconds int64 // dateWall: the first second of the day; dateInstant: Unix seconds
	clock   int32 // second of the day, or presentClock

	offset int // dateInstant: seconds east of UTC, or noOffset

	days, months int // dateMoved

	weekday time.Weekday // dateWeekday: the first one from days after today on
}

// IsInstant reports whether the date names an instant by itself (offset, Z, Unix
// seconds); the others are wall clocks or words.
func (date Date) IsInstant() bool { return date.form == dateInstant }

// Zone returns the zone of the offset that the date was written with, nil without one.
func (date Date) Zone() *time.Location {
	if date.form != dateInstant || date.offset == noOffset {
		return nil
	}
	return time.FixedZone("", date.offset)
}

// IsWord reports whether the date depends on the present moment.
func (date Date) IsWord() bool { return date.form >= dateNow }

// Wall resolves the date to a wall clock in a zone: instants are converted, a
// wall clock in the gap of a daylight saving change moves forward by the gap.
// Words may lead out of the years 0001–9999; see Wall.InYears.
func (date Date) Wall(now time.Time, location *time.Location) Wall {
	return WallOf(date.Instant(now, location).In(cmp.Or(location, time.UTC)))
}

// Instant resolves the date to an instant: a wall clock is read in the zone (in
// a gap moved forward, in an overlap the first reading).
func (date Date) Instant(now time.Time, location *time.Location) time.Time {
	switch date.form {
	case dateInstant:
		return time.Unix(date.seconds, 0).UTC()
	case dateNow:
		// Not by way of the wall clock: in an overlap it would become the first reading.
		return now.Truncate(time.Second).UTC()
	case dateWall:
		return WallToInstant(Wall(date.seconds+int64(date.clock)), location)
	default:
		return WallToInstant(date.local(WallOf(now.In(cmp.Or(location, time.UTC)))), location)
	}
}

// local resolves words on a clock that shows now.
func (date Date) local(now Wall) Wall {
	instant := now.UTC()
	midnight := time.Date(instant.Year(), instant.Month(), instant.Day(), 0, 0, 0, 0, time.UTC)
	switch {
	case date.form == dateWeekday:
		midnight = midnight.AddDate(0, 0, date.days)
		midnight = midnight.AddDate(0, 0, int(date.weekday-midnight.Weekday()+7)%7)
	case date.months != 0:
		first := time.Date(instant.Year(), instant.Month()+time.Month(date.months), 1, 0, 0, 0, 0, time.UTC)
		// A day that the month lacks becomes its last day.
		last := first.AddDate(0, 1, -1).Day()
		midnight = first.AddDate(0, 0, min(instant.Day(), last)-1)
	default:
		midnight = midnight.AddDate(0, 0, date.days)
	}
	clock := int64(date.clock)
	if date.clock == presentClock {
		hours, minutes, seconds := instant.Clock()
		clock = int64(hours)*3600 + int64(minutes)*60 + int64(seconds)
	}
	return Wall(midnight.Unix() + clock)
}

// WallToInstant reads a wall clock in a zone by the rule of 2.4: in the gap of a
// daylight saving change it moves forward by the gap, in an overlap the first
// reading counts. The result is in UTC; at the ends of the years 0001–9999 it
// may lie outside of them. No location is UTC.
func WallToInstant(wall Wall, location *time.Location) time.Time {
	location = cmp.Or(location, time.UTC)
	// The offset of the zone before it counts, unless the clock had changed by then.
	offset := func(unix int64) int64 {
		_, east := time.Unix(unix, 0).In(location).Zone()
		return int64(east)
	}
	instant := int64(wall) - offset(int64(wall)-16*3600) // no zone was ever further from UTC
	if after := int64(wall) - offset(instant); offset(after) == offset(instant) {
		instant = after // else it is in a gap
	}
	return time.Unix(instant, 0).UTC()
}

// Day returns when the day of a wall clock begins in a zone and when it is over: both
// readings of a clock belong to it, and a day that the zone left out is over when it begins.
func Day(wall Wall, location *time.Location) (begin, end time.Time) {
	day := wall.Midnight()
	next := day + daySeconds
	end = dayBegin(next, location)
	if _, change := end.In(location).ZoneBounds(); change.After(end) && WallOf(change.In(location)) < next {
		// The clock goes back over midnight: its second reading of 00:00 ends the day.
		end = change.Add(time.Duration(next-WallOf(change.In(location))) * time.Second).UTC()
	}
	return dayBegin(day, location), end
}

// dayBegin returns the first moment of a day, 00:00:00 unless a gap leaves that out.
func dayBegin(day Wall, location *time.Location) time.Time {
	instant := WallToInstant(day, location).In(location)
	if WallOf(instant) != day {
		instant, _ = instant.ZoneBounds()
	}
	return instant.UTC()
}

// InYears reports whether a wall clock lies in the years 0001–9999 and so has a form
// in answers (2.4).
func (wall Wall) InYears() bool { return wall >= minWall && wall <= maxWall }

// clockForm is the time of day behind a day: of 24 hours, or of 12 with am or pm.
const clockForm = `(?: (?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d))?)?(?: ?(?P<half>am|pm))?)?$`

// dateForms are the forms of interface 2.4 in lower case, with one space between words.
var dateForms = []*regexp.Regexp{
	regexp.MustCompile(`^(?P<year>(?:1[89]|2[01])\d\d)(?P<month>\d\d)(?P<day>\d\d)(?:t(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?(?P<offset>z|[+-]\d\d:?\d\d)?)?$`),
	regexp.MustCompile(`^(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:[t ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?(?P<offset>z|[+-]\d\d:?\d\d)?)?$`),
	regexp.MustCompile(`^(?P<unix>\d{5,})$`),
	regexp.MustCompile(`^(?P<now>now)$`),
	regexp.MustCompile(`^(?P<unit>today|tomorrow|yesterday)` + clockForm),
	regexp.MustCompile(`^(?P<number>[+-]\d{1,7}) (?P<unit>day|week|month|year)s?` + clockForm),
	regexp.MustCompile(`^(?:(?P<pick>this|next|last) )?(?P<weekday>sunday|monday|tuesday|wednesday|thursday|friday|saturday)` + clockForm),
	regexp.MustCompile(`^(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)` + clockForm),
	regexp.MustCompile(`^(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4})` + clockForm),
	regexp.MustCompile(`^(?P<month>[a-z]+) (?P<day>\d{1,2})(?: ?, ?| )(?P<year>\d{4})` + clockForm),
	regexp.MustCompile(`^(?P<day>\d{1,2}) (?P<month>[a-z]+) (?P<year>\d{4})` + clockForm),
}

var weekdayNames = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")

// monthNames are the names of the months; a date has one, its first three letters or two digits.
var monthNames = strings.Fields("- january february march april may june july august september october november december")

func monthOf(text string) time.Month {
	month := slices.IndexFunc(monthNames, func(name string) bool { return text == name || len(text) == 3 && strings.HasPrefix(name, text) })
	return time.Month(max(month, number(text)))
}

// ParseDate reads a date in one of the forms of interface 2.4, and nothing else.
func ParseDate(text string) (Date, bool) {
	if text = Trim(text); strings.ContainsFunc(text, func(letter rune) bool { return letter >= utf8.RuneSelf }) {
		return Date{}, false
	}
	text = strings.Join(strings.FieldsFunc(strings.ToLower(text), func(letter rune) bool { return letter == ' ' }), " ")
	for _, form := range dateForms {
		if texts := form.FindStringSubmatch(text); texts != nil {
			return dateOf(func(name string) string {
				if i := form.SubexpIndex(name); i >= 0 {
					return texts[i]
				}
				return ""
			})
		}
	}
	return Date{}, false
}

// dateOf makes a date of the parts of one of dateForms, "" for one that is not there.
func dateOf(part func(name string) string) (date Date, ok bool) {
	ok = true
	switch {
	case part("year") != "":
		date.form = dateWall
		date.seconds, ok = civilDay(part("year"), part("month"), part("day"))
	case part("unix") != "":
		unix, err := strconv.ParseInt(part("unix"), 10, 64)
		return Date{form: dateInstant, seconds: unix, offset: noOffset}, err == nil && unix <= int64(maxWall)
	case part("now") != "":
		return Date{form: dateNow}, true
	case part("weekday") != "":
		date.form, date.weekday = dateWeekday, time.Weekday(slices.Index(weekdayNames, part("weekday")))
		date.days = map[string]int{"next": 1, "last": -7}[part("pick")]
	default:
		const limit = 3_660_000 // days of 10,000 years and some
		count := number(part("number"))
		unit := map[string]Date{
			"tomorrow": {days: 1}, "yesterday": {days: -1}, "day": {days: count}, "week": {days: 7 * count}, "month": {months: count}, "year": {months: 12 * count},
		}[part("unit")]
		date.form, date.days, date.months = dateMoved, unit.days, unit.months
		if part("number") != "" {
			date.clock = presentClock
		}
		ok = count <= limit && count >= -limit
	}
	if part("hour") == "" {
		return date, ok
	}
	var okClock bool
	date.clock, okClock = secondOfDay(part("hour"), part("minute"), part("second"), part("half"))
	if part("offset") == "" {
		return date, ok && okClock
	}
	offset, okOffset := readOffset(part("offset"))
	instant := date.seconds + int64(date.clock) - int64(offset) // with an offset it is one
	return Date{form: dateInstant, seconds: instant, offset: offset}, ok && okClock && okOffset && Wall(instant).InYears()
}

// civilDay returns the first second of a day.
func civilDay(year, month, day string) (int64, bool) {
	yearNumber, dayOfMonth, monthOfYear := number(year), number(day), monthOf(month)
	instant := time.Date(yearNumber, monthOfYear, dayOfMonth, 0, 0, 0, 0, time.UTC)
	return instant.Unix(), yearNumber >= 1 && instant.Month() == monthOfYear && instant.Day() == dayOfMonth
}

// secondOfDay returns the seconds of a clock of 24 hours, or of 12 with "am" or "pm".
func secondOfDay(hour, minute, second, half string) (int32, bool) {
	hours, minutes, seconds := number(hour), number(minute), number(second)
	switch {
	case half == "" && minute == "", half != "" && (hours < 1 || hours > 12):
		return 0, false
	case half != "":
		hours %= 12
	}
	if half == "pm" {
		hours += 12
	}
	return int32(hours*3600 + minutes*60 + seconds), hours < 24 && minutes < 60 && seconds < 60
}

// readOffset reads z, ±hh:mm or ±hhmm, in seconds east of UTC.
func readOffset(text string) (int, bool) {
	if text == "z" {
		return 0, true
	}
	hours, minutes := number(text[1:3]), number(text[len(text)-2:])
	seconds := hours*3600 + minutes*60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, hours < 24 && minutes < 60
}
