package pages

import (
	"context"
	"sync"
	"time"

	"daybook/calendar"
)

// Passwords of protected events are tried by strangers (PAGES.md P2.3).
const (
	triesOfClient = 5   // wrong ones for a client and an event
	triesOfEvent  = 100 // wrong ones for an event
	triesWithin   = time.Minute
	checksAtOnce  = 2 // in a process
	mostTried     = 10_000
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

	mu     sync.Mutex
	wrong  map[tried][]time.Time // of the last minute, oldest first
	looked map[tried]int         // that are looked at now
	swept  time.Time
}

func newTries(now func() time.Time) *tries {
	return &tries{now: now, wrong: map[tried][]time.Time{}, looked: map[tried]int{}}
}

// begin begins to look at a password for an event, or tells how long the client has to wait
// before: what is looked at counts as wrong until it is found right, or many at once would
// be more than the limit.
func (t *tries) begin(event calendar.ID, client string) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, of := range []struct {
		key   tried
		limit int
	}{{tried{event, client}, triesOfClient}, {tried{event, ""}, triesOfEvent}} {
		times := t.fresh(of.key, now)
		switch n := len(times) + t.looked[of.key]; {
		case len(times) >= of.limit:
			wait = max(wait, times[len(times)-of.limit].Add(triesWithin).Sub(now))
		case n >= of.limit:
			wait = max(wait, time.Second)
		case n == 0 && len(t.wrong) >= mostTried:
			if now.Sub(t.swept) >= time.Second {
				t.sweep(now)
			}
			if len(t.wrong) >= mostTried {
				wait = max(wait, triesWithin)
			}
		}
	}
	if wait == 0 {
		t.looked[tried{event, client}]++
		t.looked[tried{event, ""}]++
	}
	return wait
}

// end ends what begin began, and counts a wrong one.
func (t *tries) end(event calendar.ID, client string, wrong bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, key := range []tried{{event, client}, {event, ""}} {
		if t.looked[key]--; t.looked[key] <= 0 {
			delete(t.looked, key)
		}
		if wrong {
			t.wrong[key] = append(t.fresh(key, now), now)
		}
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
	t.swept = now
	for key := range t.wrong {
		if len(t.fresh(key, now)) == 0 {
			delete(t.wrong, key)
		}
	}
}

// try tells whether the password of a request opens an event, or how long to wait until
// one is looked at. It is work, so few are looked at at once.
func (p *Pages) try(ctx context.Context, r *Request, event calendar.ID) (right bool, wait time.Duration, err error) {
	if r.Password == "" {
		return false, 0, nil
	}
	if wait = p.tries.begin(event, r.Client); wait > 0 {
		return false, wait, nil
	}
	wrong := false
	defer func() { p.tries.end(event, r.Client, wrong) }()
	select {
	case p.checks <- struct{}{}:
		defer func() { <-p.checks }()
	case <-ctx.Done():
		return false, 0, ctx.Err()
	}
	right, err = p.Passwords.CheckPassword(ctx, event, r.Password)
	wrong = err == nil && !right
	return right, 0, err
}
