package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"daybook/calendar"
)

// The attributes of the project. A write is followed to the lists by positions:
// the append has that of its last entry, what comes behind it has the stretch of
// positions that it covers.
const (
	attrRequest  = attribute.Key("daybook.request_id")
	attrKind     = attribute.Key("daybook.kind")
	attrAppends  = attribute.Key("daybook.appends")
	attrEntries  = attribute.Key("daybook.entries")
	attrPosition = attribute.Key("daybook.position")
	attrFirst    = attribute.Key("daybook.position.first")
	attrLast     = attribute.Key("daybook.position.last")
	attrResult   = attribute.Key("daybook.result")
)

// The attributes of HTTP by the semantic conventions.
const (
	attrMethod = attribute.Key("http.request.method")
	attrRoute  = attribute.Key("http.route")
	attrStatus = attribute.Key("http.response.status_code")
)

// TraceOptions are the settings of traces; all are required.
type TraceOptions struct {
	// URL is where spans are sent by OTLP over HTTP, as http://127.0.0.1:4318;
	// without a path it is /v1/traces.
	URL     string
	Ratio   float64      // of the traces that are kept, above 0 and up to 1
	Version string       // of the program
	Log     *slog.Logger // told of spans that could not be sent
}

// Traces sends spans. A nil *Traces sends none.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// NewTraces starts sending spans; Close ends it. Faults of sending are logged
// and harm nothing else: spans that do not fit the queue are dropped.
func NewTraces(ctx context.Context, traceOptions TraceOptions) (*Traces, error) {
	address, err := url.Parse(traceOptions.URL)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	if address.Path == "" || address.Path == "/" {
		address.Path = "/v1/traces"
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address.String()))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { traceOptions.Log.Warn("traces not sent", "error", err) }))
	return newTraces(ctx, sdktrace.NewBatchSpanProcessor(exporter), traceOptions)
}

func newTraces(ctx context.Context, processor sdktrace.SpanProcessor, traceOptions TraceOptions) (*Traces, error) {
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", namespace), attribute.String("service.version", traceOptions.Version)),
		resource.WithFromEnv(), // the operator's word is the last
	)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	// A caller may ask for no trace, but not for more than the operator wants.
	ratio := sdktrace.TraceIDRatioBased(traceOptions.Ratio)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(processor), sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(ratio, sdktrace.WithRemoteParentSampled(ratio))),
	)
	return &Traces{provider, provider.Tracer(namespace)}, nil
}

// Close sends what is left, until ctx ends. It may be called on nil.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("traces: send the last ones: %w", err)
	}
	return nil
}

func (t *Traces) start(ctx context.Context, name string, kind trace.SpanKind, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
}

// end ends a span.
func end(span trace.Span, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// request begins the span of a request, below the one that a traceparent header
// names (W3C Trace Context).
func (t *Traces) request(r *http.Request, id string) (context.Context, func(route string, status int)) {
	method := methodLabel(r.Method)
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.start(ctx, method, trace.SpanKindServer, attrMethod.String(method), attrRequest.String(id))
	return ctx, func(route string, status int) {
		span.SetAttributes(attrStatus.Int(status))
		if route != "" {
			span.SetName(method + " " + route)
			span.SetAttributes(attrRoute.String(route))
		}
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

func positions(first, last calendar.Position) []attribute.KeyValue {
	return []attribute.KeyValue{attrFirst.Int64(int64(first)), attrLast.Int64(int64(last))}
}
