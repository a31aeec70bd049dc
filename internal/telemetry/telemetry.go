// Package telemetry makes what watches the service: metrics for Prometheus,
// traces for OpenTelemetry, and the ids that lines of the log carry. The other packages
// know neither library: they are handed functions, and nil where no one watches.
package telemetry

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi"
	"daybook/query"
)

// Hooks are the functions that the other packages are handed. Those of type func are nil
// where nothing watches, so watching costs nothing then.
type Hooks struct {
	Answers    func(httpapi.Answered)                                                                  // httpapi.Options.Observe
	Streaming  func(by int)                                                                            // httpapi.Options.Streaming
	Requests   func(r *http.Request, id string) (context.Context, func(route string, status int))      // httpapi.Options.Trace
	Commits    eventstore.ObserveCommit                                                                // of a store that commits groups
	Publishing func(first, last calendar.Position) func(error)                                         // feed.RelayOptions.Observe
	Projecting func(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) // projector.Options.Observe

	watch *watch
}

// watch is what measures.
type watch struct {
	m   *Metrics
	t   *Traces
	now func() time.Time
}

// NewHooks returns the hooks of metrics and traces, each of which may be nil. now
// is the clock that durations are measured by; nil: time.Now.
func NewHooks(metrics *Metrics, t *Traces, now func() time.Time) (hooks Hooks) {
	if metrics == nil && t == nil {
		return hooks
	}
	if now == nil {
		now = time.Now
	}
	if metrics == nil {
		metrics = NewMetrics("") // nobody reads them
	} else {
		hooks.Answers = metrics.answer
		hooks.Streaming = func(by int) { metrics.streams.Add(float64(by)) }
	}
	if t == nil {
		t = &Traces{tracer: noop.NewTracerProvider().Tracer(namespace)}
	} else {
		hooks.Requests = t.request
	}
	w := &watch{metrics, t, now}
	hooks.watch, hooks.Commits = w, w.commit
	hooks.Publishing = func(first, last calendar.Position) func(error) {
		_, end := w.batch(context.Background(), "relay publish", trace.SpanKindProducer, metrics.publishTime, first, last)
		return end
	}
	hooks.Projecting = func(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) {
		return w.batch(ctx, "project batch", trace.SpanKindConsumer, metrics.projectTime, first, last)
	}
	return hooks
}

// Store returns a store whose appends are watched: store itself when nothing watches.
func (h *Hooks) Store(store eventstore.Store) eventstore.Store {
	if h.watch == nil {
		return store
	}
	return watchedStore{store, h.watch}
}

// Queries returns queries whose lists are watched: queries itself when nothing watches.
func (h *Hooks) Queries(queries httpapi.Queries) httpapi.Queries {
	if h.watch == nil {
		return queries
	}
	return watchedQueries{queries, h.watch}
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
	ctx, span := s.t.start(ctx, "append", trace.SpanKindInternal, attrAppends.Int(len(appends)))
	defer span.End()
	results := s.Store.Append(ctx, appends)
	s.m.appendTime.Observe(s.now().Sub(start).Seconds())
	for i := range results {
		result := resultOf(&results[i])
		s.m.appends.WithLabelValues(result).Inc()
		span.SetAttributes(attrResult.String(result))
		if results[i].Err == nil {
			span.SetAttributes(attrPosition.Int64(int64(results[i].Position)))
		}
	}
	return results
}

// Receipt implements eventstore.Store. What is found answers a repeated request.
func (s watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := s.Store.Receipt(ctx, user, key)
	if receipt != nil {
		s.m.appends.WithLabelValues(resultOf(&eventstore.Result{Receipt: receipt})).Inc()
	}
	return receipt, err
}

type watchedQueries struct {
	httpapi.Queries
	*watch
}

// Run implements httpapi.Queries.
func (q watchedQueries) Run(ctx context.Context, criteria *query.Criteria) (*query.List, error) {
	start, kind := q.now(), criteria.Kind.String()
	ctx, span := q.t.start(ctx, "list query", trace.SpanKindInternal, attrKind.String(kind))
	list, err := q.Queries.Run(ctx, criteria)
	end(span, err)
	q.m.listTime.WithLabelValues(kind).Observe(q.now().Sub(start).Seconds())
	return list, err
}

// commit watches a group commit: it belongs to many writes, so its span begins a trace.
func (w *watch) commit() func(eventstore.Committed) {
	start := w.now()
	_, span := w.t.start(context.Background(), "group commit", trace.SpanKindInternal)
	return func(committed eventstore.Committed) {
		span.SetAttributes(attrAppends.Int(committed.Appends), attrEntries.Int(committed.Entries))
		if committed.Entries > 0 {
			span.SetAttributes(positions(committed.Head-calendar.Position(committed.Entries)+1, committed.Head)...)
		}
		end(span, committed.Err)
		w.m.groupSize.Observe(float64(committed.Appends))
		w.m.commitTime.Observe(w.now().Sub(start).Seconds())
		if committed.Err != nil {
			w.m.failed.Inc()
		}
	}
}

// batch watches work on consecutive entries. What did not end well says nothing about how
// long it takes.
func (w *watch) batch(ctx context.Context, name string, kind trace.SpanKind, took prometheus.Observer, first, last calendar.Position) (context.Context, func(error)) {
	start := w.now()
	ctx, span := w.t.start(ctx, name, kind, positions(first, last)...)
	return ctx, func(err error) {
		end(span, err)
		if err == nil {
			took.Observe(w.now().Sub(start).Seconds())
		}
	}
}
