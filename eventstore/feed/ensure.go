package feed

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
)

// readOrigin returns what a stream that is made from a store is known by, "" for a store
// without entries.
func readOrigin(ctx context.Context, store eventstore.Store) (string, error) {
	first, err := store.Read(ctx, eventstore.Range{Limit: 1, Leaves: true})
	if err != nil || len(first) == 0 {
		return "", err
	}
	return hex.EncodeToString(first[0].Leaf[:]), nil
}

// ensure makes sure that the stream is there and continues the store, and returns the
// position of its last entry.
func (relay *Relay) ensure(ctx context.Context, origin string) (calendar.Position, error) {
	stream, err := relay.jetStream.Stream(ctx, StreamName(relay.relayOptions.Prefix))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return relay.create(ctx, origin)
	}
	if err != nil {
		return 0, fmt.Errorf("look at the stream: %w", err)
	}
	relay.seen = stream.CachedInfo()
	reason, err := fault(ctx, relay.store, stream, relay.relayOptions.Prefix, origin)
	if err == nil && reason == "" {
		return calendar.Position(relay.seen.State.LastSeq), relay.adjust(ctx, relay.relayOptions.Replicas)
	}
	if err == nil {
		err = relay.drop(ctx, reason)
	}
	if err != nil {
		return 0, err
	}
	return relay.create(ctx, origin)
}

// fault returns why a stream, as it was last looked at, does not hold the entries of a
// store and no others, "" when it does as far as its settings, its length and its newest
// message show: a store that a failover cut, or that was put back from a backup, has the
// beginning that it had, and then other entries. A message is of the history of the store
// when its mark is. A stream that is not to be touched is an error.
func fault(ctx context.Context, store eventstore.Store, stream jetstream.Stream, prefix, origin string) (string, error) {
	info := stream.CachedInfo()
	newest := &jetstream.RawStreamMsg{} // none: purged or lost, the number is what counts
	if info.State.Msgs > 0 {
		rawStreamMsg, err := stream.GetLastMsgForSubject(ctx, ">")
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return "", fmt.Errorf("read the last message: %w", err)
		}
		if err == nil {
			newest = rawStreamMsg
		}
	}
	if err := foreign(info, newest, origin); err != nil {
		return "", err
	}
	if reason := misfit(&info.Config, prefix, origin); reason != "" {
		return reason, nil
	}
	// Read after the stream, so entries that a relay published meanwhile are not taken
	// for ones that the store never had.
	last := calendar.Position(info.State.LastSeq)
	if _, err := store.Head(ctx, eventstore.Point{Position: last}); errors.Is(err, eventstore.ErrAhead) {
		return fmt.Sprintf("at %d, ahead of the event store", last), nil
	} else if err != nil || newest.Sequence == 0 {
		return "", err
	}
	entry, _, err := Decode(newest.Header, newest.Data)
	if err != nil || uint64(entry.Position) != newest.Sequence {
		return fmt.Sprintf("without a mark of its history in message %d", newest.Sequence), nil //nolint:nilerr // it is not one of the relay's
	}
	err = eventstore.CheckMark(ctx, store, entry.Mark())
	if errors.Is(err, eventstore.ErrHistory) {
		return fmt.Sprintf("of another history: the event store does not have the mark %s of its last message", entry.Mark()), nil
	}
	return "", err
}

// Published returns the position of the last entry of a store that the stream of a prefix
// has. The error is why none exists: no stream, one of another store, or one that the
// relay will make again.
func Published(ctx context.Context, store eventstore.Store, jetStream jetstream.JetStream, prefix string) (calendar.Position, error) {
	stream, err := readable(ctx, store, jetStream, prefix)
	if err != nil {
		return 0, err
	}
	return calendar.Position(stream.CachedInfo().State.LastSeq), nil
}

// readable returns the stream that continues a store.
func readable(ctx context.Context, store eventstore.Store, jetStream jetstream.JetStream, prefix string) (jetstream.Stream, error) {
	origin, err := readOrigin(ctx, store)
	if err != nil {
		return nil, err
	}
	stream, err := jetStream.Stream(ctx, StreamName(prefix))
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", StreamName(prefix), err)
	}
	reason, err := fault(ctx, store, stream, prefix, origin)
	if reason != "" {
		err = fmt.Errorf("stream %s is %s", StreamName(prefix), reason)
	}
	return stream, err
}

// drop deletes the stream that the session began with. One that another relay made
// meanwhile is left alone: this relay may have been paused since it looked.
func (relay *Relay) drop(ctx context.Context, reason string) error {
	name := relay.seen.Config.Name
	now, err := relay.jetStream.Stream(ctx, name)
	if err == nil && !now.CachedInfo().Created.Equal(relay.seen.Created) {
		return fmt.Errorf("%w: it was made again", errConflict)
	}
	if err == nil {
		relay.relayOptions.Log.WarnContext(ctx, "stream deleted to be made again", "stream", name, "reason", reason)
		err = relay.jetStream.DeleteStream(ctx, name)
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete the stream: %w", err)
	}
	return nil
}

