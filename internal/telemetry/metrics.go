package telemetry

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daybook/eventstore"
	"daybook/internal/httpapi"
)

// namespace begins the name of every metric of the service.
const namespace = "daybook"

// metric is what the catalogue says of a metric, besides its name.
type metric struct {
	Help    string
	Labels  []string
	Buckets string     // the name of those of a histogram
	Series  [][]string // values of the labels of series that are there from the beginning
	Value   []string   // the fields that lead to it in status.Report; nil: it is set by itself
}

// The catalogue has all metrics: those that are counted as things happen, and those whose
// values are looked up when they are read. The buckets of durations go from an answer out of
// the cache to one that waited for a position, and from a commit on a fast disk to one that
// hangs.
//
//go:embed metrics.json
var catalogueFile []byte

var catalogue = readCatalogue()

func readCatalogue() (result struct {
	Methods         []string // values of the label method besides other
	Buckets         map[string][]float64
	Counted, Looked map[string]metric
},
) {
	if err := json.Unmarshal(catalogueFile, &result); err != nil {
		panic(err) // the file is part of the program
	}
	return result
}

// Metrics are the metrics of one process, on a registry of their own. Nothing watches the
// parts of the process for a nil *Metrics.
type Metrics struct {
	registry *prometheus.Registry
	counted  map[string]*prometheus.MetricVec
}

// NewMetrics makes the metrics of a program of a version, those of the Go
// runtime and of the process among them.
func NewMetrics(version string) *Metrics {
	metrics := &Metrics{prometheus.NewRegistry(), map[string]*prometheus.MetricVec{}}
	factory := promauto.With(metrics.registry)
	for name, about := range catalogue.Counted {
		if buckets := catalogue.Buckets[about.Buckets]; buckets != nil {
			metrics.counted[name] = factory.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: about.Help, Buckets: buckets}, about.Labels).MetricVec
		} else {
			metrics.counted[name] = factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: about.Help}, about.Labels).MetricVec
		}
		for _, values := range about.Series {
			metrics.series(name, values...)
		}
	}
	for _, code := range httpapi.ErrorCodes() {
		metrics.series("http_errors_total", string(code))
	}
	metrics.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), prometheus.CollectorFunc(func(to chan<- prometheus.Metric) { sink(to).set("build_info", 1, version) }))
	return metrics
}

// series returns one of what is counted, from now on there when the metrics are read.
func (metrics *Metrics) series(name string, labels ...string) prometheus.Metric {
	series, _ := metrics.counted[name].GetMetricWithLabelValues(labels...) // the labels are those of the catalogue
	return series
}

// count counts one of a series.
func (metrics *Metrics) count(name string, labels ...string) {
	metrics.series(name, labels...).(prometheus.Counter).Inc()
}

// observe adds a value to a series.
func (metrics *Metrics) observe(name string, value float64, labels ...string) {
	metrics.series(name, labels...).(prometheus.Observer).Observe(value)
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

// failures are the values of the label result of appends_total for errors.
var failures = []struct {
	err    error
	result string
}{
	{eventstore.ErrConflict, "conflict"}, // of versions or of a guard
	{eventstore.ErrKeyReused, "key_reused"},
	{eventstore.ErrUnavailable, "unavailable"},
	{eventstore.ErrClosed, "unavailable"},
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "canceled"},
}

func resultOf(result *eventstore.Result) string {
	switch _, claim := errors.AsType[*eventstore.ClaimError](result.Err); {
	case claim: // another record holds a slug
		return "claim"
	case result.Err != nil:
	case result.Receipt != nil: // the key was used before: nothing was written
		return "replayed"
	default:
		return "appended"
	}
	for _, failure := range failures {
		if errors.Is(result.Err, failure.err) {
			return failure.result
		}
	}
	return "failed"
}
