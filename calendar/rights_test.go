package calendar

import (
	"errors"
	"testing"
	"time"
)

// The callers of the table of interface 6.1, in its columns; each has the id 7.
var columns = []Role{Anonymous, Subscriber, Contributor, Author, Editor, Administrator, Auditor}

const (
	self  ID = 7
	other ID = 8
)

func callerOf(r Role) Caller {
	if r == Anonymous {
		return Caller{}
	}
	return Caller{ID: self, Role: r}
}

// post is a post of a kind, status and author.
func post(k Kind, author ID, s Status) *Record {
	return &Record{ID: 100, Kind: k, Version: 1, Home: LangEN, Fields: Fields{"author": author, "status": string(s)}}
}

func trashedPost(k Kind, author ID, former Status) *Record {
	r := post(k, author, StatusTrash)
	r.Fields["former_status"] = string(former)
	return r
}

// answer renders what a right answers: "yes", the status of the refusal, or an
// answer that no right may give.
func answer(err error) string {
	e, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return "yes"
	case ok && e.Code == CodeUnauthorized:
		return "401"
	case ok && e.Code == CodeForbidden:
		return "403"
	default:
		return "unexpected: " + err.Error()
	}
}

func yesNo(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

func TestRights(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
	ahead := Wall(now.Unix()) + 1
	posts := []Kind{KindEvent, KindVenue, KindOrganizer}
	unpublished := []Status{StatusDraft, StatusPending, StatusPrivate}

	// The general right before the right on the record, as routes check them.
	edit := func(r *Record) func(Caller) string {
		return func(c Caller) string {
			if a := answer(MayWrite(c, r.Kind, false)); a != "yes" {
				return a
			}
			return answer(MayEdit(c, r, now))
		}
	}
	read := func(r *Record) func(Caller) string {
		return func(c Caller) string { return yesNo(MayRead(c, r, now)) }
	}
	all := func(s string) [7]string { return [7]string{s, s, s, s, s, s, s} }

	type row struct {
		name string
		act  func(Caller) string
		want [7]string // anonymous, subscriber, contributor, author, editor, administrator, auditor
	}
	var rows []row
	for _, k := range posts {
		n := k.String()
		for _, author := range []ID{self, other} {
			rows = append(rows, row{"read a published " + n, read(post(k, author, StatusPublish)), all("yes")})
		}
		for _, s := range unpublished {
			own, foreign := post(k, self, s), post(k, other, s)
			rows = append(rows,
				row{"read an own " + string(s) + " " + n, read(own), [7]string{"no", "no", "yes", "yes", "yes", "yes", "yes"}},
				row{"read a foreign " + string(s) + " " + n, read(foreign), [7]string{"no", "no", "no", "no", "yes", "yes", "yes"}},
				row{"edit an own " + string(s) + " " + n, edit(own), [7]string{"401", "403", "yes", "yes", "yes", "yes", "403"}},
				row{"edit a foreign " + string(s) + " " + n, edit(foreign), [7]string{"401", "403", "403", "403", "yes", "yes", "403"}},
				row{"restore an own " + n + " that was " + string(s), edit(trashedPost(k, self, s)), [7]string{"401", "403", "yes", "yes", "yes", "yes", "403"}},
			)
		}
		scheduled, due := post(k, self, StatusFuture), post(k, self, StatusFuture)
		scheduled.Fields["date_utc"], due.Fields["date_utc"] = ahead, ahead-1
		foreign := post(k, other, StatusFuture)
		foreign.Fields["date_utc"] = ahead
		rows = append(rows,
			row{"read an own scheduled " + n, read(scheduled), [7]string{"no", "no", "yes", "yes", "yes", "yes", "yes"}},
			row{"read a foreign scheduled " + n, read(foreign), [7]string{"no", "no", "no", "no", "yes", "yes", "yes"}},
			row{"read a due " + n, read(due), all("yes")},
			row{"edit an own scheduled " + n, edit(scheduled), [7]string{"401", "403", "403", "yes", "yes", "yes", "403"}},
			row{"edit an own published " + n, edit(post(k, self, StatusPublish)), [7]string{"401", "403", "403", "yes", "yes", "yes", "403"}},
			row{"edit a foreign published " + n, edit(post(k, other, StatusPublish)), [7]string{"401", "403", "403", "403", "yes", "yes", "403"}},
			row{"restore an own " + n + " that was published", edit(trashedPost(k, self, StatusPublish)), [7]string{"401", "403", "403", "yes", "yes", "yes", "403"}},
			row{"restore a foreign " + n, edit(trashedPost(k, other, StatusDraft)), [7]string{"401", "403", "403", "403", "yes", "yes", "403"}},
			row{"create a " + n, func(c Caller) string { return answer(MayWrite(c, k, true)) }, [7]string{"401", "403", "yes", "yes", "yes", "yes", "403"}},
			row{"update any " + n, func(c Caller) string { return answer(MayWrite(c, k, false)) }, [7]string{"401", "403", "yes", "yes", "yes", "yes", "403"}},
		)
	}
	for _, k := range []Kind{KindVenue, KindOrganizer} {
		rows = append(rows,
			row{"read an own trashed " + k.String(), read(trashedPost(k, self, StatusPublish)), [7]string{"no", "no", "yes", "yes", "yes", "yes", "yes"}},
			row{"read a foreign trashed " + k.String(), read(trashedPost(k, other, StatusPublish)), [7]string{"no", "no", "no", "no", "yes", "yes", "yes"}},
		)
	}
	protected := func(author ID) func(Caller) string {
		r := post(KindEvent, author, StatusPublish)
		r.Fields["protected"] = true
		return func(c Caller) string { return yesNo(NeedsPassword(c, r)) }
	}
	category, tag := &Record{ID: 30, Kind: KindCategory, Fields: Fields{}}, &Record{ID: 45, Kind: KindTag, Fields: Fields{}}
	termsOf := func(k Kind) func(Caller) string {
		return func(c Caller) string { return yesNo(MayCreateTerm(c, k)) }
	}
	rows = append(rows,
		row{"read an own trashed event", read(trashedPost(KindEvent, self, StatusPublish)), all("no")},
		row{"read a category", read(category), all("yes")},
		row{"read a tag", read(tag), all("yes")},
		row{"read an image as a record", read(&Record{Kind: KindImage, Fields: Fields{}}), all("no")},
		row{"read a user", read(&Record{Kind: KindUser, Fields: Fields{}}), all("no")},
		row{"password of an own event", protected(self), [7]string{"yes", "yes", "no", "no", "no", "no", "no"}},
		row{"password of a foreign event", protected(other), [7]string{"yes", "yes", "yes", "yes", "no", "no", "no"}},
		row{"password of an open event", func(c Caller) string { return yesNo(NeedsPassword(c, post(KindEvent, other, StatusPublish))) }, all("no")},
		row{"publish, schedule", func(c Caller) string { return yesNo(MayPublish(c)) }, [7]string{"no", "no", "no", "yes", "yes", "yes", "no"}},
		row{"name oneself as author", func(c Caller) string { return yesNo(MayNameAuthor(c, self)) }, [7]string{"no", "no", "yes", "yes", "yes", "yes", "no"}},
		row{"name another author", func(c Caller) string { return yesNo(MayNameAuthor(c, other)) }, [7]string{"no", "no", "no", "no", "yes", "yes", "no"}},
		row{"image by URL", func(c Caller) string { return yesNo(MayUseImageURL(c)) }, [7]string{"no", "no", "no", "yes", "yes", "yes", "no"}},
		row{"register an image", func(c Caller) string { return answer(MayWrite(c, KindImage, true)) }, [7]string{"401", "403", "403", "yes", "yes", "yes", "403"}},
		row{"create a category", func(c Caller) string { return answer(MayWrite(c, KindCategory, true)) }, [7]string{"401", "403", "403", "yes", "yes", "yes", "403"}},
		row{"edit a category", edit(category), [7]string{"401", "403", "403", "yes", "yes", "yes", "403"}},
		row{"create a tag", func(c Caller) string { return answer(MayWrite(c, KindTag, true)) }, [7]string{"401", "403", "403", "403", "yes", "yes", "403"}},
		row{"edit a tag", edit(tag), [7]string{"401", "403", "403", "403", "yes", "yes", "403"}},
		row{"new category by name", termsOf(KindCategory), [7]string{"no", "no", "no", "yes", "yes", "yes", "no"}},
		row{"new tag by name", termsOf(KindTag), [7]string{"no", "no", "no", "no", "yes", "yes", "no"}},
		row{"new venue as a term", termsOf(KindVenue), all("no")},
		row{"write users", func(c Caller) string { return answer(MayWrite(c, KindUser, true)) }, [7]string{"401", "403", "403", "403", "403", "403", "403"}},
		row{"edit an image", edit(&Record{Kind: KindImage, Fields: Fields{}}), [7]string{"401", "403", "403", "403", "403", "403", "403"}},
		row{"status filter: own posts", func(c Caller) string { return yesNo(c.ReadsOwn()) }, [7]string{"no", "no", "yes", "yes", "yes", "yes", "no"}},
		row{"status filter: posts of all", func(c Caller) string { return yesNo(c.ReadsAll()) }, [7]string{"no", "no", "no", "no", "yes", "yes", "yes"}},
	)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			for i, role := range columns {
				if got := r.act(callerOf(role)); got != r.want[i] {
					t.Errorf("%s: got %s, want %s", role, got, r.want[i])
				}
			}
		})
	}
}

// A record without an author belongs to nobody, the anonymous caller included.
func TestNobodyOwnsAPostWithoutAuthor(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	r := post(KindVenue, 0, StatusDraft)
	for _, role := range columns[:4] {
		if c := (Caller{Role: role}); MayRead(c, r, now) || MayEdit(c, r, now) == nil {
			t.Errorf("%s without an id owns a post without an author", role)
		}
	}
}
