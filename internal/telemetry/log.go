package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler adds to each line what its context belongs to: request_id where RequestID knows
// one, trace_id within a trace that is kept.
type LogHandler struct {
	slog.Handler
	RequestID func(context.Context) string
}

// Handle implements slog.Handler.
func (handler LogHandler) Handle(ctx context.Context, record slog.Record) error {
	if id := handler.RequestID(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if spanContext := trace.SpanContextFromContext(ctx); spanContext.IsSampled() {
		record.AddAttrs(slog.String("trace_id", spanContext.TraceID().String()))
	}
	return handler.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (handler LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return LogHandler{handler.Handler.WithAttrs(attrs), handler.RequestID}
}

// WithGroup implements slog.Handler.
func (handler LogHandler) WithGroup(name string) slog.Handler {
	return LogHandler{handler.Handler.WithGroup(name), handler.RequestID}
}
