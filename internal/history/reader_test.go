package history

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// states is a store of one event and one user.
type states struct {
	eventstore.Store
	of map[calendar.ID]string // JSON by id
}

func (s *states) version(id calendar.ID) (version int64) {
	if r, err := calendar.DecodeRecord([]byte(s.of[id])); err == nil {
		version = r.Version
	}
	return version
}

func (s *states) Load(_ context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	out := make([]eventstore.State, len(ids))
	for i, id := range ids {
		if s.of[id] != "" {
			out[i] = eventstore.State{Kind: calendar.KindEvent, ID: id, Version: s.version(id), Position: 7, Record: []byte(s.of[id])}
		}
	}
	return out, nil
}

func eventState(version int, status, title string) string {
	return fmt.Sprintf(`{"changed":"2026-03-02T14:15:00.000Z","fields":{"author":3,"status":%q,"title":{"en":%q}},"home":"en","id":1,"kind":"event","version":%d}`, status, title, version)
}

// codeOf returns the code of a refusal, "" for none.
func codeOf(err error) calendar.Code {
	if e, ok := errors.AsType[*calendar.Error](err); ok {
		return e.Code
	}
	return ""
}

// The gate now goes by the present state, and nothing of an erased record is known.
func TestPresent(t *testing.T) {
	t.Parallel()
	s := &states{of: map[calendar.ID]string{}}
	reader := New(s, time.Now)
	anonymous, author := calendar.Caller{}, calendar.Caller{ID: 3, Role: calendar.Author}
	for _, tt := range []struct {
		state             string
		anonymous, author calendar.Code
		name              string
	}{
		{eventState(4, "publish", "Quay concert"), "", "", "Quay concert"},
		{eventState(5, "private", "Secret concert"), calendar.CodeNotAccessible, "", "Secret concert"},
		{eventState(5, "draft", "A draft"), calendar.CodeNotAccessible, "", "A draft"},
		{
			`{"changed":"2026-03-02T14:15:00.000Z","fields":{"author":3,"protected":true,"status":"publish","title":{"en":"Closed"}},"home":"en","id":1,"kind":"event","version":6}`,
			calendar.CodePasswordProtected, "", "Closed",
		},
		{`{"changed":"2026-03-02T14:15:00.000Z","deleted":true,"erased":true,"fields":{},"home":"en","id":1,"kind":"event","version":7}`, calendar.CodeErased, calendar.CodeErased, ""},
	} {
		s.of[1] = tt.state
		for caller, want := range map[calendar.Caller]calendar.Code{anonymous: tt.anonymous, author: tt.author} {
			q := reader.request(Viewer{Caller: caller, Lang: calendar.LangEN})
			if err := q.learn(t.Context(), 1, 2); err != nil {
				t.Fatal(err)
			}
			p := q.known[1]
			if codeOf(p.gate) != want || NameOf(p.Record, q.Lang) != tt.name || p.Version != s.version(1) || p.position != 7 {
				t.Errorf("%s: got %+v, want %q and %q", tt.state, p, want, tt.name)
			}
			if codeOf(q.known[2].gate) != calendar.CodeNotFound {
				t.Errorf("an unknown record: %v", q.known[2].gate)
			}
		}
	}
}

// A scheduled event that went public without a change is public.
func TestPresentGoesByTheMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
	s := &states{of: map[calendar.ID]string{
		1: `{"changed":"2026-03-02T14:15:00.000Z","fields":{"author":3,"date_utc":"2026-03-02 15:00:00","status":"future","title":{"en":"Soon"}},"home":"en","id":1,"kind":"event","version":1}`,
	}}
	reader := New(s, func() time.Time { return now })
	for _, tt := range []struct {
		after time.Duration
		open  bool
	}{{0, false}, {44 * time.Minute, false}, {45 * time.Minute, true}} {
		now = time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC).Add(tt.after)
		_, err := reader.Present(t.Context(), calendar.Caller{}, calendar.KindEvent, 1)
		if (codeOf(err) == "") != tt.open {
			t.Errorf("after %s: %v", tt.after, err)
		}
	}
}
