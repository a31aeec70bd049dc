package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How far the heap of the service grows before it is collected (ADR 15): up to
// heapRoom as long as that is within the two percentages of what lives. A small
// calendar is collected seldom, a large one does not take much more than it needs.
const (
	heapRoom      = 120 << 20 // bytes
	gcPercentMost = 200
	gcPercent     = 15
	gcLookEvery   = time.Second
)

// After so many quiet looks what a load has left free is given back to the system.
const (
	quietLooks = 5
	quietBytes = 1 << 20 // that are allocated between two quiet looks, at most
)

// quiet tells when free memory is to be given back. The zero value is ready.
type quiet struct {
	looks       int
	seen, given uint64 // bytes allocated so far, at the last look and when it was given back
}

// look gets the bytes that were allocated so far and those that live. Giving back collects
// first, so it has to be worth half of what lives.
func (q *quiet) look(allocated, live uint64) bool {
	if q.looks++; allocated-q.seen > quietBytes {
		q.looks = 0
	}
	q.seen = allocated
	if q.looks < quietLooks || allocated-q.given <= live/2 {
		return false
	}
	q.given = allocated
	return true
}

// collectGarbage sets the percentage of the start, before anything lives. GOGC
// in the environment wins.
func collectGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// tuneCollector keeps the percentage right for what lives, and gives back what is free
// after a load.
func tuneCollector(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(gcLookEvery)
	defer tick.Stop()
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	var q quiet
	set := gcPercent
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		metrics.Read(heap)
		live := heap[0].Value.Uint64()
		if q.look(heap[1].Value.Uint64(), live) {
			debug.FreeOSMemory()
			continue
		}
		// Setting it stops the world for a moment, so small differences are left.
		if p := percentFor(live); p < set || p > set+set/8 {
			debug.SetGCPercent(p)
			set = p
		}
	}
}

// percentFor gives the percentage for a heap of which so many bytes live.
func percentFor(live uint64) int {
	if live == 0 {
		return gcPercent
	}
	room := (int64(heapRoom) - int64(live)) * 100 / int64(live)
	return int(min(max(room, gcPercent), gcPercentMost))
}
