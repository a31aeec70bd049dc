package calendar

import "time"

// publication sets the status, the publication dates and modified of a post
// (interface 3.6, 5.4).
func (e *edit) publication() {
	status := e.status()
	e.publicationDates(status)
	if status == StatusPublish || status == StatusFuture {
		status = StatusPublish
		if e.Fields.Wall("date_utc") > Wall(e.Now.Unix()) {
			status = StatusFuture
		}
	}
	e.Fields["status"] = string(status)
	delete(e.Fields, "former_status")
	if e.stored == nil {
		e.Fields["modified"], e.Fields["modified_utc"] = e.Fields.Wall("date"), e.Fields.Wall("date_utc")
		return
	}
	e.setModified()
}

// status returns the status sent, scaled to the rights of the caller; else the
// stored or previous one; else the default of the caller.
func (e *edit) status() Status {
	s, sent := e.attrs.Set["status"].(Status)
	switch {
	case sent:
		if (s == StatusPublish || s == StatusFuture) && !MayPublish(e.Caller) {
			return StatusPending
		}
		return s
	case e.stored != nil:
		return e.stored.FormerStatus(e.Now)
	case MayPublish(e.Caller):
		return StatusPublish
	default:
		return StatusDraft
	}
}

// isUnpublished reports whether a post of the status needs neither slug nor
// publication time.
func isUnpublished(status Status) bool { return status == StatusDraft || status == StatusPending }

// publicationDates sets the dates that were sent, else those of a post that is new or
// published for the first time. Words are read in the zone of an event, all else in that of
// the site (interface 3.6).
func (e *edit) publicationDates(status Status) {
	site := e.Rules.Site
	date, dateSent := e.attrs.Set["date"].(Date)
	dateUTC, utcSent := e.attrs.Set["date_utc"].(Date)
	neverPublished := e.stored == nil || e.Fields.Wall("date_utc") == NoWall
	local, utc := WallOf(e.Now.In(site)), Wall(e.Now.Unix())
	localField, utcField := "date", "date_utc" // that are at fault
	if dateSent {
		zone := site
		if e.Kind == KindEvent && date.IsWord() {
			zone = e.zone().Location
		}
		at := date.Instant(e.Now, zone)
		local, utc = WallOf(at.In(site)), Wall(at.Unix())
	}
	if utcSent {
		at := dateUTC.Instant(e.Now, time.UTC)
		if utc = Wall(at.Unix()); !dateSent {
			local, localField = WallOf(at.In(site)), utcField
		}
	} else {
		utcField = localField
	}
	checkYears(&e.problems, localField, local)
	checkYears(&e.problems, utcField, utc)
	switch {
	case dateSent, utcSent, neverPublished && !isUnpublished(status):
	case e.stored == nil:
		utc = NoWall
	default:
		return
	}
	e.Fields["date"], e.Fields["date_utc"] = local, utc
}
