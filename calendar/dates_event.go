package calendar

import (
	"fmt"
	"time"
)

// zone gives the zone of an event as it will be, and whether it is the one that
// the stored times were made in.
func (w *writing) zone() (z Zone, same bool, err error) {
	before := w.next.String("timezone")
	switch v := w.attrs.Set["timezone"].(type) {
	case Zone:
		z = v
	case Clear:
		z = w.siteZone()
	default:
		z = w.siteZone()
		if before != z.Name {
			var ok bool
			if z, ok = ParseZone(before); !ok {
				return z, false, fmt.Errorf("stored time zone %q is unknown", before)
			}
		}
	}
	return z, w.stored != nil && z.Name == before, nil
}

// eventDates sets start, end, their UTC times and the zone by interface 3.1.2.
func (w *writing) eventDates() error {
	z, same, err := w.zone()
	if err != nil {
		return err
	}
	w.next["timezone"] = z.Name
	start, startSent := w.attrs.Set["start_date"].(Date)
	end, endSent := w.attrs.Set["end_date"].(Date)
	_, allDaySent := w.attrs.Set["all_day"]
	if w.stored != nil && same && !startSent && !endSent && !allDaySent {
		return nil
	}
	t := eventTime{now: w.Now, zone: z.Location, sameZone: same, allDay: w.next.Bool("all_day")}
	startWall, startUTC := t.resolve(start, startSent, w.next.Wall("start_date"), w.next.Wall("utc_start_date"), firstOfDay)
	endWall, endUTC := t.resolve(end, endSent, w.next.Wall("end_date"), w.next.Wall("utc_end_date"), lastOfDay)
	w.checkYears("start_date", startWall, startUTC)
	w.checkYears("end_date", endWall, endUTC)
	if endUTC < startUTC {
		w.problems.Add("end_date", ReasonEndBeforeStart)
	}
	w.next["start_date"], w.next["utc_start_date"] = startWall, startUTC
	w.next["end_date"], w.next["utc_end_date"] = endWall, endUTC
	return nil
}

// checkYears refuses times that the stored form cannot hold.
func (w *writing) checkYears(field string, times ...Wall) {
	for _, t := range times {
		if !t.InYears() {
			w.problems.Add(field, ReasonDateRange)
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

// eventTime resolves the start and the end of one event.
type eventTime struct {
	now      time.Time
	zone     *time.Location
	sameZone bool // the stored times were made in the zone
	allDay   bool
}

// resolve gives the wall clock and the UTC time of a start or an end. edge gives those of
// the beginning or the end of a day, for all-day events.
func (t *eventTime) resolve(d Date, sent bool, storedWall, storedUTC Wall, edge func(Wall, *time.Location) (wall, utc Wall)) (wall, utc Wall) {
	wall = storedWall
	switch {
	case sent && (d.IsInstant() || d.IsWord()):
		at := d.Instant(t.now, t.zone)
		wall = WallOf(at.In(t.zone))
		if !t.allDay {
			return wall, Wall(at.Unix())
		}
	case sent:
		wall = d.Wall(t.now, t.zone)
	}
	switch {
	case t.allDay:
		return edge(wall, t.zone)
	case t.sameZone && wall == storedWall:
		return wall, storedUTC // keeps the reading of an overlap that it has
	}
	at := WallToInstant(wall, t.zone)
	return WallOf(at.In(t.zone)), Wall(at.Unix())
}
