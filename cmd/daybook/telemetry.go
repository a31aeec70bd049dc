package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"daybook/internal/telemetry"
)

const (
	pathMetrics = "/metrics"
	// metricsSame as an address stands for the listener of the service.
	metricsSame = "same"
	// lastTraces is how long the end waits until the last spans are sent.
	lastTraces = 5 * time.Second
)

// watching is what watches a process that serves. Without a setting its parts
// are nil.
type watching struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces
	hooks   telemetry.Hooks
	handler http.Handler // of metrics
}

// startWatching opens what the settings ask for; close ends it.
func startWatching(ctx context.Context, s *config, log *slog.Logger) (w *watching, err error) {
	w = &watching{handler: http.NotFoundHandler()}
	if s.Metrics != "" {
		w.metrics = telemetry.NewMetrics(version)
		w.handler = w.metrics.Handler(log)
	}
	if s.Traces != "" {
		w.traces, err = telemetry.NewTraces(ctx, telemetry.TraceOptions{URL: s.Traces, Ratio: s.TraceRatio, Version: version, Log: log})
	}
	w.hooks = telemetry.NewHooks(w.metrics, w.traces, time.Now)
	return w, err
}

// close sends the last spans.
func (w *watching) close(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
	defer cancel()
	if err := w.traces.Close(ctx); err != nil {
		log.WarnContext(ctx, "last traces not sent", "error", err)
	}
}

// server serves the metrics and nothing else.
func (w *watching) server() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET "+pathMetrics, w.handler)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout}
}
