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
func (metrics *Metrics) Watch(look func(context.Context) *status.Report) {
	if metrics != nil {
		metrics.registry.MustRegister(collector(func(to sink) { to.report(look(context.Background())) }))
	}
}

// collector sends the values that metrics have when they are read.
type collector func(sink)

// Describe implements prometheus.Collector: which metrics there are depends on the parts.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (collector collector) Collect(to chan<- prometheus.Metric) { collector(to) }

// sink takes the values of one look.
type sink chan<- prometheus.Metric

// set sends the value of a metric with its labels.
func set[T ~int | ~int64 | ~uint64 | ~float64](sink sink, name string, value T, labels ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	about := catalogue.Looked[name]
	desc := prometheus.NewDesc(namespace+"_"+name, about.Help, about.Labels, nil)
	sink <- prometheus.MustNewConstMetric(desc, kind, float64(value), labels...)
}

// flag sends 1 for what is so, else 0.
func (sink sink) flag(name string, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	set(sink, name, value, labels...)
}

// report sends what the parts of the process report.
func (sink sink) report(report *status.Report) {
	sink.flag("store_up", report.StoreErr == nil)
	if report.StoreErr == nil {
		set(sink, "head_position", report.Head)
	}
	if report.Indexed {
		sink.index(report)
	}
	for _, worker := range report.Workers {
		sink.flag("active", worker.State == status.Active, worker.Name)
	}
	if report.Streams != nil {
		set(sink, "http_streams", *report.Streams)
	}
	if stats := report.Relay; stats != nil {
		set(sink, "relay_published_entries_total", stats.Published)
		set(sink, "relay_conflicts_total", stats.Conflicts)
		set(sink, "relay_streams_rebuilt_total", stats.Rebuilt)
		set(sink, "relay_retries_total", stats.Retries)
		if report.StateOf(status.Relay) == status.Active { // else it does not follow the feed
			set(sink, "relay_position", stats.Position)
			if report.StoreErr == nil {
				set(sink, "relay_lag_entries", behind(report.Head, stats.Position))
			}
		}
	}
	if stats := report.Projector; stats != nil {
		set(sink, "projection_entries_total", stats.Entries)
		set(sink, "projection_documents_total", stats.Documents)
		set(sink, "projection_batches_total", stats.Batches)
		set(sink, "projection_retries_total", stats.Retries)
		set(sink, "projection_waiting_entries_total", stats.Waiting)
		if report.StateOf(status.Projector) == status.Active {
			set(sink, "projection_position", stats.Position)
		}
	}
	if stats := report.Signer; stats != nil {
		if !stats.Time.IsZero() {
			set(sink, "checkpoint_size", stats.Size)
			set(sink, "checkpoint_time_seconds", float64(stats.Time.UnixMilli())/1000)
		}
		sink.flag("log_extends_checkpoint", stats.Extends)
		set(sink, "checkpoints_signed_total", stats.Signed)
		set(sink, "checkpoint_failures_total", stats.Failed)
		set(sink, "cosignatures_total", stats.Cosigned)
		set(sink, "cosignature_failures_total", stats.Refused)
	}
	if stats := report.Past; stats != nil {
		set(sink, "past_images", stats.Points)
		set(sink, "past_image_bytes", stats.Bytes)
		set(sink, "past_images_filled_total", stats.Built)
	}
}

// index sends the metrics of the read model.
func (sink sink) index(report *status.Report) {
	sink.flag("read_model_up", report.IndexErr == nil)
	if report.IndexErr != nil {
		return
	}
	set(sink, "visible_position", report.Visible)
	if report.Quarantined != nil {
		set(sink, "quarantined_records", len(report.Quarantined))
	}
	if report.StoreErr != nil {
		return
	}
	set(sink, "projection_lag_entries", behind(report.Head, report.Visible))
	switch {
	case report.Unseen != nil:
		set(sink, "projection_lag_seconds", max(0, report.Time.Sub(report.Unseen.Time).Seconds())) // clocks of other machines may be ahead
	case report.Visible >= report.Head:
		set(sink, "projection_lag_seconds", 0)
	}
}

// behind returns how far a position is from the head, which was read first.
func behind(head, position calendar.Position) float64 {
	return max(0, float64(head)-float64(position))
}
