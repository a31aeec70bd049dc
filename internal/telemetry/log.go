package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler gives a handler that adds to each line what its context belongs to:
// request_id where requestID knows one, trace_id within a trace that is kept.
func LogHandler(inner slog.Handler, requestID func(context.Context) string) slog.Handler {
	return logHandler{inner, requestID}
}

type logHandler struct {
	slog.Handler
	requestID func(context.Context) string
}

// Handle does slog.Handler.
func (handler logHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := handler.requestID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if spanContext := trace.SpanContextFromContext(ctx); spanContext.IsSampled() {
		record.AddAttrs(slog.String("trace_id", spanContext.TraceID().String()))
	}
	return handler.Handler.Handle(ctx, record)
}

// WithAttrs does slog.Handler.
func (handler logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{handler.Handler.WithAttrs(attrs), handler.requestID}
}

// WithGroup does slog.Handler.
func (handler logHandler) WithGroup(name string) slog.Handler {
	return logHandler{handler.Handler.WithGroup(name), handler.requestID}
}
