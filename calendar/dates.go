package calendar

import (
	"strconv"
	"strings"
	"time"
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

// weekdayPick says which day of that name is meant.
type weekdayPick uint8

const (
	pickFirst weekdayPick = iota // from today on, today included
	pickNext                     // after today
	pickLast                     // before today
)

// presentClock stands in Date.clock for the present time of day.
const presentClock = -1

// Date is a date of interface 2.4 that is read but not yet resolved: words and
// wall clocks need a zone, words also the present moment.
type Date struct {
	form    dateForm
	seconds int64 // dateWall: the Wall; dateInstant: Unix seconds
	clock   int32 // words: second of the day, or presentClock

	days, months int // dateMoved

	weekday time.Weekday
	pick    weekdayPick
}

// Equal tells whether two dates were written to mean the same.
func (d Date) Equal(o Date) bool { return d == o }

// IsInstant tells whether the date names an instant by itself (offset, Z, Unix
// seconds); the others are wall clocks or words.
func (d Date) IsInstant() bool { return d.form == dateInstant }

// IsWord tells whether the date depends on the present moment.
func (d Date) IsWord() bool { return d.form >= dateNow }

// Wall resolves the date to a wall clock in a zone: instants are converted, a
// wall clock in the gap of a daylight saving change moves forward by the gap.
// Words may lead out of the years 0001–9999; see Wall.InYears.
func (d Date) Wall(now time.Time, z *time.Location) Wall {
	w, _ := d.resolve(now, z)
	return w
}

// Instant resolves the date to an instant: a wall clock is read in the zone (in
// a gap moved forward, in an overlap the first reading).
func (d Date) Instant(now time.Time, z *time.Location) time.Time {
	_, unix := d.resolve(now, z)
	return time.Unix(unix, 0).UTC()
}

// resolve gives the wall clock in z and the Unix seconds.
func (d Date) resolve(now time.Time, z *time.Location) (Wall, int64) {
	if z == nil {
		z = time.UTC
	}
	var unix int64
	switch d.form {
	case dateInstant:
		unix = d.seconds
	case dateNow:
		// Not by way of the wall clock: in an overlap it would become the first reading.
		unix = now.Unix()
	case dateWall:
		unix = wallUnix(Wall(d.seconds), z)
	case dateMoved, dateWeekday:
		unix = wallUnix(d.local(WallOf(now.In(z))), z)
	}
	return WallOf(time.Unix(unix, 0).In(z)), unix
}

// local resolves words on a clock that shows now.
func (d Date) local(now Wall) Wall {
	t := now.UTC()
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch {
	case d.form == dateWeekday:
		move := int(d.weekday-t.Weekday()+7) % 7
		switch {
		case d.pick == pickNext && move == 0:
			move = 7
		case d.pick == pickLast:
			move -= 7
		}
		midnight = midnight.AddDate(0, 0, move)
	case d.months != 0:
		first := time.Date(t.Year(), t.Month()+time.Month(d.months), 1, 0, 0, 0, 0, time.UTC)
		// A day that the month lacks becomes its last day.
		last := first.AddDate(0, 1, -1).Day()
		midnight = first.AddDate(0, 0, min(t.Day(), last)-1)
	default:
		midnight = midnight.AddDate(0, 0, d.days)
	}
	clock := int64(d.clock)
	if d.clock == presentClock {
		h, m, s := t.Clock()
		clock = int64(h)*3600 + int64(m)*60 + int64(s)
	}
	return Wall(midnight.Unix() + clock)
}

// WallToInstant reads a wall clock in a zone by the rule of 2.4: in the gap of a
// daylight saving change it moves forward by the gap, in an overlap the first
// reading counts. The result is in UTC; at the ends of the years 0001–9999 it
// may lie outside of them.
func WallToInstant(w Wall, z *time.Location) time.Time {
	return time.Unix(wallUnix(w, z), 0).UTC()
}

// Day returns when the day of a wall clock begins in a zone and when it is over: both
// readings of a clock belong to it, and a day that the zone left out is over when it begins.
func Day(w Wall, z *time.Location) (begin, end time.Time) {
	day := startOfDay(w)
	next := day + daySeconds
	end = dayBegin(next, z)
	if _, change := end.In(z).ZoneBounds(); change.After(end) && WallOf(change.In(z)) < next {
		// The clock goes back over midnight: its second reading of 00:00 ends the day.
		end = change.Add(time.Duration(next-WallOf(change.In(z))) * time.Second).UTC()
	}
	return dayBegin(day, z), end
}

// dayBegin returns the first moment of a day, 00:00:00 unless a gap leaves that out.
func dayBegin(day Wall, z *time.Location) time.Time {
	at := WallToInstant(day, z).In(z)
	if WallOf(at) != day {
		at, _ = at.ZoneBounds()
	}
	return at.UTC()
}

// InYears tells whether a wall clock lies in the years 0001–9999 and so has a form
// in answers (2.4).
func (w Wall) InYears() bool { return w >= minWall && w <= maxWall }

// wallUnix walks the offsets of the zone around the wall clock, from before any
// instant that could show it.
func wallUnix(w Wall, z *time.Location) int64 {
	if z == nil || z == time.UTC {
		return int64(w)
	}
	const widest = 16 * 3600 // no zone was ever further from UTC
	at := time.Unix(int64(w)-widest, 0).In(z)
	for before := 0; ; {
		_, offset := at.Zone()
		start, end := at.ZoneBounds()
		unix := int64(w) - int64(offset)
		switch {
		case !start.IsZero() && unix < start.Unix():
			return int64(w) - int64(before) // in the gap that ends the segment before
		case end.IsZero() || unix < end.Unix():
			return unix
		}
		if !end.After(at) {
			// Rules beyond the table of a zone give each year 365 days, so the
			// last day of a leap year ends before it began.
			end = at.Add(24 * time.Hour)
		}
		before, at = offset, end
	}
}

var weekdayNames = map[string]time.Weekday{
	"sunday": time.Sunday, "monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday,
	"thursday": time.Thursday, "friday": time.Friday, "saturday": time.Saturday,
}

var monthNames = func() map[string]time.Month {
	m := make(map[string]time.Month, 24)
	for i := time.January; i <= time.December; i++ {
		name := strings.ToLower(i.String())
		m[name], m[name[:3]] = i, i
	}
	return m
}()

// ParseDate reads a date in one of the forms of interface 2.4, and nothing else.
func ParseDate(s string) (Date, bool) {
	words, ok := dateWords(Trim(s))
	if !ok {
		return Date{}, false
	}
	first, rest := words[0], words[1:]
	switch {
	case len(words) == 1 && isCompact(first):
		return readCompact(first)
	case len(words) == 1 && len(first) >= 5 && IsDigits(first):
		unix, err := strconv.ParseInt(first, 10, 64)
		return Date{form: dateInstant, seconds: unix}, err == nil && unix <= int64(maxWall)
	case first == "now":
		return Date{form: dateNow}, len(rest) == 0
	case first == "today" || first == "tomorrow" || first == "yesterday":
		clock, ok := readClock(rest, 0)
		d := Date{form: dateMoved, clock: clock}
		switch first {
		case "tomorrow":
			d.days = 1
		case "yesterday":
			d.days = -1
		}
		return d, ok
	case first[0] == '+' || first[0] == '-':
		return readMove(first, rest)
	case first == "this" || first == "next" || first == "last":
		if len(rest) == 0 {
			return Date{}, false
		}
		pick := map[string]weekdayPick{"this": pickFirst, "next": pickNext, "last": pickLast}[first]
		return readWeekday(rest[0], pick, rest[1:])
	}
	if _, ok := weekdayNames[first]; ok {
		return readWeekday(first, pickFirst, rest)
	}
	return readCivil(words)
}

// isCompact reports whether a word is a day of eight digits, alone or with a clock. Digits
// of other years are Unix seconds.
func isCompact(word string) bool {
	if len(word) < 8 || !IsDigits(word[:8]) || len(word) > 8 && word[8] != 't' {
		return false
	}
	year, _ := digits(word[:4])
	return year >= 1800 && year <= 2199
}

// readCompact reads YYYYMMDD, alone or with T and HHMM or HHMMSS, with an offset or
// without.
func readCompact(s string) (Date, bool) {
	year, day := s[:4], s[6:8]
	month, _ := digits(s[4:6])
	if len(s) == 8 {
		return civilDate(year, time.Month(month), day, nil)
	}
	clock := s[9:]
	n := strings.IndexFunc(clock, func(r rune) bool { return !isASCIIDigit(r) })
	if n < 0 {
		n = len(clock)
	}
	offset := clock[n:]
	if n != 4 && n != 6 || strings.HasPrefix(offset, ".") {
		return Date{}, false
	}
	colons := clock[:2] + ":" + clock[2:4]
	if n == 6 {
		colons += ":" + clock[4:6]
	}
	return exactDate(year, time.Month(month), day, colons+offset)
}

// dateWords splits a date at spaces, in lower case; a comma is a word of its
// own. Dates are ASCII.
func dateWords(s string) ([]string, bool) {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return nil, false
		}
	}
	s = strings.ReplaceAll(strings.ToLower(s), ",", " , ")
	words := make([]string, 0, 4)
	for w := range strings.SplitSeq(s, " ") {
		if w != "" {
			words = append(words, w)
		}
		if len(words) > 6 { // no form has more
			return nil, false
		}
	}
	return words, len(words) > 0
}

