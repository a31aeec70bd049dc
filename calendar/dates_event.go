package calendar

import (
	"slices"
	"time"
)

// zone returns the zone of an event as it will be stored, one without a location where
// the stored one is unknown.
func (edit *edit) zone() Zone {
	if sent, ok := edit.attrs.Set["timezone"].(Zone); ok {
		return sent
	}
	site, stored := edit.Rules.site(), edit.Fields.String("timezone")
	if _, cleared := edit.attrs.Set["timezone"].(Clear); cleared || stored == "" || stored == site.Name {
		return site
	}
	zone, _ := ParseZone(stored)
	return zone
}

// eventDates sets start, end, their UTC times and the zone of what was sent and of the
// fields before (interface 3.1.2).
func (edit *edit) eventDates() {
	sent, before, allDay := edit.attrs.Set, edit.Fields, edit.Fields.Bool("all_day")
	unread := func(bad FieldError) bool { return bad.Field == "timezone" || bad.Field == "all_day" }
	if slices.ContainsFunc(edit.problems.Fields, unread) || edit.stored == nil && (sent["start_date"] == nil || sent["end_date"] == nil) {
		return // what was sent is refused
	}
	zone := edit.zone()
	location, sameZone := zone.Location, zone.Name == before.String("timezone")
	if location == nil {
		edit.problems.Add("timezone", ReasonZone)
		return
	}
	unchanged := sameZone && sent["all_day"] == nil && sent["start_date"] == nil && sent["end_date"] == nil
	resolve := func(field string, edge func(Wall, *time.Location) (wall, utc Wall)) (wall, utc Wall) {
		stored, storedUTC := before.Wall(field), before.Wall("utc_"+field)
		if unchanged {
			return stored, storedUTC
		}
		wall = stored
		if date, ok := sent[field].(Date); ok {
			wall = date.Wall(edit.Now, location)
			if !allDay && (date.IsInstant() || date.IsWord()) {
				return wall, Wall(date.Instant(edit.Now, location).Unix())
			}
		}
		switch {
		case allDay:
			return edge(wall, location)
		case sameZone && wall == stored:
			return wall, storedUTC // in an overlap, the reading stays
		}
		instant := WallToInstant(wall, location)
		return WallOf(instant.In(location)), Wall(instant.Unix())
	}
	start, startUTC := resolve("start_date", firstOfDay)
	end, endUTC := resolve("end_date", lastOfDay)
	checkYears(&edit.problems, "start_date", start, startUTC)
	checkYears(&edit.problems, "end_date", end, endUTC)
	if endUTC < startUTC {
		edit.problems.Add("end_date", ReasonEndBeforeStart)
	}
	edit.Fields["timezone"] = zone.Name
	edit.Fields["start_date"], edit.Fields["utc_start_date"] = start, startUTC
	edit.Fields["end_date"], edit.Fields["utc_end_date"] = end, endUTC
}

// checkYears refuses times that the stored form cannot hold.
func checkYears(problems *Problems, field string, times ...Wall) {
	for _, wall := range times {
		if !wall.InYears() {
			problems.Add(field, ReasonDateRange)
		}
	}
}

const daySeconds = 24 * 60 * 60

// Midnight returns 00:00:00 of the day.
func (wall Wall) Midnight() Wall { return wall - (wall%daySeconds+daySeconds)%daySeconds }

// firstOfDay and lastOfDay return the first and the last second of the day of a wall clock.
func firstOfDay(w Wall, location *time.Location) (wall, utc Wall) {
	begin, _ := Day(w, location)
	return w.Midnight(), Wall(begin.Unix())
}

func lastOfDay(w Wall, location *time.Location) (wall, utc Wall) {
	begin, end := Day(w, location)
	return w.Midnight() + daySeconds - 1, Wall(max(begin.Unix(), end.Unix()-1))
}
