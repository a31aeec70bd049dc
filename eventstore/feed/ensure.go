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

// readOrigin gives what a stream that is made from a store is known by, "" for a
// store without entries.
func readOrigin(ctx context.Context, store Store) (string, error) {
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
	var wait waiting
	for {
		origin, err := readOrigin(ctx, r.store)
		if origin != "" || err != nil {
			return origin, err
		}
		r.count(func(s *RelayStats) { s.Moved = r.o.Now() })
		if err := wait.more(ctx, r.store, 0, maxPoll); err != nil {
			return "", err
		}
	}
}

// look gives the stream as it is now.
func (r *Relay) look(ctx context.Context) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	s, err := r.js.Stream(ctx, StreamName(r.o.Prefix))
	if err != nil {
		return nil, fmt.Errorf("look at the stream: %w", err)
	}
	return s, nil
}

// ensure makes sure that the stream is there and continues the store, and gives
// the position of its last entry.
func (r *Relay) ensure(ctx context.Context, origin string) (calendar.Position, error) {
	stream, err := r.look(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return r.create(ctx, origin)
	}
	if err != nil {
		return 0, err
	}
	reason, err := r.fault(ctx, stream, origin)
	if err != nil {
		return 0, err
	}
	info := stream.CachedInfo()
	if reason != "" {
		if err := r.drop(ctx, info, reason); err != nil {
			return 0, err
		}
		return r.create(ctx, origin)
	}
	if err := r.adjust(ctx, info, origin); err != nil {
		return 0, err
	}
	return calendar.Position(info.State.LastSeq), nil
}

// fault says why a stream cannot be continued, "" when it can. The error is
// errForeign for one that is not to be touched.
func (r *Relay) fault(ctx context.Context, stream jetstream.Stream, origin string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	reason, err := fault(ctx, r.store, stream, r.o.Prefix, origin)
	if r.o.Sole && errors.Is(err, errForeign) {
		return "made from another event store", nil // nobody else can reach it
	}
	return reason, err
}

// fault says why a stream, as it was last looked at, does not hold the entries of
// a store and no others, "" when it does as far as its settings, its length and its
// newest message tell: a store that a failover cut, or that was put back from a
// backup, has the beginning that it had, and then other entries. A message is of the
// history of the store when its mark is.
func fault(ctx context.Context, store Store, stream jetstream.Stream, prefix, origin string) (string, error) {
	info := stream.CachedInfo()
	if err := foreign(ctx, stream, origin); err != nil {
		return "", err
	}
	if reason := misfit(&info.Config, prefix, origin); reason != "" {
		return reason, nil
	}
	last := calendar.Position(info.State.LastSeq)
	// Read after the stream, so entries that a relay published meanwhile are not
	// taken for ones that the store never had.
	if _, err := store.Mark(ctx, last); errors.Is(err, eventstore.ErrHistory) {
		return fmt.Sprintf("at %d, ahead of the event store", last), nil
	} else if err != nil {
		return "", fmt.Errorf("mark of entry %d: %w", last, err)
	}
	if info.State.Msgs == 0 {
		return "", nil // purged or lost: the number is what counts
	}
	m, err := stream.GetMsg(ctx, info.State.LastSeq)
	if errors.Is(err, jetstream.ErrMsgNotFound) { // that one alone is lost
		m, err = stream.GetLastMsgForSubject(ctx, Subjects(prefix))
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the last message: %w", err)
	}
	mark, ok := markOf(m.Header, calendar.Position(m.Sequence))
	if !ok || m.Header.Get(HeaderID) != mark.Position.String() {
		return fmt.Sprintf("without a mark of its history in message %d", m.Sequence), nil
	}
	err = eventstore.CheckMark(ctx, store, mark)
	if errors.Is(err, eventstore.ErrHistory) {
		return fmt.Sprintf("of another history: the event store has not the mark %s of its last message", mark), nil
	}
	return "", err
}

// Published gives the position of the last entry of a store that the stream of a
// prefix has. The error tells why there is none: no stream, one of another store, or
// one that the relay will make anew.
func Published(ctx context.Context, store Store, js jetstream.JetStream, prefix string) (calendar.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	origin, err := readOrigin(ctx, store)
	if err != nil {
		return 0, err
	}
	stream, err := js.Stream(ctx, StreamName(prefix))
	if err != nil {
		return 0, fmt.Errorf("stream %s: %w", StreamName(prefix), err)
	}
	reason, err := fault(ctx, store, stream, prefix, origin)
	if err == nil && reason != "" {
		err = fmt.Errorf("stream %s is %s", StreamName(prefix), reason)
	}
	if err != nil {
		return 0, err
	}
	return calendar.Position(stream.CachedInfo().State.LastSeq), nil
}

