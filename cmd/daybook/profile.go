package main

import (
	"net/http"
	"net/http/pprof"
)

// profiles serves what the runtime tells about itself: CPU, memory, goroutines,
// traces. It tells of paths and of memory, so it has a listener of its own.
func profiles() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
}
