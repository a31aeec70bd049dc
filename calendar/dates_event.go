package calendar

import "time"

// eventTimes are the start and the end of an event.
type eventTimes struct{ start, startUTC, end, endUTC Wall }

// eventTimesOf returns the times of an event in a zone as they will be stored, of what was
// sent and of the fields before (interface 3.1.2).
func eventTimesOf(set map[string]any, before Fields, zone Zone, now time.Time) eventTimes {
	start, startSent := set["start_date"].(Date)
	end, endSent := set["end_date"].(Date)
	allDay, allDaySent := set["all_day"].(bool)
	t := eventTimes{
		start: before.Wall("start_date"), startUTC: before.Wall("utc_start_date"),
		end: before.Wall("end_date"), endUTC: before.Wall("utc_end_date"),
	}
	sameZone := zone.Name == before.String("timezone")
	if sameZone && !startSent && !endSent && !allDaySent {
		return t
	}
	c := eventClock{now: now, zone: zone.Location, sameZone: sameZone, allDay: allDay || !allDaySent && before.Bool("all_day")}
	t.start, t.startUTC = c.resolve(start, startSent, t.start, t.startUTC, firstOfDay)
	t.end, t.endUTC = c.resolve(end, endSent, t.end, t.endUTC, lastOfDay)
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
func (w *writing) eventDates() {
	zone, ok := eventZone(w.attrs.Set, w.next, w.Rules.site())
	if !ok {
		w.problems.Add("timezone", ReasonZone)
		return
	}
	t := eventTimesOf(w.attrs.Set, w.next, zone, w.Now)
	t.check(&w.problems)
	w.next["timezone"] = zone.Name
	w.next["start_date"], w.next["utc_start_date"] = t.start, t.startUTC
	w.next["end_date"], w.next["utc_end_date"] = t.end, t.endUTC
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

// eventClock resolves the start and the end of one event.
type eventClock struct {
	now      time.Time
	zone     *time.Location
	sameZone bool // the stored times were made in the zone
	allDay   bool
}

// resolve gives the wall clock and the UTC time of a start or an end. edge gives those of
// the beginning or the end of a day, for all-day events.
func (c *eventClock) resolve(d Date, sent bool, storedWall, storedUTC Wall, edge func(Wall, *time.Location) (wall, utc Wall)) (wall, utc Wall) {
	wall = storedWall
	switch {
	case sent && (d.IsInstant() || d.IsWord()):
		at := d.Instant(c.now, c.zone)
		wall = WallOf(at.In(c.zone))
		if !c.allDay {
			return wall, Wall(at.Unix())
		}
	case sent:
		wall = d.Wall(c.now, c.zone)
	}
	switch {
	case c.allDay:
		return edge(wall, c.zone)
	case c.sameZone && wall == storedWall:
		return wall, storedUTC // keeps the reading of an overlap that it has
	}
	at := WallToInstant(wall, c.zone)
	return WallOf(at.In(c.zone)), Wall(at.Unix())
}
