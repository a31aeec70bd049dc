package command_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/verify"
)

// beforeAppend is a store on which something happens just before an append that
// writes, once.
type beforeAppend struct {
	*memstore.Store

	once sync.Once
	do   func()
}

func (s *beforeAppend) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if len(appends[0].Drafts) > 0 {
		s.once.Do(s.do)
	}
	return s.Store.Append(ctx, appends)
}

// TestAfterAFailover: the store lost the last entries, and another process has
// written in their place. Nothing of what is lost comes back, and what the other one
// wrote stays.
func TestAfterAFailover(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]bool{"between two writes": false, "during a write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.must(venue("v", `{"venue":"Hall","city":"Rome"}`))
			id := b.named["v"]
			head := b.head()
			records := b.Records()
			update := func(s *command.Service, in calendar.Input) {
				t.Helper()
				r := command.Request{Kind: calendar.KindVenue, Target: command.Target{ID: id}, Input: in, Caller: editor}
				if _, err := s.Update(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
			failover := func() {
				b.store.Rewind(head)
				update(newService(b.store), calendar.Input{"address": "Acknowledged Street 1"})
			}
			store := &beforeAppend{Store: b.store, do: func() {}}
			s := newService(store)
			update(s, calendar.Input{"description": "<p>lost</p>", "city": "Lost"}) // and is known as version 2
			if got, err := records.Load(t.Context(), id); err != nil || got[0].Fields.String("city") != "Lost" {
				t.Fatalf("%+v, %v", got, err)
			}
			if during {
				store.once, store.do = sync.Once{}, failover
			} else {
				failover()
			}
			update(s, calendar.Input{"zip": "00100"})
			got, err := records.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			f := got[0].Fields
			if got[0].Version != 3 || f.String("city") != "Rome" || f.String("address") != "Acknowledged Street 1" || f.String("zip") != "00100" {
				t.Errorf("version %d: %v", got[0].Version, f)
			}
			if d, _ := f.Text("description").In(calendar.LangEN, got[0].Home); d != "" {
				t.Errorf("description is %q", d)
			}
			if f, err := verify.Store(t.Context(), b.store, nil); err != nil || f.Err() != nil || f.Entries != head+2 {
				t.Errorf("Verify: %+v, %v", f, err)
			}
		})
	}
}

// TestIDsAfterAFailover: ids that a server gave may be given again by the one that
// took its place. A create that meets one takes another.
func TestIDsAfterAFailover(t *testing.T) {
	t.Parallel()
	b := setup(t)
	taken := &givenTwice{Store: b.store}
	b.must(venue("v", `{"venue":"Hall"}`))
	taken.again, taken.left = b.named["v"], 2
	res, err := newService(taken).Create(t.Context(), command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "Jazz"}, Caller: editor})
	if err != nil || res.Record.ID == b.named["v"] {
		t.Errorf("created %+v, %v", res.Record, err)
	}
}

// givenTwice is a store that gives an id again, a few times.
type givenTwice struct {
	*memstore.Store

	again calendar.ID
	left  int
}

func (s *givenTwice) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if s.left--; s.left >= 0 {
		return s.again, nil
	}
	return s.Store.NewIDs(ctx, n)
}

// TestKeyAfterAFailover: the key of a write that is lost stands for the write that is
// made again.
func TestKeyAfterAFailover(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "Jazz"}, Caller: editor, Key: "k"}
	head := b.head()
	if _, err := b.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.store.Rewind(head)
	again, err := b.Create(t.Context(), r)
	if err != nil || again.Replayed || again.Position != head+1 {
		t.Errorf("the key again: %+v, %v", again, err)
	}
}

// TestRequestOfAnotherHistory: ids that were looked up in another history are not
// written.
func TestRequestOfAnotherHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "Jazz"}, Caller: editor, Epoch: b.store.Epoch().History}
	b.store.Rewind(3)
	if _, err := b.Create(t.Context(), r); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("got %v", err)
	}
}

// TestApplied: each line of an import is known by its number and content in the whole
// history of its record, whatever other sources and callers wrote between.
func TestApplied(t *testing.T) {
	t.Parallel()
	b := setup(t)
	line := func(source string, n int64, content string) command.Request {
		return command.Request{
			Kind: calendar.KindTag, Target: command.Target{ID: b.named["t"]}, Input: calendar.Input{"name": "Jazz", "description": content}, Caller: editor,
			Mark: &calendar.ImportMark{Source: source, Line: n}, Cause: eventstore.Cause{Request: content},
		}
	}
	res, err := b.Create(t.Context(), line("s", 1, "1"))
	if err != nil {
		t.Fatal(err)
	}
	b.named["t"] = res.Record.ID
	const lines = 30
	for n := int64(3); n <= lines; n += 2 {
		for _, r := range []command.Request{line("s", n, strconv.FormatInt(n, 10)), line("other", n, "other"), {Kind: calendar.KindTag, Target: command.Target{ID: res.Record.ID}, Caller: editor}} {
			if _, err := b.Update(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := int64(1); n <= lines+1; n++ {
		r := line("s", n, strconv.FormatInt(n, 10))
		if applied, err := b.Applied(t.Context(), &r); err != nil || applied != (n%2 == 1 && n <= lines) {
			t.Errorf("line %d: %t, %v", n, applied, err)
		}
		r.Cause.Request = "changed"
		if _, err := b.Applied(t.Context(), &r); errors.Is(err, command.ErrImportChanged) != (n%2 == 1 && n <= lines) {
			t.Errorf("line %d with another content: %v", n, err)
		}
	}
	if _, err := b.Erase(t.Context(), command.Erasure{Kind: calendar.KindTag, ID: res.Record.ID}); err != nil {
		t.Fatal(err)
	}
	r := line("s", lines+5, "new")
	if applied, err := b.Applied(t.Context(), &r); err != nil || !applied {
		t.Errorf("a line of an erased record: %t, %v", applied, err)
	}
}
