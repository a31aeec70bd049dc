package calendar

import "time"

// publication sets the status, the publication dates and modified of a post
// (interface 3.6, 5.4).
func (w *writing) publication() {
	status := w.status()
	w.publicationDates(status)
	if status == StatusPublish || status == StatusFuture {
		status = StatusPublish
		if w.next.Wall("date_utc") > Wall(w.Now.Unix()) {
			status = StatusFuture
		}
	}
	w.next["status"] = string(status)
	delete(w.next, "former_status")
	if w.stored == nil {
		w.next["modified"], w.next["modified_utc"] = w.next.Wall("date"), w.next.Wall("date_utc")
		return
	}
	w.touch()
}

// status gives the status sent, scaled to the rights of the caller; else the
// stored or former one; else the default of the caller.
func (w *writing) status() Status {
	s, sent := w.attrs.Set["status"].(Status)
	switch {
	case sent:
		if (s == StatusPublish || s == StatusFuture) && !MayPublish(w.Caller) {
			return StatusPending
		}
		return s
	case w.stored != nil:
		return w.stored.FormerStatus(w.Now)
	case MayPublish(w.Caller):
		return StatusPublish
	default:
		return StatusDraft
	}
}

// isUnpublished tells whether a post of the status needs neither slug nor
// publication time.
func isUnpublished(s Status) bool { return s == StatusDraft || s == StatusPending }

func (w *writing) publicationDates(status Status) {
	date, dateSent := w.attrs.Set["date"].(Date)
	utc, utcSent := w.attrs.Set["date_utc"].(Date)
	site := w.site()
	local := func(at time.Time) Wall { return WallOf(at.In(site)) }
	if dateSent {
		at := date.Instant(w.Now, w.dateZone(date))
		w.next["date"] = local(at)
		if !utcSent {
			w.next["date_utc"] = Wall(at.Unix())
			w.checkYears("date", w.next.Wall("date_utc"))
		}
		w.checkYears("date", w.next.Wall("date"))
	}
	if utcSent {
		at := utc.Instant(w.Now, time.UTC)
		w.next["date_utc"] = Wall(at.Unix())
		if !dateSent {
			w.next["date"] = local(at)
			w.checkYears("date_utc", w.next.Wall("date"))
		}
		w.checkYears("date_utc", w.next.Wall("date_utc"))
	}
	if dateSent || utcSent {
		return
	}
	neverPublished := w.stored == nil || w.next.Wall("date_utc") == NoWall
	switch {
	case neverPublished && !isUnpublished(status):
		w.next["date"], w.next["date_utc"] = local(w.Now), Wall(w.Now.Unix())
	case w.stored == nil:
		w.next["date"], w.next["date_utc"] = local(w.Now), NoWall
	}
}

// dateZone is the zone that date is read in: words of an event in the event's
// own, all else in that of the site.
func (w *writing) dateZone(d Date) *time.Location {
	if w.kind == KindEvent && d.IsWord() {
		if z, _, err := w.zone(); err == nil {
			return z.Location
		}
	}
	return w.site()
}
