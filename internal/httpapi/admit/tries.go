package admit

import (
	"context"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
)

// Passwords of protected events are tried by strangers (section 6.3, PAGES.md P2.3).
const (
	triesOfClient = 5   // wrong ones for a client and an event
	triesOfEvent  = 100 // wrong ones for an event
	triesWithin   = time.Minute
)

// attemptKey is what wrong passwords are counted by; client "" is all of them.
type attemptKey struct {
	event  calendar.ID
	client string
}

// Tries counts wrong passwords. Comparing them takes so long that those of a minute are
// few.
type Tries struct {
	now func() time.Time
	// turns are held while a password of an event is compared: each knows of those before.
	turns keylock.Locks[calendar.ID]

	mu    sync.Mutex
	wrong map[attemptKey][]time.Time // of the last minute, oldest first
	swept time.Time
}

// NewTries returns tries of which none was made.
func NewTries(now func() time.Time) *Tries {
	return &Tries{now: now, wrong: map[attemptKey][]time.Time{}}
}

// check refuses a password that comes after too many wrong ones.
func (tries *Tries) check(event calendar.ID, client string) error {
	tries.mu.Lock()
	defer tries.mu.Unlock()
	now := tries.now()
	var wait time.Duration
	for key, limit := range map[attemptKey]int{{event, client}: triesOfClient, {event, ""}: triesOfEvent} {
		if times := tries.fresh(key, now); len(times) >= limit {
			wait = max(wait, times[len(times)-limit].Add(triesWithin).Sub(now))
		}
	}
	if wait == 0 {
		return nil
	}
	return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: int((wait + time.Second - 1) / time.Second)}
}

// add counts a wrong password.
func (tries *Tries) add(event calendar.ID, client string) {
	tries.mu.Lock()
	defer tries.mu.Unlock()
	now := tries.now()
	for _, key := range []attemptKey{{event, client}, {event, ""}} {
		tries.wrong[key] = append(tries.fresh(key, now), now)
	}
	if now.Sub(tries.swept) < triesWithin {
		return
	}
	tries.swept = now
	for key := range tries.wrong {
		if len(tries.fresh(key, now)) == 0 {
			delete(tries.wrong, key)
		}
	}
}

// fresh gives those of the last minute.
func (tries *Tries) fresh(key attemptKey, now time.Time) []time.Time {
	times := tries.wrong[key]
	for len(times) > 0 && now.Sub(times[0]) >= triesWithin {
		times = times[1:]
	}
	return times
}

// Try reports whether a password opens an event. Wrong ones are counted, those of one event
// one after the other; after too many no more are checked.
func (tries *Tries) Try(ctx context.Context, pass *Pass, event calendar.ID, check func(context.Context) (bool, error)) (bool, error) {
	client := pass.Address.String()
	if err := tries.check(event, client); err != nil {
		return false, err
	}
	if !pass.Enter(Check, 1) {
		return false, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer pass.Resume()
	release, err := tries.turns.Acquire(ctx, event)
	if err != nil {
		return false, err
	}
	defer release()
	if err := tries.check(event, client); err != nil {
		return false, err
	}
	right, err := check(ctx)
	if err == nil && !right {
		tries.add(event, client)
	}
	return right, err
}
