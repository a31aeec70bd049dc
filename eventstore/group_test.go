package eventstore_test

import (
	"encoding/json"
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

// TestWritten: an item of an attempt whose answer was lost is not written again.
func TestWritten(t *testing.T) {
	t.Parallel()
	it := eventstore.NewItems([]eventstore.Append{{Drafts: []eventstore.Draft{tag(1), tag(2)}, Receipt: &eventstore.Receipt{User: 7, Key: "k"}}})[0]
	group := eventstore.NewGroup(eventstore.Epoch{History: 1}, []*eventstore.Item{it})
	group.Mark = calendar.Mark{Position: 9}
	group.Records[1] = &eventstore.Held{State: eventstore.State{Kind: calendar.KindTag, ID: 1, Version: 1}}
	group.Receipts[it.Receipt.Name()] = it.Receipt
	group.Written[it.Entries[0].Leaf], group.Written[it.Entries[1].Leaf] = 5, 6
	if group.Decide(); it.Result != (eventstore.Result{Position: 6}) || group.Writes() {
		t.Errorf("it is answered %+v, writes: %t", it.Result, group.Writes())
	}
	if group.Mark != (calendar.Mark{Position: 9}) {
		t.Errorf("the head moves to %s", group.Mark)
	}
}
