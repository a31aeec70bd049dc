package status

import (
	"fmt"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/internal/lease"
)

// Bounds beyond which a process is degraded.
const (
	// MaxStill is how long a relay or a projector may stand still below the head.
	MaxStill = 10 * time.Second
	// MaxLag and MaxLagAge are how many entries lists may not show, and for how long one.
	MaxLag    = 1000
	MaxLagAge = 30 * time.Second
)

// lag is how a position follows the head, by looks at both. The zero value is ready.
type lag struct {
	mu       sync.Mutex
	position calendar.Position
	moved    time.Time // when it was first seen at, or had reached the head
	goal     calendar.Position
	since    time.Time // when goal was first seen as the head
	below    bool      // at was below the head at the last look
}

// look notes where the position and the head are now.
func (lag *lag) look(now time.Time, position, head calendar.Position) {
	lag.mu.Lock()
	defer lag.mu.Unlock()
	if lag.moved.IsZero() || position != lag.position || !lag.below {
		lag.moved = now
	}
	if lag.since.IsZero() || position >= lag.goal || head < lag.goal { // a lower head is another history
		lag.goal, lag.since = head, now
	}
	lag.position, lag.below = position, position < head
}

// still returns how long the position has not moved while it was below the head.
func (lag *lag) still(now time.Time) time.Duration {
	lag.mu.Lock()
	defer lag.mu.Unlock()
	if !lag.below {
		return 0
	}
	return now.Sub(lag.moved)
}

// late returns how long ago an entry was the head that the position has not reached.
func (lag *lag) late(now time.Time) time.Duration {
	lag.mu.Lock()
	defer lag.mu.Unlock()
	if lag.position >= lag.goal {
		return 0
	}
	return now.Sub(lag.since)
}

// worker adds a worker to a report, with its state.
func (lag *lag) worker(report *Report, state *lease.State, worker Worker) {
	works, position := state == nil || state.Held(), worker.Position
	if !works {
		position = report.Head // another process works
	}
	if report.StoreErr == nil {
		lag.look(report.Time, position, report.Head)
	}
	worker.State = Active
	switch {
	case !works && state.Err() != nil:
		worker.State, worker.Failure = Blocked, state.Err().Error()
	case !works:
		worker.State = Standby
	case lag.still(report.Time) > MaxStill:
		worker.State = Stalled
	}
	report.Workers = append(report.Workers, worker)
}

// lagging returns what is wrong with lists at a position, "" for nothing.
func lagging(visible, head calendar.Position, late time.Duration) string {
	if visible >= head || head-visible <= MaxLag && late <= MaxLagAge {
		return ""
	}
	why := fmt.Sprintf("lists lag by %d entries", head-visible)
	if late > MaxLagAge {
		why += fmt.Sprintf(", one for %s", late.Round(time.Second))
	}
	return why
}
