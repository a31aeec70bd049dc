package history

import (
	"errors"
	"maps"
	"testing"
	"time"

	"daybook/calendar"
)

var (
	at    = time.Date(2026, 3, 5, 23, 0, 10, 0, time.UTC)
	roles = [...]calendar.Role{
		calendar.Anonymous, calendar.Subscriber, calendar.Contributor, calendar.Author,
		calendar.Editor, calendar.Administrator, calendar.Auditor,
	}
)

const self calendar.ID = 7

func callerOf(role calendar.Role) calendar.Caller {
	if role == calendar.Anonymous {
		return calendar.Caller{}
	}
	return calendar.Caller{ID: self, Role: role}
}

// stateIn makes a state of a record.
func stateIn(kind calendar.Kind, author calendar.ID, status calendar.Status, more calendar.Fields) *calendar.Record {
	record := &calendar.Record{ID: 100, Kind: kind, Version: 1, Home: calendar.LangEN, Fields: calendar.Fields{"author": author, "status": string(status)}}
	maps.Copy(record.Fields, more)
	return record
}

// code returns the code of a gate, "" where it lets in.
func code(err error) calendar.Code {
	if problem, ok := errors.AsType[*calendar.Error](err); ok {
		return problem.Code
	}
	return ""
}

// The columns are the roles: anonymous, subscriber, contributor, author, editor,
// administrator, auditor. HISTORY 4.1, of interface 6.1 and 6.3.
func TestGate(t *testing.T) {
	t.Parallel()
	const (
		yes  = calendar.Code("")
		none = calendar.CodeNotFound
		not  = calendar.CodeNotAccessible
		gone = calendar.CodeNoLongerAvailable
		lock = calendar.CodePasswordProtected
	)
	all := [7]calendar.Code{}
	readers := func(c calendar.Code) [7]calendar.Code { return [7]calendar.Code{c, c, c, c, yes, yes, yes} }
	own := func(c calendar.Code) [7]calendar.Code { return [7]calendar.Code{c, c, yes, yes, yes, yes, yes} }
	kept := [7]calendar.Code{none, none, none, none, none, yes, yes}
	ahead, past := calendar.Fields{"date_utc": calendar.Wall(at.Unix() + 1)}, calendar.Fields{"date_utc": calendar.Wall(at.Unix())}
	locked := calendar.Fields{"protected": true}
	const event, venue, other = calendar.KindEvent, calendar.KindVenue, self + 1
	deleted := stateIn(calendar.KindTag, 0, "", nil)
	deleted.Deleted = true
	for name, tt := range map[string]struct {
		kind  calendar.Kind
		state *calendar.Record
		want  [7]calendar.Code
	}{
		"published":                {event, stateIn(event, other, calendar.StatusPublish, nil), all},
		"draft of others":          {event, stateIn(event, other, calendar.StatusDraft, nil), readers(not)},
		"own draft":                {event, stateIn(event, self, calendar.StatusDraft, nil), own(not)},
		"own private venue":        {venue, stateIn(venue, self, calendar.StatusPrivate, nil), own(not)},
		"scheduled":                {event, stateIn(event, other, calendar.StatusFuture, ahead), readers(not)},
		"scheduled, due":           {event, stateIn(event, other, calendar.StatusFuture, past), all},
		"trashed event of others":  {event, stateIn(event, other, calendar.StatusTrash, nil), readers(gone)},
		"own trashed event":        {event, stateIn(event, self, calendar.StatusTrash, nil), own(gone)},
		"own trashed venue":        {venue, stateIn(venue, self, calendar.StatusTrash, nil), own(not)},
		"protected":                {event, stateIn(event, other, calendar.StatusPublish, locked), readers(lock)},
		"own protected":            {event, stateIn(event, self, calendar.StatusPublish, locked), own(lock)},
		"protected draft":          {event, stateIn(event, other, calendar.StatusDraft, locked), readers(not)},
		"tag":                      {calendar.KindTag, stateIn(calendar.KindTag, 0, "", nil), all},
		"deleted tag":              {calendar.KindTag, deleted, readers(none)},
		"none":                     {event, nil, [7]calendar.Code{none, none, none, none, none, none, none}},
		"of another kind":          {venue, stateIn(event, other, calendar.StatusPublish, nil), [7]calendar.Code{none, none, none, none, none, none, none}},
		"user":                     {calendar.KindUser, stateIn(calendar.KindUser, 0, "", nil), kept},
		"image":                    {calendar.KindImage, stateIn(calendar.KindImage, 0, "", nil), kept},
		"state without any status": {event, &calendar.Record{Kind: event}, readers(not)},
	} {
		for i, role := range roles {
			if got := code(Gate(callerOf(role), tt.kind, tt.state, at)); got != tt.want[i] {
				t.Errorf("%s, %s: got %q, want %q", name, role, got, tt.want[i])
			}
		}
	}
}
