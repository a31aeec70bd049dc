package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"daybook/internal/testkit/engines"
)

// TestServeStaleRunning: while the read model is away a running service answers
// lists that it has answered before, marked as stale, and refuses others; when it
// is back the mark is gone.
func TestServeStaleRunning(t *testing.T) {
	t.Parallel()
	index, prefix := engines.Elasticsearch(t)
	engine, err := url.Parse(index)
	must(t, err)
	var away atomic.Bool
	forward := httputil.NewSingleHostReverseProxy(engine)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--index", between.URL, "--index-prefix", prefix, "--serve-stale")
	s.want(201, "POST", "/events", s.token, concert)
	s.want(200, "GET", "/events", s.token, "") // waits until lists show the event

	list := func(query string) (int, http.Header, []byte) {
		return s.full("GET", s.root+"/events"+query, "", "", nil)
	}
	isStale := func(h http.Header) bool { return strings.HasPrefix(h.Get("Warning"), "110 ") }
	var good []byte
	eventually(t, "a list that shows the event", func() bool {
		status, h, b := list("?per_page=7")
		good = b
		return status == 200 && !isStale(h) && bytes.Contains(b, []byte(`"total":1,`))
	})

	away.Store(true)
	eventually(t, "a stale answer", func() bool {
		status, h, b := list("?per_page=7")
		if status != 200 || !bytes.Equal(b, good) {
			t.Fatalf("while the read model is away: %d %.300s, want what was answered before", status, b)
		}
		return isStale(h)
	})
	if status, h, _ := list("?per_page=8"); status != 503 || h.Get("Retry-After") == "" {
		t.Errorf("a list that was never answered: %d with Retry-After %q, want 503", status, h.Get("Retry-After"))
	}
	if status, _, _ := s.full("GET", s.root+"/venues", "", "", nil); status != 503 {
		t.Errorf("a list of another kind: %d, want 503", status)
	}

	away.Store(false)
	eventually(t, "a fresh answer", func() bool {
		status, h, b := list("?per_page=7")
		return status == 200 && !isStale(h) && bytes.Equal(b, good)
	})
	s.ends()
}
