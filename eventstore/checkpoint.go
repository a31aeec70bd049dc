package eventstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"daybook/calendar"
)

// Checkpoint is a signed head of the log.
type Checkpoint struct {
	Size   calendar.Position // of the tree: position of its last entry, from 1
	Origin string            // of the log
	Note   []byte            // the signed note, with all its signatures so far
	Time   time.Time         // when it was signed; UTC, whole milliseconds
	// Keys tells which keys signed the log up to it, as its signer writes that down:
	// a note names keys and does not hold them. It stays when the note gains lines.
	Keys string
}

// Checkpoints keeps the signed heads of the log. None is ever taken away.
type Checkpoints interface {
	// PutCheckpoint keeps a checkpoint, durable when it comes back: one that is
	// larger than the newest, or the note of one that is there with further lines.
	// The same note again changes nothing. Everything else is ErrConflict, a size
	// above the head ErrAhead, a checkpoint without size, origin or note
	// ErrMalformed.
	PutCheckpoint(ctx context.Context, c Checkpoint) error

	// Checkpoint gives the one of a size, of 0 the newest. Errors: ErrNotFound.
	Checkpoint(ctx context.Context, size calendar.Position) (Checkpoint, error)

	// Checkpoints gives up to limit checkpoints with sizes greater than after, by
	// size.
	Checkpoints(ctx context.Context, after calendar.Position, limit int) ([]Checkpoint, error)
}

// Check tells what is wrong with the form of a checkpoint: ErrMalformed. Stores call
// it first.
func (c *Checkpoint) Check() error {
	if c.Size == 0 || c.Origin == "" || !isText(c.Origin) || !isText(c.Keys) || len(c.Note) == 0 {
		return fmt.Errorf("%w: a checkpoint has a size, an origin and a note", ErrMalformed)
	}
	return nil
}

// Follows tells whether a checkpoint may be kept by a store that has its newest one
// and the one of its size, nil for none: ErrConflict when not. gains tells that there
// is something to be kept.
func (c *Checkpoint) Follows(newest, same *Checkpoint) (gains bool, err error) {
	switch {
	case same != nil && same.Origin == c.Origin && extends(same.Note, c.Note):
		return !bytes.Equal(same.Note, c.Note), nil
	case same == nil && (newest == nil || newest.Size < c.Size):
		return true, nil
	default:
		return false, fmt.Errorf("checkpoint of size %d: %w", c.Size, ErrConflict)
	}
}

// extends tells whether a note has all lines of another one, in order.
func extends(before, after []byte) bool {
	rest := bytes.Lines(after)
	next := make([][]byte, 0, 8)
	for line := range rest {
		next = append(next, line)
	}
	for line := range bytes.Lines(before) {
		for len(next) > 0 && !bytes.Equal(next[0], line) {
			next = next[1:]
		}
		if len(next) == 0 {
			return false
		}
		next = next[1:]
	}
	return true
}