// create makes the stream such that its next sequence is the position of the first entry
// that it is filled with.
func (relay *Relay) create(ctx context.Context, origin string) (calendar.Position, error) {
	head, err := relay.store.Head(ctx, eventstore.Point{})
	if err != nil {
		return 0, fmt.Errorf("read the head: %w", err)
	}
	before := head.Position - min(head.Position, calendar.Position(relay.relayOptions.Replay))
	stream, err := relay.jetStream.CreateStream(ctx, streamConfig(&relay.relayOptions, before+1, origin))
	if err != nil {
		return 0, fmt.Errorf("create the stream from entry %d on: %w", before+1, relay.explain(err))
	}
	relay.seen = stream.CachedInfo()
	// A stream that is not new was made by another relay a moment ago, or the server has
	// taken over a folder that a damaged one left behind.
	if last := relay.seen.State.LastSeq; last != uint64(before) {
		return 0, fmt.Errorf("%w: a new stream is at %d", errConflict, last)
	}
	relay.clean = head.Position
	relay.count(func(relayStats *RelayStats) { relayStats.Rebuilt++ })
	relay.relayOptions.Log.InfoContext(ctx, "stream created", "stream", relay.seen.Config.Name, "position", uint64(before+1))
	return before, nil
}

// adjust brings the settings that the relay decides about to those of the options; all
// else, such as placement or republishing, is the operator's. Where the servers cannot
// keep as many replicas, the stream stays with those that it has: fewer copies of a
// transport are better than none.
func (relay *Relay) adjust(ctx context.Context, replicas int) error {
	have, want := relay.seen.Config, streamConfig(&relay.relayOptions, 0, "")
	config := have
	config.MaxBytes, config.Replicas, config.Description, config.Compression = want.MaxBytes, replicas, want.Description, want.Compression
	// With others the stream would refuse entries or not answer.
	config.Discard, config.DiscardNewPerSubject, config.NoAck, config.MaxMsgSize = want.Discard, false, false, -1
	if reflect.DeepEqual(config, have) {
		return nil
	}
	_, err := relay.jetStream.UpdateStream(ctx, config)
	switch {
	case err == nil:
		relay.relayOptions.Log.InfoContext(ctx, "stream's settings changed", "stream", config.Name, "replicas", replicas, "max_bytes", config.MaxBytes)
		return nil
	case replicas != have.Replicas:
		relay.relayOptions.Log.WarnContext(ctx, "stream keeps its replicas", "stream", config.Name, "replicas", have.Replicas, "error", relay.explain(err))
		return relay.adjust(ctx, have.Replicas)
	}
	return fmt.Errorf("change the stream's settings: %w", relay.explain(err))
}

// Codes of the server, by its names.
const (
	codeAccountResources  jetstream.ErrorCode = 10002 // JSAccountResourcesExceededErr
	codeNoPeers           jetstream.ErrorCode = 10005 // JSClusterNoPeersErrF
	codeResources         jetstream.ErrorCode = 10023 // JSInsufficientResourcesErr
	codeStorage           jetstream.ErrorCode = 10047 // JSStorageResourcesExceededErr
	codeSubjectsOverlap   jetstream.ErrorCode = 10065 // JSStreamSubjectOverlapErr
	codeNotClustered      jetstream.ErrorCode = 10074 // JSStreamReplicasNotSupportedErr
	codeMaxBytesRequired  jetstream.ErrorCode = 10113 // JSStreamMaxBytesRequired
	codeMaxStreamExceeded jetstream.ErrorCode = 10122 // JSStreamMaxStreamBytesExceeded
)

// code returns the server's code of an error, 0 without one.
func code(err error) jetstream.ErrorCode {
	if api, ok := errors.AsType[jetstream.JetStreamError](err); ok && api.APIError() != nil {
		return api.APIError().ErrorCode
	}
	return 0
}

// explain adds the setting that is to be looked at. NATS reserves all of a stream's size
// when it is made.
func (relay *Relay) explain(err error) error {
	switch code(err) {
	case codeNotClustered, codeNoPeers:
		return fmt.Errorf("feed replicas %d: the server is not part of a cluster of as many, with JetStream and %d bytes left of max_file_store: %w", relay.relayOptions.Replicas, relay.relayOptions.MaxBytes, err)
	case codeResources, codeStorage, codeAccountResources, codeMaxStreamExceeded, codeMaxBytesRequired: // one code for server and account
		return fmt.Errorf("the feed reserves %d bytes on each of %d servers, raise max_file_store of the NATS servers or the JetStream limits of the account: %w",
			relay.relayOptions.MaxBytes, relay.relayOptions.Replicas, err)
	case codeSubjectsOverlap:
		return fmt.Errorf("another stream has subjects %s, give this installation its own feed prefix: %w", Subjects(relay.relayOptions.Prefix), err)
	default:
		return err
	}
}
