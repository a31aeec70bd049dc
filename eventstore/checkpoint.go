package eventstore

import (
	"bytes"
	"fmt"
	"slices"
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

// extends reports whether a note has all lines of another one, in order.
func extends(before, after []byte) bool {
	next := slices.Collect(bytes.Lines(after))
	for line := range bytes.Lines(before) {
		at := slices.IndexFunc(next, func(l []byte) bool { return bytes.Equal(l, line) })
		if at < 0 {
			return false
		}
		next = next[at+1:]
	}
	return true
}
