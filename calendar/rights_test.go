package calendar

import (
	"errors"
	"slices"
	"strings"
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

// allowed returns what a row of rights.txt asks, answered for a caller.
func allowed(tb testing.TB, row string, c Caller) string {
	tb.Helper()
	now := time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
	words := append(strings.Fields(row), "", "", "")
	verb, owner, status := words[0], words[2], words[3]
	kind, _ := ParseKind(words[1])
	r := &Record{ID: 100, Kind: kind, Version: 1, Home: LangEN, Fields: Fields{}}
	author := map[string]ID{"own": self, "foreign": other}[owner]
	if author != 0 {
		r.Fields["author"], r.Fields["status"] = author, status
	}
	if former, ok := strings.CutPrefix(status, "trashed-"); ok {
		r.Fields["status"], r.Fields["former_status"] = "trash", former
	}
	switch status {
	case "scheduled":
		r.Fields["status"], r.Fields["date_utc"] = "future", Wall(now.Unix())+1
	case "due":
		r.Fields["status"], r.Fields["date_utc"] = "future", Wall(now.Unix())
	case "protected":
		r.Fields["status"], r.Fields["protected"] = "publish", true
	}
	var err error
	var ok bool
	switch verb {
	case "edit": // the general right before the right on the record, as routes check them
		if err = MayWrite(c, kind, false); err == nil {
			err = MayEdit(c, r, now)
		}
		ok = err == nil
	case "create", "update":
		err = MayWrite(c, kind, verb == "create")
		ok = err == nil
	case "read":
		ok = MayRead(c, r, now)
	case "password":
		ok = NeedsPassword(c, r)
	case "publish":
		ok = MayPublish(c)
	case "author":
		ok = MayNameAuthor(c, author)
	case "image-url":
		ok = MayUseImageURL(c)
	case "term":
		ok = MayCreateTerm(c, kind)
	case "list":
		if ok = c.ReadsOwn(); author == other {
			ok = c.ReadsAll()
		}
	default:
		tb.Fatalf("%s: no such right", row)
	}
	var code Code
	if e, ok := errors.AsType[*Error](err); ok {
		code = e.Code
	}
	switch {
	case ok:
		return "yes"
	case err == nil:
		return "no"
	default:
		return map[Code]string{CodeUnauthorized: "401", CodeForbidden: "403"}[code]
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "rights.txt", "rights", 2) {
		for _, k := range []Kind{KindEvent, KindVenue, KindOrganizer} {
			var got []string
			act := strings.ReplaceAll(row[0], "POST", k.String())
			for _, role := range columns {
				got = append(got, allowed(t, act, callerOf(role)))
			}
			if want := strings.Fields(row[1]); !slices.Equal(got, want) {
				t.Errorf("%s: got %s, want %s", act, got, want)
			}
		}
	}
}

// A record without an author belongs to no one, the anonymous caller included.
func TestNobodyOwnsAPostWithoutAuthor(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	r := &Record{Kind: KindVenue, Fields: Fields{"author": ID(0), "status": "draft"}}
	for _, role := range columns[:4] {
		if c := (Caller{Role: role}); MayRead(c, r, now) || MayEdit(c, r, now) == nil {
			t.Errorf("%s without an id owns a post without an author", role)
		}
	}
}