// readMove reads ±N and a unit, with a clock or at the present time of day.
func readMove(amount string, rest []string) (Date, bool) {
	const most = 3_660_000 // days of 10,000 years and some
	if len(rest) == 0 || !IsDigits(amount[1:]) || len(amount) > 8 {
		return Date{}, false
	}
	n, err := strconv.Atoi(amount)
	if err != nil || n > most || n < -most {
		return Date{}, false
	}
	d := Date{form: dateMoved}
	switch strings.TrimSuffix(rest[0], "s") {
	case "day":
		d.days = n
	case "week":
		d.days = 7 * n
	case "month":
		d.months = n
	case "year":
		d.months = 12 * n
	default:
		return Date{}, false
	}
	var ok bool
	d.clock, ok = readClock(rest[1:], presentClock)
	return d, ok
}

func readWeekday(name string, pick weekdayPick, rest []string) (Date, bool) {
	day, known := weekdayNames[name]
	clock, ok := readClock(rest, 0)
	return Date{form: dateWeekday, weekday: day, pick: pick, clock: clock}, known && ok
}

// readCivil reads the forms that name year, month and day.
func readCivil(words []string) (Date, bool) {
	first, rest := words[0], words[1:]
	if month, ok := monthNames[first]; ok { // month day [,] year
		if len(rest) >= 2 && rest[1] == "," {
			rest = append([]string{rest[0]}, rest[2:]...)
		}
		if len(rest) < 2 {
			return Date{}, false
		}
		return civilDate(rest[1], month, rest[0], rest[2:])
	}
	if len(rest) >= 2 && len(first) <= 2 { // day month year
		month, ok := monthNames[rest[0]]
		if !ok {
			return Date{}, false
		}
		return civilDate(rest[1], month, first, rest[2:])
	}
	if len(first) == 10 && first[2] == '/' && first[5] == '/' {
		month, ok := digits(first[:2])
		if !ok {
			return Date{}, false
		}
		return civilDate(first[6:], time.Month(month), first[3:5], rest)
	}
	if len(first) < 10 || first[4] != '-' || first[7] != '-' {
		return Date{}, false
	}
	month, ok := digits(first[5:7])
	if !ok {
		return Date{}, false
	}
	year, day := first[:4], first[8:10]
	if len(first) == 10 {
		if len(rest) == 1 && strings.Contains(rest[0], ":") {
			if d, ok := exactDate(year, time.Month(month), day, rest[0]); ok {
				return d, true
			}
		}
		return civilDate(year, time.Month(month), day, rest)
	}
	if first[10] != 't' || len(rest) > 0 {
		return Date{}, false
	}
	return exactDate(year, time.Month(month), day, first[11:])
}

