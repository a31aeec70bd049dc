package eventstore_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
)

func claims(keys ...string) (out []calendar.Claim) {
	for _, key := range keys {
		out = append(out, calendar.Claim{Space: "s", Key: key})
	}
	return out
}

// tag is the draft of a change of a tag.
func tag(id calendar.ID, expected int64, keys ...string) eventstore.Draft {
	return eventstore.Draft{
		Kind: calendar.KindTag, ID: id, Expected: expected, Change: "tag.changed",
		Fields: json.RawMessage(`{}`), State: json.RawMessage(`{}`), Claims: claims(keys...),
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

// TestTouchedBy: records, claims and names are named once.
func TestTouchedBy(t *testing.T) {
	t.Parallel()
	name := calendar.Name{Space: "n", Key: "n"}
	items := []*eventstore.Item{
		item(t, eventstore.Append{
			Drafts: []eventstore.Draft{tag(2, 0, "a", "b"), tag(1, 0, "b")}, Guards: []eventstore.Guard{{Name: name}, {Name: name, Count: 1}},
			Receipt: &eventstore.Receipt{User: 7, Key: "k"},
		}),
		item(t, eventstore.Append{
			Redact: []calendar.ID{1, 3}, Receipt: &eventstore.Receipt{User: 7, Key: "k", Record: 1},
			Checkpoint: &eventstore.Checkpoint{Size: 5, Origin: "o", Note: []byte("n")},
		}),
	}
	want := eventstore.Touched{
		Records: []calendar.ID{1, 2, 3}, Claims: claims("a", "b"), Names: []calendar.Name{name},
		Receipts: []eventstore.ReceiptKey{{User: 7, Key: "k"}, {User: 7, Key: "k"}}, Sizes: []calendar.Position{5},
	}
	if diff := cmp.Diff(want, eventstore.TouchedBy(items)); diff != "" {
		t.Errorf("touched (-want +got):\n%s", diff)
	}
}

// TestChanges: what moves to and fro within a group is not written, and what moves on is
// dropped of one record and added to another one.
func TestChanges(t *testing.T) {
	t.Parallel()
	g := eventstore.NewGroup(eventstore.Epoch{History: 1})
	g.Mark = calendar.Mark{Position: 4}
	g.Records[1] = &eventstore.Held{
		State: eventstore.State{Kind: calendar.KindTag, ID: 1, Version: 1, Position: 4}, Claims: claims("a", "b"),
	}
	g.Holders[claims("a")[0]], g.Holders[claims("b")[0]] = 1, 1
	for _, d := range []eventstore.Draft{tag(1, 1), tag(1, 2, "b", "c"), tag(2, 0, "a")} {
		if res := g.Decide(item(t, eventstore.Append{Drafts: []eventstore.Draft{d}})); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	if _, ok := errors.AsType[*eventstore.ClaimError](g.Decide(item(t, eventstore.Append{Drafts: []eventstore.Draft{tag(3, 0, "c")}})).Err); !ok {
		t.Error("a claim has two holders")
	}
	c := g.Changes()
	pair := func(key string, id calendar.ID) []eventstore.Pair {
		return []eventstore.Pair{{Claim: claims(key)[0], Record: id}}
	}
	want := eventstore.Changes{
		Records: []*eventstore.Held{g.Records[1], g.Records[2]}, DroppedClaims: pair("a", 1), Claims: append(pair("c", 1), pair("a", 2)...),
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	g.End()
	if m := g.Mark; m.Position != 7 || len(g.Entries) != 3 || g.Entries[0].Position != 5 || len(g.Commits) != 1 || g.Commits[0].First != 5 {
		t.Errorf("the group ends at %s with %d entries in %d commits", m, len(g.Entries), len(g.Commits))
	}
}

// TestWritten: an item of an attempt whose answer was lost is not written again.
func TestWritten(t *testing.T) {
	t.Parallel()
	g := eventstore.NewGroup(eventstore.Epoch{History: 1})
	g.Mark = calendar.Mark{Position: 9}
	it := item(t, eventstore.Append{Drafts: []eventstore.Draft{tag(1, 0), tag(2, 0)}, Receipt: &eventstore.Receipt{User: 7, Key: "k"}})
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
		{"a record", eventstore.Append{Drafts: []eventstore.Draft{tag(2, 0)}}, false, true, nil},
		{"a receipt", eventstore.Append{Receipt: &eventstore.Receipt{Key: "k", Record: 1}}, false, true, nil},
		{"one that is there", eventstore.Append{Drafts: []eventstore.Draft{tag(2, 0)}, Receipt: &eventstore.Receipt{Key: "there"}}, true, false, nil},
		{"nothing", eventstore.Append{}, true, false, nil},
		{"a note that is there", eventstore.Append{Checkpoint: &signed}, true, true, nil},
		{"a further line", eventstore.Append{Checkpoint: &further}, true, true, nil},
		{"a redaction again", eventstore.Append{Redact: []calendar.ID{1, 1}}, true, true, nil},
		{"an earlier history", eventstore.Append{Drafts: []eventstore.Draft{tag(2, 0)}, Epoch: eventstore.Epoch{History: 2}}, false, false, eventstore.ErrConflict},
		{"earlier erasures", eventstore.Append{Drafts: []eventstore.Draft{tag(2, 0)}, Epoch: eventstore.Epoch{History: 3}}, false, true, nil},
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
