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

// publicationDates sets the dates that were sent, else those of a post that is new or
// published for the first time.
func (w *writing) publicationDates(status Status) {
	local, utc, sent := sentPublication(w.kind, w.attrs.Set, w.next, w.Rules.site(), w.Now, &w.problems)
	if !sent {
		neverPublished := w.stored == nil || w.next.Wall("date_utc") == NoWall
		switch {
		case neverPublished && !isUnpublished(status):
			utc = Wall(w.Now.Unix())
		case w.stored == nil:
			utc = NoWall
		default:
			return
		}
		local = WallOf(w.Now.In(w.Rules.Site))
	}
	w.next["date"], w.next["date_utc"] = local, utc
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
