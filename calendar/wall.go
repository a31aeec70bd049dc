package calendar

import (
	"fmt"
	"math"
	"time"
)

// Wall is a wall clock: a date and time of day without an offset, stored as the
// seconds that a UTC clock showing the same would have since 1970. UTC times of
// records are Walls too. Range: years 0001–9999, or NoWall.
type Wall int64

// NoWall is the publication time of a post that was never published; it is
// answered as 0000-00-00 00:00:00.
const NoWall Wall = math.MinInt64

// WallLayout is the form of times in answers (interface 1.5).
const WallLayout = "2006-01-02 15:04:05"

const noWallText = "0000-00-00 00:00:00"

// WallOf returns what a clock in t's location shows at t.
func WallOf(t time.Time) Wall {
	_, off := t.Zone()
	return Wall(t.Unix() + int64(off))
}

// ParseWall reads the form of String, years 0001 to 9999.
func ParseWall(text string) (Wall, error) {
	if text == noWallText {
		return NoWall, nil
	}
	t, err := time.Parse(WallLayout, text)
	// time.Parse takes fractions of seconds, and the year 0.
	if err != nil || len(text) != len(WallLayout) || t.Year() < 1 {
		return 0, fmt.Errorf("not a wall clock: %q", text)
	}
	return Wall(t.Unix()), nil
}

// UTC returns the wall clock as a time in UTC, for its parts.
func (w Wall) UTC() time.Time { return time.Unix(int64(w), 0).UTC() }

// String returns YYYY-MM-DD HH:MM:SS.
func (w Wall) String() string {
	if w == NoWall {
		return noWallText
	}
	return w.UTC().Format(WallLayout)
}

// MarshalJSON writes the text of String.
func (w Wall) MarshalJSON() ([]byte, error) { return []byte(`"` + w.String() + `"`), nil }
