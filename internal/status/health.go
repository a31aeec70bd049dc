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
func (health *Health) Ready() bool {
	return !health.ahead && (health.Status == OK || health.Status == Degraded)
}

// Degrade adds a reason for which the process does not do all it should.
func (health *Health) Degrade(why, cause string) {
	if health.Status == OK {
		health.Status = Degraded
	}
	health.because(why, cause)
}

func (health *Health) because(why, cause string) {
	health.Why, health.Cause = join(", ", health.Why, why), join(", ", health.Cause, cause)
}

// stands adds a reason by which something stands still.
func (health *Health) stands(why, cause string) {
	health.because(why, cause)
	health.still = true
}

// join joins texts that are not empty.
func join(separator, first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + separator + second
}

// Reason returns why it is degraded, with the error behind it.
func (health *Health) Reason() string { return join(": ", health.Why, health.Cause) }

// Public returns what is served over HTTP. The interface, which everybody reaches, does not
// show the error behind a reason.
func (health *Health) Public() map[string]any {
	v := map[string]any{"status": health.Status, "head": health.Head}
	why := health.Why
	if health.Role == Relay || health.Role == Projector {
		why = health.Reason()
	}
	switch {
	case health.Role != Relay:
		v["visible"], v["quarantined"] = health.Visible, len(health.Quarantined)
	case health.Relay == Active || health.Relay == Stalled: // another one does not know
		v["published"] = health.Published
	}
	for name, text := range map[string]string{"role": health.Role, "relay": health.Relay, "projector": health.Projector, "why": why} {
		if text != "" {
			v[name] = text
		}
	}
	return v
}

// Health asks all parts and judges what they report.
func (reporter *Reporter) Health(ctx context.Context) (Health, *Report) {
	report := reporter.Look(ctx)
	health := reporter.judge(report)
	if reporter.LostFile != nil {
		if file := reporter.LostFile(); file != "" {
			health.Status, health.Why = NoData, filepath.Base(file)+" was removed or replaced" // nobody outside reads where
			return health, report
		}
	}
	if health.Status == NoStore {
		return health, report
	}
	for _, fault := range reporter.Faults {
		if why, cause := fault(ctx); why != "" {
			health.Degrade(why, cause)
		}
	}
	return health, report
}

// judge returns the health by a report.
func (reporter *Reporter) judge(report *Report) Health {
	health := Health{
		Status: OK, Role: reporter.Role, Head: report.Head, Visible: report.Visible, Quarantined: append([]readmodel.Quarantined{}, report.Quarantined...),
		Relay: report.StateOf(Relay), Projector: report.StateOf(Projector),
	}
	switch {
	case report.StoreErr != nil:
		health.Status = NoStore
		return health
	case report.FeedAway && reporter.Role == Relay:
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
	case reporter.Index == nil:
		health.Published = report.Relay.Position
	case report.IndexErr != nil:
		health.Status, health.Why, health.Cause = NoModel, "", report.IndexErr.Error()
		if reporter.Role != Projector && reporter.caughtUp.Load() { // single records are read and written on
			health.Status = Degraded
			health.stands(NoModel, "")
		}
		if report.Projector != nil && report.Projector.Failure != health.Cause {
			health.because("", report.Projector.Failure)
		}
		return health
	default:
		reporter.judgeLists(&health, report)
	}
	if health.Status == OK && health.still {
		health.Status = Degraded
	}
	return health
}

// judgeLists judges lists that are answered.
func (reporter *Reporter) judgeLists(health *Health, report *Report) {
	if why := lagging(report.Visible, report.Head, reporter.lists.late(report.Time)); why != "" {
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
	case health.Status == OK && !reporter.caughtUp.Load():
		health.Status = Starting
	}
}

// Settle waits whether lists that are behind in a look of a process that has looked only
// once come forward.
func (reporter *Reporter) Settle(ctx context.Context, health *Health, report *Report) error {
	if health.Status != OK || report.Unseen == nil || report.Time.Sub(report.Unseen.Time) < MaxLagAge {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, MaxStill)
	defer cancel()
	if reporter.Index.Wait(within, report.Unseen.Position) != nil {
		health.Degrade(fmt.Sprintf("lists do not come beyond %d of %d", report.Visible, report.Head), "")
	}
	return ctx.Err()
}

// Watch looks at the process now and then until the context ends, so that it is known since
// when something stands still, and logs when it does and when it does no more.
func (reporter *Reporter) Watch(ctx context.Context, log *slog.Logger, every time.Duration) error {
	for degraded := false; ; {
		health, _ := reporter.Health(ctx)
		degraded = health.log(ctx, log, degraded)
		if err := pause.For(ctx, every); err != nil {
			return err
		}
	}
}

// log logs a change between well and degraded, and reports whether it is degraded then.
func (health *Health) log(ctx context.Context, log *slog.Logger, degraded bool) bool {
	switch {
	case (health.still || health.Status == NoData) && !degraded:
		log.WarnContext(ctx, "service is degraded", "why", cmp.Or(health.Reason(), health.Status))
		return true
	case degraded && health.Status == OK:
		log.InfoContext(ctx, "service is well again")
		return false
	}
	return degraded
}
