package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestReady(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	address := strings.TrimPrefix(s.host, "http://")
	if out := mustTool(t, "ready", "--listen", address); out != statusOK+"\n" {
		t.Errorf("serving: %q", out)
	}
	s.drain()
	if _, errText, status := tool(t, nil, "ready", "--listen", address); status != exitFailed || !strings.Contains(errText, "refused") {
		t.Errorf("stopped: status %d, %q", status, errText)
	}

	for body, says := range map[string]string{`{"status":"starting"}`: "not ready: starting", `<p>hello</p>`: "no daybook"} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/health/ready" {
				t.Errorf("asked for %s", r.URL)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(body))
		}))
		defer other.Close()
		_, errText, status := tool(t, nil, "ready", "--listen", other.Listener.Addr().String())
		if status != exitFailed || !strings.Contains(errText, says) {
			t.Errorf("%s: status %d, %q", body, status, errText)
		}
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:8080": "127.0.0.1:8080", ":8080": "127.0.0.1:8080", "[::]:8080": "[::1]:8080",
		"127.0.0.1:8080": "127.0.0.1:8080", "[fd00::1]:80": "[fd00::1]:80", "calendar.example.org:80": "calendar.example.org:80",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("%s: got %s, want %s", listen, got, want)
		}
	}
}
