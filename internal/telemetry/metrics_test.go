package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
	"daybook/internal/httpapi"
	"daybook/internal/proof"
	"daybook/internal/status"
	"daybook/internal/telemetry"
	"daybook/internal/testkit/world"
	"daybook/projector"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, metrics *telemetry.Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	responseRecorder := httptest.NewRecorder()
	metrics.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(responseRecorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if responseRecorder.Code != http.StatusOK || !strings.HasPrefix(responseRecorder.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("got %d %s: %s", responseRecorder.Code, responseRecorder.Header(), responseRecorder.Body)
	}
	problems, err := promlint.New(bytes.NewReader(responseRecorder.Body.Bytes())).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(responseRecorder.Body)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return families
}

// value returns the value of a series, of a histogram how many were observed; labels are as
// name=value.
func value(families map[string]*dto.MetricFamily, name, labels string) float64 {
	for _, metric := range families[name].GetMetric() {
		var have []string
		for _, labelPair := range metric.GetLabel() {
			have = append(have, labelPair.GetName()+"="+labelPair.GetValue())
		}
		if strings.Join(have, " ") == labels {
			return metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return -1
}

// TestTable: the documentation tells what there is, and names are what dashboards stand on.
func TestTable(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("1.2.3")
	hooks := telemetry.NewHooks(metrics, nil, time.Now)
	_, end := hooks.Requests(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", http.NoBody), "")
	end(httpapi.Answered{Route: "/events", Status: 200})
	metrics.Watch(func(context.Context) *status.Report {
		return &status.Report{
			Indexed: true, Quarantined: []readmodel.Quarantined{},
			Workers: []status.Worker{{Name: status.Relay, State: status.Active}, {Name: status.Projector, State: status.Active}},
			Relay:   &feed.RelayStats{}, Projector: &projector.Stats{}, Signer: &proof.Stats{Size: 1, Time: time.Unix(1, 0)}, Past: &past.Stats{}, Streams: new(int64),
		}
	})
	var rows []string
	for name, metricFamily := range scrape(t, metrics) {
		var labels []string
		for _, labelPair := range metricFamily.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+labelPair.GetName()+"`")
		}
		if slices.Sort(labels); strings.HasPrefix(name, "daybook_") {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", name, strings.ToLower(metricFamily.GetType().String()), strings.Join(labels, ", "), metricFamily.GetHelp()))
		}
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile("(?m)^\\| `daybook_[a-z_]+` \\|.*$").FindAllString(string(data), -1)
	slices.Sort(rows)
	slices.Sort(told)
	if text := cmp.Diff(rows, told); text != "" {
		t.Errorf("docs/observability.md (-registry +table):\n%s", text)
	}
}

// TestEndToEnd makes requests and reads what was counted.
func TestEndToEnd(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("1.2.3")
	hooks := telemetry.NewHooks(metrics, nil, time.Now)
	w := world.New(t, world.Options{Store: hooks.Store(memstore.New()), HTTP: httpapi.Options{Observe: hooks.Requests}})
	metrics.Watch((&status.Reporter{Parts: status.Parts{Store: w.Store, Index: w.Index, Now: w.Clock.Now}}).Look)
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	editor.Post("/tags", world.Object{"name": "Air"}).Want(http.StatusCreated)
	editor.Post("/tags", world.Object{"name": "Air"}).Want(http.StatusBadRequest)
	for range 3 {
		nobody.Get("/tags?hide_empty=0").Want(http.StatusOK)
	}
	nobody.Get("/tags/999999").Want(http.StatusNotFound)
	nobody.Get("/nothing/at/all").Want(http.StatusNotFound)
	nobody.Do("BREW", "/tags", "").Want(http.StatusMethodNotAllowed)
	nobody.With("Authorization", "Bearer wrong").Get("/tags").Want(http.StatusUnauthorized)
	head := float64(w.Head())
	counted(t, "requests", metrics, map[string]float64{
		"daybook_http_requests_total code=201 method=POST route=/tags": 1, "daybook_http_requests_total code=400 method=POST route=/tags": 1,
		"daybook_http_requests_total code=200 method=GET route=/tags": 3, "daybook_http_request_duration_seconds method=GET route=/tags": 4,
		"daybook_http_requests_total code=404 method=GET route=/tags/{id}": 1, "daybook_http_requests_total code=404 method=GET route=none": 1,
		"daybook_http_requests_total code=405 method=other route=/tags": 1, "daybook_http_errors_total error=incorrect_password": 1, "daybook_http_errors_total error=rest_forbidden": 0,
		"daybook_cache_requests_total outcome=hit": 1, "daybook_appends_total result=appended": 2, "daybook_append_duration_seconds": 2, // the user and the tag
		"daybook_head_position": head, "daybook_visible_position": head, "daybook_projection_lag_entries": 0, "daybook_projection_lag_seconds": 0,
		"daybook_store_up": 1, "daybook_read_model_up": 1, "daybook_build_info version=1.2.3": 1,
	})
	// Lists that lag behind.
	release := w.Hold()
	editor.Post("/tags", world.Object{"name": "Earth"}).Want(http.StatusCreated)
	w.Clock.Add(7 * time.Second)
	editor.Post("/tags", world.Object{"name": "Fire"}).Want(http.StatusCreated)
	w.Clock.Add(2 * time.Second)
	counted(t, "behind", metrics, map[string]float64{"daybook_projection_lag_entries": 2, "daybook_projection_lag_seconds": 9})
	w.Clock.Add(-time.Hour)
	counted(t, "an entry of a clock that is ahead", metrics, map[string]float64{"daybook_projection_lag_seconds": 0})
	release()
	counted(t, "caught up", metrics, map[string]float64{"daybook_projection_lag_entries": 0})
}

// TestResults: every outcome of an append has its label.
func TestResults(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("")
	hooks := telemetry.NewHooks(metrics, nil, time.Now)
	want := map[string]float64{"daybook_append_duration_seconds": 8}
	for result, res := range map[string]eventstore.Result{
		"appended": {Position: 1}, "replayed": {Receipt: &eventstore.Receipt{}}, "conflict": {Err: fmt.Errorf("tag 1: %w", eventstore.ErrConflict)},
		"claim": {Err: fmt.Errorf("tag 1: %w", &eventstore.ClaimError{})}, "key_reused": {Err: eventstore.ErrKeyReused}, "unavailable": {Err: eventstore.ErrUnavailable},
		"canceled": {Err: context.Canceled}, "failed": {Err: errors.New("disk on fire")},
	} {
		store := hooks.Store(answering{res: res})
		store.Append(t.Context(), eventstore.Append{Drafts: make([]eventstore.Draft, 1)})
		store.Append(t.Context(), eventstore.Append{Checkpoint: &eventstore.Checkpoint{}}) // no write of a client
		want["daybook_appends_total result="+result] = 1
		if result == "replayed" {
			if _, err := store.Receipt(t.Context(), 1, "key"); err != nil {
				t.Fatal(err)
			}
			want["daybook_appends_total result="+result] = 2
		}
	}
	counted(t, "appends", metrics, want)
}

type answering struct {
	eventstore.Store
	res eventstore.Result
}

func (answering answering) Receipt(context.Context, calendar.ID, string) (*eventstore.Receipt, error) {
	return answering.res.Receipt, answering.res.Err
}

func (answering answering) Append(context.Context, eventstore.Append) eventstore.Result {
	return answering.res
}

// TestState: what is out of reach is told as such, and what is not there or does
// not work has no figures that would raise an alarm.
func TestState(t *testing.T) {
	t.Parallel()
	worker := func(name, state string) []status.Worker { return []status.Worker{{Name: name, State: state}} }
	for name, c := range map[string]struct {
		report status.Report
		want   map[string]float64
	}{
		"store only": {status.Report{Head: 3}, map[string]float64{"store_up": 1, "head_position": 3, "read_model_up": -1, "relay_lag_entries": -1, "projection_lag_entries": -1}},
		"store down": {status.Report{StoreErr: eventstore.ErrUnavailable, Indexed: true, Visible: 3, Quarantined: make([]readmodel.Quarantined, 4)}, map[string]float64{
			"store_up": 0, "head_position": -1, "read_model_up": 1, "visible_position": 3, "projection_lag_entries": -1, "projection_lag_seconds": -1, "quarantined_records": 4,
		}},
		"read model down": {status.Report{Head: 9, Indexed: true, IndexErr: readmodel.ErrUnavailable}, map[string]float64{
			"store_up": 1, "head_position": 9, "read_model_up": 0, "projection_position": -1, "projection_lag_entries": -1, "visible_position": -1, "quarantined_records": -1,
		}},
		"read model ahead of the head": {status.Report{Head: 2, Indexed: true, Visible: 3}, map[string]float64{
			"projection_lag_entries": 0, "projection_lag_seconds": 0, "visible_position": 3, "quarantined_records": -1,
		}},
		"the next entry cannot be read": {status.Report{Head: 5, Indexed: true, Visible: 3}, map[string]float64{"projection_lag_entries": 2, "projection_lag_seconds": -1}},
		"relay works": {status.Report{Head: 9, Workers: worker(status.Relay, status.Active), Relay: &feed.RelayStats{Position: 5, Published: 6, Conflicts: 7, Rebuilt: 8, Retries: 9}}, map[string]float64{
			"active part=relay": 1, "relay_position": 5, "relay_lag_entries": 4, "relay_published_entries_total": 6, "relay_conflicts_total": 7, "relay_streams_rebuilt_total": 8, "relay_retries_total": 9,
		}},
		"relay stands by": {status.Report{Head: 9, Workers: worker(status.Relay, status.Standby), Relay: &feed.RelayStats{}}, map[string]float64{
			"active part=relay": 0, "relay_position": -1, "relay_lag_entries": -1, "relay_retries_total": 0,
		}},
		"projector": {status.Report{Workers: worker(status.Projector, status.Active), Projector: &projector.Stats{Position: 15, Entries: 10, Documents: 11, Batches: 12, Waiting: 13, Retries: 14}}, map[string]float64{
			"active part=projector": 1, "projection_position": 15, "projection_entries_total": 10, "projection_documents_total": 11,
			"projection_batches_total": 12, "projection_waiting_entries_total": 13, "projection_retries_total": 14,
		}},
	} {
		metrics := telemetry.NewMetrics("")
		metrics.Watch(func(context.Context) *status.Report { return &c.report })
		want := map[string]float64{}
		for series, v := range c.want {
			want["daybook_"+series] = v
		}
		counted(t, name, metrics, want)
	}
}

// TestWork: the hooks of store, relay, projector and lists.
func TestWork(t *testing.T) {
	t.Parallel()
	metrics := telemetry.NewMetrics("")
	now := time.Unix(0, 0)
	hooks := telemetry.NewHooks(metrics, nil, func() time.Time { now = now.Add(30 * time.Millisecond); return now })
	hooks.Commits()(eventstore.Committed{Appends: 3, Group: &eventstore.Group{Entries: make([]eventstore.Entry, 2), Commits: []eventstore.Commit{{First: 8, Last: 9}}}})
	hooks.Commits()(eventstore.Committed{Appends: 1, Group: &eventstore.Group{}, Err: eventstore.ErrUnavailable})
	_, end := hooks.Publishing(t.Context(), 1, 2)
	end(nil)
	_, end = hooks.Publishing(t.Context(), 3, 4)
	end(errors.New("cut off"))
	_, end = hooks.Projecting(t.Context(), 1, 2)
	end(nil)
	if _, err := hooks.Queries(listing{}).Run(t.Context(), &query.Criteria{Request: query.Request{Kind: calendar.KindEvent}}); err != nil {
		t.Fatal(err)
	}
	counted(t, "work", metrics, map[string]float64{
		"daybook_append_group_size": 2, "daybook_commit_duration_seconds": 2, "daybook_commit_failures_total": 1,
		"daybook_relay_publish_duration_seconds": 1, "daybook_projection_batch_duration_seconds": 1, "daybook_list_query_duration_seconds kind=event": 1,
	})
	got := scrape(t, metrics)
	for name, want := range map[string]float64{"daybook_append_group_size": 4, "daybook_relay_publish_duration_seconds": 0.03} {
		if sum := got[name].GetMetric()[0].GetHistogram().GetSampleSum(); sum != want {
			t.Errorf("%s: %v together, want %v", name, sum, want)
		}
	}
}

type listing struct{ httpapi.Queries }

func (listing) Run(context.Context, *query.Criteria) (*query.List, error) { return &query.List{}, nil }

// counted holds series, "name labels" each, against their values; -1: there is no such series.
func counted(t *testing.T, what string, metrics *telemetry.Metrics, want map[string]float64) {
	t.Helper()
	got := scrape(t, metrics)
	for series, v := range want {
		name, labels, _ := strings.Cut(series, " ")
		if n := value(got, name, labels); n != v {
			t.Errorf("%s: %s: got %v, want %v", what, series, n, v)
		}
	}
}