// civilDate makes the wall clock of a day and a clock.
func civilDate(year string, month time.Month, day string, clock []string) (Date, bool) {
	y, okYear := digits(year)
	d, okDay := digits(day)
	seconds, okClock := readClock(clock, 0)
	if !okYear || !okDay || !okClock || len(year) != 4 || len(day) > 2 || y < 1 {
		return Date{}, false
	}
	t := time.Date(y, month, d, 0, 0, 0, 0, time.UTC)
	if t.Year() != y || t.Month() != month || t.Day() != d {
		return Date{}, false
	}
	return Date{form: dateWall, seconds: t.Unix() + int64(seconds)}, true
}

// exactDate reads a 24 h clock with or without an offset behind a day. With an
// offset the date is an instant. Fractions of the second are dropped.
func exactDate(year string, month time.Month, day, clock string) (Date, bool) {
	d, ok := civilDate(year, month, day, nil)
	seconds, tail, okClock := clock24(clock)
	if !ok || !okClock {
		return Date{}, false
	}
	d.seconds += int64(seconds)
	if strings.HasPrefix(tail, ".") && strings.Count(clock[:len(clock)-len(tail)], ":") == 2 {
		i := 1
		for i < len(tail) && tail[i] >= '0' && tail[i] <= '9' {
			i++
		}
		if i == 1 {
			return Date{}, false
		}
		tail = tail[i:]
	}
	if tail == "" {
		return d, true
	}
	offset, ok := readOffset(tail)
	d.form = dateInstant
	d.seconds -= int64(offset)
	return d, ok && Wall(d.seconds).InYears()
}

