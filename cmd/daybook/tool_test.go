package main

import (
	"bufio"
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestEveryCommandHasHelp: help names each command, which tells about itself, and each setting
// is told of.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	inProcess := func(args ...string) (out string, status int) {
		var both bytes.Buffer
		status = run(t.Context(), args, nil, nil, &both, &both)
		return both.String(), status
	}
	help, _ := inProcess("help")
	for _, s := range subcommands() {
		if out, status := inProcess(s.name, "--help"); status != exitOK || !strings.Contains(out, s.brief) || !strings.Contains(help, s.name) {
			t.Errorf("%s --help: %d %q", s.name, status, out)
		}
	}
	for _, d := range (&settings{}).table() {
		if d.brief == "" || d.set == nil {
			t.Errorf("setting %s is not told of", d.name)
		}
	}
}

// TestTail: entries as they come, from a position on, until a signal; beside a server and
// on the store itself.
func TestTail(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	e := s.want(201, "POST", "/events", s.token, concert)
	for _, when := range []string{"serving", "stopped"} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		cmd := child(ctx, "changes", "tail", "--from", "1", "--kind", "event", "--json", "--data", data)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		if !lines.Scan() || !strings.Contains(lines.Text(), `"id":`+idOf(e)+`,"version":1,`) || !strings.Contains(lines.Text(), `"actor":{"id":`) {
			t.Errorf("%s: got %q", when, lines.Text())
		}
		if when == "serving" {
			s.want(200, "PATCH", "/events/"+idOf(e), s.token, `{"title":"Moved","reason":"hall taken"}`)
			if !lines.Scan() || !strings.Contains(lines.Text(), `"version":2,`) || !strings.Contains(lines.Text(), `"reason":"hall taken"`) {
				t.Errorf("%s: then %q", when, lines.Text())
			}
		}
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		for lines.Scan() { // the rest
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: ended with %v", when, err)
		}
		cancel()
		if when == "serving" {
			s.drain()
		}
	}
}
