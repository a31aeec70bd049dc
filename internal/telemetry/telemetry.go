// Package telemetry makes what watches the service: metrics for Prometheus,
// traces for OpenTelemetry, and the ids that lines of the log carry. The other packages
// know neither library: they are handed functions, and nil where no one watches.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
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

// work is something that is watched while it is done.
type work struct {
	trace.Span
	*watch

	start time.Time
}

func (watch *watch) begin(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, work) {
	start := watch.now()
	ctx, span := watch.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return ctx, work{span, watch, start}
}

// took observes how long the work took until now.
func (work work) took(metric string, labels ...string) {
	work.observe(metric, work.now().Sub(work.start).Seconds(), labels...)
}

// end ends the span.
func (work work) end(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		work.SetStatus(codes.Error, err.Error())
	}
	work.End()
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
func (watchedStore watchedStore) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	if len(addition.Drafts) == 0 && addition.Receipt == nil {
		return watchedStore.Store.Append(ctx, addition)
	}
	ctx, work := watchedStore.begin(ctx, "append", trace.SpanKindInternal)
	defer work.End()
	done := watchedStore.Store.Append(ctx, addition)
	work.took("append_duration_seconds")
	result := resultOf(&done)
	watchedStore.count("appends_total", result)
	work.SetAttributes(attribute.String("daybook.result", result))
	if done.Err == nil {
		work.SetAttributes(attribute.Int64("daybook.position", int64(done.Position)))
	}
	return done
}

// Receipt implements eventstore.Store. What is found answers a repeated request.
func (watchedStore watchedStore) Receipt(ctx context.Context, user calendar.ID, key string) (*eventstore.Receipt, error) {
	receipt, err := watchedStore.Store.Receipt(ctx, user, key)
	if receipt != nil {
		watchedStore.count("appends_total", "replayed")
	}
	return receipt, err
}

type watchedQueries struct {
	httpapi.Queries
	*watch
}

// Run implements httpapi.Queries.
func (watchedQueries watchedQueries) Run(ctx context.Context, criteria *query.Criteria) (*query.List, error) {
	kind := criteria.Kind.String()
	ctx, work := watchedQueries.begin(ctx, "list query", trace.SpanKindInternal, attribute.String("daybook.kind", kind))
	list, err := watchedQueries.Queries.Run(ctx, criteria)
	work.end(err)
	work.took("list_query_duration_seconds", kind)
	return list, err
}

// commit watches a group commit: it belongs to many writes, so its span begins a trace.
func (watch *watch) commit() func(eventstore.Committed) {
	_, work := watch.begin(context.Background(), "group commit", trace.SpanKindInternal)
	return func(committed eventstore.Committed) {
		work.SetAttributes(attribute.Int("daybook.appends", committed.Appends), attribute.Int("daybook.entries", len(committed.Entries)))
		for _, commit := range committed.Commits {
			work.SetAttributes(positions(commit.First, commit.Last)...)
		}
		work.end(committed.Err)
		watch.observe("append_group_size", float64(committed.Appends))
		work.took("commit_duration_seconds")
		if committed.Err != nil {
			watch.count("commit_failures_total")
		}
	}
}

// batches returns the observer of batches. What did not end well says nothing about how long
// it takes.
func (watch *watch) batches(name string, kind trace.SpanKind, metric string) batchObserver {
	return func(ctx context.Context, first, last calendar.Position) (context.Context, func(error)) {
		ctx, work := watch.begin(ctx, name, kind, positions(first, last)...)
		return ctx, func(err error) {
			work.end(err)
			if err == nil {
				work.took(metric)
			}
		}
	}
}

// request begins the span of a request, below the one that a traceparent header
// names (W3C Trace Context), and counts its answer. Raw paths are never labels.
func (watch *watch) request(request *http.Request, id string) (context.Context, func(httpapi.Answered)) {
	method := request.Method
	if !slices.Contains(catalogue.Methods, method) {
		method = "other"
	}
	ctx := propagation.TraceContext{}.Extract(request.Context(), propagation.HeaderCarrier(request.Header))
	ctx, span := watch.begin(ctx, method, trace.SpanKindServer, semconv.HTTPRequestMethodKey.String(method), attribute.String("daybook.request_id", id))
	return ctx, func(answered httpapi.Answered) {
		route := cmp.Or(answered.Route, "none")
		watch.count("http_requests_total", route, method, strconv.Itoa(answered.Status))
		watch.observe("http_request_duration_seconds", answered.Took.Seconds(), route, method)
		if answered.Cache != httpapi.CacheNone {
			watch.count("cache_requests_total", string(answered.Cache))
		}
		if answered.Code != "" {
			watch.count("http_errors_total", string(answered.Code))
		}
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
