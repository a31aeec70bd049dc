package calendar

import "time"

// The lines of the table of interface 6.1 that do not depend on one record.

// atLeast reports whether a role is at or above low in the rising order
// subscriber … administrator. The auditor is outside of it.
func (r Role) atLeast(low Role) bool { return r >= low && r <= Administrator }

// ReadsAll reports whether the caller reads posts of others in every status, and
// their trash in lists: editors, administrators and auditors.
func (c Caller) ReadsAll() bool { return c.Role.atLeast(Editor) || c.Role == Auditor }

// ReadsOwn reports whether the caller reads own posts in every status:
// contributors and up. Auditors have no own posts.
func (c Caller) ReadsOwn() bool { return c.Role.atLeast(Contributor) }

// Owns reports whether the record is an own one of a caller who may have such.
func (c Caller) Owns(r *Record) bool {
	return c.ReadsOwn() && c.ID != 0 && r.Author() == c.ID
}

// MayWrite reports whether a caller may write records of a kind at all: create (true)
// or update and delete (false). It answers nil, CodeUnauthorized or
// CodeForbidden.
func MayWrite(c Caller, k Kind, create bool) error {
	if c.Role == Anonymous {
		return Fail(CodeUnauthorized, k)
	}
	if k.IsPost() && c.Role.atLeast(Contributor) || k.IsTerm() && MayCreateTerm(c, k) {
		return nil
	}
	if k == KindImage && create && MayUseImageURL(c) {
		return nil
	}
	return Fail(CodeForbidden, k)
}

// MayEdit reports whether a caller may update or delete this record: nil or
// CodeForbidden. A trashed post counts with its former status.
func MayEdit(c Caller, r *Record, now time.Time) error {
	if r.Kind.IsTerm() && MayCreateTerm(c, r.Kind) {
		return nil
	}
	if r.Kind.IsPost() {
		switch {
		case c.Role.atLeast(Editor):
			return nil
		case c.Owns(r) && c.Role.atLeast(Author):
			return nil
		case c.Owns(r):
			switch r.FormerStatus(now) {
			case StatusDraft, StatusPending, StatusPrivate:
				return nil
			case StatusPublish, StatusFuture, StatusTrash:
			}
		}
	}
	return Fail(CodeForbidden, r.Kind)
}

// MayRead reports whether a caller may read a post singly, passwords aside; a
// trashed event is read by no one. Terms are read by all, images and users by
// no one: they have no routes.
func MayRead(c Caller, r *Record, now time.Time) bool {
	if !r.Kind.IsPost() {
		return r.Kind.IsTerm()
	}
	switch r.Status(now) {
	case StatusPublish:
		return true
	case StatusTrash:
		if r.Kind == KindEvent {
			return false
		}
	case StatusFuture, StatusDraft, StatusPending, StatusPrivate:
	}
	return c.ReadsAll() || c.Owns(r)
}

// NeedsPassword reports whether the event is protected and the caller is none of
// those who need no password: its author (contributor and up), editors,
// administrators and auditors (interface 6.3).
func NeedsPassword(c Caller, r *Record) bool {
	return r.Fields.Bool("protected") && !c.ReadsAll() && !c.Owns(r)
}

// MayCreateTerm reports whether a caller may make a term of a kind, by name in an
// event too; the same callers update and delete terms of the kind.
func MayCreateTerm(c Caller, k Kind) bool {
	switch k {
	case KindCategory:
		return c.Role.atLeast(Author)
	case KindTag:
		return c.Role.atLeast(Editor)
	default:
		return false
	}
}

// MayNameAuthor reports whether a caller may name the user as the author of a
// post: oneself, or as editor or administrator anybody.
func MayNameAuthor(c Caller, author ID) bool {
	return c.Role.atLeast(Editor) || c.Role.atLeast(Contributor) && author == c.ID
}

// MayUseImageURL reports whether a caller may give an image by its URL, a
// registered one too.
func MayUseImageURL(c Caller) bool { return c.Role.atLeast(Author) }

// MayPublish reports whether a caller may publish and schedule posts. For a
// contributor these statuses become pending (interface 5.4).
func MayPublish(c Caller) bool { return c.Role.atLeast(Author) }
