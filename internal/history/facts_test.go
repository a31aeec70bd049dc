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
	epoch  eventstore.Epoch
	of     map[calendar.ID]string // JSON by id
	during func()                 // while states are read
}

func (s *states) Epoch() eventstore.Epoch { return s.epoch }

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
	if s.during != nil {
		s.during()
		s.during = nil
	}
	return out, nil
}

func eventState(version int, status, title string) string {
	return fmt.Sprintf(`{"changed":"2026-03-02T14:15:00.000Z","fields":{"author":3,"status":%q,"title":{"en":%q}},"home":"en","id":1,"kind":"event","version":%d}`, status, title, version)
}

// codeOf gives the code of a refusal, "" for none.
func codeOf(err error) calendar.Code {
	if e, ok := errors.AsType[*calendar.Error](err); ok {
		return e.Code
	}
	return ""
}

// What is cached of a record is decoded once, and counts for its version in its history
// alone: a right that is withdrawn is withdrawn at once.
func TestFacts(t *testing.T) {
	t.Parallel()
	s := &states{epoch: eventstore.Epoch{History: 1}, of: map[calendar.ID]string{1: eventState(4, "publish", "Quay concert")}}
	teller := New(s, time.Now)
	ask := func(c calendar.Caller) (*present, error) {
		t.Helper()
		to := teller.to(Listener{Caller: c})
		if err := to.learn(t.Context(), []calendar.ID{1, 2}); err != nil {
			t.Fatal(err)
		}
		if codeOf(to.known[2].gate) != calendar.CodeNotFound {
			t.Errorf("an unknown record: %v", to.known[2].gate)
		}
		return to.known[1], to.known[1].gate
	}
	decoded, last := 0, (*facts)(nil)
	want := func(c calendar.Caller, code calendar.Code, times int) *present {
		t.Helper()
		p, err := ask(c)
		if codeOf(err) != code {
			t.Errorf("the gate is %v, want %q", err, code)
		}
		if f, _ := teller.facts.Get(s.epoch, 1); f != last {
			decoded, last = decoded+1, f
		}
		if decoded != times {
			t.Errorf("the state was decoded %d times, want %d", decoded, times)
		}
		return p
	}
	var anonymous calendar.Caller
	author := calendar.Caller{ID: 3, Role: calendar.Author}
	for range 3 {
		p := want(anonymous, "", 1)
		if p.name(calendar.LangEN) != "Quay concert" || p.version != 4 || p.position != 7 || p.own || !p.steady {
			t.Errorf("got %+v", p)
		}
	}
	if p := want(author, "", 1); !p.own { // the same facts, another caller
		t.Error("the author does not own it")
	}
	s.of[1] = eventState(5, "private", "Secret concert")
	want(anonymous, calendar.CodeNotAccessible, 2)
	if p := want(author, "", 2); p.name(calendar.LangEN) != "Secret concert" {
		t.Errorf("got %+v", p)
	}
	// Another history has the same version with other content.
	s.epoch.History, s.of[1] = 2, eventState(5, "publish", "Another concert")
	if p := want(anonymous, "", 3); p.name(calendar.LangEN) != "Another concert" {
		t.Errorf("got %+v", p)
	}
	// It goes over while states are read: they are read again.
	s.during = func() { s.epoch.History, s.of[1] = 3, eventState(5, "draft", "A draft") }
	want(anonymous, calendar.CodeNotAccessible, 4)
	// A protected one keeps its gate, and so has a deleted one.
	s.of[1] = `{"changed":"2026-03-02T14:15:00.000Z","fields":{"author":3,"protected":true,"status":"publish","title":{"en":"Closed"}},"home":"en","id":1,"kind":"event","version":6}`
	for range 2 {
		want(anonymous, calendar.CodePasswordProtected, 5)
	}
	want(author, "", 5)
	s.of[1] = `{"changed":"2026-03-02T14:15:00.000Z","deleted":true,"erased":true,"fields":{},"home":"en","id":1,"kind":"event","version":7}`
	for range 2 {
		if p := want(anonymous, calendar.CodeErased, 6); !p.erased || p.texts != (calendar.Text{}) {
			t.Errorf("of an erased one is kept %+v", p)
		}
	}
	if f, ok := teller.facts.Get(s.epoch, 1); !ok || f.texts != (calendar.Text{}) {
		t.Errorf("of an erased one is kept %+v", f)
	}
	// Another erasure: nothing that was cached before is left, asked for or not.
	s.epoch.Erasures++
	teller.Forget()
	if f, ok := teller.facts.Get(s.epoch, 1); ok {
		t.Errorf("after an erasure is cached %+v", f)
	}
}

// A scheduled event that went public without a change is public, whatever is kept of it.
func TestFactsGoByTheMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
	s := &states{epoch: eventstore.Epoch{History: 1}, of: map[calendar.ID]string{
		1: `{"changed":"2026-03-02T14:15:00.000Z","fields":{"author":3,"date_utc":"2026-03-02 15:00:00","status":"future","title":{"en":"Soon"}},"home":"en","id":1,"kind":"event","version":1}`,
	}}
	teller := New(s, func() time.Time { return now })
	for _, tt := range []struct {
		after time.Duration
		open  bool
	}{{0, false}, {44 * time.Minute, false}, {45 * time.Minute, true}} {
		now = time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC).Add(tt.after)
		_, _, err := teller.Present(t.Context(), calendar.Caller{}, calendar.KindEvent, 1)
		if (codeOf(err) == "") != tt.open {
			t.Errorf("after %s: %v", tt.after, err)
		}
	}
}
