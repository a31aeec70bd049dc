package calendar

import "time"

// publication sets the status, the publication dates and modified of a post
// (interface 3.6, 5.4).
func (edit *edit) publication() {
	status := edit.status()
	edit.publicationDates(status)
	if status == StatusPublish || status == StatusFuture {
		status = StatusPublish
		if edit.Fields.Wall("date_utc") > Wall(edit.Now.Unix()) {
			status = StatusFuture
		}
	}
	edit.Fields["status"] = string(status)
	delete(edit.Fields, "former_status")
	if edit.stored == nil {
		edit.Fields["modified"], edit.Fields["modified_utc"] = edit.Fields.Wall("date"), edit.Fields.Wall("date_utc")
		return
	}
	edit.setModified()
}

// status returns the status sent, scaled to the rights of the caller; else the
// stored or previous one; else the default of the caller.
func (edit *edit) status() Status {
	status, sent := edit.attrs.Set["status"].(Status)
	switch {
	case sent:
		if (status == StatusPublish || status == StatusFuture) && !MayPublish(edit.Caller) {
			return StatusPending
		}
		return status
	case edit.stored != nil:
		return edit.stored.FormerStatus(edit.Now)
	case MayPublish(edit.Caller):
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
func (edit *edit) publicationDates(status Status) {
	site := edit.Rules.Site
	date, dateSent := edit.attrs.Set["date"].(Date)
	dateUTC, utcSent := edit.attrs.Set["date_utc"].(Date)
	neverPublished := edit.stored == nil || edit.Fields.Wall("date_utc") == NoWall
	local, utc := WallOf(edit.Now.In(site)), Wall(edit.Now.Unix())
	localField, utcField := "date", "date_utc" // that are at fault
	if dateSent {
		zone := site
		if edit.Kind == KindEvent && date.IsWord() {
			zone = edit.zone().Location
		}
		instant := date.Instant(edit.Now, zone)
		local, utc = WallOf(instant.In(site)), Wall(instant.Unix())
	}
	if utcSent {
		instant := dateUTC.Instant(edit.Now, time.UTC)
		if utc = Wall(instant.Unix()); !dateSent {
			local, localField = WallOf(instant.In(site)), utcField
		}
	} else {
		utcField = localField
	}
	checkYears(&edit.problems, localField, local)
	checkYears(&edit.problems, utcField, utc)
	switch {
	case dateSent, utcSent, neverPublished && !isUnpublished(status):
	case edit.stored == nil:
		utc = NoWall
	default:
		return
	}
	edit.Fields["date"], edit.Fields["date_utc"] = local, utc
}
