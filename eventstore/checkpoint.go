package eventstore

import (
	"bytes"
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
	// Keys are the keys that signed the log up to it, as its signer writes them down: a
	// note names keys and does not hold them. They stay when the note gains lines.
	Keys string
}

// Check returns what is wrong with the form of a checkpoint: ErrMalformed.
func (c *Checkpoint) Check() error {
	if c.Size == 0 || c.Origin == "" || !isText(c.Origin) || !isText(c.Keys) || len(c.Note) == 0 {
		return fmt.Errorf("%w: a checkpoint has a size, an origin and a note", ErrMalformed)
	}
	return nil
}

// Follows refuses a checkpoint by ErrConflict that a store may not take, which has this
// newest one and this one of the same size, nil for none. gains says that there is
// something to store.
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

// extends reports whether a note has all lines of another one, in order.
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
