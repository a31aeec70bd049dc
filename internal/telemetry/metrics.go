package telemetry

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daybook/eventstore"
	"daybook/internal/httpapi"
)

// namespace begins the name of every metric of the service.
const namespace = "daybook"

// other is the value of a label for all that is not in its list.
const other = "other"

// metric is what the catalogue says of a metric, besides its name.
type metric struct {
	Help    string
	Labels  []string
	Buckets string     // the name of those of a histogram
	Series  [][]string // values of the labels of series that are there from the beginning
}

// The catalogue has all metrics: those that are counted as things happen, and those whose
// values are looked up when they are read. The buckets of durations go from an answer out of
// the cache to one that waited for a position, and from a commit on a fast disk to one that
// hangs.
//
//go:embed metrics.json
var catalogueFile []byte

var catalogue = readCatalogue()

func readCatalogue() (out struct {
	Methods         []string // values of the label method besides other
	Buckets         map[string][]float64
	Counted, Looked map[string]metric
},
) {
	if err := json.Unmarshal(catalogueFile, &out); err != nil {
		panic(err) // the file is part of the program
	}
	return out
}

// Metrics are the metrics of one process, on a registry of their own. Nothing watches the
// parts of the process for a nil *Metrics.
type Metrics struct {
	registry   *prometheus.Registry
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
}

// NewMetrics makes the metrics of a program of a version, those of the Go
// runtime and of the process among them.
func NewMetrics(version string) *Metrics {
	metrics := &Metrics{registry: prometheus.NewRegistry(), counters: map[string]*prometheus.CounterVec{}, histograms: map[string]*prometheus.HistogramVec{}}
	factory := promauto.With(metrics.registry)
	for name, about := range catalogue.Counted {
		var series *prometheus.MetricVec
		if buckets := catalogue.Buckets[about.Buckets]; buckets != nil {
			metrics.histograms[name] = factory.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: about.Help, Buckets: buckets}, about.Labels)
			series = metrics.histograms[name].MetricVec
		} else {
			metrics.counters[name] = factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: about.Help}, about.Labels)
			series = metrics.counters[name].MetricVec
		}
		for _, values := range about.Series {
			_, _ = series.GetMetricWithLabelValues(values...)
		}
	}
	for _, code := range append(errorCodes, other) {
		metrics.counters["http_errors_total"].WithLabelValues(string(code))
	}
	metrics.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collector(func(to sink) { set(to, "build_info", 1, version) }))
	return metrics
}

// count counts one of a series.
func (metrics *Metrics) count(name string, labels ...string) {
	metrics.counters[name].WithLabelValues(labels...).Inc()
}

// observe adds a value to a series.
func (metrics *Metrics) observe(name string, value float64, labels ...string) {
	metrics.histograms[name].WithLabelValues(labels...).Observe(value)
}

// maxScrapes is how many scrapes are answered at the same time; more are answered 503.
const maxScrapes = 4

// Handler serves the metrics in the text format of Prometheus.
func (metrics *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(metrics.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

// errorCodes are the values of the label error besides other.
var errorCodes = httpapi.ErrorCodes()

// label returns a value of a label that has a list of them.
func label[T ~string](value T, listed []T) string {
	if slices.Contains(listed, value) {
		return string(value)
	}
	return other
}

// answer counts an answer. Raw paths are never labels.
func (metrics *Metrics) answer(method string, answered httpapi.Answered) {
	route := cmp.Or(answered.Route, "none")
	metrics.count("http_requests_total", route, method, strconv.Itoa(answered.Status))
	metrics.observe("http_request_duration_seconds", answered.Took.Seconds(), route, method)
	if answered.Cache != httpapi.CacheNone {
		metrics.count("cache_requests_total", string(answered.Cache))
	}
	if answered.Code != "" {
		metrics.count("http_errors_total", label(answered.Code, errorCodes))
	}
}

// failures are the values of the label result of appends_total for errors.
var failures = []struct {
	err    error
	result string
}{
	{eventstore.ErrConflict, "conflict"}, // of versions or of a guard
	{eventstore.ErrKeyReused, "key_reused"},
	{eventstore.ErrUnavailable, "unavailable"},
	{eventstore.ErrClosed, "unavailable"},
	{eventstore.ErrMalformed, "malformed"},
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "canceled"},
}

func resultOf(result *eventstore.Result) string {
	switch _, claim := errors.AsType[*eventstore.ClaimError](result.Err); {
	case claim: // another record holds a slug
		return "claim"
	case result.Err == nil && result.Receipt != nil: // the key was used before: nothing was written
		return "replayed"
	case result.Err == nil:
		return "appended"
	}
	for _, failure := range failures {
		if errors.Is(result.Err, failure.err) {
			return failure.result
		}
	}
	return "failed"
}
