package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// Log is the log with its tree and its checkpoints. It is safe for concurrent use.
type Log struct {
	*Tree
	store eventstore.Store
}

// NewLog makes the log of a store; it reads nothing yet.
func NewLog(store eventstore.Store) *Log { return &Log{NewTree(store), store} }

// ErrNoCheckpoint says that none was signed, or none for that size.
var ErrNoCheckpoint = errors.New("no checkpoint")

// Checkpoint returns the one of a size, of 0 the newest. Errors: ErrNoCheckpoint.
func (log *Log) Checkpoint(ctx context.Context, size calendar.Position) (eventstore.Checkpoint, error) {
	checkpoint, err := eventstore.CheckpointAt(ctx, log.store, size)
	if err == nil && checkpoint.Size == 0 {
		err = ErrNoCheckpoint
	}
	return checkpoint, err
}

// put stores a checkpoint, or one with further lines.
func (log *Log) put(ctx context.Context, checkpoint eventstore.Checkpoint) error {
	return log.store.Append(ctx, eventstore.Append{Checkpoint: &checkpoint}).Err
}

// head returns the position of the last entry.
func (log *Log) head(ctx context.Context) (calendar.Position, error) {
	head, err := log.store.Head(ctx, eventstore.Point{})
	return head.Position, err
}

// KeySpan says from which size to which a key signed.
type KeySpan struct {
	VKey     string             `json:"vkey"`
	FromSize calendar.Position  `json:"from_size"`
	ToSize   *calendar.Position `json:"to_size"` // nil: it still signs
}

// Keys says which keys signed a log, and which witnesses are asked. It is for
// convenience: trust in a key comes from elsewhere.
type Keys struct {
	Origin    string    `json:"origin"`
	Keys      []KeySpan `json:"keys"`
	Witnesses []string  `json:"witnesses"` // vkeys
}

// ReadKeys reads what a checkpoint says of the keys of its log.
func ReadKeys(checkpoint *eventstore.Checkpoint) (Keys, error) {
	keys := Keys{Keys: []KeySpan{}, Witnesses: []string{}} // JSON: [], not null
	if checkpoint.Keys != "" {
		if err := json.Unmarshal([]byte(checkpoint.Keys), &keys); err != nil {
			return keys, fmt.Errorf("keys of the checkpoint of size %d: %w: %w", checkpoint.Size, eventstore.ErrDamaged, err)
		}
	}
	keys.Origin = checkpoint.Origin
	return keys, nil
}

// next returns the keys of a checkpoint of a size, signed by keys, that follows one of
// another size.
func (k Keys) next(before, size calendar.Position, keys []*PrivateKey, witnesses []*Witness) Keys {
	result := Keys{Origin: k.Origin, Keys: slices.Clone(k.Keys), Witnesses: []string{}}
	signing := public(keys)
	for i := range result.Keys {
		span := &result.Keys[i]
		index := slices.IndexFunc(signing, func(key *Key) bool { return key.vkey == span.VKey })
		switch {
		case span.ToSize != nil:
		case index >= 0:
			signing = slices.Delete(signing, index, index+1)
		default:
			span.ToSize = &before
		}
	}
	for _, key := range signing {
		result.Keys = append(result.Keys, KeySpan{VKey: key.vkey, FromSize: size})
	}
	for _, witness := range witnesses {
		result.Witnesses = append(result.Witnesses, witness.Key.vkey)
	}
	return result
}
