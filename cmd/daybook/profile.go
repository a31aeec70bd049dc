package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
)

// loopback checks the address of a listener that only this machine may reach.
func loopback(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || port == "" || ip == nil || !ip.IsLoopback() {
		return errors.New("must be an address of this machine with a port, as 127.0.0.1:6060")
	}
	return nil
}

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
