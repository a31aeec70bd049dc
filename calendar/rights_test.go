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

func callerOf(role Role) Caller {
	if role == Anonymous {
		return Caller{}
	}
	return Caller{ID: self, Role: role}
}

// allowed returns what a row of rights.txt asks, answered for a caller.
func allowed(tb testing.TB, row string, caller Caller) string {
	tb.Helper()
	now := time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
	words := append(strings.Fields(row), "", "", "")
	verb, owner, status := words[0], words[2], words[3]
	kind, _ := ParseKind(words[1])
	record := &Record{ID: 100, Kind: kind, Version: 1, Home: LangEN, Fields: Fields{}}
	author := map[string]ID{"own": self, "foreign": other}[owner]
	if author != 0 {
		record.Fields["author"], record.Fields["status"] = author, status
	}
	if former, ok := strings.CutPrefix(status, "trashed-"); ok {
		record.Fields["status"], record.Fields["former_status"] = "trash", former
	}
	switch status {
	case "scheduled":
		record.Fields["status"], record.Fields["date_utc"] = "future", Wall(now.Unix())+1
	case "due":
		record.Fields["status"], record.Fields["date_utc"] = "future", Wall(now.Unix())
	case "protected":
		record.Fields["status"], record.Fields["protected"] = "publish", true
	}
	var err error
	var ok bool
	switch verb {
	case "edit": // the general right before the right on the record, as routes check them
		if err = MayWrite(caller, kind); err == nil {
			err = MayEdit(caller, record, now)
		}
		ok = err == nil
	case "create", "update":
		err = MayWrite(caller, kind)
		ok = err == nil
	case "read":
		ok = MayRead(caller, record, now)
	case "password":
		ok = NeedsPassword(caller, record)
	case "publish":
		ok = MayPublish(caller)
	case "author":
		ok = MayNameAuthor(caller, author)
	case "image-url":
		ok = MayUseImageURL(caller)
	case "term":
		ok = MayCreateTerm(caller, kind)
	case "list":
		if ok = caller.ReadsOwn(); author == other {
			ok = caller.ReadsAll()
		}
	default:
		tb.Fatalf("%s: no such right", row)
	}
	var code Code
	if problem, ok := errors.AsType[*Error](err); ok {
		code = problem.Code
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
		for _, kind := range []Kind{KindEvent, KindVenue, KindOrganizer} {
			var got []string
			act := strings.ReplaceAll(row[0], "POST", kind.String())
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
	record := &Record{Kind: KindVenue, Fields: Fields{"author": ID(0), "status": "draft"}}
	for _, role := range columns[:4] {
		if caller := (Caller{Role: role}); MayRead(caller, record, now) || MayEdit(caller, record, now) == nil {
			t.Errorf("%s without an id owns a post without an author", role)
		}
	}
}
