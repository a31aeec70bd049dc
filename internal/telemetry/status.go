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
	r, o := look(context.Background()), sink(out)
	o.flag("store_up", "Whether the event store answered.", r.StoreErr == nil)
	if r.StoreErr == nil {
		o.gauge("head_position", "Position of the last entry of the event store.", float64(r.Head))
	}
	if r.Indexed {
		o.index(r)
	}
	for _, w := range r.Workers {
		o.flag("active", "Whether the relay or the projector of this process is the one that works.", w.State == status.Active, w.Name)
	}
	if s := r.Relay; s != nil {
		o.counter("relay_published_entries_total", "Entries that the feed acknowledged.", s.Published)
		o.counter("relay_conflicts_total", "Times that another relay was met.", s.Conflicts)
		o.counter("relay_streams_rebuilt_total", "Times that the stream of the feed was made new.", s.Rebuilt)
		o.counter("relay_retries_total", "Times that an error made the relay begin again.", s.Retries)
		if r.StateOf(status.Relay) == status.Active { // else it does not follow the feed
			o.gauge("relay_position", "Position of the last entry that the feed is known to hold.", float64(s.Position))
			if r.StoreErr == nil {
				o.gauge("relay_lag_entries", "Entries that are not yet on the feed.", behind(r.Head, s.Position))
			}
		}
	}
	if s := r.Projector; s != nil {
		o.counter("projection_entries_total", "Entries that the projector read.", s.Entries)
		o.counter("projection_documents_total", "Documents that the projector wrote.", s.Documents)
		o.counter("projection_batches_total", "Batches that the projector wrote.", s.Batches)
		o.counter("projection_retries_total", "Times that an error made the projector try again.", s.Retries)
		o.counter("projection_waiting_entries_total", "Entries that were passed over because their record is quarantined.", s.Waiting)
		if r.StateOf(status.Projector) == status.Active {
			o.gauge("projection_position", "Position up to which the projector has written everything.", float64(s.Position))
		}
	}
	if s := r.Signer; s != nil {
		if !s.Time.IsZero() {
			o.gauge("checkpoint_size", "Entries that the newest checkpoint covers, as far as this process knows.", float64(s.Size))
			o.gauge("checkpoint_time_seconds", "When the newest checkpoint was signed, seconds since 1970.", float64(s.Time.UnixMilli())/1000)
		}
		o.flag("log_extends_checkpoint", "Whether the log extends its last checkpoint; nothing is signed while it does not.", s.Extends)
		o.counter("checkpoints_signed_total", "Checkpoints that this process signed.", s.Signed)
		o.counter("checkpoint_failures_total", "Times that an error kept a checkpoint from being signed.", s.Failed)
		o.counter("cosignatures_total", "Times that a witness signed a checkpoint.", s.Cosigned)
		o.counter("cosignature_failures_total", "Times that a witness did not sign a checkpoint.", s.Refused)
	}
	if s := r.Past; s != nil {
		o.gauge("past_images", "Images that lists of the past are answered from.", float64(s.Points))
		o.gauge("past_image_bytes", "Memory that all images of the past need.", float64(s.Bytes))
		o.counter("past_images_filled_total", "Images of the past that were filled from the log.", s.Built)
	}
}

// index sends the metrics of the read model.
func (o sink) index(r *status.Report) {
	o.flag("read_model_up", "Whether the read model answered.", r.IndexErr == nil)
	if r.IndexErr != nil {
		return
	}
	o.gauge("visible_position", "Position up to which lists show everything.", float64(r.Visible))
	if r.Quarantined != nil {
		o.gauge("quarantined_records", "Records of which an entry could not be projected.", float64(len(r.Quarantined)))
	}
	if r.StoreErr != nil {
		return
	}
	o.gauge("projection_lag_entries", "Entries that lists do not show yet.", behind(r.Head, r.Visible))
	lag := 0.0
	if r.Unseen != nil {
		lag = max(0, r.Time.Sub(r.Unseen.Time).Seconds()) // clocks of other machines may be ahead
	}
	if r.Unseen != nil || r.Visible >= r.Head {
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
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, []string{"part"}[:len(part)], nil)
	o <- prometheus.MustNewConstMetric(d, t, v, part...)
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
