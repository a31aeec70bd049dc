package eventstore

import (
	"context"

	"daybook/calendar"
)

// LogCheck checks the entries of a copy of a log as Verify does those of a store: each
// one's leaf, dense positions and versions, the fold of changes into states, and that
// what is blank was erased. It keeps the last state of each record in memory.
type LogCheck struct {
	v      verification
	states lastStates
}

// lastStates gives the entry before the next one of a record.
type lastStates struct {
	Verifier
	of map[calendar.ID][]byte
}

func (s *lastStates) History(_ context.Context, id calendar.ID, after int64, _ int) ([]Entry, error) {
	return []Entry{{ID: id, Version: after + 1, State: s.of[id]}}, nil
}

// ReadStored finds nothing: a copy ends with its last entry.
func (s *lastStates) ReadStored(context.Context, calendar.Position, int) ([]Entry, error) {
	return nil, nil
}

// NewLogCheck begins a check.
func NewLogCheck() *LogCheck {
	c := &LogCheck{states: lastStates{of: make(map[calendar.ID][]byte)}}
	c.v = verification{
		store: &c.states, last: map[calendar.ID]lastEntry{}, kept: map[calendar.ID]*calendar.Record{},
		found: Findings{Finding: FoundIntact},
	}
	return c
}

// Entry checks the next entry with its leaf. Of its secret only the SHA-256 is known,
// nil where the change left it. What does not fit is ErrDamaged.
func (c *LogCheck) Entry(ctx context.Context, e *Entry, leaf [32]byte, secret *[32]byte) error {
	p := c.v.position + 1
	if e.Position != p {
		return Damaged(p, "it is missing, the next one is %d", e.Position)
	}
	if LeafBySum(e, secret) != leaf {
		return Damaged(p, "it does not fit its leaf")
	}
	if err := c.v.fold(ctx, e); err != nil {
		return err
	}
	c.v.position = p
	if e.Redacted == nil {
		c.states.of[e.ID] = e.State
	} else {
		delete(c.states.of, e.ID)
	}
	return nil
}

// End gives the findings after the last entry, or after the error of one.
func (c *LogCheck) End(ctx context.Context, err error) (Findings, error) {
	c.v.head = c.v.position
	if err == nil {
		err = c.v.blanks(ctx)
	}
	return c.v.outcome(err)
}
