package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
)

// Store is what the log is read from.
type Store interface {
	Leaves
	eventstore.Checkpoints
	// Head gives the position of the last entry, 0 for an empty store.
	Head(ctx context.Context) (calendar.Position, error)
	// ReadAll, Load and History are those of eventstore.Store.
	ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error)
	Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error)
	History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error)
}

// Log is the log with its tree and its checkpoints. It is safe for concurrent use.
type Log struct {
	*Tree
	store Store
}

// NewLog makes the log of a store; it reads nothing yet.
func NewLog(store Store) *Log { return &Log{NewTree(store), store} }

// ErrNoCheckpoint says that none was signed, or none for that size.
var ErrNoCheckpoint = errors.New("no checkpoint")

// Checkpoint gives the one of a size, of 0 the newest. Errors: ErrNoCheckpoint.
func (l *Log) Checkpoint(ctx context.Context, size calendar.Position) (eventstore.Checkpoint, error) {
	c, err := l.store.Checkpoint(ctx, size)
	if errors.Is(err, eventstore.ErrNotFound) {
		return c, ErrNoCheckpoint
	}
	return c, err
}

// Leaf gives the stored leaf of the entry at a position.
func (l *Log) Leaf(ctx context.Context, p calendar.Position) ([32]byte, error) {
	leaves, err := l.stored(ctx, p-1, 1)
	if err != nil {
		return [32]byte{}, err
	}
	return leaves[0], nil
}

// KeySpan tells from which size to which a key signed.
type KeySpan struct {
	VKey     string             `json:"vkey"`
	FromSize calendar.Position  `json:"from_size"`
	ToSize   *calendar.Position `json:"to_size"` // nil: it still signs
}

// Keys tells which keys signed a log, and which witnesses are asked. It is for
// convenience: trust in a key comes from elsewhere.
type Keys struct {
	Origin    string    `json:"origin"`
	Keys      []KeySpan `json:"keys"`
	Witnesses []string  `json:"witnesses"` // vkeys
}

// ReadKeys reads what a checkpoint tells of the keys of its log.
func ReadKeys(c *eventstore.Checkpoint) (k Keys, err error) {
	if c.Keys != "" {
		if err := json.Unmarshal([]byte(c.Keys), &k); err != nil {
			return k, fmt.Errorf("keys of the checkpoint of size %d: %w: %w", c.Size, eventstore.ErrDamaged, err)
		}
	}
	k.Origin = c.Origin
	if k.Keys == nil {
		k.Keys = []KeySpan{}
	}
	if k.Witnesses == nil {
		k.Witnesses = []string{}
	}
	return k, nil
}

// next gives the keys of a checkpoint of a size, signed by keys, that follows one of
// another size.
func (k Keys) next(before, size calendar.Position, keys []*PrivateKey, witnesses []*Witness) Keys {
	out := Keys{Origin: k.Origin, Witnesses: []string{}}
	signs := make(map[string]bool, len(keys))
	for _, key := range keys {
		signs[key.Public.String()] = true
	}
	for _, span := range k.Keys {
		if span.ToSize == nil && !signs[span.VKey] {
			span.ToSize = &before
		}
		if span.ToSize == nil {
			delete(signs, span.VKey)
		}
		out.Keys = append(out.Keys, span)
	}
	for _, key := range keys {
		if vkey := key.Public.String(); signs[vkey] {
			delete(signs, vkey)
			out.Keys = append(out.Keys, KeySpan{VKey: vkey, FromSize: size})
		}
	}
	for _, w := range witnesses {
		out.Witnesses = append(out.Witnesses, w.Key.String())
	}
	return out
}
