package command_test

import (
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
)

// TestErase: an image goes with the last record that shows it; called again it says where
// the record was erased; children of a category stay.
func TestErase(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	bench.must(write{op: "create organizer", caller: editor, as: "a", in: `{"organizer":"A","image":"https://a.example/i.png"}`})
	bench.must(write{op: "create organizer", caller: editor, as: "b", in: `{"organizer":"B","image":"https://a.example/i.png"}`})
	bench.must(write{op: "update organizer", caller: editor, on: "b", in: `{"slug":"bee"}`})
	image := bench.stored("a").Fields.ID("image")
	erase := func(name string, kind calendar.Kind) command.Erased {
		t.Helper()
		out, err := bench.Erase(t.Context(), command.Request{Kind: kind, Target: command.Target{ID: bench.named[name]}})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := bench.store.Read(t.Context(), eventstore.Range{After: uint64(out.Position - 1), Limit: 1})
		if err != nil || entries[0].ID != bench.named[name] || entries[0].Change != eventstore.ErasedChange(kind) {
			t.Errorf("position %d of %s has %+v, %v", out.Position, name, entries, err)
		}
		return out
	}
	if out := erase("a", calendar.KindOrganizer); out.Before || len(out.Images) != 0 || bench.load(image).Erased {
		t.Errorf("the image is shown by another record: %+v", out)
	}
	first := erase("b", calendar.KindOrganizer)
	if !slices.Equal(first.Images, []calendar.ID{image}) || !bench.load(image).Erased || !slices.Equal(first.Slugs, []string{"b", "bee"}) {
		t.Errorf("the image is shown by no record: %+v", first)
	}
	if again := erase("b", calendar.KindOrganizer); !again.Before || again.Position != first.Position {
		t.Errorf("again: %+v, first %+v", again, first)
	}
	bench.must(term("category", "parent", `{"name":"Music"}`))
	bench.must(term("category", "child", `{"name":"Jazz","parent":{{parent}}}`))
	erase("parent", calendar.KindCategory)
	if again := erase("parent", calendar.KindCategory); !again.Before {
		t.Errorf("again: %+v", again)
	}
	if parent := bench.stored("child").Fields.ID("parent"); parent != 0 {
		t.Errorf("the child is below %d", parent)
	}
}
