package calendar

import (
	_ "embed"
	"regexp"
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

// The offsets that a zone may have, in seconds east of UTC.
const (
	minOffset = -12 * 3600
	maxOffset = 14 * 3600
)

// zonesByName load the zones by the lower-case forms of their names, each once.
var zonesByName = func() map[string]func() (Zone, bool) {
	m := make(map[string]func() (Zone, bool), len(zoneNames))
	for _, name := range zoneNames {
		m[strings.ToLower(name)] = sync.OnceValues(func() (Zone, bool) {
			l, err := time.LoadLocation(name)
			return Zone{Name: name, Location: l}, err == nil
		})
	}
	return m
}()

// Unambiguous reports whether a wall clock in the zone identifies a moment: the zone has a name
// of the tz database other than UTC, the offset is one of whole minutes, and the clock does not
// show the time twice.
func (zone Zone) Unambiguous(wall, utc Wall) bool {
	if zone.Name == "UTC" || zonesByName[strings.ToLower(zone.Name)] == nil || int64(wall-utc)%60 != 0 {
		return false
	}
	instant := WallToInstant(wall, zone.Location)
	_, change := instant.In(zone.Location).ZoneBounds()
	_, offset := change.Zone()
	return instant.Unix() == int64(utc) && (change.IsZero() || int64(wall)-int64(offset) < change.Unix())
}

// ParseZone reads a zone name (3.1.3): an IANA name in any case, "UTC", "UTC"
// with an offset, or an offset, from −12 to +14 hours.
func ParseZone(text string) (Zone, bool) {
	text = Trim(text)
	if load, ok := zonesByName[strings.ToLower(text)]; ok {
		return load()
	}
	offset, ok := zoneOffset(text)
	if !ok {
		return Zone{}, false
	}
	return Zone{Name: text, Location: time.FixedZone(text, offset)}, true
}

var offsetForm = regexp.MustCompile(`^(UTC)?([+-])(\d{1,2})(?::(\d\d)|\.(25|5|75))?$`)

// zoneOffset reads UTC±H, UTC±H:MM, UTC±H.25 (.5, .75) and ±HH:MM.
func zoneOffset(text string) (int, bool) {
	texts := offsetForm.FindStringSubmatch(text)
	if texts == nil || texts[1] == "" && (len(texts[3]) != 2 || texts[4] == "") {
		return 0, false
	}
	minutes := number(texts[4]) + map[string]int{"25": 15, "5": 30, "75": 45}[texts[5]]
	offset := number(texts[3])*3600 + minutes*60
	if texts[2] == "-" {
		offset = -offset
	}
	return offset, minutes < 60 && offset >= minOffset && offset <= maxOffset
}

// Abbreviation returns timezone_abbr: the abbreviation valid at an instant, for
// offsets the name of the zone. Zones that the zone database gives no letters
// have its sign and digits, "-03".
func (zone Zone) Abbreviation(instant time.Time) string {
	if zone.Location == nil {
		return zone.Name
	}
	name, _ := instant.In(zone.Location).Zone()
	return name
}
