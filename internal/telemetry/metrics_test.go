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
	"daybook/internal/testkit/golden"
	"daybook/internal/testkit/world"
	"daybook/projector"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, m *telemetry.Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("got %d %s: %s", w.Code, w.Header(), w.Body)
	}
	problems, err := promlint.New(bytes.NewReader(w.Body.Bytes())).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return families
}

// value returns the value of a series: of a histogram how many were observed.
// Labels are as name=value; -1: there is no such series.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range families[name].GetMetric() {
		var have []string
		for _, l := range m.GetLabel() {
			have = append(have, l.GetName()+"="+l.GetValue())
		}
		if !slices.Equal(have, labels) {
			continue
		}
		switch families[name].GetType() {
		case dto.MetricType_COUNTER:
			return m.GetCounter().GetValue()
		case dto.MetricType_HISTOGRAM:
			return float64(m.GetHistogram().GetSampleCount())
		default:
			return m.GetGauge().GetValue()
		}
	}
	return -1
}

// everything gives metrics with a series of each.
func everything(t *testing.T) *telemetry.Metrics {
	t.Helper()
	m := telemetry.NewMetrics("1.2.3")
	h := telemetry.NewHooks(m, nil, nil)
	h.Answers(httpapi.Answered{Route: "/events", Method: http.MethodGet, Status: 200})
	m.Watch(func(context.Context) *status.Report {
		return &status.Report{
			Indexed: true, Quarantined: []readmodel.Quarantined{},
			Workers: []status.Worker{{Name: status.Relay, State: status.Active}, {Name: status.Projector, State: status.Active}},
			Relay:   &feed.RelayStats{}, Projector: &projector.Stats{}, Signer: &proof.Stats{Size: 1, Time: time.Unix(1, 0)}, Past: &past.Stats{},
		}
	})
	return m
}

