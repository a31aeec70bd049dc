package telemetry

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"daybook/calendar"
	"daybook/internal/status"
)

// Watch adds the metrics of the parts of the process, which look asks whenever the metrics
// are read. Those of parts that the process lacks are absent. Once for each Metrics, which
// may be nil.
func (m *Metrics) Watch(look func(context.Context) *status.Report) {
	if m != nil {
		m.registry.MustRegister(collector(func(to sink) { to.report(look(context.Background())) }))
	}
}

// collector sends the values that metrics have when they are read.
type collector func(sink)

// Describe implements prometheus.Collector: which metrics there are depends on the parts.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) { c(to) }

// sink takes the values of one look.
type sink chan<- prometheus.Metric

// set sends the value of a metric with its labels.
func set[T ~int | ~int64 | ~uint64 | ~float64](to sink, name string, value T, labels ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	about := catalogue.Looked[name]
	desc := prometheus.NewDesc(namespace+"_"+name, about.Help, about.Labels, nil)
	to <- prometheus.MustNewConstMetric(desc, kind, float64(value), labels...)
}

// flag sends 1 for what is so, else 0.
func (to sink) flag(name string, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	set(to, name, value, labels...)
}

// report sends what the parts of the process report.
func (to sink) report(report *status.Report) {
	to.flag("store_up", report.StoreErr == nil)
	if report.StoreErr == nil {
		set(to, "head_position", report.Head)
	}
	if report.Indexed {
		to.index(report)
	}
	for _, worker := range report.Workers {
		to.flag("active", worker.State == status.Active, worker.Name)
	}
	if report.Streams != nil {
		set(to, "http_streams", *report.Streams)
	}
	if stats := report.Relay; stats != nil {
		set(to, "relay_published_entries_total", stats.Published)
		set(to, "relay_conflicts_total", stats.Conflicts)
		set(to, "relay_streams_rebuilt_total", stats.Rebuilt)
		set(to, "relay_retries_total", stats.Retries)
		if report.StateOf(status.Relay) == status.Active { // else it does not follow the feed
			set(to, "relay_position", stats.Position)
			if report.StoreErr == nil {
				set(to, "relay_lag_entries", behind(report.Head, stats.Position))
			}
		}
	}
	if stats := report.Projector; stats != nil {
		set(to, "projection_entries_total", stats.Entries)
		set(to, "projection_documents_total", stats.Documents)
		set(to, "projection_batches_total", stats.Batches)
		set(to, "projection_retries_total", stats.Retries)
		set(to, "projection_waiting_entries_total", stats.Waiting)
		if report.StateOf(status.Projector) == status.Active {
			set(to, "projection_position", stats.Position)
		}
	}
	if stats := report.Signer; stats != nil {
		if !stats.Time.IsZero() {
			set(to, "checkpoint_size", stats.Size)
			set(to, "checkpoint_time_seconds", float64(stats.Time.UnixMilli())/1000)
		}
		to.flag("log_extends_checkpoint", stats.Extends)
		set(to, "checkpoints_signed_total", stats.Signed)
		set(to, "checkpoint_failures_total", stats.Failed)
		set(to, "cosignatures_total", stats.Cosigned)
		set(to, "cosignature_failures_total", stats.Refused)
	}
	if stats := report.Past; stats != nil {
		set(to, "past_images", stats.Points)
		set(to, "past_image_bytes", stats.Bytes)
		set(to, "past_images_filled_total", stats.Built)
	}
}

// index sends the metrics of the read model.
func (to sink) index(report *status.Report) {
	to.flag("read_model_up", report.IndexErr == nil)
	if report.IndexErr != nil {
		return
	}
	set(to, "visible_position", report.Visible)
	if report.Quarantined != nil {
		set(to, "quarantined_records", len(report.Quarantined))
	}
	if report.StoreErr != nil {
		return
	}
	set(to, "projection_lag_entries", behind(report.Head, report.Visible))
	switch {
	case report.Unseen != nil:
		set(to, "projection_lag_seconds", max(0, report.Time.Sub(report.Unseen.Time).Seconds())) // clocks of other machines may be ahead
	case report.Visible >= report.Head:
		set(to, "projection_lag_seconds", 0)
	}
}

// behind returns how far a position is from the head, which was read first.
func behind(head, at calendar.Position) float64 {
	return max(0, float64(head)-float64(at))
}
