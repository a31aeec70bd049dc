package param

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

// Point is a point in time as requests name it (HISTORY 3): a time, or what is not zero.
type Point struct {
	Time     time.Time         // the last millisecond whose entries count, UTC
	Exact    bool              // it was sent with a fraction of a second; else it is the whole one
	Position calendar.Position // those from 1 on count
	Version  int64
}

// AsOf is the parameter that names a point.
const AsOf = "as_of"

// The words before the numbers of points.
const (
	wordPosition = "position"
	wordVersion  = "version"
)

// ParsePoint reads the value of as_of, which may name a version where versions is true, and
// positions up to the head of the log. Dates without an offset are read on the clock of the
// site zone, words from the present moment on. A value that is refused is named in problems.
func ParsePoint(value any, versions bool, now time.Time, site *time.Location, head calendar.Position, problems *calendar.Problems) Point {
	text, ok := value.(string)
	if !ok {
		problems.Add(AsOf, calendar.ReasonTypeText)
		return Point{}
	}
	reason := calendar.ReasonPoint
	if versions {
		reason = calendar.ReasonPointOrVersion
	}
	text = calendar.Trim(text)
	word, digits, _ := strings.Cut(text, ":")
	number, isNumber := parseNumber(digits)
	instant, exact, isTime := ParseMoment(text, now, site)
	switch {
	case isNumber && word == wordPosition:
		if calendar.Position(number) <= head {
			return Point{Position: calendar.Position(number)}
		}
		problems.Add(AsOf, calendar.ReasonAhead, head.String())
	case isNumber && word == wordVersion && versions:
		return Point{Version: number}
	case isTime && instant.Unix() > now.Unix():
		reason = calendar.ReasonFuture
	case isTime && exact:
		return Point{Time: instant, Exact: true}
	case isTime:
		return Point{Time: instant.Add(time.Second - time.Millisecond)}
	}
	problems.Add(AsOf, reason) // the first problem counts
	return Point{}
}

// ParseDatetime reads the header Accept-Datetime (HISTORY 8.2): an IMF-fixdate in GMT, which means
// the whole second. One ahead of the present second is the present.
func ParseDatetime(name string, header http.Header, now time.Time, problems *calendar.Problems) Point {
	text := header.Get(name)
	instant, err := time.Parse(http.TimeFormat, text)
	if err != nil || instant.Format(http.TimeFormat) != text { // the day of the week has to be right
		problems.Add(name, calendar.ReasonHeaderTime)
		return Point{}
	}
	if instant.After(now) {
		instant = now.UTC().Truncate(time.Second)
	}
	return Point{Time: instant.Add(time.Second - time.Millisecond)}
}

// ParseMoment reads a date of interface 2.4 to the millisecond. Further digits are
// dropped; exact reports that it has a fraction of a second, which instants may have.
func ParseMoment(text string, now time.Time, site *time.Location) (instant time.Time, exact, ok bool) {
	date, ok := calendar.ParseDate(text)
	if !ok {
		return time.Time{}, false, false
	}
	instant = date.Instant(now, site)
	if year := instant.Year(); year < 1 || year > 9999 {
		return time.Time{}, false, false
	}
	_, rest, exact := strings.Cut(text, ".")
	fraction := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))] + "000"
	millis, _ := strconv.Atoi(fraction[:3])
	return instant.Add(time.Duration(millis) * time.Millisecond), exact, true
}

// parseNumber reads digits above 0; what is beyond all numbers is the greatest.
func parseNumber(text string) (int64, bool) {
	if !calendar.IsDigits(text) {
		return 0, false
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		number = math.MaxInt64
	}
	return number, number > 0
}

// String returns the point as links name it: an instant, a position, a version.
func (point Point) String() string {
	switch {
	case point.Position > 0:
		return wordPosition + ":" + point.Position.String()
	case point.Version > 0:
		return wordVersion + ":" + strconv.FormatInt(point.Version, 10)
	case point.Exact:
		return point.Time.Format("2006-01-02T15:04:05.000Z")
	}
	return point.Time.Format("2006-01-02T15:04:05Z")
}