// rows tells name, type, labels and help of the metrics of the service.
func rows(t *testing.T) []string {
	t.Helper()
	var out []string
	for name, f := range scrape(t, everything(t)) {
		if !strings.HasPrefix(name, "daybook_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		slices.Sort(labels)
		out = append(out, fmt.Sprintf("| `%s` | %s | %s | %s |", name, strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp()))
	}
	slices.Sort(out)
	return out
}

// TestNames: dashboards and alerts stand on names and labels.
func TestNames(t *testing.T) {
	t.Parallel()
	golden.Compare(t, "metrics.golden", strings.Join(rows(t), "\n")+"\n")
}

// TestTable: the documentation tells what there is.
func TestTable(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile("(?m)^\\| `daybook_[a-z_]+` \\|.*$").FindAllString(string(b), -1)
	slices.Sort(got)
	if d := cmp.Diff(rows(t), got); d != "" {
		t.Errorf("docs/observability.md (-registry +table):\n%s", d)
	}
}

// TestEndToEnd makes requests and reads what was counted.
func TestEndToEnd(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("1.2.3")
	h := telemetry.NewHooks(m, nil, nil)
	w := world.New(t, world.Options{Unchecked: true, Store: h.Store(memstore.New()), HTTP: httpapi.Options{Observe: h.Answers}})
	reporter := &status.Reporter{Parts: status.Parts{Store: w.Store, Index: w.Index, Now: w.Clock.Now}}
	m.Watch(reporter.Look)
	editor, nobody := w.As(calendar.Editor), w.As(calendar.Anonymous)
	editor.Post("/tags", world.Object{"name": "Air"}).Want(http.StatusCreated)
	editor.Post("/tags", world.Object{"name": "Air"}).Want(http.StatusBadRequest)
	for range 3 {
		nobody.Get("/tags?hide_empty=0").Want(http.StatusOK)
	}
	nobody.Get("/tags/999999").Want(http.StatusNotFound)
	nobody.Get("/nothing/at/all").Want(http.StatusNotFound)
	nobody.Post("/tags", world.Object{"name": "Air"}).Want(http.StatusUnauthorized)
	nobody.Do("BREW", "/tags", "").Want(http.StatusMethodNotAllowed)
	nobody.With("Authorization", "Bearer wrong").Get("/tags").Want(http.StatusUnauthorized)

	got := scrape(t, m)
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{1, "daybook_http_requests_total", []string{"code=201", "method=POST", "route=/tags"}},
		{1, "daybook_http_requests_total", []string{"code=400", "method=POST", "route=/tags"}},
		{1, "daybook_http_requests_total", []string{"code=401", "method=POST", "route=/tags"}},
		{3, "daybook_http_requests_total", []string{"code=200", "method=GET", "route=/tags"}},
		{4, "daybook_http_request_duration_seconds", []string{"method=GET", "route=/tags"}},
		{1, "daybook_http_requests_total", []string{"code=404", "method=GET", "route=/tags/{id}"}},
		{1, "daybook_http_requests_total", []string{"code=404", "method=GET", "route=none"}},
		{1, "daybook_http_requests_total", []string{"code=405", "method=other", "route=/tags"}},
		{1, "daybook_http_errors_total", []string{"error=incorrect_password"}},
		{1, "daybook_http_errors_total", []string{"error=rest_no_route"}},
		{0, "daybook_http_errors_total", []string{"error=other"}},
		{2, "daybook_cache_requests_total", []string{"outcome=hit"}},
		{0, "daybook_cache_requests_total", []string{"outcome=stale"}},
		{0, "daybook_appends_total", []string{"result=conflict"}},
		{float64(w.Head()), "daybook_head_position", nil},
		{float64(w.Head()), "daybook_visible_position", nil},
		{0, "daybook_projection_lag_entries", nil},
		{0, "daybook_projection_lag_seconds", nil},
		{0, "daybook_quarantined_records", nil},
		{1, "daybook_store_up", nil},
		{1, "daybook_read_model_up", nil},
		{1, "daybook_build_info", []string{"version=1.2.3"}},
	} {
		if v := value(got, c.name, c.labels...); v != c.want {
			t.Errorf("%s%v: got %v, want %v", c.name, c.labels, v, c.want)
		}
	}
	// Two appends: the user and the tag.
	if v := value(got, "daybook_appends_total", "result=appended"); v != 2 || value(got, "daybook_append_duration_seconds") != v {
		t.Errorf("got %v appends", v)
	}
	for _, f := range got["daybook_http_requests_total"].GetMetric() {
		for _, l := range f.GetLabel() {
			if strings.Contains(l.GetValue(), "999999") || strings.Contains(l.GetValue(), "nothing") || l.GetValue() == "BREW" {
				t.Errorf("a label says what a client sent: %s", f)
			}
		}
	}
	// Lists that lag behind.
	release := w.Hold()
	editor.Post("/tags", world.Object{"name": "Earth"}).Want(http.StatusCreated)
	w.Clock.Add(7 * time.Second)
	editor.Post("/tags", world.Object{"name": "Fire"}).Want(http.StatusCreated)
	w.Clock.Add(2 * time.Second)
	got = scrape(t, m)
	if n, s := value(got, "daybook_projection_lag_entries"), value(got, "daybook_projection_lag_seconds"); n != 2 || s != 9 {
		t.Errorf("got a lag of %v entries and %v s, want 2 and 9", n, s)
	}
	w.Clock.Add(-time.Hour)
	if s := value(scrape(t, m), "daybook_projection_lag_seconds"); s != 0 {
		t.Errorf("an entry of a clock that is ahead: got a lag of %v s", s)
	}
	release()
	if n := value(scrape(t, m), "daybook_projection_lag_entries"); n != 0 {
		t.Errorf("caught up: got a lag of %v", n)
	}
}

