package status

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/pause"
	"daybook/query/readmodel"
)

// The states of a process.
const (
	OK       = "ok"
	Starting = "starting"
	Draining = "draining"
	Degraded = "degraded" // it serves, but not all it should
	NoStore  = "store unavailable"
	NoModel  = "read model unavailable"
	NoFeed   = "feed unavailable"
	NoData   = "data directory lost"
)

// Health is how a process is. Numbers that its role has nothing to do with are left out.
type Health struct {
	Status      string                  `json:"status"`
	Role        string                  `json:"role,omitempty"`
	Head        calendar.Position       `json:"head"`
	Visible     calendar.Position       `json:"visible"`
	Published   calendar.Position       `json:"published,omitempty"` // up to which the feed has it
	Quarantined []readmodel.Quarantined `json:"quarantined"`
	Relay       string                  `json:"relay,omitempty"`     // the state of the relay
	Projector   string                  `json:"projector,omitempty"` // that of the projector
	Why         string                  `json:"why,omitempty"`       // of what is degraded
	Cause       string                  `json:"cause,omitempty"`     // the error behind it, for operators

	ahead bool // lists show what the store does not have
	still bool // something stands still, or lags beyond the bounds
}

// Ready reports whether the process does what it is there for.
func (h *Health) Ready() bool {
	return !h.ahead && (h.Status == OK || h.Status == Degraded)
}

// Degrade adds a reason for which the process does not do all it should.
func (h *Health) Degrade(why, cause string) {
	if h.Status == OK {
		h.Status = Degraded
	}
	h.because(why, cause)
}

func (h *Health) because(why, cause string) {
	h.Why, h.Cause = join(", ", h.Why, why), join(", ", h.Cause, cause)
}

// stands adds a reason by which something stands still.
func (h *Health) stands(why, cause string) {
	h.because(why, cause)
	h.still = true
}

// join joins texts that are not empty.
func join(separator, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}

// Reason returns why it is degraded, with the error behind it.
func (h *Health) Reason() string { return join(": ", h.Why, h.Cause) }

// Public returns what is served over HTTP. The interface, which everybody reaches, does not
// show the error behind a reason.
func (h *Health) Public() map[string]any {
	v := map[string]any{"status": h.Status, "head": h.Head}
	why := h.Why
	if h.Role == Relay || h.Role == Projector {
		why = h.Reason()
	}
	switch {
	case h.Role != Relay:
		v["visible"], v["quarantined"] = h.Visible, len(h.Quarantined)
	case h.Relay == Active || h.Relay == Stalled: // another one does not know
		v["published"] = h.Published
	}
	for name, text := range map[string]string{"role": h.Role, "relay": h.Relay, "projector": h.Projector, "why": why} {
		if text != "" {
			v[name] = text
		}
	}
	return v
}

// Health asks all parts and judges what they report.
func (r *Reporter) Health(ctx context.Context) (Health, *Report) {
	report := r.Look(ctx)
	health := r.judge(report)
	if r.LostFile != nil {
		if file := r.LostFile(); file != "" {
			health.Status, health.Why = NoData, filepath.Base(file)+" was removed or replaced" // nobody outside reads where
			return health, report
		}
	}
	if health.Status == NoStore {
		return health, report
	}
	for _, fault := range r.Faults {
		if why, cause := fault(ctx, report.Head); why != "" {
			health.Degrade(why, cause)
		}
	}
	return health, report
}

// judge returns the health by a report.
func (r *Reporter) judge(report *Report) Health {
	health := Health{
		Status: OK, Role: r.Role, Head: report.Head, Visible: report.Visible, Quarantined: append([]readmodel.Quarantined{}, report.Quarantined...),
		Relay: report.StateOf(Relay), Projector: report.StateOf(Projector),
	}
	switch {
	case report.StoreErr != nil:
		health.Status = NoStore
		return health
	case report.FeedAway && r.Role == Relay:
		health.Status = NoFeed
		return health
	case report.FeedAway: // lists follow the store
		health.Degrade(NoFeed, "")
	}
	for _, worker := range report.Workers {
		switch {
		case worker.State == Blocked:
			health.stands("the "+worker.Name+" cannot ask for its lease", worker.Failure)
		case worker.State == Stalled && (worker.Name != Relay || !report.FeedAway): // a feed that is away says enough
			health.stands(fmt.Sprintf("the %s does not come beyond %d of %d", worker.Name, worker.Position, report.Head), worker.Failure)
		}
	}
	switch {
	case r.Index == nil:
		health.Published = report.Relay.Position
	case report.IndexErr != nil:
		health.Status, health.Why, health.Cause = NoModel, "", report.IndexErr.Error()
		if r.Role != Projector && r.caughtUp.Load() { // single records are read and written on
			health.Status = Degraded
			health.stands(NoModel, "")
		}
		if report.Projector != nil && report.Projector.Failure != health.Cause {
			health.because("", report.Projector.Failure)
		}
		return health
	default:
		r.judgeLists(&health, report)
	}
	if health.Status == OK && health.still {
		health.Status = Degraded
	}
	return health
}

// judgeLists judges lists that are answered.
func (r *Reporter) judgeLists(health *Health, report *Report) {
	if why := lagging(report.Visible, report.Head, r.lists.late(report.Time)); why != "" {
		health.stands(why, "")
	}
	if report.ListsErr != nil {
		health.stands(NoModel, report.ListsErr.Error())
	}
	if health.ahead = report.Visible > report.Head; health.ahead {
		health.because(fmt.Sprintf("lists show what the event store does not have: visible %d, head %d", report.Visible, report.Head), "")
	}
	switch {
	case health.ahead, len(report.Quarantined) > 0:
		health.Status = Degraded
	case health.Status == OK && !r.caughtUp.Load():
		health.Status = Starting
	}
}

// Settle waits whether lists that are behind in a look of a process that has looked only
// once come forward.
func (r *Reporter) Settle(ctx context.Context, health *Health, report *Report) error {
	if health.Status != OK || report.Unseen == nil || report.Time.Sub(report.Unseen.Time) < MaxLagAge {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, MaxStill)
	defer cancel()
	if r.Index.Wait(within, report.Unseen.Position) != nil {
		health.Degrade(fmt.Sprintf("lists do not come beyond %d of %d", report.Visible, report.Head), "")
	}
	return ctx.Err()
}

// Watch looks at the process now and then until the context ends, so that it is known since
// when something stands still, and logs when it does and when it does no more.
func (r *Reporter) Watch(ctx context.Context, log *slog.Logger, every time.Duration) error {
	for degraded := false; ; {
		health, _ := r.Health(ctx)
		degraded = health.log(ctx, log, degraded)
		if err := pause.For(ctx, every); err != nil {
			return err
		}
	}
}

// log logs a change between well and degraded, and reports whether it is degraded then.
func (h *Health) log(ctx context.Context, log *slog.Logger, degraded bool) bool {
	switch {
	case (h.still || h.Status == NoData) && !degraded:
		log.WarnContext(ctx, "service is degraded", "why", cmp.Or(h.Reason(), h.Status))
		return true
	case degraded && h.Status == OK:
		log.InfoContext(ctx, "service is well again")
		return false
	}
	return degraded
}
