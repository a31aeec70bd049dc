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
	// Head gives the position of the last entry.
	Head(ctx context.Context) (calendar.Position, error)
	// ReadAll gives entries after a position, in order.
	ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error)
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
	// Past gives the counts of the images that lists of the past are made from.
	Past func() (images int, records int64, filled, advanced uint64)
	Now  func() time.Time // nil: time.Now
}

// The metrics that State fills.
type stateDescs struct {
	storeUp, head                                                                *prometheus.Desc
	indexUp, position, lagEntries, lagSeconds, visible, quarantined              *prometheus.Desc
	active                                                                       *prometheus.Desc
	relayPosition, relayLag                                                      *prometheus.Desc
	relayPublished, relayConflicts, relayRebuilt, relayRetries                   *prometheus.Desc
	projectedEntries, projectedDocuments, projectedBatches, projectRetries, held *prometheus.Desc
	signedSize, signedTime, signed, unsigned, cosigned, refused, extends         *prometheus.Desc
	images, imageRecords, filled, advanced                                       *prometheus.Desc
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

func newStateDescs() stateDescs {
	return stateDescs{
		storeUp: desc("store_up", "Whether the event store answered."),
		head:    desc("head_position", "Position of the last entry of the event store."),

		indexUp:     desc("read_model_up", "Whether the read model answered."),
		position:    desc("projection_position", "Position up to which the projector has written everything."),
		lagEntries:  desc("projection_lag_entries", "Entries that lists do not show yet."),
		lagSeconds:  desc("projection_lag_seconds", "Age of the oldest entry that lists do not show yet, 0 when they show all."),
		visible:     desc("visible_position", "Position up to which lists show everything."),
		quarantined: desc("quarantined_records", "Records of which an entry could not be projected."),

		active: desc("active", "Whether the relay or the projector of this process is the one that works.", "part"),

		relayPosition:  desc("relay_position", "Position of the last entry that the feed is known to hold."),
		relayLag:       desc("relay_lag_entries", "Entries that are not yet on the feed."),
		relayPublished: desc("relay_published_entries_total", "Entries that the feed acknowledged."),
		relayConflicts: desc("relay_conflicts_total", "Times that another relay was met."),
		relayRebuilt:   desc("relay_streams_rebuilt_total", "Times that the stream of the feed was made new."),
		relayRetries:   desc("relay_retries_total", "Times that an error made the relay begin again."),

		projectedEntries:   desc("projection_entries_total", "Entries that the projector read."),
		projectedDocuments: desc("projection_documents_total", "Documents that the projector wrote."),
		projectedBatches:   desc("projection_batches_total", "Batches that the projector wrote."),
		projectRetries:     desc("projection_retries_total", "Times that an error made the projector try again."),
		held:               desc("projection_waiting_entries_total", "Entries that were passed over because their record is quarantined."),

		signedSize: desc("checkpoint_size", "Entries that the newest checkpoint covers, as far as this process knows."),
		signedTime: desc("checkpoint_time_seconds", "When the newest checkpoint was signed, seconds since 1970."),
		signed:     desc("checkpoints_signed_total", "Checkpoints that this process signed."),
		unsigned:   desc("checkpoint_failures_total", "Times that an error kept a checkpoint from being signed."),
		cosigned:   desc("cosignatures_total", "Times that a witness signed a checkpoint."),
		refused:    desc("cosignature_failures_total", "Times that a witness did not sign a checkpoint."),
		extends:    desc("log_extends_checkpoint", "Whether the log extends its last checkpoint; nothing is signed while it does not."),

		images:       desc("past_images", "Images that lists of the past are answered from."),
		imageRecords: desc("past_image_records", "Records in all images of the past."),
		filled:       desc("past_images_filled_total", "Images of the past that were filled from the log."),
		advanced:     desc("past_images_advanced_total", "Images of the past that were made of another one and the entries behind it."),
	}
}

func (d *stateDescs) each(f func(*prometheus.Desc)) {
	for _, x := range []*prometheus.Desc{
		d.storeUp, d.head, d.indexUp, d.position, d.lagEntries, d.lagSeconds, d.visible, d.quarantined, d.active,
		d.relayPosition, d.relayLag, d.relayPublished, d.relayConflicts, d.relayRebuilt, d.relayRetries,
		d.projectedEntries, d.projectedDocuments, d.projectedBatches, d.projectRetries, d.held,
		d.signedSize, d.signedTime, d.signed, d.unsigned, d.cosigned, d.refused, d.extends,
		d.images, d.imageRecords, d.filled, d.advanced,
	} {
		f(x)
	}
}

// Watch adds the metrics of a state. Once for each Metrics, which may be nil.
func (m *Metrics) Watch(s State) {
	if m == nil {
		return
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	m.registry.MustRegister(&collector{s, newStateDescs()})
}

// collector asks the parts.
type collector struct {
	State
	stateDescs
}

// Describe does prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	c.each(func(d *prometheus.Desc) { out <- d })
}

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

func (o sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	o <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (o sink) counter(d *prometheus.Desc, v uint64) {
	o <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
}

func (o sink) flag(d *prometheus.Desc, on bool, labels ...string) {
	v := 0.0
	if on {
		v = 1
	}
	o.gauge(d, v, labels...)
}

func (c *collector) store(ctx context.Context, o sink) (head calendar.Position, known bool) {
	if c.Store == nil {
		return 0, false
	}
	head, err := c.Store.Head(ctx)
	o.flag(c.storeUp, err == nil)
	if err != nil {
		return 0, false
	}
	o.gauge(c.head, float64(head))
	return head, true
}

// index asks the read model, not the projector: the lag has to be seen when no
// projector runs, too.
func (c *collector) index(ctx context.Context, o sink, head calendar.Position, known bool) {
	if c.Index == nil {
		return
	}
	shown, err := c.Index.Visible(ctx)
	o.flag(c.indexUp, err == nil)
	if err != nil {
		return
	}
	at := shown.Position
	o.gauge(c.visible, float64(at))
	if quarantined, err := c.Index.Quarantined(ctx); err == nil {
		o.gauge(c.quarantined, float64(len(quarantined)))
	}
	if !known {
		return
	}
	o.gauge(c.lagEntries, behind(head, at))
	if at >= head {
		o.gauge(c.lagSeconds, 0)
	} else if next, err := c.Store.ReadAll(ctx, at, 1); err == nil && len(next) == 1 {
		// Clocks of other machines may be ahead.
		o.gauge(c.lagSeconds, max(0, c.Now().Sub(next[0].Time).Seconds()))
	}
}

func (c *collector) relay(o sink, head calendar.Position, known bool) {
	if c.Relay == nil {
		return
	}
	s, active := c.Relay()
	o.flag(c.active, active, "relay")
	o.counter(c.relayPublished, s.Published)
	o.counter(c.relayConflicts, s.Conflicts)
	o.counter(c.relayRebuilt, s.Rebuilt)
	o.counter(c.relayRetries, s.Retries)
	if !active {
		return // it does not follow the feed
	}
	o.gauge(c.relayPosition, float64(s.Position))
	if known {
		o.gauge(c.relayLag, behind(head, s.Position))
	}
}

func (c *collector) project(o sink) {
	if c.Projector == nil {
		return
	}
	s, active := c.Projector()
	o.flag(c.active, active, "projector")
	o.counter(c.projectedEntries, s.Entries)
	o.counter(c.projectedDocuments, s.Documents)
	o.counter(c.projectedBatches, s.Batches)
	o.counter(c.projectRetries, s.Retries)
	o.counter(c.held, s.Waiting)
	if active {
		o.gauge(c.position, float64(s.Position))
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
	extends := 0.0
	if s.Extends {
		extends = 1
	}
	if !s.Time.IsZero() {
		o.gauge(c.signedSize, float64(s.Size))
		o.gauge(c.signedTime, float64(s.Time.UnixMilli())/1000)
	}
	o.gauge(c.extends, extends)
	o.counter(c.signed, s.Signed)
	o.counter(c.unsigned, s.Failed)
	o.counter(c.cosigned, s.Cosigned)
	o.counter(c.refused, s.Refused)
}

func (c *collector) past(o sink) {
	if c.Past == nil {
		return
	}
	images, records, filled, advanced := c.Past()
	o.gauge(c.images, float64(images))
	o.gauge(c.imageRecords, float64(records))
	o.counter(c.filled, filled)
	o.counter(c.advanced, advanced)
}
