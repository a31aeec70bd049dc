package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/telemetry"
	"daybook/query/readmodel"
)

// TestRestoredBackup: a backup of the event store is put back, beside the feed and
// the snapshot of what was written after it. Whatever the store has then is shown,
// and nothing else.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]func(t *testing.T, data, token string, want map[string]bool) *server{
		"as it is": func(t *testing.T, data, _ string, _ map[string]bool) *server {
			t.Helper()
			return startServer(t, "serve", "--data", data)
		},
		"past the old head before a start": func(t *testing.T, data, _ string, want map[string]bool) *server {
			t.Helper()
			var lines strings.Builder
			for i := range 14 {
				fmt.Fprintf(&lines, `{"action":"create","kind":"venue","key":"%d","fields":{"venue":"new %d"}}`+"\n", i, i)
				want[fmt.Sprint("new ", i)] = true
			}
			file := filepath.Join(t.TempDir(), "venues.ndjson")
			if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			mustTool(t, "import", file, "--data", data)
			return startServer(t, "serve", "--data", data)
		},
		"past the old head before a kill": func(t *testing.T, data, token string, want map[string]bool) *server {
			t.Helper()
			s := startServer(t, "serve", "--data", data)
			for i := range 14 {
				s.want(201, "POST", "/venues", token, fmt.Sprintf(`{"venue":"new %d"}`, i))
				want[fmt.Sprint("new ", i)] = true
			}
			s.kill()
			return startServer(t, "serve", "--data", data)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			path := filepath.Join(data, sqlite.FileName)
			s := startServer(t, "serve", "--data", data)
			token, want := s.token, map[string]bool{}
			for i := range 5 {
				s.want(201, "POST", "/venues", token, fmt.Sprintf(`{"venue":"kept %d"}`, i))
				want[fmt.Sprint("kept ", i)] = true
			}
			s.drain()
			backup, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s = startServer(t, "serve", "--data", data)
			for i := range 10 {
				s.want(201, "POST", "/venues", token, fmt.Sprintf(`{"venue":"old %d"}`, i))
			}
			s.drain()
			if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("the store has a log beside it (%v)", err)
			}
			if err := os.WriteFile(path, backup, 0o600); err != nil {
				t.Fatal(err)
			}

			s = goOn(t, data, token, want)
			check := func() {
				t.Helper()
				list := s.want(200, "GET", "/venues?per_page=50", token, "")
				venues, _ := list["venues"].([]any)
				if list["total"] != float64(len(want)) || len(venues) != len(want) {
					t.Errorf("got %v venues, want %d", list["total"], len(want))
				}
				for _, v := range venues {
					id, name := idOf(v.(map[string]any)), fmt.Sprint(v.(map[string]any)["venue"])
					if !want[name] {
						t.Errorf("%q is listed", name)
						continue
					}
					if got := s.want(200, "GET", "/venues/"+id, token, "")["venue"]; got != name {
						t.Errorf("venue %s: got %v, listed as %q", id, got, name)
					}
				}
			}
			check()
			added := s.want(201, "POST", "/venues", token, `{"venue":"last"}`)
			want["last"] = true
			check()
			s.want(200, "PUT", "/venues/"+idOf(added), token, `{"city":"Here"}`)
			check()
			if status := s.drain(); status != exitOK {
				t.Errorf("drained with status %d\n%s", status, s.log())
			}
			s = startServer(t, "serve", "--data", data)
			check()
		})
	}
}

// TestImageAheadOfTheStore: an event store that goes back under a running process,
// as a standby server that takes over does, costs the image a filling, not the
// process its life.
func TestImageAheadOfTheStore(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	b, err := openBackend(t.Context(), &console{}, &settings{data: t.TempDir()}, log, telemetry.Hooks{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	if _, _, err := b.users.EnsureAdministrator(t.Context()); err != nil {
		t.Fatal(err)
	}
	head, err := b.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFeed(b.s, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.close() }()
	source, err := feed.NewSource(b.store, f.js, feed.SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	m, err := b.openModel(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Index().Write(t.Context(), readmodel.Batch{Mark: calendar.Mark{Position: head + 9}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Project(ctx) }()
	eventually(t, "an image of the store as it is", func() bool {
		at, err := m.Index().Marks(ctx)
		return err == nil && at.All.Position == head
	})
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the projector ended: %v", err)
	}
}
