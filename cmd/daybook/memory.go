package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"daybook/internal/ground/pause"
)

// How far the heap of the service grows before it is collected (ADR 23): up to
// heapRoom as long as that is within the two percentages of what lives. A small
// calendar is collected seldom, a large one does not take much more than it needs.
const (
	heapRoom      = 160 << 20 // bytes
	gcPercentMost = 200
	gcPercent     = 15 // at the start, before anything lives
	gcLookEvery   = time.Second
)

// tuneCollector keeps the percentage right for what lives.
func tuneCollector(ctx context.Context) error {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for set := 0; ; {
		metrics.Read(heap)
		percent := gcPercent
		if live := int(heap[0].Value.Uint64()); live > 0 {
			percent = min(max((heapRoom-live)*100/live, gcPercent), gcPercentMost)
		}
		// Setting it stops the world for a moment, so small differences are left.
		if percent < set || percent > set+set/8 {
			debug.SetGCPercent(percent)
			set = percent
		}
		if err := pause.For(ctx, gcLookEvery); err != nil {
			return err
		}
	}
}
