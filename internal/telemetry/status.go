package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"daybook/calendar"
	"daybook/internal/status"
)

// Watch adds the metrics of the parts of the process, which look asks whenever the metrics
// are read. Those of parts that the process lacks are absent. Once for each Metrics, which
// may be nil.
func (m *Metrics) Watch(look func(context.Context) *status.Report) {
	if m != nil {
		m.registry.MustRegister(parts(look))
	}
}

// parts collects the metrics of the parts.
type parts func(context.Context) *status.Report

// Describe implements prometheus.Collector: which metrics there are depends on the parts.
func (parts) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (look parts) Collect(out chan<- prometheus.Metric) {
	report, o := look(context.Background()), sink(out)
	o.flag("store_up", "Whether the event store answered.", report.StoreErr == nil)
	if report.StoreErr == nil {
		o.gauge("head_position", "Position of the last entry of the event store.", float64(report.Head))
	}
	if report.Indexed {
		o.index(report)
	}
	for _, worker := range report.Workers {
		o.flag("active", "Whether the relay or the projector of this process is the one that works.", worker.State == status.Active, worker.Name)
	}
	if relayStats := report.Relay; relayStats != nil {
		o.counter("relay_published_entries_total", "Entries that the feed acknowledged.", relayStats.Published)
		o.counter("relay_conflicts_total", "Times that another relay was met.", relayStats.Conflicts)
		o.counter("relay_streams_rebuilt_total", "Times that the stream of the feed was made new.", relayStats.Rebuilt)
		o.counter("relay_retries_total", "Times that an error made the relay begin again.", relayStats.Retries)
		if report.StateOf(status.Relay) == status.Active { // else it does not follow the feed
			o.gauge("relay_position", "Position of the last entry that the feed is known to hold.", float64(relayStats.Position))
			if report.StoreErr == nil {
				o.gauge("relay_lag_entries", "Entries that are not yet on the feed.", behind(report.Head, relayStats.Position))
			}
		}
	}
	if stats := report.Projector; stats != nil {
		o.counter("projection_entries_total", "Entries that the projector read.", stats.Entries)
		o.counter("projection_documents_total", "Documents that the projector wrote.", stats.Documents)
		o.counter("projection_batches_total", "Batches that the projector wrote.", stats.Batches)
		o.counter("projection_retries_total", "Times that an error made the projector try again.", stats.Retries)
		o.counter("projection_waiting_entries_total", "Entries that were passed over because their record is quarantined.", stats.Waiting)
		if report.StateOf(status.Projector) == status.Active {
			o.gauge("projection_position", "Position up to which the projector has written everything.", float64(stats.Position))
		}
	}
	if stats := report.Signer; stats != nil {
		if !stats.Time.IsZero() {
			o.gauge("checkpoint_size", "Entries that the newest checkpoint covers, as far as this process knows.", float64(stats.Size))
			o.gauge("checkpoint_time_seconds", "When the newest checkpoint was signed, seconds since 1970.", float64(stats.Time.UnixMilli())/1000)
		}
		o.flag("log_extends_checkpoint", "Whether the log extends its last checkpoint; nothing is signed while it does not.", stats.Extends)
		o.counter("checkpoints_signed_total", "Checkpoints that this process signed.", stats.Signed)
		o.counter("checkpoint_failures_total", "Times that an error kept a checkpoint from being signed.", stats.Failed)
		o.counter("cosignatures_total", "Times that a witness signed a checkpoint.", stats.Cosigned)
		o.counter("cosignature_failures_total", "Times that a witness did not sign a checkpoint.", stats.Refused)
	}
	if stats := report.Past; stats != nil {
		o.gauge("past_images", "Images that lists of the past are answered from.", float64(stats.Points))
		o.gauge("past_image_bytes", "Memory that all images of the past need.", float64(stats.Bytes))
		o.counter("past_images_filled_total", "Images of the past that were filled from the log.", stats.Built)
	}
}

// index sends the metrics of the read model.
func (o sink) index(report *status.Report) {
	o.flag("read_model_up", "Whether the read model answered.", report.IndexErr == nil)
	if report.IndexErr != nil {
		return
	}
	o.gauge("visible_position", "Position up to which lists show everything.", float64(report.Visible))
	if report.Quarantined != nil {
		o.gauge("quarantined_records", "Records of which an entry could not be projected.", float64(len(report.Quarantined)))
	}
	if report.StoreErr != nil {
		return
	}
	o.gauge("projection_lag_entries", "Entries that lists do not show yet.", behind(report.Head, report.Visible))
	lag := 0.0
	if report.Unseen != nil {
		lag = max(0, report.Time.Sub(report.Unseen.Time).Seconds()) // clocks of other machines may be ahead
	}
	if report.Unseen != nil || report.Visible >= report.Head {
		o.gauge("projection_lag_seconds", "Age of the oldest entry that lists do not show yet, 0 when they show all.", lag)
	}
}

// behind returns how far a position is from the head, which was read first.
func behind(head, at calendar.Position) float64 {
	return max(0, float64(head)-float64(at))
}

// sink takes the values of one look.
type sink chan<- prometheus.Metric

// send takes one, of a part of the process where the metric has that label.
func (o sink) send(t prometheus.ValueType, name, help string, v float64, part ...string) {
	desc := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, []string{"part"}[:len(part)], nil)
	o <- prometheus.MustNewConstMetric(desc, t, v, part...)
}

func (o sink) gauge(name, help string, v float64) { o.send(prometheus.GaugeValue, name, help, v) }

func (o sink) counter(name, help string, v uint64) {
	o.send(prometheus.CounterValue, name, help, float64(v))
}

func (o sink) flag(name, help string, on bool, part ...string) {
	v := 0.0
	if on {
		v = 1
	}
	o.send(prometheus.GaugeValue, name, help, v, part...)
}
