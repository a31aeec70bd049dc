package history

import (
	"time"

	"daybook/calendar"
)

// Gate reports whether a caller gets a state of a record of a kind at a moment, when he
// asks for its past: who gets it singly without a password; readers of all, whatever its
// state; and the author of an own trashed event. The author is that of the state. It is
// nil, or the *calendar.Error of the single read, in the order of interface 7.3:
// CodeNotFound (no record, of another kind, deleted), CodeErased, CodeNoLongerAvailable,
// CodeNotAccessible, CodePasswordProtected.
//
// The gate "now" is that of the present record at the present moment, the gate "then"
// that of the state in question (HISTORY 4.1): at the moment that is asked for, for a
// version at the end of its life.
func Gate(caller calendar.Caller, kind calendar.Kind, record *calendar.Record, instant time.Time) error {
	switch {
	case record == nil || record.Kind != kind || !kind.IsPost() && !kind.IsTerm() && !ReadsKept(caller):
		return calendar.Fail(calendar.CodeNotFound, kind)
	case caller.ReadsAll():
		return nil
	case record.Erased:
		return calendar.Fail(calendar.CodeErased, kind)
	case record.Deleted:
		return calendar.Fail(calendar.CodeNotFound, kind)
	case kind == calendar.KindEvent && record.Status(instant) == calendar.StatusTrash:
		if caller.Owns(record) {
			return nil
		}
		return calendar.Fail(calendar.CodeNoLongerAvailable, kind)
	case !calendar.MayRead(caller, record, instant):
		return calendar.Fail(calendar.CodeNotAccessible, kind)
	case kind == calendar.KindEvent && calendar.NeedsPassword(caller, record):
		return calendar.Fail(calendar.CodePasswordProtected, kind)
	}
	return nil
}

// Outline returns what gates and names need of a record, without its other texts.
func Outline(record *calendar.Record) *calendar.Record {
	return &calendar.Record{
		ID: record.ID, Kind: record.Kind, Version: record.Version, Home: record.Home, Deleted: record.Deleted, Erased: record.Erased,
		Fields: record.Fields.Copy([]string{"status", "author", "protected", "date_utc", record.Kind.NameField()}),
	}
}

// ReadsKept reports whether a caller reads the past of what the service keeps for itself,
// images and users: administrators and auditors.
func ReadsKept(caller calendar.Caller) bool {
	return caller.Role == calendar.Administrator || caller.Role == calendar.Auditor
}
