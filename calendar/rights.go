package calendar

import "time"

// The lines of the table of interface 6.1 that do not depend on one record.

// atLeast reports whether a role is at or above low in the rising order
// subscriber … administrator. The auditor is outside of it.
func (role Role) atLeast(low Role) bool { return role >= low && role <= Administrator }

// ReadsAll reports whether the caller reads posts of others in every status, and
// their trash in lists: editors, administrators and auditors.
func (caller Caller) ReadsAll() bool { return caller.Role.atLeast(Editor) || caller.Role == Auditor }

// ReadsOwn reports whether the caller reads own posts in every status:
// contributors and up. Auditors have no own posts.
func (caller Caller) ReadsOwn() bool { return caller.Role.atLeast(Contributor) }

// Owns reports whether the record is an own one of a caller who may have such.
func (caller Caller) Owns(record *Record) bool {
	return caller.ReadsOwn() && caller.ID != 0 && record.Author() == caller.ID
}

// MayWrite reports whether a caller may write records of a kind at all. It answers nil,
// CodeUnauthorized or CodeForbidden.
func MayWrite(caller Caller, kind Kind) error {
	if caller.Role == Anonymous {
		return Fail(CodeUnauthorized, kind)
	}
	if kind.IsPost() && caller.Role.atLeast(Contributor) || MayCreateTerm(caller, kind) {
		return nil
	}
	return Fail(CodeForbidden, kind)
}

// MayEdit reports whether a caller may update or delete this record: nil or
// CodeForbidden. A trashed post counts with its former status.
func MayEdit(caller Caller, record *Record, now time.Time) error {
	status := record.FormerStatus(now)
	own := caller.Owns(record) && (caller.Role.atLeast(Author) || isUnpublished(status) || status == StatusPrivate)
	if MayCreateTerm(caller, record.Kind) || record.Kind.IsPost() && (caller.Role.atLeast(Editor) || own) {
		return nil
	}
	return Fail(CodeForbidden, record.Kind)
}

// MayRead reports whether a caller may read a post singly, passwords aside; a
// trashed event is read by no one. Terms are read by all, images and users by
// no one: they have no routes.
func MayRead(caller Caller, record *Record, now time.Time) bool {
	if !record.Kind.IsPost() {
		return record.Kind.IsTerm()
	}
	status := record.Status(now)
	return status == StatusPublish || (status != StatusTrash || record.Kind != KindEvent) && (caller.ReadsAll() || caller.Owns(record))
}

// NeedsPassword reports whether the event is protected and the caller is none of
// those who need no password: its author (contributor and up), editors,
// administrators and auditors (interface 6.3).
func NeedsPassword(caller Caller, record *Record) bool {
	return record.Fields.Bool("protected") && !caller.ReadsAll() && !caller.Owns(record)
}

// MayCreateTerm reports whether a caller may make a term of a kind, by name in an
// event too; the same callers update and delete terms of the kind.
func MayCreateTerm(caller Caller, kind Kind) bool {
	return kind == KindCategory && caller.Role.atLeast(Author) || kind == KindTag && caller.Role.atLeast(Editor)
}

// MayNameAuthor reports whether a caller may name the user as the author of a
// post: oneself, or as editor or administrator anybody.
func MayNameAuthor(caller Caller, author ID) bool {
	return caller.Role.atLeast(Editor) || caller.Role.atLeast(Contributor) && author == caller.ID
}

// MayUseImageURL reports whether a caller may give an image by its URL, a
// registered one too.
func MayUseImageURL(caller Caller) bool { return caller.Role.atLeast(Author) }

// MayPublish reports whether a caller may publish and schedule posts. For a
// contributor these statuses become pending (interface 5.4).
func MayPublish(caller Caller) bool { return caller.Role.atLeast(Author) }
