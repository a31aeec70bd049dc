// Package readmodeltest is the suite that every readmodel.Index passes.
package readmodeltest

import (
	"context"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Harness opens the implementation under test.
type Harness struct {
	// Open gives an empty index; it is closed by t.Cleanup.
	Open func(t *testing.T) readmodel.Index
	// Slow makes the differential test shorter, for engines behind a network.
	Slow bool
}

func (h Harness) rounds() int {
	if h.Slow || testing.Short() {
		return 3
	}
	return 12
}

func (h Harness) queries() int {
	if h.Slow || testing.Short() {
		return 40
	}
	return 120
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Run("differential", func(t *testing.T) { differential(t, h) })
}

// write writes a batch of which nothing may be refused.
func write(t *testing.T, x readmodel.Index, b readmodel.Batch) {
	t.Helper()
	errs, err := x.Write(t.Context(), b)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	if len(errs) != len(b.Documents) {
		t.Fatalf("write: %d results for %d documents", len(errs), len(b.Documents))
	}
	for i, err := range errs {
		if err != nil {
			t.Fatalf("write document %d: %v", b.Documents[i].Record.ID, err)
		}
	}
}

// visible waits until the index shows a position.
func visible(t *testing.T, x readmodel.Index, p calendar.Position) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := x.Wait(ctx, p); err != nil {
		t.Fatalf("wait for position %d: %v", p, err)
	}
}
