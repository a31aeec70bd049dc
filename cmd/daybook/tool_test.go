package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"
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
	k, err := new(settingsReader).parser(new(config), io.Discard, nil)
	must(t, err)
	must(t, kong.Visit(k.Model, func(v kong.Visitable, next kong.Next) error {
		switch v := v.(type) {
		case *kong.Node:
			out, status := inProcess(append(strings.Fields(v.Path()), "--help")...)
			words := strings.Join(strings.Fields(out), " ")
			if status != exitOK || v.Help == "" || !strings.Contains(words, v.Help) || !strings.Contains(help, v.Name) && v.Parent == k.Model.Node {
				t.Errorf("%s --help: %d %q", v.Path(), status, out)
			}
		case *kong.Flag:
			if v.Help == "" || v.PlaceHolder == "" && !v.IsBool() {
				t.Errorf("flag --%s is not described", v.Name)
			}
		case *kong.Value:
			if v.Help == "" {
				t.Errorf("argument %s is not described", v.Name)
			}
		}
		return next(nil)
	}))
}

// TestTail: entries as they come, from a position on, until a signal; next to a server and
// on the store itself.
func TestTail(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	e := server.want(201, "POST", "/events", server.token, concert)
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
			server.want(200, "PATCH", "/events/"+idOf(e), server.token, `{"title":"Moved","reason":"hall taken"}`)
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
			server.drain()
		}
	}
}

// TestOutputThatCannotBeWritten: what could not be printed is the error of a command.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	unwritable, err := os.Open(os.DevNull)
	must(t, err)
	defer func() { _ = unwritable.Close() }()
	for _, args := range [][]string{{"version"}, {"completion", "bash"}, {"config", "print"}, {"config", "print", "--json"}} {
		var text bytes.Buffer
		if status := run(t.Context(), args, nil, nil, unwritable, &text); status != exitFailed || !strings.Contains(text.String(), os.DevNull) {
			t.Errorf("daybook %v: status %d, %q", args, status, text.String())
		}
	}
}
