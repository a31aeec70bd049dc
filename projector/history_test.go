package projector_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
)

// goingBack is a store that goes over to another history when its records are read.
type goingBack struct {
	eventstore.Store
	back func()
}

func (goingBack goingBack) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	defer goingBack.back()
	return goingBack.Store.Records(ctx, kind, after, limit)
}

// TestLostHistory: an index that knows anything of entries that the store lost is told,
// also where only documents without a position are of them, and so is one that was
// filled while the store went over.
func TestLostHistory(t *testing.T) {
	t.Parallel()
	world := newWorld()
	for i := range 10 {
		world.create(t, calendar.KindTag, fmt.Sprint(i))
	}
	filled, cut := newIndex(t), newIndex(t)
	runToEnd(t, world, filled, nil)
	marks, err := filled.Marks(t.Context())
	if err != nil || marks.All != world.mark(t) || marks.Reach != world.mark(t) {
		t.Fatalf("marks %v, %v; want %s", marks, err, world.mark(t))
	}
	// Killed between documents and position.
	failing := wrapped{cut, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
		if batch.Mark.Position > 6 {
			return nil, readmodel.ErrMoved
		}
		return cut.Write(ctx, batch)
	}}
	p := newProjector(t, failing, from{store: world.store, size: func(int) int { return 6 }})
	if err := p.Run(t.Context()); !errors.Is(err, readmodel.ErrMoved) {
		t.Fatal(err)
	}
	if marks, err := cut.Marks(t.Context()); err != nil || marks.All.Position != 6 || marks.Reach != world.mark(t) {
		t.Fatalf("marks %v, %v", marks, err)
	}
	for name, index := range map[string]readmodel.Index{"filled": filled, "cut off": cut} {
		if err := projector.Check(t.Context(), world.store, index); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	world.store.Rewind(8)
	fill := newIndex(t)
	err = projector.Fill(t.Context(), goingBack{world.store, func() { world.store.Rewind(7) }}, fill, nil)
	if !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("filled from two histories: %v, want ErrHistory", err)
	}
	if marks, err := fill.Marks(t.Context()); err != nil || marks.All.Position != 0 {
		t.Errorf("it has the marks %v, %v", marks, err)
	}
	world.last = 7
	clear(world.versions)
	for i := range 9 {
		world.create(t, calendar.KindTag, fmt.Sprint("new ", i))
	}
	for name, index := range map[string]readmodel.Index{"filled": filled, "cut off": cut} {
		if err := projector.Check(t.Context(), world.store, index); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("%s: %v, want ErrHistory", name, err)
		}
		if err := projector.CatchUp(t.Context(), world.store, index); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("%s: catching up: %v, want ErrHistory", name, err)
		}
	}
}
