// Package status asks the parts of a process how they are, once for its health and for its
// metrics.
package status

import (
	"context"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/internal/lease"
	"daybook/internal/proof"
	"daybook/projector"
	"daybook/query/past"
	"daybook/query/readmodel"
)

// The parts that only one process has active at a time, and the roles of processes that do
// nothing else.
const (
	Relay     = "relay"
	Projector = "projector"
)

// The states of these parts.
const (
	Active  = "active" // it works and makes progress
	Standby = "standby"
	Stalled = "stalled" // it works without progress
	Blocked = "blocked" // it cannot ask for its lease
)

// Wait bounds one look at all parts: a server that hangs is not well.
const Wait = 2 * time.Second

// Store is what is asked of the event store.
type Store interface {
	Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error)
	Read(ctx context.Context, bounds eventstore.Range) ([]eventstore.Entry, error)
}

// Parts are the parts of a process; those that it lacks are nil.
type Parts struct {
	Role           string
	Store          Store // required
	Index          readmodel.Index
	Relay          func() feed.RelayStats
	RelayLease     *lease.State // nil: the relay needs none
	FeedConnected  func() bool  // required with a relay
	Projector      func() projector.Stats
	ProjectorLease *lease.State // nil: the projector needs none
	Signer         func() proof.Stats
	Past           func() past.Stats
	Streams        func() int64     // of changes that are open
	Now            func() time.Time // nil: time.Now

	// LostFile returns a file of the event store that was removed or replaced, "" for
	// none; nil: the store is no file.
	LostFile func() string
	// Faults return what else is wrong, "" for nothing.
	Faults []func(ctx context.Context) (why, cause string)
}

// Report is what the parts say at one moment. What could not be read is zero.
type Report struct {
	Time        time.Time
	Head        calendar.Position
	StoreErr    error
	Visible     calendar.Position // up to which lists show everything
	IndexErr    error
	ListsErr    error // of lists, while the position of the read model can be read
	Quarantined []readmodel.Quarantined
	Indexed     bool              // the process has a read model
	Unseen      *eventstore.Entry // the oldest one that lists do not show
	FeedAway    bool
	Workers     []Worker // relay and projector

	Relay     *feed.RelayStats
	Projector *projector.Stats
	Signer    *proof.Stats
	Past      *past.Stats
	Streams   *int64
}

// Worker is how a relay or projector works.
type Worker struct {
	Name, State string
	Position    calendar.Position
	Failure     string // what it tries again
}

// StateOf returns the state of a part, "" when the process lacks it.
func (report *Report) StateOf(name string) string {
	for _, worker := range report.Workers {
		if worker.Name == name {
			return worker.State
		}
	}
	return ""
}

// Reporter asks the parts of a process, and notes since when one of them stands still. It is
// safe for concurrent use.
type Reporter struct {
	Parts

	start                   atomic.Pointer[calendar.Position] // the head of the first look at lists
	caughtUp                atomic.Bool
	failure                 atomic.Pointer[listFailure]
	relay, projector, lists lag
}

// listFailure is a list that the read model did not answer.
type listFailure struct {
	instant time.Time
	err     error
}

func (reporter *Reporter) now() time.Time {
	if reporter.Now == nil {
		return time.Now()
	}
	return reporter.Now()
}

// ListFailed notes a list that the read model did not answer.
func (reporter *Reporter) ListFailed(err error) {
	reporter.failure.Store(&listFailure{reporter.now(), err})
}

// Look asks all parts.
func (reporter *Reporter) Look(ctx context.Context) *Report {
	ctx, cancel := context.WithTimeout(ctx, Wait)
	defer cancel()
	report := &Report{
		Time: reporter.now(), Indexed: reporter.Index != nil, Relay: ask(reporter.Relay), Projector: ask(reporter.Projector), Signer: ask(reporter.Signer), Past: ask(reporter.Past), Streams: ask(reporter.Streams),
	}
	reporter.head(ctx, report)
	if report.Relay != nil {
		report.FeedAway = !reporter.FeedConnected()
		reporter.relay.worker(report, reporter.RelayLease, Worker{Name: Relay, Position: report.Relay.Position, Failure: report.Relay.Error})
	}
	if report.Projector != nil {
		reporter.projector.worker(report, reporter.ProjectorLease, Worker{Name: Projector, Position: report.Projector.Position, Failure: report.Projector.Failure})
	}
	if report.Indexed {
		reporter.index(ctx, report)
	}
	return report
}

func ask[T any](part func() T) *T {
	if part == nil {
		return nil
	}
	value := part()
	return &value
}

func (reporter *Reporter) head(ctx context.Context, report *Report) {
	head, err := reporter.Store.Head(ctx, eventstore.Point{})
	if report.StoreErr = err; err == nil {
		report.Head = head.Position
	}
}

// index asks the read model, not the projector: a lag shows when no projector runs, too.
func (reporter *Reporter) index(ctx context.Context, report *Report) {
	shown, err := reporter.Index.Visible(ctx)
	if report.IndexErr = err; err != nil {
		return
	}
	report.Visible = shown.Position
	if reporter.Projector == nil { // it has nothing to catch up with
		reporter.caughtUp.Store(true)
	}
	if found, err := reporter.Index.Quarantined(ctx); err == nil {
		report.Quarantined = append([]readmodel.Quarantined{}, found...)
	}
	if report.StoreErr == nil && report.Visible > report.Head { // entries may have come since it was read
		reporter.head(ctx, report)
	}
	if report.StoreErr != nil {
		return
	}
	reporter.lists.look(report.Time, report.Visible, report.Head)
	reporter.start.CompareAndSwap(nil, &report.Head)
	if report.Visible >= *reporter.start.Load() {
		reporter.caughtUp.Store(true)
	}
	if report.Visible < report.Head {
		if next, err := reporter.Store.Read(ctx, eventstore.Range{After: uint64(report.Visible), Limit: 1}); err == nil && len(next) == 1 {
			report.Unseen = &next[0]
		}
	}
	_, err = readmodel.Get(ctx, reporter.Index, 1) // it reads all indices
	if listFailure := reporter.failure.Load(); err == nil && listFailure != nil && report.Time.Sub(listFailure.instant) < MaxStill {
		err = listFailure.err
	}
	report.ListsErr = err
}
