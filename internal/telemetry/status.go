package telemetry

import (
	"context"
	"reflect"
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
		metrics.registry.MustRegister(prometheus.CollectorFunc(func(to chan<- prometheus.Metric) { sink(to).report(look(context.Background())) }))
	}
}

// sink takes the values of one look.
type sink chan<- prometheus.Metric

// set sends the value of a metric with its labels: a number, or whether something is so.
func (sink sink) set(name string, value any, labels ...string) {
	if is, ok := value.(bool); ok {
		value = 0
		if is {
			value = 1
		}
	}
	number := reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	about := catalogue.Looked[name]
	desc := prometheus.NewDesc(namespace+"_"+name, about.Help, about.Labels, nil)
	sink <- prometheus.MustNewConstMetric(desc, kind, number, labels...)
}

// report sends what the parts of the process report.
func (sink sink) report(report *status.Report) {
	for name, about := range catalogue.Looked {
		value := reflect.ValueOf(report).Elem()
		for _, field := range about.Value {
			if value.IsValid() {
				value = reflect.Indirect(value.FieldByName(field))
			}
		}
		if about.Value != nil && value.IsValid() {
			sink.set(name, value.Interface())
		}
	}
	sink.set("store_up", report.StoreErr == nil)
	if report.StoreErr == nil {
		sink.set("head_position", report.Head)
	}
	if report.Indexed {
		sink.index(report)
	}
	for _, worker := range report.Workers {
		sink.set("active", worker.State == status.Active, worker.Name)
	}
	if report.StateOf(status.Relay) == status.Active { // else it does not follow the feed
		sink.set("relay_position", report.Relay.Position)
		if report.StoreErr == nil {
			sink.set("relay_lag_entries", behind(report.Head, report.Relay.Position))
		}
	}
	if report.StateOf(status.Projector) == status.Active {
		sink.set("projection_position", report.Projector.Position)
	}
	if stats := report.Signer; stats != nil && !stats.Time.IsZero() {
		sink.set("checkpoint_size", stats.Size)
		sink.set("checkpoint_time_seconds", float64(stats.Time.UnixMilli())/1000)
	}
}

// index sends the metrics of the read model.
func (sink sink) index(report *status.Report) {
	sink.set("read_model_up", report.IndexErr == nil)
	if report.IndexErr != nil {
		return
	}
	sink.set("visible_position", report.Visible)
	if report.Quarantined != nil {
		sink.set("quarantined_records", len(report.Quarantined))
	}
	if report.StoreErr != nil {
		return
	}
	sink.set("projection_lag_entries", behind(report.Head, report.Visible))
	switch {
	case report.Unseen != nil:
		sink.set("projection_lag_seconds", max(0, report.Time.Sub(report.Unseen.Time).Seconds())) // clocks of other machines may be ahead
	case report.Visible >= report.Head:
		sink.set("projection_lag_seconds", 0)
	}
}

// behind returns how far a position is from the head, which was read first.
func behind(head, position calendar.Position) float64 {
	return max(0, float64(head)-float64(position))
}
