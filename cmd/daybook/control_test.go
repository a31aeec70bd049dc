package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// together runs commands at the same time; all have to succeed.
func together(t *testing.T, n int, args func(i int) []string) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			wantTool(t, exitOK, "", args(i)...)
		})
	}
	all.Wait()
}

// TestCommandsWaitForEachOther: a command finds its way while another one has the
// directory, and while the service starts or stops.
func TestCommandsWaitForEachOther(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	together(t, 5, func(i int) []string {
		return []string{"user", "add", "user" + string(rune('a'+i)), "--role", "editor", "--data", data}
	})
	lists := make(chan struct{})
	go func() {
		defer close(lists)
		// The first ones run before the service has the directory, or keep it out.
		together(t, 8, func(int) []string { return []string{"user", "list", "--data", data} })
	}()
	cmd := child(context.Background(), "serve", "--data", data, "--listen", "127.0.0.1:0")
	must(t, cmd.Start())
	<-lists
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	together(t, 2, func(int) []string { return []string{"user", "list", "--data", data} })
	_ = cmd.Wait() // as it may have found the directory in use
}

// TestHolderThatStays: the message is about what can be.
func TestHolderThatStays(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	lock, err := lockData(data, false, "import")
	must(t, err)
	defer func() { _ = lock.Close() }()
	holder := fmt.Sprintf("in use by process %d (daybook import)", os.Getpid())
	// Of a process that was killed.
	must(t, os.WriteFile(filepath.Join(data, socketName), nil, 0o600))
	held := &console{config: &config{StoreOptions: StoreOptions{Data: data}}, backend: &backend{log: slog.New(slog.DiscardHandler)}}
	if err := (order{}).give(t.Context(), held); !errors.Is(err, errNoServer) {
		t.Errorf("the socket of a process that was killed: %v", err)
	}
	if _, err := held.hold(t.Context(), false, 1, alone); err == nil || !strings.Contains(err.Error(), holder) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := held.hold(ctx, false, time.Hour, alone); err == nil || strings.Contains(err.Error(), holder) {
		t.Errorf("with an ended context the error is %v", err)
	}
}

// TestServerOfOtherVersion: a service does not carry out the commands of another version.
func TestServerOfOtherVersion(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	startServer(t, "serve", "--data", data)
	err := order{Version: "0.0.0", Task: "user list"}.give(t.Context(), &console{config: &config{StoreOptions: StoreOptions{Data: data}}})
	refused, ok := errors.AsType[*exitError](err)
	want := fmt.Sprintf("the running server is daybook %s, this command 0.0.0", version)
	if !ok || refused.status != exitUsage || refused.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

// TestStopTellsCommands: a command that goes on too long when the service stops is
// told why it ended.
func TestStopTellsCommands(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	cmd := child(t.Context(), "import", "-", "--source", "endless", "--data", data)
	var errText bytes.Buffer
	cmd.Stderr = &errText
	lines, err := cmd.StdinPipe() // it never ends by itself
	must(t, err)
	must(t, cmd.Start())
	for i := 0; server.want(200, "GET", "/tags?hide_empty=0", "", "")["total"] == 0.0; i++ {
		if _, err := fmt.Fprintf(lines, `{"action":"create","kind":"tag","key":"%d","fields":{"name":"tag %[1]d"}}`+"\n", i); err != nil {
			t.Fatal(err)
		}
	}
	server.ends()
	if err := cmd.Wait(); err == nil || !strings.Contains(errText.String(), "the service stops") {
		t.Errorf("the command ended with %v and %q", err, errText.String())
	}
}
