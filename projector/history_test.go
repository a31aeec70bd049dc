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

func (s goingBack) Records(ctx context.Context, k calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	defer s.back()
	return s.Store.Records(ctx, k, after, limit)
}

// TestLostHistory: an index that knows anything of entries that the store lost is told,
// also where only documents without a position are of them, and so is one that was
// filled while the store went over.
func TestLostHistory(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range 10 {
		w.create(t, calendar.KindTag, fmt.Sprint(i))
	}
	filled, cut := newIndex(t), newIndex(t)
	runToEnd(t, w, filled, nil)
	marks, err := filled.Marks(t.Context())
	if err != nil || marks.All != w.mark(t) || marks.Reach != w.mark(t) {
		t.Fatalf("marks %v, %v; want %s", marks, err, w.mark(t))
	}
	// Killed between documents and position.
	failing := wrapped{cut, func(ctx context.Context, b readmodel.Batch) ([]error, error) {
		if b.Mark.Position > 6 {
			return nil, readmodel.ErrMoved
		}
		return cut.Write(ctx, b)
	}}
	p := newProjector(t, failing, from{store: w.store, size: func(int) int { return 6 }})
	if err := p.Run(t.Context()); !errors.Is(err, readmodel.ErrMoved) {
		t.Fatal(err)
	}
	if marks, err := cut.Marks(t.Context()); err != nil || marks.All.Position != 6 || marks.Reach != w.mark(t) {
		t.Fatalf("marks %v, %v", marks, err)
	}
	for name, index := range map[string]readmodel.Index{"filled": filled, "cut off": cut} {
		if err := projector.Check(t.Context(), w.store, index); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	w.store.Rewind(8)
	fill := newIndex(t)
	err = projector.Fill(t.Context(), goingBack{w.store, func() { w.store.Rewind(7) }}, fill, nil)
	if !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("filled from two histories: %v, want ErrHistory", err)
	}
	if marks, err := fill.Marks(t.Context()); err != nil || marks.All.Position != 0 {
		t.Errorf("it has the marks %v, %v", marks, err)
	}
	w.last = 7
	clear(w.versions)
	for i := range 9 {
		w.create(t, calendar.KindTag, fmt.Sprint("new ", i))
	}
	for name, index := range map[string]readmodel.Index{"filled": filled, "cut off": cut} {
		if err := projector.Check(t.Context(), w.store, index); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("%s: %v, want ErrHistory", name, err)
		}
		if err := projector.CatchUp(t.Context(), w.store, index); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("%s: catching up: %v, want ErrHistory", name, err)
		}
	}
}
