package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/internal/proof"
	"daybook/projector"
	"daybook/query/readmodel"
)

// Entries are what State asks of the event store.
type Entries interface {
	Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error)
	Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error)
}

// Index is what State asks of the read model. Its Position is not asked: that is
// for its writer, who may be bound to a generation by it.
type Index interface {
	// Visible is up to where lists show everything.
	Visible(ctx context.Context) (readmodel.Shown, error)
	// Quarantined gives the quarantined records.
	Quarantined(ctx context.Context) ([]readmodel.Quarantined, error)
}

// State is where the parts of the process are asked how far they are, whenever
// the metrics are read. Parts that the process lacks are nil; the metrics of
// those are absent.
type State struct {
	Store Entries
	Index Index
	// Relay and Projector give their counts, and whether it is they that work: a
	// part that is ready to take over is not.
	Relay     func() (s feed.RelayStats, active bool)
	Projector func() (s projector.Stats, active bool)
	// Signer gives the counts of what signs checkpoints.
	Signer func() proof.Stats
	// Past returns the counts of the images that lists of the past are made from.
	Past func() (images, bytes int, filled uint64)
	Now  func() time.Time // nil: time.Now
}

// Watch adds the metrics of a state. Once for each Metrics, which may be nil.
func (m *Metrics) Watch(s State) {
	if m == nil {
		return
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	m.registry.MustRegister(&collector{s})
}

// collector asks the parts.
type collector struct{ State }

// Describe does prometheus.Collector: which metrics there are depends on the parts.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect does prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWait)
	defer cancel()
	o := sink(out)
	head, known := c.store(ctx, o)
	c.index(ctx, o, head, known)
	c.relay(o, head, known)
	c.project(o)
	c.sign(o)
	c.past(o)
}

// sink takes the values of one look.
type sink chan<- prometheus.Metric

// value takes one, of a part of the process where the metric has that label.
func (o sink) value(t prometheus.ValueType, name, help string, v float64, part ...string) {
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, []string{"part"}[:len(part)], nil)
	o <- prometheus.MustNewConstMetric(d, t, v, part...)
}

func (o sink) gauge(name, help string, v float64) { o.value(prometheus.GaugeValue, name, help, v) }

func (o sink) counter(name, help string, v uint64) {
	o.value(prometheus.CounterValue, name, help, float64(v))
}

func (o sink) flag(name, help string, on bool, part ...string) {
	v := 0.0
	if on {
		v = 1
	}
	o.value(prometheus.GaugeValue, name, help, v, part...)
}

func (o sink) active(part string, on bool) {
	o.flag("active", "Whether the relay or the projector of this process is the one that works.", on, part)
}

func (c *collector) store(ctx context.Context, o sink) (head calendar.Position, known bool) {
	if c.Store == nil {
		return 0, false
	}
	h, err := c.Store.Head(ctx, eventstore.Point{})
	o.flag("store_up", "Whether the event store answered.", err == nil)
	if err != nil {
		return 0, false
	}
	o.gauge("head_position", "Position of the last entry of the event store.", float64(h.Position))
	return h.Position, true
}

// index asks the read model, not the projector: the lag has to be seen when no
// projector runs, too.
func (c *collector) index(ctx context.Context, o sink, head calendar.Position, known bool) {
	if c.Index == nil {
		return
	}
	shown, err := c.Index.Visible(ctx)
	o.flag("read_model_up", "Whether the read model answered.", err == nil)
	if err != nil {
		return
	}
	at := shown.Position
	o.gauge("visible_position", "Position up to which lists show everything.", float64(at))
	if quarantined, err := c.Index.Quarantined(ctx); err == nil {
		o.gauge("quarantined_records", "Records of which an entry could not be projected.", float64(len(quarantined)))
	}
	if !known {
		return
	}
	o.gauge("projection_lag_entries", "Entries that lists do not show yet.", behind(head, at))
	lag := 0.0
	if at < head {
		next, err := c.Store.Read(ctx, eventstore.Range{After: uint64(at), Limit: 1})
		if err != nil || len(next) != 1 {
			return
		}
		lag = max(0, c.Now().Sub(next[0].Time).Seconds()) // clocks of other machines may be ahead
	}
	o.gauge("projection_lag_seconds", "Age of the oldest entry that lists do not show yet, 0 when they show all.", lag)
}

func (c *collector) relay(o sink, head calendar.Position, known bool) {
	if c.Relay == nil {
		return
	}
	s, active := c.Relay()
	o.active("relay", active)
	o.counter("relay_published_entries_total", "Entries that the feed acknowledged.", s.Published)
	o.counter("relay_conflicts_total", "Times that another relay was met.", s.Conflicts)
	o.counter("relay_streams_rebuilt_total", "Times that the stream of the feed was made new.", s.Rebuilt)
	o.counter("relay_retries_total", "Times that an error made the relay begin again.", s.Retries)
	if !active {
		return // it does not follow the feed
	}
	o.gauge("relay_position", "Position of the last entry that the feed is known to hold.", float64(s.Position))
	if known {
		o.gauge("relay_lag_entries", "Entries that are not yet on the feed.", behind(head, s.Position))
	}
}

func (c *collector) project(o sink) {
	if c.Projector == nil {
		return
	}
	s, active := c.Projector()
	o.active("projector", active)
	o.counter("projection_entries_total", "Entries that the projector read.", s.Entries)
	o.counter("projection_documents_total", "Documents that the projector wrote.", s.Documents)
	o.counter("projection_batches_total", "Batches that the projector wrote.", s.Batches)
	o.counter("projection_retries_total", "Times that an error made the projector try again.", s.Retries)
	o.counter("projection_waiting_entries_total", "Entries that were passed over because their record is quarantined.", s.Waiting)
	if active {
		o.gauge("projection_position", "Position up to which the projector has written everything.", float64(s.Position))
	}
}

// behind is how far a position is from the head, which was read first.
func behind(head, at calendar.Position) float64 {
	if at >= head {
		return 0
	}
	return float64(head - at)
}

func (c *collector) sign(o sink) {
	if c.Signer == nil {
		return
	}
	s := c.Signer()
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

func (c *collector) past(o sink) {
	if c.Past == nil {
		return
	}
	images, bytes, filled := c.Past()
	o.gauge("past_images", "Images that lists of the past are answered from.", float64(images))
	o.gauge("past_image_bytes", "Memory that all images of the past need.", float64(bytes))
	o.counter("past_images_filled_total", "Images of the past that were filled from the log.", filled)
}
