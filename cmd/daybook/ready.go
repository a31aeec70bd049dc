package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// readyWait is how long a process may take to tell how it is.
const readyWait = 4 * time.Second

type readyCommand struct {
	*listenOptions `group:"interface"`
}

// Run asks the process that serves at --listen, as a probe over HTTP would:
// for containers, which have nothing else that could ask.
func (*readyCommand) Run(ctx context.Context, c *console, s *config) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(s.Listen)+"/health/ready", http.NoBody)
	if err != nil {
		return err
	}
	// No proxy of the environment stands between a process and itself.
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var h struct {
		Status string `json:"status"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&h); err != nil {
		return fmt.Errorf("%s is no daybook: %w", r.URL, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", h.Status)
	}
	fmt.Fprintln(c.out, h.Status)
	return nil
}

// reachable gives an address of this machine for one to listen on: an open host
// is every address, so the loopback one is among them.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch ip, err := netip.ParseAddr(host); {
	case host == "", err == nil && ip.IsUnspecified() && ip.Is4():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
