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

// monitoring is what watches a process that serves. Without a setting its parts
// are nil.
type monitoring struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces
	hooks   telemetry.Hooks
	handler http.Handler // of metrics
}

// startWatching opens what the settings ask for; close ends it.
func startWatching(ctx context.Context, config *config, log *slog.Logger) (w *monitoring, err error) {
	w = &monitoring{handler: http.NotFoundHandler()}
	if config.Metrics != "" {
		w.metrics = telemetry.NewMetrics(version)
		w.handler = w.metrics.Handler(log)
	}
	if config.Traces != "" {
		w.traces, err = telemetry.NewTraces(ctx, telemetry.TraceOptions{URL: config.Traces, Ratio: config.TraceRatio, Version: version, Log: log})
	}
	w.hooks = telemetry.NewHooks(w.metrics, w.traces, time.Now)
	return w, err
}

// close sends the last spans.
func (watching *monitoring) close(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
	defer cancel()
	if err := watching.traces.Close(ctx); err != nil {
		log.WarnContext(ctx, "last traces not sent", "error", err)
	}
}

// server serves the metrics and nothing else.
func (watching *monitoring) server() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET "+pathMetrics, watching.handler)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout}
}
