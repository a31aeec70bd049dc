package eventstore_test

import (
	"encoding/json"
	"errors"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// tag is the draft of a new tag.
func tag(id calendar.ID) eventstore.Draft {
	return eventstore.Draft{
		Kind: calendar.KindTag, ID: id, Change: "tag.changed",
		Fields: json.RawMessage(`{}`), State: json.RawMessage(`{}`),
	}
}

func item(t *testing.T, a eventstore.Append) *eventstore.Item {
	t.Helper()
	items, results := eventstore.NewItems([]eventstore.Append{a})
	if len(items) == 0 {
		t.Fatal(results[0].Err)
	}
	return items[0]
}

// TestWritten: an item of an attempt whose answer was lost is not written again.
func TestWritten(t *testing.T) {
	t.Parallel()
	g := eventstore.NewGroup(eventstore.Epoch{History: 1})
	g.Mark = calendar.Mark{Position: 9}
	it := item(t, eventstore.Append{Drafts: []eventstore.Draft{tag(1), tag(2)}, Receipt: &eventstore.Receipt{User: 7, Key: "k"}})
	g.Records[1] = &eventstore.Held{State: eventstore.State{Kind: calendar.KindTag, ID: 1, Version: 1}}
	g.Receipts[it.Receipt.Name()] = it.Receipt
	g.Written[it.Entries[0].Leaf], g.Written[it.Entries[1].Leaf] = 5, 6
	if res := g.Decide(it); res != (eventstore.Result{Position: 6}) || !g.Found || g.Writes() {
		t.Errorf("it is answered %+v, found: %t, writes: %t", res, g.Found, g.Writes())
	}
	if g.End(); g.Mark != (calendar.Mark{Position: 9}) {
		t.Errorf("the head moves to %s", g.Mark)
	}
}

// TestFound: an answer that rests on what was there has to be durable, one that refuses
// need not be.
func TestFound(t *testing.T) {
	t.Parallel()
	signed := eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte("a\n")}
	further := eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte("a\nb\n")}
	for _, c := range []struct {
		name          string
		a             eventstore.Append
		found, writes bool
		err           error
	}{
		{"a record", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}}, false, true, nil},
		{"a receipt", eventstore.Append{Receipt: &eventstore.Receipt{Key: "k", Record: 1}}, false, true, nil},
		{"one that is there", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}, Receipt: &eventstore.Receipt{Key: "there"}}, true, false, nil},
		{"nothing", eventstore.Append{}, true, false, nil},
		{"a note that is there", eventstore.Append{Checkpoint: &signed}, true, true, nil},
		{"a further line", eventstore.Append{Checkpoint: &further}, true, true, nil},
		{"a redaction again", eventstore.Append{Redact: []calendar.ID{1, 1}}, true, true, nil},
		{"an earlier history", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}, Epoch: eventstore.Epoch{History: 2}}, false, false, eventstore.ErrConflict},
		{"earlier erasures", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}, Epoch: eventstore.Epoch{History: 3}}, false, true, nil},
	} {
		g := eventstore.NewGroup(eventstore.Epoch{History: 3, Erasures: 4})
		g.Mark = calendar.Mark{Position: 5}
		g.Records[1] = &eventstore.Held{State: eventstore.State{Kind: calendar.KindTag, ID: 1, Version: 1}, Erased: true}
		g.Receipts[eventstore.ReceiptKey{Key: "there"}] = &eventstore.Receipt{Key: "there"}
		g.Signed = []eventstore.Checkpoint{signed}
		res := g.Decide(item(t, c.a))
		if !errors.Is(res.Err, c.err) || g.Found != c.found || g.Writes() != c.writes || len(g.Redacts) > 1 {
			t.Errorf("%s: %+v, found %t, writes %t, redacts %d", c.name, res, g.Found, g.Writes(), g.Redacts)
		}
	}
}
