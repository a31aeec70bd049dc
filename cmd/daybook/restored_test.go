package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/internal/telemetry"
	"daybook/query/readmodel"
)

// TestImageAheadOfTheStore: an event store that goes back under a running process,
// as a standby server that takes over does, costs the image a filling, not the
// process its life.
func TestImageAheadOfTheStore(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	b, err := openBackend(t.Context(), &console{}, &settings{data: t.TempDir()}, log, telemetry.Hooks{}, false)
	must(t, err)
	defer func() { _ = b.Close() }()
	if _, _, err := b.users.EnsureAdministrator(t.Context()); err != nil {
		t.Fatal(err)
	}
	head, err := b.store.Head(t.Context())
	must(t, err)
	f, err := openFeed(b.s, log)
	must(t, err)
	defer func() { _ = f.close() }()
	source, err := feed.NewSource(b.store, f.js, feed.SourceOptions{})
	must(t, err)
	defer func() { _ = source.Close() }()
	m, err := b.openModel(t.Context(), source)
	must(t, err)
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
