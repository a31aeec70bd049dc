package calendar

import "time"

// publication sets the status, the publication dates and modified of a post
// (interface 3.6, 5.4).
func (e *edit) publication() {
	status := e.status()
	e.publicationDates(status)
	if status == StatusPublish || status == StatusFuture {
		status = StatusPublish
		if e.next.Wall("date_utc") > Wall(e.Now.Unix()) {
			status = StatusFuture
		}
	}
	e.next["status"] = string(status)
	delete(e.next, "former_status")
	if e.stored == nil {
		e.next["modified"], e.next["modified_utc"] = e.next.Wall("date"), e.next.Wall("date_utc")
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
func isUnpublished(s Status) bool { return s == StatusDraft || s == StatusPending }

// publicationDates sets the dates that were sent, else those of a post that is new or
// published for the first time.
func (e *edit) publicationDates(status Status) {
	local, utc, sent := sentPublication(e.kind, e.attrs.Set, e.next, e.Rules.site(), e.Now, &e.problems)
	if !sent {
		neverPublished := e.stored == nil || e.next.Wall("date_utc") == NoWall
		switch {
		case neverPublished && !isUnpublished(status):
			utc = Wall(e.Now.Unix())
		case e.stored == nil:
			utc = NoWall
		default:
			return
		}
		local = WallOf(e.Now.In(e.Rules.Site))
	}
	e.next["date"], e.next["date_utc"] = local, utc
}

// sentPublication returns the publication dates of a post as they will be stored where one
// was sent, and refuses those that the stored form cannot hold. Words are read in the zone
// of an event, all else in that of the site (interface 3.6).
func sentPublication(k Kind, set map[string]any, stored Fields, site Zone, now time.Time, p *Problems) (local, utc Wall, sent bool) {
	date, dateSent := set["date"].(Date)
	dateUTC, utcSent := set["date_utc"].(Date)
	localField, utcField := "date", "date_utc"
	if dateSent {
		zone := site
		if k == KindEvent && date.IsWord() {
			zone, _ = eventZone(set, stored, site)
		}
		at := date.Instant(now, zone.Location)
		local, utc = WallOf(at.In(site.Location)), Wall(at.Unix())
	} else {
		localField = utcField
	}
	if utcSent {
		at := dateUTC.Instant(now, time.UTC)
		utc = Wall(at.Unix())
		if !dateSent {
			local = WallOf(at.In(site.Location))
		}
	} else {
		utcField = localField
	}
	if dateSent || utcSent {
		checkYears(p, localField, local)
		checkYears(p, utcField, utc)
	}
	return local, utc, dateSent || utcSent
}