// drop deletes the stream that was looked at. One that another relay made
// meanwhile is left alone: this relay may have been paused since it looked.
func (r *Relay) drop(ctx context.Context, seen *jetstream.StreamInfo, reason string) error {
	now, err := r.look(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !now.CachedInfo().Created.Equal(seen.Created) {
		return fmt.Errorf("%w: it was made again", errConflict)
	}
	r.o.Log.Warn("stream deleted to be made again", "stream", StreamName(r.o.Prefix), "reason", reason)
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	if err := r.js.DeleteStream(ctx, seen.Config.Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("delete the stream: %w", err)
	}
	return nil
}

// dropFailed deletes the stream because it cannot keep messages.
func (r *Relay) dropFailed(ctx context.Context) error {
	origin, err := readOrigin(ctx, r.store)
	if err != nil {
		return err
	}
	stream, err := r.look(ctx)
	if err != nil {
		return err
	}
	if err := foreign(ctx, stream, origin); err != nil {
		return err
	}
	return r.drop(ctx, stream.CachedInfo(), "it cannot keep messages")
}

// dropErased deletes the stream because it may hold what was erased.
func (r *Relay) dropErased(ctx context.Context) error {
	stream, err := r.look(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.drop(ctx, stream.CachedInfo(), "a record was erased")
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
		return 0, fmt.Errorf("create the stream from entry %d on: %w", first, r.explain(err))
	}
	// A stream that is not new was made by another relay a moment ago, or the
	// server has taken over a folder that a damaged one left behind.
	if info := stream.CachedInfo(); info.State.LastSeq != uint64(first)-1 {
		reason, err := r.fault(ctx, stream, origin)
		if err != nil {
			return 0, err
		}
		if reason != "" {
			return 0, fmt.Errorf("%w: a new stream from entry %d on is %s", errStorage, first, reason)
		}
		return calendar.Position(info.State.LastSeq), nil
	}
	r.clean = at
	r.count(func(s *RelayStats) { s.Rebuilt++ })
	r.o.Log.Info("stream created", "stream", StreamName(r.o.Prefix), "position", uint64(first))
	return first - 1, nil
}

// adjust brings the settings of the stream to those of the options. Where the
// servers cannot keep as many replicas as are wanted, the stream stays with
// those that it has: fewer copies of a transport are better than none.
func (r *Relay) adjust(ctx context.Context, info *jetstream.StreamInfo, origin string) error {
	config, changed := adjusted(info.Config, streamConfig(&r.o, 0, origin))
	if !changed {
		return nil
	}
	err := r.update(ctx, config)
	if unplaced(err) && config.Replicas != info.Config.Replicas {
		r.o.Log.Warn("stream keeps its replicas", "stream", StreamName(r.o.Prefix), "replicas", info.Config.Replicas, "error", r.explain(err))
		config.Replicas = info.Config.Replicas
		if _, changed = adjusted(info.Config, config); !changed {
			return nil
		}
		err = r.update(ctx, config)
	}
	if err != nil {
		return fmt.Errorf("change the stream's settings: %w", r.explain(err))
	}
	r.o.Log.Info("stream's settings changed", "stream", StreamName(r.o.Prefix), "replicas", config.Replicas, "max_bytes", config.MaxBytes)
	return nil
}

// adjusted gives the settings of a stream with those that the relay decides
// about. All else, such as placement or republishing, is the operator's.
func adjusted(have, want jetstream.StreamConfig) (config jetstream.StreamConfig, changed bool) {
	changed = have.MaxBytes != want.MaxBytes || have.Replicas != want.Replicas || have.Description != want.Description ||
		have.Compression != want.Compression || have.Discard != want.Discard || have.NoAck || have.MaxMsgSize > 0
	have.MaxBytes, have.Replicas, have.Description, have.Compression = want.MaxBytes, want.Replicas, want.Description, want.Compression
	// With these the stream would refuse entries or not answer.
	have.Discard, have.DiscardNewPerSubject, have.NoAck, have.MaxMsgSize = want.Discard, false, false, -1
	have.Metadata = maps.Clone(want.Metadata)
	return have, changed
}

func (r *Relay) update(ctx context.Context, config jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	_, err := r.js.UpdateStream(ctx, config)
	return err
}

// Codes of the server, by its names.
const (
	codeAccountResources  jetstream.ErrorCode = 10002 // JSAccountResourcesExceededErr
	codeNoPeers           jetstream.ErrorCode = 10005 // JSClusterNoPeersErrF
	codeResources         jetstream.ErrorCode = 10023 // JSInsufficientResourcesErr
	codeStorage           jetstream.ErrorCode = 10047 // JSStorageResourcesExceededErr
	codeNotClustered      jetstream.ErrorCode = 10074 // JSStreamReplicasNotSupportedErr
	codeStoreFailed       jetstream.ErrorCode = 10077 // JSStreamStoreFailedF
	codeMaxBytesRequired  jetstream.ErrorCode = 10113 // JSStreamMaxBytesRequired
	codeSubjectsOverlap   jetstream.ErrorCode = 10065 // JSStreamSubjectOverlapErr
	codeMaxStreamExceeded jetstream.ErrorCode = 10122 // JSStreamMaxStreamBytesExceeded
)

func code(err error) jetstream.ErrorCode {
	if api, ok := errors.AsType[jetstream.JetStreamError](err); ok && api.APIError() != nil {
		return api.APIError().ErrorCode
	}
	return 0
}

// unplaced tells whether the servers are too few or too full.
func unplaced(err error) bool {
	switch code(err) {
	case codeAccountResources, codeNoPeers, codeResources, codeStorage, codeNotClustered, codeMaxStreamExceeded:
		return true
	default:
		return false
	}
}

// explain adds the setting that is to be looked at. NATS reserves all of a
// stream's size when it is made.
func (r *Relay) explain(err error) error {
	switch code(err) {
	case codeNotClustered:
		return fmt.Errorf("feed replicas %d: the server is not part of a cluster, it can keep 1: %w", r.o.Replicas, err)
	case codeNoPeers:
		return fmt.Errorf("feed replicas %d: the cluster has not as many servers with JetStream and %d bytes left of max_file_store: %w", r.o.Replicas, r.o.MaxBytes, err)
	case codeResources, codeStorage, codeAccountResources, codeMaxStreamExceeded, codeMaxBytesRequired: // one code for server and account
		return fmt.Errorf("the feed reserves %d bytes on each of %d servers, raise max_file_store of the NATS servers or the JetStream limits of the account: %w",
			r.o.MaxBytes, r.o.Replicas, err)
	case codeSubjectsOverlap:
		return fmt.Errorf("another stream has subjects %s, give this installation its own feed prefix: %w", Subjects(r.o.Prefix), err)
	default:
		return err
	}
}
