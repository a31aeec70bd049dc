package calendar

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on machines without a zone database
)

//go:embed zonenames.txt
var zoneText string

// zoneNames are the names of the IANA time zone database, in the order of their
// lower-case forms. They are those of the copy that Go ships (lib/time); a test
// compares them with it.
var zoneNames = strings.Fields(zoneText)

// Zone is a time zone of an event (interface 3.1.3).
type Zone struct {
	Name     string // as answered
	Location *time.Location
}

// Equal tells whether two zones are answered the same.
func (z Zone) Equal(o Zone) bool { return z.Name == o.Name }

// The offsets that a zone may have, in seconds east of UTC.
const (
	minOffset = -12 * 3600
	maxOffset = 14 * 3600
)

// locations keeps the loaded zones by proper name; there are no more than
// zoneNames.
var locations sync.Map

// Named tells whether the zone has a name of the tz database other than UTC.
func (z Zone) Named() bool {
	return z.Location != nil && !strings.HasPrefix(z.Name, "UTC") && z.Name != "" && z.Name[0] != '+' && z.Name[0] != '-'
}

// Tells tells whether a wall clock in the zone tells a moment: the offset is one of whole
// minutes, and the clock does not show the time for the second time.
func (z Zone) Tells(w, utc Wall) bool {
	return int64(w-utc)%60 == 0 && WallToInstant(w, z.Location).Unix() == int64(utc)
}

// ParseZone reads a zone name (3.1.3): an IANA name in any case, "UTC", "UTC"
// with an offset, or an offset, from −12 to +14 hours.
func ParseZone(s string) (Zone, bool) {
	if s = Trim(s); s == "" {
		return Zone{}, false
	}
	if offset, ok := zoneOffset(s); ok {
		return Zone{Name: s, Location: time.FixedZone(s, offset)}, true
	}
	if l, ok := locations.Load(s); ok {
		return Zone{Name: s, Location: l.(*time.Location)}, true
	}
	low := strings.ToLower(s)
	i, ok := slices.BinarySearchFunc(zoneNames, low, func(name, low string) int {
		return strings.Compare(strings.ToLower(name), low)
	})
	if !ok {
		return Zone{}, false
	}
	name := zoneNames[i]
	if l, ok := locations.Load(name); ok {
		return Zone{Name: name, Location: l.(*time.Location)}, true
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return Zone{}, false
	}
	locations.Store(name, l)
	return Zone{Name: name, Location: l}, true
}

// zoneOffset reads UTC±H, UTC±H:MM, UTC±H.25 (.5, .75) and ±HH:MM.
func zoneOffset(s string) (int, bool) {
	s, hasUTC := strings.CutPrefix(s, "UTC")
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	s = s[1:]
	hours, minutes := s, 0
	switch i := strings.IndexAny(s, ":."); {
	case i < 0:
		if !hasUTC {
			return 0, false
		}
	case s[i] == ':':
		if !hasUTC && i != 2 {
			return 0, false
		}
		m, ok := digits(s[i+1:])
		if !ok || len(s) != i+3 || m > 59 {
			return 0, false
		}
		hours, minutes = s[:i], m
	default:
		m, ok := map[string]int{"25": 15, "5": 30, "75": 45}[s[i+1:]]
		if !ok || !hasUTC {
			return 0, false
		}
		hours, minutes = s[:i], m
	}
	h, ok := digits(hours)
	if !ok || len(hours) > 2 {
		return 0, false
	}
	offset := sign * (h*3600 + minutes*60)
	return offset, offset >= minOffset && offset <= maxOffset
}

// Abbreviation gives timezone_abbr: the abbreviation valid at an instant, for
// offsets the name of the zone. Zones that the zone database gives no letters
// have its sign and digits, "-03".
func (z Zone) Abbreviation(at time.Time) string {
	if z.Location == nil {
		return z.Name
	}
	name, _ := at.In(z.Location).Zone()
	return name
}
