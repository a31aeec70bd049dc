package admit

import (
	"context"
	"net/netip"
	"slices"
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

// attempt is a wrong password of a client for an event.
type attempt struct {
	at     time.Time
	event  calendar.ID
	client netip.Addr
}

// Tries counts wrong passwords. Comparing them takes so long that those of a minute are
// few.
type Tries struct {
	now func() time.Time
	// turns are held while a password of an event is compared: each knows of those before.
	turns keylock.Locks[calendar.ID]

	mu    sync.Mutex
	wrong []attempt // of the last minute, oldest first
}

// NewTries returns tries of which none was made.
func NewTries(now func() time.Time) *Tries { return &Tries{now: now} }

// check refuses a password that comes after too many wrong ones.
func (tries *Tries) check(event calendar.ID, client netip.Addr) error {
	tries.mu.Lock()
	defer tries.mu.Unlock()
	now, all, own := tries.now(), 0, 0
	var wait time.Duration
	for _, attempt := range slices.Backward(tries.wrong) {
		if attempt.event != event {
			continue
		}
		all++
		if attempt.client == client {
			own++
		}
		if attempt.client == client && own == triesOfClient || all == triesOfEvent {
			wait = max(wait, attempt.at.Add(triesWithin).Sub(now))
		}
	}
	if wait == 0 {
		return nil
	}
	return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: int((wait + time.Second - 1) / time.Second)}
}

// add counts a wrong password.
func (tries *Tries) add(event calendar.ID, client netip.Addr) {
	tries.mu.Lock()
	defer tries.mu.Unlock()
	now := tries.now()
	tries.wrong = slices.DeleteFunc(tries.wrong, func(attempt attempt) bool { return now.Sub(attempt.at) >= triesWithin })
	tries.wrong = append(tries.wrong, attempt{now, event, client})
}

// Try reports whether a password opens an event. Wrong ones are counted, those of one event
// one after the other; after too many no more are checked.
func (tries *Tries) Try(ctx context.Context, pass *Pass, event calendar.ID, password string, opens func(context.Context, calendar.ID, string) (bool, error)) (bool, error) {
	if password == "" {
		return false, nil
	}
	if err := tries.check(event, pass.Address); err != nil {
		return false, err
	}
	if err := pass.Enter(Check, 1); err != nil {
		return false, err
	}
	defer pass.Resume()
	release, err := tries.turns.Acquire(ctx, event)
	if err != nil {
		return false, err
	}
	defer release()
	if err := tries.check(event, pass.Address); err != nil {
		return false, err
	}
	right, err := opens(ctx, event, password)
	if err == nil && !right {
		tries.add(event, pass.Address)
	}
	return right, err
}
