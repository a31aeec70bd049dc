package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
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
// are nil, and nobody does.
type watching struct {
	metrics  *telemetry.Metrics
	traces   *telemetry.Traces
	hooks    telemetry.Hooks
	handler  http.Handler // of metrics
	listener net.Listener // of metrics; nil: none of their own
}

// startWatching opens what the settings ask for; close ends it.
func startWatching(ctx context.Context, s *config, log *slog.Logger) (*watching, error) {
	w := &watching{}
	if s.Metrics != "" {
		w.metrics = telemetry.NewMetrics(version)
		w.handler = w.metrics.Handler(log)
	}
	if s.Metrics != "" && s.Metrics != metricsSame {
		var err error
		if w.listener, err = listen(ctx, "--metrics", s.Metrics); err != nil {
			return nil, err
		}
	}
	if s.Traces != "" {
		var err error
		w.traces, err = telemetry.NewTraces(ctx, telemetry.TraceOptions{URL: s.Traces, Ratio: s.TraceRatio, Version: version, Log: log})
		if err != nil {
			return nil, errors.Join(err, w.close(ctx))
		}
	}
	w.hooks = telemetry.NewHooks(w.metrics, w.traces, nil)
	return w, nil
}

// close sends the last spans.
func (w *watching) close(ctx context.Context) error {
	if w.listener != nil {
		_ = w.listener.Close() // the server has closed it when it ran
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTraces)
	defer cancel()
	return w.traces.Close(ctx)
}

// server serves the metrics and nothing else.
func (w *watching) server() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET "+pathMetrics, w.handler)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout}
}

// beside puts the metrics beside the service when they have no address of their
// own.
func (w *watching) beside(service http.Handler) http.Handler {
	if w.handler == nil || w.listener != nil {
		return service
	}
	metrics := w.server().Handler
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == pathMetrics {
			metrics.ServeHTTP(rw, r)
			return
		}
		service.ServeHTTP(rw, r)
	})
}
