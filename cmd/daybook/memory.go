package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"daybook/internal/ground/pause"
)

// How far the heap of the service grows before it is collected (ADR 23): up to
// heapRoom as long as that is within the two percentages of what lives. A small
// calendar is collected seldom, a large one does not take much more than it needs.
const (
	heapRoom      = 120 << 20 // bytes
	gcPercentMost = 200
	gcPercent     = 15
	gcLookEvery   = time.Second
)

// collectGarbage sets the percentage of the start, before anything lives. GOGC
// in the environment wins.
func collectGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// tuneCollector keeps the percentage right for what lives.
func tuneCollector(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for set := gcPercent; ; {
		if err := pause.For(ctx, gcLookEvery); err != nil {
			return err
		}
		metrics.Read(heap)
		// Setting it stops the world for a moment, so small differences are left.
		if p := percentFor(heap[0].Value.Uint64()); p < set || p > set+set/8 {
			debug.SetGCPercent(p)
			set = p
		}
	}
}

// percentFor returns the percentage for a heap of which so many bytes live.
func percentFor(live uint64) int {
	if live == 0 {
		return gcPercent
	}
	room := (int64(heapRoom) - int64(live)) * 100 / int64(live)
	return int(min(max(room, gcPercent), gcPercentMost))
}
