package feed

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
)

// readOrigin gives the mark of a store by which a stream is known to be made
// from it, "" for a store without entries.
func readOrigin(ctx context.Context, store eventstore.Store) (string, error) {
	entries, err := store.ReadAll(ctx, 0, 1)
	if err != nil {
		return "", fmt.Errorf("read the first entry: %w", err)
	}
	if len(entries) == 0 {
		return "", nil
	}
	if err := checkDense(0, entries[0].Position); err != nil {
		return "", err
	}
	leaf := eventstore.Leaf(&entries[0])
	return hex.EncodeToString(leaf[:]), nil
}

// waitOrigin is readOrigin that waits for the first entry.
func (r *Relay) waitOrigin(ctx context.Context) (string, error) {
	for {
		origin, err := readOrigin(ctx, r.store)
		if origin != "" || err != nil {
			return origin, err
		}
		if err := r.await(ctx, 0, maxPoll); err != nil {
			return "", err
		}
	}
}

func (r *Relay) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	s, err := r.js.Stream(ctx, Stream)
	if err != nil {
		return nil, fmt.Errorf("look at the stream: %w", err)
	}
	return s.CachedInfo(), nil
}

// ensure makes sure that the stream is there and continues the store, and gives
// the position of its last entry.
func (r *Relay) ensure(ctx context.Context, origin string) (calendar.Position, error) {
	info, err := r.info(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return r.create(ctx, origin)
	}
	if err != nil {
		return 0, err
	}
	reason, err := r.fault(ctx, info, origin)
	if err != nil {
		return 0, err
	}
	if reason != "" {
		if err := r.drop(ctx, reason); err != nil {
			return 0, err
		}
		return r.create(ctx, origin)
	}
	if err := r.adjust(ctx, info, origin); err != nil {
		return 0, err
	}
	return calendar.Position(info.State.LastSeq), nil
}

// fault says why a stream cannot be continued, "" when it can.
func (r *Relay) fault(ctx context.Context, info *jetstream.StreamInfo, origin string) (string, error) {
	if reason := misfit(&info.Config, origin); reason != "" {
		return reason, nil
	}
	// Read after the stream, so entries that another relay published meanwhile
	// are not taken for ones that the store never had.
	at, err := r.store.Head(ctx)
	if err != nil {
		return "", fmt.Errorf("read the head: %w", err)
	}
	last := info.State.LastSeq
	if last > uint64(at) {
		return fmt.Sprintf("it is at %d, ahead of the store at %d", last, at), nil
	}
	if last == 0 || info.State.Msgs == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	stream, err := r.js.Stream(ctx, Stream)
	if err != nil {
		return "", fmt.Errorf("look at the stream: %w", err)
	}
	m, err := stream.GetMsg(ctx, last)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return "", nil // purged or lost: its number is what counts
	}
	if err != nil {
		return "", fmt.Errorf("read the last message: %w", err)
	}
	entries, err := r.store.ReadAll(ctx, calendar.Position(last)-1, 1)
	if err != nil {
		return "", fmt.Errorf("read entry %d: %w", last, err)
	}
	if len(entries) != 1 || !same(m.Header, m.Data, &entries[0]) {
		return fmt.Sprintf("its last message is not entry %d of the store", last), nil
	}
	return "", nil
}

// drop deletes the stream.
func (r *Relay) drop(ctx context.Context, reason string) error {
	r.o.Log.Warn("stream deleted to be made again", "stream", Stream, "reason", reason)
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	if err := r.js.DeleteStream(ctx, Stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete the stream: %w", err)
	}
	return nil
}

// create makes the stream such that its next sequence is the position of the
// first entry that it is filled with.
func (r *Relay) create(ctx context.Context, origin string) (calendar.Position, error) {
	at, err := r.store.Head(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the head: %w", err)
	}
	first := calendar.Position(1)
	if replay := calendar.Position(r.o.Replay); at > replay {
		first = at - replay + 1
	}
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	stream, err := r.js.CreateStream(ctx, streamConfig(&r.o, first, origin))
	if err != nil {
		return 0, fmt.Errorf("create the stream from entry %d on: %w", first, err)
	}
	// A stream that is not new was made by another relay a moment ago, or the
	// server has taken over a folder that a damaged one left behind.
	if info := stream.CachedInfo(); info.State.LastSeq != uint64(first)-1 {
		reason, err := r.fault(ctx, info, origin)
		if err != nil {
			return 0, err
		}
		if reason != "" {
			return 0, fmt.Errorf("%w: of a new stream from entry %d on, %s", errStorage, first, reason)
		}
		return calendar.Position(info.State.LastSeq), nil
	}
	r.count(func(s *RelayStats) { s.Rebuilt++ })
	r.o.Log.Info("stream created", "stream", Stream, "position", uint64(first))
	return first - 1, nil
}

// adjust brings the settings of the stream to those of the options.
func (r *Relay) adjust(ctx context.Context, info *jetstream.StreamInfo, origin string) error {
	want := streamConfig(&r.o, 0, origin)
	config := info.Config
	if config.MaxBytes == want.MaxBytes && config.Replicas == want.Replicas && config.Description == want.Description {
		return nil
	}
	config.MaxBytes, config.Replicas, config.Description = want.MaxBytes, want.Replicas, want.Description
	config.Metadata = maps.Clone(want.Metadata)
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	if _, err := r.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("change the stream's settings: %w", err)
	}
	return nil
}
