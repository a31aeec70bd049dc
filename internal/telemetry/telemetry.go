// Package telemetry makes what watches the service: metrics for Prometheus,
// traces for OpenTelemetry, and the ids that lines of the log carry. The rooms
// know neither library: they are handed functions, and nil where nobody watches.
package telemetry

import (
	"context"
	"net/http"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi"
	"daybook/query"
)

// Hooks are the functions that the rooms are handed. Those of type func are nil
// where nothing watches, so watching costs nothing then.
type Hooks struct {
	Answers    func(route string) func(httpapi.Answered)                                               // httpapi.Options.Observe
	Streaming  func(open int)                                                                          // httpapi.Options.Streaming
	Requests   func(r *http.Request, id string) (context.Context, func(route string, status int))      // httpapi.Options.Trace
	Commits    eventstore.ObserveCommit                                                                // of a store that commits groups
	Publishing func(first, last calendar.Position) func(error)                                         // feed.RelayOptions.Observe
	Projecting func(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) // projector.Options.Observe

	watch *watch
}

// watch is what measures; at least one of its parts is there.
type watch struct {
	m   *Metrics
	t   *Traces
	now func() time.Time
}

// NewHooks gives the hooks of metrics and traces, each of which may be nil. now
// is the clock that durations are measured by; nil: time.Now.
func NewHooks(m *Metrics, t *Traces, now func() time.Time) Hooks {
	if m == nil && t == nil {
		return Hooks{}
	}
	if now == nil {
		now = time.Now
	}
	w := &watch{m, t, now}
	h := Hooks{Commits: w.commit, Publishing: w.publish, Projecting: w.project, watch: w}
	if m != nil {
		h.Answers = m.answers
		h.Streaming = func(open int) { m.streams.Set(float64(open)) }
	}
	if t != nil {
		h.Requests = t.request
	}
	return h
}

// Store gives a store whose appends are watched: s itself when nothing watches.
func (h *Hooks) Store(s eventstore.Store) eventstore.Store {
	if h.watch == nil {
		return s
	}
	return watchedStore{s, h.watch}
}

// Queries gives queries whose lists are watched: q itself when nothing watches.
func (h *Hooks) Queries(q httpapi.Queries) httpapi.Queries {
	if h.watch == nil {
		return q
	}
	return watchedQueries{q, h.watch}
}

type watchedStore struct {
	eventstore.Store
	*watch
}

// Append implements eventstore.Store. Checkpoints alone are no writes of clients.
func (s watchedStore) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if len(appends) == 1 && len(appends[0].Drafts) == 0 && appends[0].Receipt == nil {
		return s.Store.Append(ctx, appends)
	}
	start := s.now()
	ctx, span := s.t.append(ctx, appends)
	results := s.Store.Append(ctx, appends)
	appendEnded(span, results)
	s.m.appended(results, s.now().Sub(start))
	return results
}

// Receipt implements eventstore.Store. What is found answers a repeated request.
func (s watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	r, err := s.Store.Receipt(ctx, user, key)
	s.m.found(r)
	return r, err
}

type watchedQueries struct {
	httpapi.Queries
	*watch
}

// Run does httpapi.Queries.
func (q watchedQueries) Run(ctx context.Context, c *query.Criteria) (*query.List, error) {
	start := q.now()
	ctx, span := q.t.list(ctx, c.Kind)
	list, err := q.Queries.Run(ctx, c)
	end(span, err)
	q.m.listed(c.Kind, q.now().Sub(start))
	return list, err
}

func (w *watch) commit() func(eventstore.Committed) {
	start := w.now()
	span := w.t.commit()
	return func(c eventstore.Committed) {
		commitEnded(span, c)
		w.m.committed(c, w.now().Sub(start))
	}
}

func (w *watch) publish(first, last calendar.Position) func(error) {
	start := w.now()
	_, span := w.t.stretch(context.Background(), spanPublish, first, last)
	return func(err error) {
		end(span, err)
		w.m.published(err, w.now().Sub(start))
	}
}

func (w *watch) project(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) {
	start := w.now()
	ctx, span := w.t.stretch(ctx, spanProject, first, last)
	return ctx, func(err error) {
		end(span, err)
		w.m.projected(err, w.now().Sub(start))
	}
}
