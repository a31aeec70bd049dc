package history

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

// Form is how a point in time is named.
type Form uint8

// The forms of points.
const (
	ByTime Form = iota + 1
	ByPosition
	ByVersion
)

// Point is a point in time as requests name it (HISTORY 3).
type Point struct {
	Form Form
	// Time is the last millisecond whose entries count, UTC; ByTime.
	Time time.Time
	// Exact tells that the time was sent with a fraction of a second; without one it
	// is the whole second.
	Exact    bool
	Position calendar.Position // ByPosition: those from 1 on count
	Version  int64             // ByVersion
}

// ParamPoint is the parameter that names a point.
const ParamPoint = "as_of"

// The words before the numbers of points.
const (
	wordPosition = "position:"
	wordVersion  = "version:"
)

// ParsePoint reads the value of as_of, which may name a version where versions is true.
// Dates without an offset are read on the clock of the site zone, words from the present
// moment on. A value that is refused is named in p.
func ParsePoint(v any, versions bool, now time.Time, site *time.Location, p *calendar.Problems) Point {
	refused := func(r calendar.Reason) Point {
		p.Add(ParamPoint, r)
		return Point{}
	}
	text, ok := v.(string)
	if !ok {
		return refused(calendar.ReasonTypeText)
	}
	wanted := calendar.ReasonPoint
	if versions {
		wanted = calendar.ReasonPointOrVersion
	}
	text = calendar.Trim(text)
	if digits, ok := strings.CutPrefix(text, wordPosition); ok {
		n, ok := parseNumber(digits)
		if !ok {
			return refused(wanted)
		}
		return Point{Form: ByPosition, Position: calendar.Position(n)}
	}
	if digits, ok := strings.CutPrefix(text, wordVersion); ok && versions {
		n, ok := parseNumber(digits)
		if !ok {
			return refused(wanted)
		}
		return Point{Form: ByVersion, Version: n}
	}
	at, exact, ok := ParseMoment(text, now, site)
	switch {
	case !ok:
		return refused(wanted)
	case at.Unix() > now.Unix():
		return refused(calendar.ReasonFuture)
	}
	if !exact {
		at = at.Add(time.Second - time.Millisecond)
	}
	return Point{Form: ByTime, Time: at, Exact: exact}
}

// ParseMoment reads a date of interface 2.4 to the millisecond. Further digits are
// dropped; exact tells that it has a fraction of a second, which instants may have.
func ParseMoment(text string, now time.Time, site *time.Location) (at time.Time, exact, ok bool) {
	d, ok := calendar.ParseDate(text)
	if !ok {
		return time.Time{}, false, false
	}
	at = d.Instant(now, site)
	if year := at.Year(); year < 1 || year > 9999 {
		return time.Time{}, false, false
	}
	_, fraction, exact := strings.Cut(text, ".")
	for i, unit := 0, 100*time.Millisecond; i < len(fraction) && unit >= time.Millisecond && fraction[i]-'0' <= 9; i++ {
		at = at.Add(time.Duration(fraction[i]-'0') * unit)
		unit /= 10
	}
	return at, exact, true
}

// parseNumber reads digits above 0; what is beyond all numbers is the greatest.
func parseNumber(s string) (int64, bool) {
	if !calendar.IsDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	return n, n > 0
}

// ParsePoint is the function ParsePoint at the present moment; it refuses positions above the
// head of the log, too.
func (r *Reader) ParsePoint(ctx context.Context, v any, versions bool, site *time.Location, p *calendar.Problems) (Point, error) {
	point := ParsePoint(v, versions, r.now(), site, p)
	if point.Form != ByPosition {
		return point, nil
	}
	head, err := r.Head(ctx)
	if point.Position > head {
		p.Add(ParamPoint, calendar.ReasonAhead, head.String())
	}
	return point, err
}

// String gives the point as links name it: an instant, a position, a version.
func (pt Point) String() string {
	switch pt.Form {
	case ByPosition:
		return wordPosition + pt.Position.String()
	case ByVersion:
		return wordVersion + strconv.FormatInt(pt.Version, 10)
	default:
		if pt.Exact {
			return pt.Time.Format(TimeLayout)
		}
		return pt.Time.Format("2006-01-02T15:04:05Z")
	}
}
