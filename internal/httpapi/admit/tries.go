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

// tried is what wrong passwords are counted by; client "" is all of them.
type tried struct {
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
	wrong map[tried][]time.Time // of the last minute, oldest first
	swept time.Time
}

// NewTries returns tries of which none was made.
func NewTries(now func() time.Time) *Tries {
	return &Tries{now: now, wrong: map[tried][]time.Time{}}
}

// check refuses a password that comes after too many wrong ones.
func (t *Tries) check(event calendar.ID, client string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	var wait time.Duration
	for key, limit := range map[tried]int{{event, client}: triesOfClient, {event, ""}: triesOfEvent} {
		if times := t.fresh(key, now); len(times) >= limit {
			wait = max(wait, times[len(times)-limit].Add(triesWithin).Sub(now))
		}
	}
	if wait == 0 {
		return nil
	}
	return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: int((wait + time.Second - 1) / time.Second)}
}

// add counts a wrong password.
func (t *Tries) add(event calendar.ID, client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, key := range []tried{{event, client}, {event, ""}} {
		t.wrong[key] = append(t.fresh(key, now), now)
	}
	if now.Sub(t.swept) < triesWithin {
		return
	}
	t.swept = now
	for key := range t.wrong {
		if len(t.fresh(key, now)) == 0 {
			delete(t.wrong, key)
		}
	}
}

// fresh gives those of the last minute.
func (t *Tries) fresh(key tried, now time.Time) []time.Time {
	times := t.wrong[key]
	for len(times) > 0 && now.Sub(times[0]) >= triesWithin {
		times = times[1:]
	}
	return times
}

// Try reports whether a password opens an event. Wrong ones are counted, those of one event
// one after the other; after too many no more are checked.
func (t *Tries) Try(ctx context.Context, pass *Pass, event calendar.ID, check func(context.Context) (bool, error)) (bool, error) {
	client := pass.Address.String()
	if err := t.check(event, client); err != nil {
		return false, err
	}
	if !pass.Enter(Check, 1) {
		return false, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	defer pass.Resume()
	release, err := t.turns.Acquire(ctx, event)
	if err != nil {
		return false, err
	}
	defer release()
	if err := t.check(event, client); err != nil {
		return false, err
	}
	right, err := check(ctx)
	if err == nil && !right {
		t.add(event, client)
	}
	return right, err
}
