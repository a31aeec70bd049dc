package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"
	"go.opentelemetry.io/otel/trace"

	"daybook/calendar"
)

// TraceOptions are the settings of traces; without a URL there are none.
type TraceOptions struct {
	URL     string       `name:"traces" placeholder:"URL" pattern:"^https?://[^/?#@]+(/[^?#]*)?$" must:"be an http or https URL without user, query and fragment, as http://127.0.0.1:4318" secret:"" help:"where OpenTelemetry traces are sent (OTLP over HTTP), for example http://127.0.0.1:4318; empty: nowhere"` // without a path: /v1/traces
	Ratio   string       `name:"trace-ratio" default:"0.1" placeholder:"N" pattern:"^(0?[.][0-9]*[1-9][0-9]*|1([.]0*)?)$" must:"be a number above 0 and up to 1, as 0.1" help:"share of the traces that are sent, above 0 and up to 1"`
	Version string       `kong:"-"` // of the program
	Log     *slog.Logger `kong:"-"` // of spans that could not be sent
}

// lastTraces bounds the sending of the last spans.
const lastTraces = 5 * time.Second

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
	if traceOptions.URL == "" {
		return nil, nil //nolint:nilnil // a nil *Traces sends none
	}
	address, err := url.Parse(traceOptions.URL)
	if err != nil {
		return nil, err
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
		return nil, err
	}
	// A caller may ask for no trace, but not for more than the operator wants.
	share, _ := strconv.ParseFloat(traceOptions.Ratio, 64)
	ratio := sdktrace.TraceIDRatioBased(share)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(processor), sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(ratio, sdktrace.WithRemoteParentSampled(ratio))),
	)
	return &Traces{provider, provider.Tracer(namespace)}, nil
}

// Close sends what is left, for a while. It may be called on nil.
func (traces *Traces) Close(ctx context.Context) {
	if traces != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
		defer cancel()
		if err := traces.provider.Shutdown(ctx); err != nil {
			otel.Handle(err)
		}
	}
}

// positions is the stretch that what comes behind a write covers: a write is followed to the
// lists by positions.
func positions(first, last calendar.Position) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int64("daybook.position.first", int64(first)), attribute.Int64("daybook.position.last", int64(last))}
}
