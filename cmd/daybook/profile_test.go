package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestLoopback(t *testing.T) {
	t.Parallel()
	for addr, good := range map[string]bool{
		"127.0.0.1:6060": true, "[::1]:0": true,
		"0.0.0.0:6060": false, ":6060": false, "192.0.2.1:6060": false, "example.org:6060": false, "127.0.0.1": false, "127.0.0.1:": false,
	} {
		if err := settingNamed(&settings{}, "pprof").set(addr); (err == nil) != good {
			t.Errorf("%q: got error %v", addr, err)
		}
	}
}

// TestProfiles proves that profiles are there and nothing else is.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/debug/pprof/": http.StatusOK, "/debug/pprof/heap": http.StatusOK, "/": http.StatusNotFound, "/health/live": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		profiles().Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if w.Code != want {
			t.Errorf("%s: got %d, want %d", path, w.Code, want)
		}
	}
}
