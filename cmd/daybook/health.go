package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/lease"
	"daybook/internal/proof"
	"daybook/query/readmodel"
)

// The states of health.
const (
	statusOK       = "ok"
	statusStarting = "starting"
	statusDraining = "draining"
	statusDegraded = "degraded" // it serves, but not all it should
	statusNoStore  = "store unavailable"
	statusNoModel  = "read model unavailable"
	statusNoFeed   = "feed unavailable"
	statusNoData   = "data directory lost"
)

// whyNoWrites is why a service is degraded whose last write failed. It stays ready:
// it reads, and a write has to come for it to be well again.
const whyNoWrites = "store takes no writes"

// whyNoReads is why a service is degraded whose last read for a write, or of one record, failed.
const whyNoReads = "store cannot be read"

// The states of a role that one process has at a time.
const (
	roleActive  = "active" // it works, and comes forward
	roleStandby = "standby"
	roleStalled = "stalled" // it is the one that works, and does not come forward
	roleBlocked = "blocked" // it cannot ask for its lease
)

// health is how a process is. Numbers that its role has nothing to do with are
// left out.
type health struct {
	Status      string                  `json:"status"`
	Role        role                    `json:"role,omitempty"`
	Head        calendar.Position       `json:"head"`
	Visible     calendar.Position       `json:"visible"`
	Published   calendar.Position       `json:"published,omitempty"` // up to which the feed has it
	Quarantined []readmodel.Quarantined `json:"quarantined"`
	Relay       string                  `json:"relay,omitempty"`     // active, standby, stalled or blocked
	Projector   string                  `json:"projector,omitempty"` // the same
	Why         string                  `json:"why,omitempty"`       // of what is degraded
	Cause       string                  `json:"cause,omitempty"`     // the error behind it; not for everybody

	untrue bool // lists show what the store does not have
	still  bool // something stands still, or lags beyond the bounds
}

// ready tells whether the process does what it is there for.
func (h *health) ready() bool {
	return !h.untrue && (h.Status == statusOK || h.Status == statusDegraded)
}

// because adds a reason.
func (h *health) because(why, cause string) {
	join := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + ", " + b
	}
	h.Why, h.Cause = join(h.Why, why), join(h.Cause, cause)
}

// reason is why it is degraded, with the error behind it.
func (h *health) reason() string {
	if h.Cause == "" || h.Why == "" {
		return h.Why + h.Cause
	}
	return h.Why + ": " + h.Cause
}

// public is what may be seen of it over HTTP. The error behind a reason is for
// operators: the interface, which everybody reaches, does not tell it.
func (h *health) public() map[string]any {
	v := map[string]any{"status": h.Status, "head": h.Head}
	why := h.Why
	if h.Role == servesRelay || h.Role == servesProjector {
		why = h.reason()
	}
	if h.Role == servesRelay {
		if h.Relay == roleActive || h.Relay == roleStalled { // another one does not know
			v["published"] = h.Published
		}
	} else {
		v["visible"], v["quarantined"] = h.Visible, len(h.Quarantined)
	}
	for name, text := range map[string]string{"role": string(h.Role), "relay": h.Relay, "projector": h.Projector, "why": why} {
		if text != "" {
			v[name] = text
		}
	}
	return v
}

// healthWait bounds the look at each server: one that hangs is not well.
const healthWait = 2 * time.Second

func (b *backend) health(ctx context.Context) health {
	h := b.reached(ctx)
	if path := b.lostFile(); path != "" {
		h.Status, h.Why = statusNoData, filepath.Base(path)+" was removed or replaced" // nobody outside reads where
		return h
	}
	if why := b.failing(ctx, h.Head); why != "" && h.Status != statusNoStore {
		if h.Status == statusOK {
			h.Status = statusDegraded
		}
		h.because(why, "")
	}
	if err := b.unsigned(); err != nil && (h.Status == statusOK || h.Status == statusDegraded) {
		h.Status = statusDegraded
		h.because(whyNotSigned(err), err.Error())
	}
	return h
}

// unsigned tells why this process signs no checkpoints that it should, nil if it does.
func (b *backend) unsigned() error {
	if b.signer == nil || !b.s.signs() {
		return nil
	}
	return b.signer.Fault()
}

// whyNotSigned is what everybody may read of it.
func whyNotSigned(err error) string {
	if refusal := proof.Refusal(err); refusal != proof.ErrOrigin { //nolint:errorlint // one of Refusals itself
		return refusal.Error()
	}
	return "signing key of another log"
}