// readOffset reads z, ±hh:mm or ±hhmm, in seconds east of UTC.
func readOffset(s string) (int, bool) {
	if s == "z" {
		return 0, true
	}
	if len(s) == 6 && s[3] == ':' {
		s = s[:3] + s[4:]
	}
	if len(s) != 5 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	h, okHour := digits(s[1:3])
	m, okMinute := digits(s[3:])
	seconds := h*3600 + m*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, okHour && okMinute && h < 24 && m < 60
}

// readClock reads a clock of one or two words; none gives the value absent.
func readClock(words []string, absent int32) (int32, bool) {
	var s, half string
	switch len(words) {
	case 0:
		return absent, true
	case 1:
		s = words[0]
		if strings.HasSuffix(s, "am") || strings.HasSuffix(s, "pm") {
			s, half = s[:len(s)-2], s[len(s)-2:]
		}
	case 2:
		s, half = words[0], words[1]
		if half != "am" && half != "pm" {
			return 0, false
		}
	default:
		return 0, false
	}
	if half == "" {
		seconds, tail, ok := clock24(s)
		return seconds, ok && tail == ""
	}
	if !strings.Contains(s, ":") {
		s += ":00"
	}
	seconds, tail, ok := clock24(s)
	hour := seconds / 3600
	if !ok || tail != "" || hour < 1 || hour > 12 {
		return 0, false
	}
	seconds %= 12 * 3600
	if half == "pm" {
		seconds += 12 * 3600
	}
	return seconds, true
}

// clock24 reads H:MM or H:MM:SS at the start of s.
func clock24(s string) (seconds int32, tail string, ok bool) {
	colon := strings.IndexByte(s, ':')
	if colon < 1 || colon > 2 || len(s) < colon+3 {
		return 0, "", false
	}
	h, okHour := digits(s[:colon])
	m, okMinute := digits(s[colon+1 : colon+3])
	tail = s[colon+3:]
	sec, okSecond := 0, true
	if tail != "" && tail[0] == ':' {
		if len(tail) < 3 {
			return 0, "", false
		}
		sec, okSecond = digits(tail[1:3])
		tail = tail[3:]
	}
	ok = okHour && okMinute && okSecond && h < 24 && m < 60 && sec < 60
	return int32(h*3600 + m*60 + sec), tail, ok
}

// digits reads one to four digits.
func digits(s string) (int, bool) {
	if len(s) > 4 || !IsDigits(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
