package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
	"daybook/internal/lease"
	"daybook/projector"
	"daybook/projector/upkeep"
	"daybook/query/readmodel"
)

// Bounds beyond which a process is degraded.
const (
	// maxStill is how long a relay or a projector may stand still below the head.
	maxStill = 10 * time.Second
	// maxLag and maxLagAge are how many entries there may be that lists do not show,
	// and for how long one may have been there.
	maxLag    = 1000
	maxLagAge = 30 * time.Second
)

// lag is how a position follows the head, by looks at both. The zero value has not
// looked.
type lag struct {
	mu    sync.Mutex
	at    calendar.Position
	moved time.Time // when it was first seen at, or had reached the head
	goal  calendar.Position
	since time.Time // when goal was first seen as the head
	below bool      // at was below the head when last looked at
}

// look notes where the position and the head are now.
func (p *lag) look(now time.Time, at, head calendar.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.moved.IsZero() || at != p.at || !p.below {
		p.moved = now
	}
	if p.since.IsZero() || at >= p.goal || head < p.goal { // a lower head is another history
		p.goal, p.since = head, now
	}
	p.at, p.below = at, at < head
}

// still gives how long the position has not moved while it was below the head.
func (p *lag) still(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.below {
		return 0
	}
	return now.Sub(p.moved)
}

// late gives how long ago an entry was the head that the position has not come to.
func (p *lag) late(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at >= p.goal {
		return 0
	}
	return now.Sub(p.since)
}

// look notes how far the parts of this process that work are.
func (l *live) look(now time.Time, head calendar.Position) {
	if l.relay != nil && works(l.relaying) {
		l.relayed.look(now, l.relay.Stats().Position, head)
	} else {
		l.relayed.look(now, head, head) // it is on another one
	}
	if l.projects && works(l.projecting) {
		l.indexed.look(now, l.projected().Position, head)
	} else {
		l.indexed.look(now, head, head)
	}
}

// works tells whether a part of this process is the one that works.
func works(s *lease.State) bool { return s == nil || s.Held() }

// blocked returns why a part of this process, which does not work, cannot ask for its lease.
func blocked(s *lease.State) error {
	if works(s) {
		return nil
	}
	return s.Err()
}

// projected gives the counts of the projector.
func (l *live) projected() projector.Stats {
	if l.model == nil {
		return projector.Stats{}
	}
	return l.model.Stats()
}

// states tells for the roles of this process how they are, "" for those that it has
// not.
func (l *live) states() (relay, projector string) {
	now := time.Now()
	state := func(s *lease.State, p *lag) string {
		switch {
		case blocked(s) != nil:
			return roleBlocked
		case !works(s):
			return roleStandby
		case p.still(now) > maxStill:
			return roleStalled
		default:
			return roleActive
		}
	}
	if l.relay != nil {
		relay = state(l.relaying, &l.relayed)
	}
	if l.projects {
		projector = state(l.projecting, &l.indexed)
	}
	return relay, projector
}

// listFailure is a list that the read model did not answer.
type listFailure struct {
	at  time.Time
	err error
}

func (l *live) listFailed(err error) { l.failed.Store(&listFailure{time.Now(), err}) }

// unanswered gives why the read model, whose position can be read, does not answer lists:
// one of its indices cannot be read, or a list has failed a moment ago.
func (l *live) unanswered(ctx context.Context, now time.Time) error {
	if _, err := readmodel.Get(ctx, l.model.Index(), []calendar.ID{1}); err != nil { // it reads all of them
		return err
	}
	if f := l.failed.Load(); f != nil && now.Sub(f.at) < maxStill {
		return f.err
	}
	return nil
}

// lagging tells what is to say of lists at a position below the head; "": nothing.
func lagging(visible, head calendar.Position, late time.Duration) string {
	if visible >= head || head-visible <= maxLag && late <= maxLagAge {
		return ""
	}
	why := fmt.Sprintf("lists lag by %d entries", head-visible)
	if late > maxLagAge {
		why += fmt.Sprintf(", one for %s", late.Round(time.Second))
	}
	return why
}

// settles tells in the health of a process that nothing is known of before whether
// lists that are behind come forward.
func (b *backend) settles(ctx context.Context, m *upkeep.Upkeep, h *health) error {
	missing, err := b.store.Read(ctx, eventstore.Range{After: uint64(h.Visible), Limit: 1})
	if err != nil || len(missing) == 0 || time.Since(missing[0].Time) < maxLagAge {
		return err
	}
	within, cancel := context.WithTimeout(ctx, maxStill)
	defer cancel()
	if m.Index().Wait(within, missing[0].Position) != nil {
		h.Status = statusDegraded
		h.because(fmt.Sprintf("lists do not come beyond %d of %d", h.Visible, h.Head), "")
	}
	return ctx.Err()
}

// aheadOfStore is why lists are untrue that show entries which the store has not.
func aheadOfStore(visible, head calendar.Position) string {
	return fmt.Sprintf("lists show what the event store does not have: visible %d, head %d", visible, head)
}

// watchHealth looks at the process now and then, so that it is known since when
// something stands still, and logs when it does and when it does no more.
func (b *backend) watchHealth(ctx context.Context, log *slog.Logger) error {
	for degraded := false; ; {
		h := b.health(ctx)
		degraded = h.log(ctx, log, degraded)
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// log logs a change between well and degraded, and reports which of them it is then.
func (h *health) log(ctx context.Context, log *slog.Logger, degraded bool) bool {
	switch {
	case h.still && !degraded:
		log.WarnContext(ctx, "service is degraded", "why", cmp.Or(h.reason(), h.Status))
		return true
	case degraded && h.Status == statusOK:
		log.InfoContext(ctx, "service is well again")
		return false
	}
	return degraded
}
