package history

import (
	"time"

	"daybook/calendar"
)

// Gate reports whether a caller gets a state of a record of a kind at a moment, when he
// asks for its past: who gets it singly without a password; readers of all, whatever its
// state; and the author of an own trashed event. The author is that of the state. It is
// nil, or the *calendar.Error of the single read, in the order of interface 7.3:
// CodeNotFound (no record, of another kind, deleted), CodeNoLongerAvailable,
// CodeNotAccessible, CodePasswordProtected.
//
// The gate "now" is that of the present record at the present moment, the gate "then"
// that of the state in question (HISTORY 4.1): at the moment that is asked for, for a version at its EndOfLife.
func Gate(c calendar.Caller, k calendar.Kind, r *calendar.Record, at time.Time) error {
	switch {
	case r == nil || r.Kind != k:
		return calendar.Fail(calendar.CodeNotFound, k)
	case !k.IsPost() && !k.IsTerm():
		if ReadsKept(c) {
			return nil
		}
		return calendar.Fail(calendar.CodeNotFound, k)
	case c.ReadsAll():
		return nil
	case r.Deleted:
		return calendar.Fail(calendar.CodeNotFound, k)
	case k == calendar.KindEvent && r.Status(at) == calendar.StatusTrash:
		if c.Owns(r) {
			return nil
		}
		return calendar.Fail(calendar.CodeNoLongerAvailable, k)
	case !calendar.MayRead(c, r, at):
		return calendar.Fail(calendar.CodeNotAccessible, k)
	case k == calendar.KindEvent && calendar.NeedsPassword(c, r):
		return calendar.Fail(calendar.CodePasswordProtected, k)
	}
	return nil
}

// Outline returns what gates and names need of a record, without its other texts.
func Outline(r *calendar.Record) *calendar.Record {
	return &calendar.Record{
		ID: r.ID, Kind: r.Kind, Version: r.Version, Home: r.Home, Deleted: r.Deleted, Erased: r.Erased,
		Fields: r.Fields.Copy([]string{"status", "author", "protected", "date_utc", r.Kind.NameField()}),
	}
}

// ReadsKept reports whether a caller reads the past of what the service keeps for itself,
// images and users: administrators and auditors.
func ReadsKept(c calendar.Caller) bool {
	return c.Role == calendar.Administrator || c.Role == calendar.Auditor
}

// EndOfLife is when the life of a version that was written at a moment ends: when the next
// one was written (zero: none exists, and it lives now). A next one that is not later
// leaves it the single moment. The gate "then" is asked there for a version.
func EndOfLife(written, next, now time.Time) time.Time {
	if next.IsZero() {
		next = now
	}
	if next.After(written) {
		return next
	}
	return written
}
