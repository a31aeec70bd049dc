package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestProfiles proves that profiles are there and nothing else is.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/debug/pprof/": 200, "/debug/pprof/heap": 200, "/": 404, "/health/live": 404,
	} {
		responseRecorder := httptest.NewRecorder()
		profiles().ServeHTTP(responseRecorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if responseRecorder.Code != want {
			t.Errorf("%s: got %d, want %d", path, responseRecorder.Code, want)
		}
	}
}