// failing returns why the store does not do what it is there for, by the last calls, ""
// when it does. One on a server may prove here that it can be read again.
func (b *backend) failing(ctx context.Context, head calendar.Position) string {
	if b.calls.noReads.Load() && b.leases != nil {
		ctx, cancel := context.WithTimeout(ctx, healthWait)
		defer cancel()
		_, err := b.store.Head(ctx, eventstore.Point{Position: head})
		b.calls.read(err)
	}
	switch {
	case b.calls.noReads.Load():
		return whyNoReads
	case b.calls.noWrites.Load():
		return whyNoWrites
	default:
		return ""
	}
}

// reached is the health by what of the servers and of the parts in the process can
// be reached.
func (b *backend) reached(ctx context.Context) health {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	h := health{Status: statusStarting, Role: b.s.Role, Quarantined: []readmodel.Quarantined{}}
	log, err := b.store.Head(ctx, eventstore.Point{})
	if err != nil {
		h.Status = statusNoStore
		return h
	}
	head := log.Position
	h.Head = head
	l := b.live.Load()
	if l == nil {
		return h
	}
	now := time.Now()
	l.look(now, head)
	h.Relay, h.Projector = l.states()
	if l.relay != nil && !l.feed.Conn().IsConnected() {
		h.Status, h.Why = statusDegraded, statusNoFeed // lists follow the store
		if b.s.Role == servesRelay {
			h.Status, h.Why = statusNoFeed, ""
			return h
		}
	}
	if h.Relay == roleStalled && h.Why == "" { // a feed that is away says enough
		h.because(fmt.Sprintf("the relay does not come beyond %d of %d", l.relay.Stats().Position, head), l.relay.Stats().Error)
		h.still = true
	}
	if h.Projector == roleStalled {
		h.because(fmt.Sprintf("the projector does not come beyond %d of %d", l.projected().Position, head), l.projected().Failure)
		h.still = true
	}
	for _, p := range []struct {
		name  string
		lease *lease.State
	}{{"relay", l.relaying}, {"projector", l.projecting}} {
		if err := blocked(p.lease); err != nil {
			h.because("the "+p.name+" cannot ask for its lease", err.Error())
			h.still = true
		}
	}
	if l.model == nil {
		h.Published, h.Status = l.relay.Stats().Position, statusOK
		if h.still {
			h.Status = statusDegraded
		}
		return h
	}
	shown, err := l.model.Index().Visible(ctx)
	h.Visible = shown.Position
	if err != nil {
		h.Status, h.Why, h.Cause = statusNoModel, "", err.Error()
		if b.s.Role != servesProjector && l.caughtUp.Load() {
			h.Status, h.Why = statusDegraded, statusNoModel // single records are read and written on
			h.still = true
		}
		if failure := l.projected().Failure; failure != "" && failure != h.Cause {
			h.because("", failure)
		}
		return h
	}
	if h.Visible > head { // entries may have come since it was read
		if log, err = b.store.Head(ctx, eventstore.Point{}); err != nil {
			h.Status, h.Why, h.Cause = statusNoStore, "", ""
			return h
		}
		h.Head = log.Position
	}
	l.lists.look(now, h.Visible, h.Head)
	if !l.projects { // it has nothing to catch up with
		l.caughtUp.Store(true)
	}
	feedAway := h.Why == statusNoFeed
	kept := l.projects || !b.s.engine().local // not an image that nothing keeps outside of a service
	if why := lagging(h.Visible, h.Head, l.lists.late(now)); why != "" && kept {
		h.because(why, "")
		h.still = true
	}
	if err := l.unanswered(ctx, now); err != nil {
		h.because(statusNoModel, err.Error())
		h.still = true
	}
	if p, err := l.model.Index().QuarantinedLately(ctx); err == nil && len(p) > 0 {
		h.Quarantined = p
	}
	if h.untrue = h.Visible > h.Head; h.untrue {
		h.because(aheadOfStore(h.Visible, h.Head), "")
	}
	switch {
	case len(h.Quarantined) > 0, h.untrue:
		h.Status = statusDegraded
	case feedAway:
	case !l.caughtUp.Load():
	case h.still:
		h.Status = statusDegraded
	default:
		h.Status = statusOK
	}
	return h
}
