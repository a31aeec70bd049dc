package calendar

import "time"

// eventTimes are the start and the end of an event.
type eventTimes struct{ start, startUTC, end, endUTC Wall }

// eventTimesOf returns the times of an event in a zone as they will be stored, of what was
// sent and of the fields before (interface 3.1.2).
func eventTimesOf(set map[string]any, before Fields, zone Zone, now time.Time) (t eventTimes) {
	z, sameZone := zone.Location, zone.Name == before.String("timezone")
	allDay, sent := set["all_day"].(bool)
	if !sent {
		allDay = before.Bool("all_day")
	}
	unchanged := sameZone && !sent && set["start_date"] == nil && set["end_date"] == nil
	resolve := func(field string, edge func(Wall, *time.Location) (wall, utc Wall)) (wall, utc Wall) {
		stored, storedUTC := before.Wall(field), before.Wall("utc_"+field)
		if unchanged {
			return stored, storedUTC
		}
		wall = stored
		if d, sent := set[field].(Date); sent {
			wall = d.Wall(now, z)
			if !allDay && (d.IsInstant() || d.IsWord()) {
				return wall, Wall(d.Instant(now, z).Unix())
			}
		}
		switch {
		case allDay:
			return edge(wall, z)
		case sameZone && wall == stored:
			return wall, storedUTC // in an overlap, the reading stays
		}
		at := WallToInstant(wall, z)
		return WallOf(at.In(z)), Wall(at.Unix())
	}
	t.start, t.startUTC = resolve("start_date", firstOfDay)
	t.end, t.endUTC = resolve("end_date", lastOfDay)
	return t
}

// eventZone returns the zone of an event as it will be stored; ok is false for a stored one
// that is unknown.
func eventZone(set map[string]any, before Fields, site Zone) (z Zone, ok bool) {
	stored := before.String("timezone")
	switch v := set["timezone"].(type) {
	case Zone:
		return v, true
	case nil:
		if stored != "" && stored != site.Name {
			return ParseZone(stored)
		}
	}
	return site, true
}

// eventDates sets start, end, their UTC times and the zone.
func (e *edit) eventDates() {
	zone, ok := eventZone(e.attrs.Set, e.next, e.Rules.site())
	if !ok {
		e.problems.Add("timezone", ReasonZone)
		return
	}
	t := eventTimesOf(e.attrs.Set, e.next, zone, e.Now)
	t.check(&e.problems)
	e.next["timezone"] = zone.Name
	e.next["start_date"], e.next["utc_start_date"] = t.start, t.startUTC
	e.next["end_date"], e.next["utc_end_date"] = t.end, t.endUTC
}

// check refuses times that the stored form cannot hold, and an end before the start.
func (t *eventTimes) check(p *Problems) {
	checkYears(p, "start_date", t.start, t.startUTC)
	checkYears(p, "end_date", t.end, t.endUTC)
	if t.endUTC < t.startUTC {
		p.Add("end_date", ReasonEndBeforeStart)
	}
}

// checkYears refuses times that the stored form cannot hold.
func checkYears(p *Problems, field string, times ...Wall) {
	for _, t := range times {
		if !t.InYears() {
			p.Add(field, ReasonDateRange)
		}
	}
}

const daySeconds = 24 * 60 * 60

func startOfDay(w Wall) Wall { return w - (w%daySeconds+daySeconds)%daySeconds }

// firstOfDay and lastOfDay return the first and the last second of the day of a wall clock.
func firstOfDay(w Wall, z *time.Location) (wall, utc Wall) {
	begin, _ := Day(w, z)
	return startOfDay(w), Wall(begin.Unix())
}

func lastOfDay(w Wall, z *time.Location) (wall, utc Wall) {
	begin, end := Day(w, z)
	return startOfDay(w) + daySeconds - 1, Wall(max(begin.Unix(), end.Unix()-1))
}
