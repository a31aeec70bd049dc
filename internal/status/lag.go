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
	mu    sync.Mutex
	at    calendar.Position
	moved time.Time // when it was first seen at, or had reached the head
	goal  calendar.Position
	since time.Time // when goal was first seen as the head
	below bool      // at was below the head at the last look
}

// look notes where the position and the head are now.
func (l *lag) look(now time.Time, at, head calendar.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moved.IsZero() || at != l.at || !l.below {
		l.moved = now
	}
	if l.since.IsZero() || at >= l.goal || head < l.goal { // a lower head is another history
		l.goal, l.since = head, now
	}
	l.at, l.below = at, at < head
}

// still returns how long the position has not moved while it was below the head.
func (l *lag) still(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.below {
		return 0
	}
	return now.Sub(l.moved)
}

// late returns how long ago an entry was the head that the position has not reached.
func (l *lag) late(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at >= l.goal {
		return 0
	}
	return now.Sub(l.since)
}

// worker adds a worker to a report, with its state.
func (l *lag) worker(report *Report, state *lease.State, w Worker) {
	works, at := state == nil || state.Held(), w.Position
	if !works {
		at = report.Head // another process works
	}
	if report.StoreErr == nil {
		l.look(report.Time, at, report.Head)
	}
	w.State = Active
	switch {
	case !works && state.Err() != nil:
		w.State, w.Failure = Blocked, state.Err().Error()
	case !works:
		w.State = Standby
	case l.still(report.Time) > MaxStill:
		w.State = Stalled
	}
	report.Workers = append(report.Workers, w)
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