// TestResults: every outcome of an append has its label.
func TestResults(t *testing.T) {
	t.Parallel()
	for result, res := range map[string]eventstore.Result{
		"appended":    {Position: 1},
		"replayed":    {Receipt: &eventstore.Receipt{}},
		"conflict":    {Err: fmt.Errorf("tag 1: %w", eventstore.ErrConflict)},
		"claim":       {Err: fmt.Errorf("tag 1: %w", &eventstore.ClaimError{})},
		"key_reused":  {Err: eventstore.ErrKeyReused},
		"unavailable": {Err: eventstore.ErrUnavailable},
		"canceled":    {Err: context.Canceled},
		"malformed":   {Err: eventstore.ErrMalformed},
		"failed":      {Err: errors.New("disk on fire")},
	} {
		m := telemetry.NewMetrics("")
		h := telemetry.NewHooks(m, nil, nil)
		h.Store(answering{res: res}).Append(t.Context(), []eventstore.Append{{Drafts: make([]eventstore.Draft, 1)}})
		h.Store(answering{res: res}).Append(t.Context(), []eventstore.Append{{Checkpoint: &eventstore.Checkpoint{}}}) // no write of a client
		got := scrape(t, m)
		for _, f := range got["daybook_appends_total"].GetMetric() {
			want := 0.0
			if f.GetLabel()[0].GetValue() == result {
				want = 1
			}
			if v := f.GetCounter().GetValue(); v != want {
				t.Errorf("%v: counted %v of %s", res, v, f.GetLabel()[0].GetValue())
			}
		}
		if n := value(got, "daybook_append_duration_seconds"); n != 1 {
			t.Errorf("%v: %v durations", res, n)
		}
	}
	m := telemetry.NewMetrics("")
	h := telemetry.NewHooks(m, nil, nil)
	if _, err := h.Store(answering{res: eventstore.Result{Receipt: &eventstore.Receipt{}}}).Receipt(t.Context(), 1, "key"); err != nil {
		t.Fatal(err)
	}
	if n := value(scrape(t, m), "daybook_appends_total", "result=replayed"); n != 1 {
		t.Errorf("a repeated request is counted %v times", n)
	}
}

type answering struct {
	eventstore.Store
	res eventstore.Result
}

func (a answering) Receipt(context.Context, calendar.ID, string) (*eventstore.Receipt, error) {
	return a.res.Receipt, a.res.Err
}

func (a answering) Append(context.Context, []eventstore.Append) []eventstore.Result {
	return []eventstore.Result{a.res}
}

// TestState: what is out of reach is told as such, and what is not there or does
// not work has no figures that would raise an alarm.
func TestState(t *testing.T) {
	t.Parallel()
	away := eventstore.ErrUnavailable
	stats := feed.RelayStats{Position: 5, Published: 6, Conflicts: 7, Rebuilt: 8, Retries: 9}
	counts := projector.Stats{Position: 15, Entries: 10, Documents: 11, Batches: 12, Waiting: 13, Retries: 14}
	worker := func(name, state string) []status.Worker { return []status.Worker{{Name: name, State: state}} }
	for name, c := range map[string]struct {
		report status.Report
		want   map[string]float64
	}{
		"store only": {status.Report{Head: 3}, map[string]float64{
			"daybook_store_up": 1, "daybook_head_position": 3, "daybook_read_model_up": -1, "daybook_relay_lag_entries": -1, "daybook_projection_lag_entries": -1,
		}},
		"store down": {status.Report{StoreErr: away, Indexed: true, Visible: 3, Quarantined: make([]readmodel.Quarantined, 4)}, map[string]float64{
			"daybook_store_up": 0, "daybook_head_position": -1, "daybook_read_model_up": 1, "daybook_visible_position": 3,
			"daybook_projection_lag_entries": -1, "daybook_projection_lag_seconds": -1, "daybook_quarantined_records": 4,
		}},
		"read model down": {status.Report{Head: 9, Indexed: true, IndexErr: readmodel.ErrUnavailable}, map[string]float64{
			"daybook_store_up": 1, "daybook_head_position": 9, "daybook_read_model_up": 0, "daybook_projection_position": -1,
			"daybook_projection_lag_entries": -1, "daybook_visible_position": -1, "daybook_quarantined_records": -1,
		}},
		"read model ahead of the head": {status.Report{Head: 2, Indexed: true, Visible: 3}, map[string]float64{
			"daybook_projection_lag_entries": 0, "daybook_projection_lag_seconds": 0, "daybook_visible_position": 3, "daybook_quarantined_records": -1,
		}},
		"the next entry cannot be read": {status.Report{Head: 5, Indexed: true, Visible: 3}, map[string]float64{
			"daybook_projection_lag_entries": 2, "daybook_projection_lag_seconds": -1,
		}},
		"relay works": {status.Report{Head: 9, Workers: worker(status.Relay, status.Active), Relay: &stats}, map[string]float64{
			"daybook_active part=relay": 1, "daybook_relay_position": 5, "daybook_relay_lag_entries": 4, "daybook_relay_published_entries_total": 6,
			"daybook_relay_conflicts_total": 7, "daybook_relay_streams_rebuilt_total": 8, "daybook_relay_retries_total": 9,
		}},
		"relay stands by": {status.Report{Head: 9, Workers: worker(status.Relay, status.Standby), Relay: &feed.RelayStats{}}, map[string]float64{
			"daybook_active part=relay": 0, "daybook_relay_position": -1, "daybook_relay_lag_entries": -1, "daybook_relay_retries_total": 0,
		}},
		"projector": {status.Report{Workers: worker(status.Projector, status.Active), Projector: &counts}, map[string]float64{
			"daybook_active part=projector": 1, "daybook_projection_position": 15, "daybook_projection_entries_total": 10, "daybook_projection_documents_total": 11,
			"daybook_projection_batches_total": 12, "daybook_projection_waiting_entries_total": 13, "daybook_projection_retries_total": 14,
		}},
	} {
		m := telemetry.NewMetrics("")
		m.Watch(func(context.Context) *status.Report { return &c.report })
		got := scrape(t, m)
		for metric, want := range c.want {
			family, label, labelled := strings.Cut(metric, " ")
			labels := []string{label}
			if !labelled {
				labels = nil
			}
			if v := value(got, family, labels...); v != want {
				t.Errorf("%s: %s: got %v, want %v", name, metric, v, want)
			}
		}
	}
}

