package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daybook/eventstore"
	"daybook/internal/httpapi/admit"
)

func TestReady(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{`{"status":"starting"}`: "not ready: starting", `<p>hello</p>`: "no daybook"} {
		other := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			if request.URL.Path != "/health/ready" {
				t.Errorf("asked for %s", request.URL)
			}
			writer.WriteHeader(http.StatusServiceUnavailable)
			_, _ = writer.Write([]byte(body))
		}))
		defer other.Close()
		wantTool(t, exitFailed, says, "ready", "--listen", other.Listener.Addr().String())
	}
}

// TestReadinessBeforeTheWork: while a start waits for the event store, requests are
// answered as the interface answers, in their language.
func TestReadinessBeforeTheWork(t *testing.T) {
	t.Parallel()
	readiness, err := newReadiness((&config{AddressOptions: AddressOptions{APIPrefix: "api"}}).api(slog.New(slog.DiscardHandler)))
	must(t, err)
	ask := func(path string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		readiness.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return rec
	}
	if got := ask("/fr/api/calendar/events/v1/events"); got.Code != 503 || got.Header().Get("Content-Language") != "fr" ||
		got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Retry-After") == "" || !strings.Contains(got.Body.String(), "rest_unavailable") {
		t.Errorf("a list: %d %v %s", got.Code, got.Header(), got.Body)
	}
	if got := ask(pathReady); got.Code != 503 || !strings.Contains(got.Body.String(), `"status":"starting"`) {
		t.Errorf("ready: %d %s", got.Code, got.Body)
	}
	if got := ask(pathLive); got.Code != 200 {
		t.Errorf("live: %d %s", got.Code, got.Body)
	}
}

// TestWhenErased: what is in memory of records goes after an erasure, and once more for
// requests that had begun before.
func TestWhenErased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var erasures atomic.Uint64
		var dropped atomic.Int32
		go func() {
			_ = whenErased(ctx, func() eventstore.Epoch { return eventstore.Epoch{History: 1, Erasures: erasures.Load()} }, func() { dropped.Add(1) })
		}()
		for step, want := range []int32{0, 1, 2, 2} {
			if step == 1 {
				erasures.Add(1)
			}
			time.Sleep(lookEvery) //nolint:forbidigo // in a bubble of synctest
			synctest.Wait()
			if got := dropped.Load(); got != want {
				t.Errorf("step %d: dropped %d times, want %d", step, got, want)
			}
		}
		cancel()
	})
}

// TestProbesAreBounded: the probes of one address take no place of those of others, and are read
// only.
func TestProbesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := probe(admit.New(admit.Limits{Slots: 64}), func(context.Context) (bool, map[string]any) {
			<-gate
			return true, nil
		})
		ask := func(method, address string) *httptest.ResponseRecorder {
			request := httptest.NewRequestWithContext(t.Context(), method, pathReady, http.NoBody)
			request.RemoteAddr = address
			responseRecorder := httptest.NewRecorder()
			p.ServeHTTP(responseRecorder, request)
			return responseRecorder
		}
		var all sync.WaitGroup
		want := func(address string) {
			all.Go(func() {
				if got := ask(http.MethodGet, address); got.Code != http.StatusOK {
					t.Errorf("%s: %d", address, got.Code)
				}
			})
		}
		for range 16 {
			want("192.0.2.1:1")
		}
		synctest.Wait()
		if got := ask(http.MethodGet, "192.0.2.1:1"); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("one more of the same address: %d %v", got.Code, got.Header())
		}
		want("192.0.2.2:1")
		if got := ask(http.MethodPost, "192.0.2.3:1"); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST: %d %v", got.Code, got.Header())
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		if got := ask(http.MethodHead, "192.0.2.1:1"); got.Code != http.StatusOK {
			t.Errorf("afterwards: %d", got.Code)
		}
	})
}
