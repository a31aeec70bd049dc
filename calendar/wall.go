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

// WallOf returns what a clock in the location of an instant shows then.
func WallOf(instant time.Time) Wall {
	_, off := instant.Zone()
	return Wall(instant.Unix() + int64(off))
}

// ParseWall reads the form of String, years 0001 to 9999.
func ParseWall(text string) (Wall, error) {
	if text == noWallText {
		return NoWall, nil
	}
	if len(text) == len(WallLayout) && text[10] == ' ' {
		instant, err := time.Parse(time.RFC3339, text[:10]+"T"+text[11:]+"Z") // the form that is read fastest
		if err == nil && instant.Year() > 0 {
			return Wall(instant.Unix()), nil
		}
	}
	return 0, fmt.Errorf("not a wall clock: %q", text)
}

// UTC returns the wall clock as a time in UTC, for its parts.
func (wall Wall) UTC() time.Time { return time.Unix(int64(wall), 0).UTC() }

// String returns YYYY-MM-DD HH:MM:SS.
func (wall Wall) String() string {
	if wall == NoWall {
		return noWallText
	}
	return wall.UTC().Format(WallLayout)
}

// MarshalJSON writes the text of String.
func (wall Wall) MarshalJSON() ([]byte, error) { return []byte(`"` + wall.String() + `"`), nil }
