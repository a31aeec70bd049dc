package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// readyWait is how long a process may take to tell how it is.
const readyWait = 4 * time.Second

type readyCommand struct {
	*ListenOptions `group:"interface"`
}

// Run asks the process that serves at --listen, as a probe over HTTP would:
// for containers, which have nothing else that could ask. An open host is this machine.
func (*readyCommand) Run(ctx context.Context, c *console, s *config) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Listen+"/health/ready", http.NoBody)
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
