package projector_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/projector"
	"daybook/query/readmodel"
)

type watched struct {
	readmodel.Index
	seen func(ctx context.Context)
}

func (w watched) Write(ctx context.Context, b readmodel.Batch) ([]error, error) {
	w.seen(ctx)
	return w.Index.Write(ctx, b)
}

// TestObserveBatches: every batch is told with its positions, and the index is
// written under the context that was given.
func TestObserveBatches(t *testing.T) {
	t.Parallel()
	type key struct{}
	w := newWorld()
	for range 5 {
		w.create(t, calendar.KindTag, "Air")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told []string
	o := quick()
	o.Batch = 2
	o.Observe = func(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) {
		name := fmt.Sprint(first, "-", last)
		return context.WithValue(ctx, key{}, name), func(err error) {
			if errors.Is(err, context.Canceled) {
				name += " canceled"
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			told = append(told, name)
		}
	}
	index := watched{newIndex(t), func(ctx context.Context) {
		switch ctx.Value(key{}) {
		case nil:
			t.Error("written under another context")
		case "5-5":
			cancel()
		}
	}}
	p, err := projector.New(index, from{store: w.store}, o)
	must(t, err)
	must(t, p.Run(ctx))
	if len(told) != 3 || !slices.Equal(told[:2], []string{"1-2", "3-4"}) {
		t.Errorf("told %q", told)
	}
}
