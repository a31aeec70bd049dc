package upkeep

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"daybook/projector"
)

// TestRebuildWhileWriting: a rebuild ends while entries are written and projected all the
// time, and the projector goes on in the new generation.
func TestRebuildWhileWriting(t *testing.T) {
	t.Parallel()
	store, index := trouble(t, 0, 0)
	upkeep := New(index.Generations, store, source{store}, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended, written := make(chan error, 1), make(chan struct{})
	go func() { ended <- upkeep.Project(ctx) }()
	go func() {
		defer close(written)
		for i := 0; ctx.Err() == nil; i++ {
			store.add(fmt.Sprint(i)) //nolint:contextcheck // it has that of the test
			<-time.After(100 * time.Microsecond)
		}
	}()
	for range 3 {
		if _, err := upkeep.Rebuild(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	cancel()
	<-written
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := projector.CatchUp(t.Context(), store, index); err != nil {
		t.Error(err)
	}
	if _, err := projector.Compare(t.Context(), store, index); err != nil {
		t.Error(err)
	}
}