// TestWork: the hooks of store, relay, projector and lists.
func TestWork(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("")
	now := time.Unix(0, 0)
	h := telemetry.NewHooks(m, nil, func() time.Time { now = now.Add(30 * time.Millisecond); return now })
	h.Commits()(eventstore.Committed{Appends: 3, Entries: 2, Head: 9})
	h.Commits()(eventstore.Committed{Appends: 1, Err: eventstore.ErrUnavailable})
	h.Publishing(1, 2)(nil)
	h.Publishing(3, 4)(errors.New("cut off"))
	_, end := h.Projecting(t.Context(), 1, 2)
	end(nil)
	if _, err := h.Queries(listing{}).Run(t.Context(), &query.Criteria{Kind: calendar.KindEvent}); err != nil {
		t.Fatal(err)
	}
	got := scrape(t, m)
	for name, want := range map[string]float64{
		"daybook_append_group_size": 2, "daybook_commit_duration_seconds": 2, "daybook_commit_failures_total": 1,
		"daybook_relay_publish_duration_seconds": 1, "daybook_projection_batch_duration_seconds": 1,
	} {
		if v := value(got, name); v != want {
			t.Errorf("%s: got %v, want %v", name, v, want)
		}
	}
	if v := value(got, "daybook_list_query_duration_seconds", "kind=event"); v != 1 {
		t.Errorf("lists: %v", v)
	}
	if sum := got["daybook_append_group_size"].GetMetric()[0].GetHistogram().GetSampleSum(); sum != 4 {
		t.Errorf("groups of %v together", sum)
	}
	if sum := got["daybook_relay_publish_duration_seconds"].GetMetric()[0].GetHistogram().GetSampleSum(); sum != 0.03 {
		t.Errorf("published for %v s", sum)
	}
}

type listing struct{ httpapi.Queries }

func (listing) Run(context.Context, *query.Criteria) (*query.List, error) { return &query.List{}, nil }

// TestOff: nothing is made, nothing wraps, nothing costs.
func TestOff(t *testing.T) {
	h := telemetry.NewHooks(nil, nil, nil)
	if h.Answers != nil || h.Requests != nil || h.Commits != nil || h.Publishing != nil || h.Projecting != nil {
		t.Error("a hook watches for nobody")
	}
	s, q := eventstore.Store(memstore.New()), httpapi.Queries(listing{})
	if h.Store(s) != s || h.Queries(q) != q {
		t.Error("a part is wrapped for nobody")
	}
	var m *telemetry.Metrics
	m.Watch(nil)
	var traces *telemetry.Traces
	if err := traces.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = telemetry.NewHooks(nil, nil, nil); _ = h.Store(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
