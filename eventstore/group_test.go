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
	it := item(t, eventstore.Append{Drafts: []eventstore.Draft{tag(1), tag(2)}, Receipt: &eventstore.Receipt{User: 7, Key: "k"}})
	group := eventstore.NewGroup(eventstore.Epoch{History: 1}, []*eventstore.Item{it})
	group.Mark = calendar.Mark{Position: 9}
	group.Records[1] = &eventstore.Held{State: eventstore.State{Kind: calendar.KindTag, ID: 1, Version: 1}}
	group.Receipts[it.Receipt.Name()] = it.Receipt
	group.Written[it.Entries[0].Leaf], group.Written[it.Entries[1].Leaf] = 5, 6
	if group.Decide(); *it.Result != (eventstore.Result{Position: 6}) || group.Writes() {
		t.Errorf("it is answered %+v, writes: %t", *it.Result, group.Writes())
	}
	if group.Mark != (calendar.Mark{Position: 9}) {
		t.Errorf("the head moves to %s", group.Mark)
	}
}

// TestWrites: a group writes what is not there yet.
func TestWrites(t *testing.T) {
	t.Parallel()
	signed := eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte("a\n")}
	further := eventstore.Checkpoint{Size: 2, Origin: "o", Note: []byte("a\nb\n")}
	for _, c := range []struct {
		name   string
		a      eventstore.Append
		writes bool
		err    error
	}{
		{"a record", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}}, true, nil},
		{"a receipt", eventstore.Append{Receipt: &eventstore.Receipt{Key: "k", Record: 1}}, true, nil},
		{"one that is there", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}, Receipt: &eventstore.Receipt{Key: "there"}}, false, nil},
		{"nothing", eventstore.Append{}, false, nil},
		{"a note that is there", eventstore.Append{Checkpoint: &signed}, true, nil},
		{"a further line", eventstore.Append{Checkpoint: &further}, true, nil},
		{"a redaction again", eventstore.Append{Redact: []calendar.ID{1, 1}}, true, nil},
		{"an earlier history", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}, Epoch: eventstore.Epoch{History: 2}}, false, eventstore.ErrConflict},
		{"earlier erasures", eventstore.Append{Drafts: []eventstore.Draft{tag(2)}, Epoch: eventstore.Epoch{History: 3}}, true, nil},
	} {
		it := item(t, c.a)
		group := eventstore.NewGroup(eventstore.Epoch{History: 3, Erasures: 4}, []*eventstore.Item{it})
		group.Mark = calendar.Mark{Position: 5}
		group.Records[1] = &eventstore.Held{State: eventstore.State{Kind: calendar.KindTag, ID: 1, Version: 1}, Erased: true}
		group.Receipts[eventstore.ReceiptKey{Key: "there"}] = &eventstore.Receipt{Key: "there"}
		group.Signed[signed.Size] = signed
		if group.Decide(); !errors.Is(it.Result.Err, c.err) || group.Writes() != c.writes {
			t.Errorf("%s: %+v, writes %t", c.name, *it.Result, group.Writes())
		}
	}
}
