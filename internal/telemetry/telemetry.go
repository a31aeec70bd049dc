// Package telemetry makes what watches the service: metrics for Prometheus,
// traces for OpenTelemetry, and the ids that lines of the log carry. The other packages
// know neither library: they are handed functions, and nil where no one watches.
package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"
	"go.opentelemetry.io/otel/trace"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi"
	"daybook/query"
)

// Hooks are the functions that the other packages are handed. Those of type func are nil
// where nothing watches, so watching costs nothing then.
type Hooks struct {
	Requests               func(request *http.Request, id string) (context.Context, func(httpapi.Answered)) // httpapi.Options.Observe
	Commits                eventstore.ObserveCommit                                                         // of a store that commits groups
	Publishing, Projecting batchObserver                                                                    // Observe of the options of feed.Relay and projector.Projector

	watch *watch
}

// batchObserver observes work on consecutive entries: it returns the context of the work, and
// what ends it.
type batchObserver = func(ctx context.Context, first, last calendar.Position) (context.Context, func(error))

// watch is what measures.
type watch struct {
	*Metrics
	*Traces

	now func() time.Time
}

// NewHooks returns the hooks of metrics and traces, each of which may be nil. Durations are
// measured by the clock now.
func NewHooks(metrics *Metrics, traces *Traces, now func() time.Time) Hooks {
	if metrics == nil && traces == nil {
		return Hooks{}
	}
	w := &watch{cmp.Or(metrics, NewMetrics("")), cmp.Or(traces, noTraces), now} // nobody reads the metrics then
	return Hooks{
		Requests: w.request, Commits: w.commit,
		Publishing: w.batches("relay publish", trace.SpanKindProducer, "relay_publish_duration_seconds"),
		Projecting: w.batches("project batch", trace.SpanKindConsumer, "projection_batch_duration_seconds"),
		watch:      w,
	}
}

// took observes how long something took that began at a time.
func (watch *watch) took(metric string, since time.Time, labels ...string) {
	watch.observe(metric, watch.now().Sub(since).Seconds(), labels...)
}

// Store returns a store whose appends are watched: store itself when nothing watches.
func (hooks *Hooks) Store(store eventstore.Store) eventstore.Store {
	if hooks.watch == nil {
		return store
	}
	return watchedStore{store, hooks.watch}
}

// Queries returns queries whose lists are watched: queries itself when nothing watches.
func (hooks *Hooks) Queries(queries httpapi.Queries) httpapi.Queries {
	if hooks.watch == nil {
		return queries
	}
	return watchedQueries{queries, hooks.watch}
}

type watchedStore struct {
	eventstore.Store
	*watch
}

// Append implements eventstore.Store. Checkpoints alone are no writes of clients.
func (watchedStore watchedStore) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	if len(appends) == 1 && len(appends[0].Drafts) == 0 && appends[0].Receipt == nil {
		return watchedStore.Store.Append(ctx, appends)
	}
	start := watchedStore.now()
	ctx, span := watchedStore.start(ctx, "append", trace.SpanKindInternal, attribute.Int("daybook.appends", len(appends)))
	defer span.End()
	results := watchedStore.Store.Append(ctx, appends)
	watchedStore.took("append_duration_seconds", start)
	for i := range results {
		result := resultOf(&results[i])
		watchedStore.count("appends_total", result)
		span.SetAttributes(attribute.String("daybook.result", result))
		if results[i].Err == nil {
			span.SetAttributes(attribute.Int64("daybook.position", int64(results[i].Position)))
		}
	}
	return results
}

// Receipt implements eventstore.Store. What is found answers a repeated request.
func (watchedStore watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := watchedStore.Store.Receipt(ctx, user, key)
	if receipt != nil {
		watchedStore.count("appends_total", resultOf(&eventstore.Result{Receipt: receipt}))
	}
	return receipt, err
}

type watchedQueries struct {
	httpapi.Queries
	*watch
}

// Run implements httpapi.Queries.
func (watchedQueries watchedQueries) Run(ctx context.Context, criteria *query.Criteria) (*query.List, error) {
	start, kind := watchedQueries.now(), criteria.Kind.String()
	ctx, span := watchedQueries.start(ctx, "list query", trace.SpanKindInternal, attribute.String("daybook.kind", kind))
	list, err := watchedQueries.Queries.Run(ctx, criteria)
	end(span, err)
	watchedQueries.took("list_query_duration_seconds", start, kind)
	return list, err
}

// commit watches a group commit: it belongs to many writes, so its span begins a trace.
func (watch *watch) commit() func(eventstore.Committed) {
	start := watch.now()
	_, span := watch.start(context.Background(), "group commit", trace.SpanKindInternal)
	return func(committed eventstore.Committed) {
		span.SetAttributes(attribute.Int("daybook.appends", committed.Appends), attribute.Int("daybook.entries", committed.Entries))
		if committed.Entries > 0 {
			span.SetAttributes(positions(committed.Head-calendar.Position(committed.Entries)+1, committed.Head)...)
		}
		end(span, committed.Err)
		watch.observe("append_group_size", float64(committed.Appends))
		watch.took("commit_duration_seconds", start)
		if committed.Err != nil {
			watch.count("commit_failures_total")
		}
	}
}

// batches returns the observer of batches. What did not end well says nothing about how long
// it takes.
func (watch *watch) batches(name string, kind trace.SpanKind, metric string) batchObserver {
	return func(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) {
		start := watch.now()
		ctx, span := watch.start(ctx, name, kind, positions(first, last)...)
		return ctx, func(err error) {
			end(span, err)
			if err == nil {
				watch.took(metric, start)
			}
		}
	}
}

// request begins the span of a request, below the one that a traceparent header
// names (W3C Trace Context).
func (watch *watch) request(request *http.Request, id string) (context.Context, func(httpapi.Answered)) {
	method := label(request.Method, catalogue.Methods)
	ctx := propagation.TraceContext{}.Extract(request.Context(), propagation.HeaderCarrier(request.Header))
	ctx, span := watch.start(ctx, method, trace.SpanKindServer, semconv.HTTPRequestMethodKey.String(method), attribute.String("daybook.request_id", id))
	return ctx, func(answered httpapi.Answered) {
		watch.answer(method, answered)
		span.SetAttributes(semconv.HTTPResponseStatusCode(answered.Status))
		if answered.Route != "" {
			span.SetName(method + " " + answered.Route)
			span.SetAttributes(semconv.HTTPRoute(answered.Route))
		}
		if answered.Status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
