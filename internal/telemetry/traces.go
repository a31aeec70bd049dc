package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"
	"go.opentelemetry.io/otel/trace"

	"daybook/calendar"
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

// noTraces begins spans that are never sent.
var noTraces = &Traces{tracer: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())).Tracer(namespace)}

// NewTraces starts sending spans; Close ends it. Faults of sending are logged
// and harm nothing else: spans that do not fit the queue are dropped.
func NewTraces(ctx context.Context, traceOptions TraceOptions) (*Traces, error) {
	address, err := url.Parse(traceOptions.URL)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	address.Path = cmp.Or(strings.TrimSuffix(address.Path, "/"), "/v1/traces")
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
		resource.WithAttributes(semconv.ServiceName(namespace), semconv.ServiceVersion(traceOptions.Version)),
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
func (traces *Traces) Close(ctx context.Context) error {
	if traces == nil {
		return nil
	}
	if err := traces.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("traces: send the last ones: %w", err)
	}
	return nil
}

// positions is the stretch that what comes behind a write covers: a write is followed to the
// lists by positions.
func positions(first, last calendar.Position) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int64("daybook.position.first", int64(first)), attribute.Int64("daybook.position.last", int64(last))}
}
