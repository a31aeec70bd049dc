package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi"
)

// namespace begins the name of every metric of the service.
const namespace = "daybook"

// other is the value of a label for all that is not in its list.
const other = "other"

// The boundaries of durations, in seconds: from an answer out of the cache to
// one that waited for a position; from a commit on a fast disk to one that hangs.
var (
	requestBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	workBuckets    = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	sizeBuckets    = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

// Metrics are the metrics of one process, on a registry of their own. Nothing watches the
// parts of the process for a nil *Metrics.
type Metrics struct {
	registry *prometheus.Registry

	requests                 *prometheus.CounterVec
	duration, listTime       *prometheus.HistogramVec
	errors                   map[calendar.Code]prometheus.Counter
	cache, appends           *prometheus.CounterVec
	failed                   prometheus.Counter
	appendTime, commitTime   prometheus.Observer
	groupSize                prometheus.Observer
	publishTime, projectTime prometheus.Observer
	streams                  prometheus.Gauge
}

// NewMetrics makes the metrics of a program of a version, those of the Go
// runtime and of the process among them.
func NewMetrics(version string) *Metrics {
	metrics := &Metrics{registry: prometheus.NewRegistry(), errors: map[calendar.Code]prometheus.Counter{}}
	metrics.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.gauges("build_info", "The version that runs; always 1.", "version").WithLabelValues(version).Set(1)

	metrics.requests = metrics.counters("http_requests_total", "Requests that were answered, by route pattern, method and status; 499 when the client went away.", "route", "method", "code")
	metrics.duration = metrics.histograms("http_request_duration_seconds", "Time until a request was answered.", requestBuckets, "route", "method")
	failures := metrics.counters("http_errors_total", "Error answers by their code; what refused a login is among them.", "error")
	for _, code := range append(httpapi.ErrorCodes(), other) {
		metrics.errors[code] = failures.WithLabelValues(string(code))
	}
	metrics.cache = metrics.counters("cache_requests_total", "Reads by what the cache of whole answers did for them.", "outcome")
	for _, outcome := range cacheOutcomes {
		metrics.cache.WithLabelValues(outcome)
	}
	metrics.streams = metrics.gauges("http_streams", "Streams of changes that are open.").WithLabelValues()

	metrics.appends = metrics.counters("appends_total", "Appends to the event store by their result.", "result")
	for _, result := range appendResults {
		metrics.appends.WithLabelValues(result)
	}
	metrics.appendTime = metrics.histograms("append_duration_seconds", "Time until the writer had the result of its appends.", workBuckets).WithLabelValues()
	metrics.commitTime = metrics.histograms("commit_duration_seconds", "Time of one group commit of the event store.", workBuckets).WithLabelValues()
	metrics.failed = metrics.counters("commit_failures_total", "Group commits of which nothing was written because the engine failed.").WithLabelValues()
	metrics.groupSize = metrics.histograms("append_group_size", "Appends that shared one commit.", sizeBuckets).WithLabelValues()

	metrics.listTime = metrics.histograms("list_query_duration_seconds", "Time of lists that were not answered from the cache, by kind.", requestBuckets, "kind")
	for _, kind := range calendar.Kinds {
		metrics.listTime.WithLabelValues(kind.String())
	}
	metrics.publishTime = metrics.histograms("relay_publish_duration_seconds", "Time until the feed acknowledged a group of entries.", workBuckets).WithLabelValues()
	metrics.projectTime = metrics.histograms("projection_batch_duration_seconds", "Time until a batch of entries was in the read model.", workBuckets).WithLabelValues()
	return metrics
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return promauto.With(m.registry).NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return promauto.With(m.registry).NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return promauto.With(m.registry).NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// maxScrapes is how many scrapes are answered at the same time; more are answered 503.
const maxScrapes = 4

// Handler serves the metrics in the text format of Prometheus.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

// methods are the values of the label method besides other.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

func methodLabel(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return other
}

// The values of the label outcome of cache_requests_total.
var cacheOutcomes = map[httpapi.CacheUse]string{
	httpapi.CacheHit: "hit", httpapi.CacheMiss: "miss", httpapi.CacheShared: "shared", httpapi.CacheStale: "stale",
}

// answer counts an answer. Raw paths are never labels.
func (m *Metrics) answer(answered httpapi.Answered) {
	route, method := cmp.Or(answered.Route, "none"), methodLabel(answered.Method)
	m.requests.WithLabelValues(route, method, strconv.Itoa(answered.Status)).Inc()
	m.duration.WithLabelValues(route, method).Observe(answered.Took.Seconds())
	if answered.Cache != httpapi.CacheNone {
		m.cache.WithLabelValues(cacheOutcomes[answered.Cache]).Inc()
	}
	switch known := m.errors[answered.Code]; {
	case known != nil:
		known.Inc()
	case answered.Code != "":
		m.errors[other].Inc()
	}
}

// The values of the label result of appends_total.
var appendResults = []string{
	"appended", "replayed", // the key was used before: nothing was written
	"conflict", // of versions or of a guard
	"claim",    // another record holds a slug
	"key_reused", "unavailable", "canceled", "malformed", "failed",
}

func resultOf(r *eventstore.Result) string {
	if r.Err == nil {
		if r.Receipt != nil {
			return "replayed"
		}
		return "appended"
	}
	if _, ok := errors.AsType[*eventstore.ClaimError](r.Err); ok {
		return "claim"
	}
	for _, c := range []struct {
		err    error
		result string
	}{
		{eventstore.ErrConflict, "conflict"},
		{eventstore.ErrKeyReused, "key_reused"},
		{eventstore.ErrUnavailable, "unavailable"},
		{eventstore.ErrClosed, "unavailable"},
		{eventstore.ErrMalformed, "malformed"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "canceled"},
	} {
		if errors.Is(r.Err, c.err) {
			return c.result
		}
	}
	return "failed"
}
