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
func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := h.requestID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if spanContext := trace.SpanContextFromContext(ctx); spanContext.IsSampled() {
		record.AddAttrs(slog.String("trace_id", spanContext.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs does slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs), h.requestID}
}

// WithGroup does slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name), h.requestID}
}
