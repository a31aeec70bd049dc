package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// freeAddress gives an address that no one listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// figure returns the value of a series, -1 if none exists.
func figure(text, series string) float64 {
	texts := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if texts == nil {
		return -1
	}
	f, err := strconv.ParseFloat(texts[1], 64)
	if err != nil {
		return -1
	}
	return f
}

// TestMetrics: on an address of their own, or next to the service. That they are off by default
// is in TestWithoutPages.
func TestMetrics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, setting string
	}{
		{"own address", freeAddress(t)},
		{"same address", metricsSame},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, "serve", "--data", t.TempDir(), "--metrics", c.setting)
			at := server.host
			if c.setting != metricsSame {
				if status, data := server.try("GET", server.host+pathMetrics, "", ""); status != 404 {
					t.Errorf("the public address answers %d %s", status, data)
				}
				at = "http://" + c.setting
				if status, _ := server.try("GET", at+"/health/live", "", ""); status != 404 {
					t.Errorf("the address of the metrics answers other paths with %d", status)
				}
			}
			e := server.want(201, "POST", "/events", server.token, concert)
			server.want(200, "GET", "/events/"+idOf(e), "", "")
			server.want(200, "GET", "/events", server.token, "") // lists of users wait for the head
			status, data := server.try("GET", at+pathMetrics, "", "")
			if status != 200 {
				t.Fatalf("got %d %s", status, data)
			}
			text := string(data)
			head := figure(text, "daybook_head_position")
			if head < 2 {
				t.Errorf("head %v", head)
			}
			for series, want := range map[string]float64{
				`daybook_http_requests_total{code="201",method="POST",route="/events"}`:     1,
				`daybook_http_requests_total{code="200",method="GET",route="/events/{id}"}`: 1,
				"daybook_visible_position":                      head,
				"daybook_projection_lag_entries":                0,
				"daybook_projection_lag_seconds":                0,
				"daybook_quarantined_records":                   0,
				"daybook_store_up":                              1,
				"daybook_read_model_up":                         1,
				`daybook_active{part="projector"}`:              1,
				`daybook_build_info{version="` + version + `"}`: 1,
			} {
				if got := figure(text, series); got != want {
					t.Errorf("%s: got %v, want %v", series, got, want)
				}
			}
			for _, series := range []string{
				`daybook_appends_total{result="appended"}`, "daybook_append_group_size_count", "daybook_commit_duration_seconds_count",
				"daybook_projection_entries_total", "daybook_projection_batch_duration_seconds_count", "process_resident_memory_bytes", "go_goroutines",
			} {
				if got := figure(text, series); got <= 0 {
					t.Errorf("%s: got %v", series, got)
				}
			}
			if strings.Contains(text, "events/"+idOf(e)) || strings.Contains(text, "promhttp") {
				t.Error("a series of a path, or of the handler itself")
			}
		})
	}
}

// TestTraces: spans of a write and what comes behind it arrive, at the latest
// when the service has drained.
func TestTraces(t *testing.T) {
	t.Parallel()
	var (
		mu  sync.Mutex
		all bytes.Buffer
	)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		data, err := io.ReadAll(request.Body)
		if err != nil || request.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", request.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		all.Write(data)
	}))
	t.Cleanup(receiver.Close)
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--traces", receiver.URL, "--trace-ratio", "1", "--log-level", "debug")
	server.want(201, "POST", "/events", server.token, concert)
	server.want(200, "GET", "/events?search=quay", server.token, "")
	server.ends()
	mu.Lock()
	defer mu.Unlock()
	for _, name := range []string{"POST /events", "GET /events", "append", "group commit", "list query", "project batch", "service.version"} {
		if !bytes.Contains(all.Bytes(), []byte(name)) {
			t.Errorf("no %q was sent", name)
		}
	}
	if bytes.Contains(all.Bytes(), []byte("quay")) {
		t.Error("a span holds what a client searched for")
	}
	if !regexp.MustCompile(`msg="request answered" method=POST route=/events status=201 duration=\S+ request_id=[0-9a-f]{16} trace_id=[0-9a-f]{32}`).MatchString(server.log()) {
		t.Errorf("logged\n%s", server.log())
	}
}
