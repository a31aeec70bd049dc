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

func (beforeAppend *beforeAppend) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	if len(addition.Drafts) > 0 {
		beforeAppend.once.Do(beforeAppend.do)
	}
	return beforeAppend.Store.Append(ctx, addition)
}

// TestAfterAFailover: the store lost the last entries, and another process has
// written in their place. Nothing of what is lost comes back, and what the other one
// wrote stays.
func TestAfterAFailover(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]bool{"between two writes": false, "during a write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bench := setup(t)
			bench.must(venue("v", `{"venue":"Hall","city":"Rome"}`))
			id := bench.named["v"]
			head := bench.head()
			records := bench.Records()
			update := func(service *command.Service, input calendar.Input) {
				t.Helper()
				request := command.Request{Kind: calendar.KindVenue, Target: command.Target{ID: id}, Input: input, Caller: editor}
				if _, err := service.Update(t.Context(), request); err != nil {
					t.Error(err)
				}
			}
			failover := func() {
				bench.store.Rewind(head)
				update(newService(bench.store), calendar.Input{"address": "Acknowledged Street 1"})
			}
			store := &beforeAppend{Store: bench.store, do: func() {}}
			service := newService(store)
			update(service, calendar.Input{"description": "<p>lost</p>", "city": "Lost"}) // and is known as version 2
			if got, err := records.Load(t.Context(), id); err != nil || got[0].Fields.String("city") != "Lost" {
				t.Fatalf("%+v, %v", got, err)
			}
			if during {
				store.once, store.do = sync.Once{}, failover
			} else {
				failover()
			}
			update(service, calendar.Input{"zip": "00100"})
			got, err := records.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			fields := got[0].Fields
			if got[0].Version != 3 || fields.String("city") != "Rome" || fields.String("address") != "Acknowledged Street 1" || fields.String("zip") != "00100" {
				t.Errorf("version %d: %v", got[0].Version, fields)
			}
			if text, _ := fields.Text("description").In(calendar.LangEN, got[0].Home); text != "" {
				t.Errorf("description is %q", text)
			}
			if findings, err := verify.Store(t.Context(), bench.store, nil); err != nil || findings.Err() != nil || findings.Entries != head+2 {
				t.Errorf("Verify: %+v, %v", findings, err)
			}
		})
	}
}

// TestIDsAfterAFailover: ids that a server gave may be given again by the one that
// took its place. A create that meets one takes another.
func TestIDsAfterAFailover(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	taken := &givenTwice{Store: bench.store}
	bench.must(venue("v", `{"venue":"Hall"}`))
	taken.again, taken.left = bench.named["v"], 2
	res, err := newService(taken).Create(t.Context(), command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "Jazz"}, Caller: editor})
	if err != nil || res.Record.ID == bench.named["v"] {
		t.Errorf("created %+v, %v", res.Record, err)
	}
}

// givenTwice is a store that gives an id again, a few times.
type givenTwice struct {
	*memstore.Store

	again calendar.ID
	left  int
}

func (givenTwice *givenTwice) NewID(ctx context.Context) (calendar.ID, error) {
	if givenTwice.left--; givenTwice.left >= 0 {
		return givenTwice.again, nil
	}
	return givenTwice.Store.NewID(ctx)
}

// TestKeyAfterAFailover: the key of a write that is lost stands for the write that is
// made again.
func TestKeyAfterAFailover(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	request := command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "Jazz"}, Caller: editor, Key: "k"}
	head := bench.head()
	if _, err := bench.Create(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	bench.store.Rewind(head)
	again, err := bench.Create(t.Context(), request)
	if err != nil || again.Replayed || again.Position != head+1 {
		t.Errorf("the key again: %+v, %v", again, err)
	}
}

// TestRequestOfAnotherHistory: ids that were looked up in another history are not
// written.
func TestRequestOfAnotherHistory(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	request := command.Request{Kind: calendar.KindTag, Input: calendar.Input{"name": "Jazz"}, Caller: editor, Epoch: bench.store.Epoch().History}
	bench.store.Rewind(3)
	if _, err := bench.Create(t.Context(), request); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("got %v", err)
	}
}

// TestApplied: each line of an import is known by its number and content in the whole
// history of its record, whatever other sources and callers wrote between.
func TestApplied(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	line := func(source string, n int64, content string) command.Request {
		return command.Request{
			Kind: calendar.KindTag, Target: command.Target{ID: bench.named["t"]}, Input: calendar.Input{"name": "Jazz", "description": content}, Caller: editor,
			Mark: &calendar.ImportMark{Source: source, Line: n}, Cause: eventstore.Cause{Request: content},
		}
	}
	res, err := bench.Create(t.Context(), line("s", 1, "1"))
	if err != nil {
		t.Fatal(err)
	}
	bench.named["t"] = res.Record.ID
	const lines = 30
	for n := int64(3); n <= lines; n += 2 {
		for _, request := range []command.Request{line("s", n, strconv.FormatInt(n, 10)), line("other", n, "other"), {Kind: calendar.KindTag, Target: command.Target{ID: res.Record.ID}, Caller: editor}} {
			if _, err := bench.Update(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := int64(1); n <= lines+1; n++ {
		request := line("s", n, strconv.FormatInt(n, 10))
		if applied, err := bench.Applied(t.Context(), &request); err != nil || applied != (n%2 == 1 && n <= lines) {
			t.Errorf("line %d: %t, %v", n, applied, err)
		}
		request.Cause.Request = "changed"
		if _, err := bench.Applied(t.Context(), &request); errors.Is(err, command.ErrImportChanged) != (n%2 == 1 && n <= lines) {
			t.Errorf("line %d with another content: %v", n, err)
		}
	}
	if _, err := bench.Erase(t.Context(), command.Request{Kind: calendar.KindTag, Target: command.Target{ID: res.Record.ID}}); err != nil {
		t.Fatal(err)
	}
	request := line("s", lines+5, "new")
	if applied, err := bench.Applied(t.Context(), &request); err != nil || !applied {
		t.Errorf("a line of an erased record: %t, %v", applied, err)
	}
}
