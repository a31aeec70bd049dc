package pages

import (
	"sync"
	"time"

	"daybook/calendar"
)

// Passwords of protected events are tried by strangers (PAGES.md P2.3).
const (
	triesOfClient  = 5   // wrong ones for a client and an event
	triesOfEvent   = 100 // wrong ones for an event
	triesWithin    = time.Minute
	checksAtOnce   = 2 // in a process
	mostTried      = 10_000
	passwordForm   = 4 << 10 // bytes
	passwordColumn = "password"
)

// tried is what wrong passwords are counted by; client "" is all of them.
type tried struct {
	event  calendar.ID
	client string
}

// tries counts wrong passwords. It is bounded: events and clients beyond mostTried are
// answered as those that tried too often, for a minute at most.
type tries struct {
	now func() time.Time

	mu    sync.Mutex
	wrong map[tried][]time.Time // of the last minute, oldest first
}

// wait tells how long a client has to wait before another password for an event is looked
// at; 0: it need not.
func (t *tries) wait(event calendar.ID, client string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	var most time.Duration
	for _, of := range []struct {
		key   tried
		limit int
	}{{tried{event, client}, triesOfClient}, {tried{event, ""}, triesOfEvent}} {
		times := t.fresh(of.key, now)
		if len(times) >= of.limit {
			most = max(most, times[len(times)-of.limit].Add(triesWithin).Sub(now))
		} else if times == nil && len(t.wrong) >= mostTried {
			if t.sweep(now); len(t.wrong) >= mostTried {
				most = max(most, triesWithin)
			}
		}
	}
	return most
}

// note counts a wrong one.
func (t *tries) note(event calendar.ID, client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, key := range []tried{{event, client}, {event, ""}} {
		t.wrong[key] = append(t.fresh(key, now), now)
	}
}

// fresh gives those of the last minute.
func (t *tries) fresh(key tried, now time.Time) []time.Time {
	times := t.wrong[key]
	for len(times) > 0 && now.Sub(times[0]) >= triesWithin {
		times = times[1:]
	}
	return times
}

// sweep forgets what is older than a minute.
func (t *tries) sweep(now time.Time) {
	for key := range t.wrong {
		if len(t.fresh(key, now)) == 0 {
			delete(t.wrong, key)
		}
	}
}
