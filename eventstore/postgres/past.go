package postgres

import (
	"context"
	"errors"

	"daybook/calendar"
	"daybook/eventstore"
)

var errNoPast = errors.New("a PostgreSQL store answers nothing of its past yet")

// At does eventstore.Past.
func (s *Store) At(context.Context, eventstore.Point, ...calendar.ID) ([]eventstore.Entry, error) {
	return nil, errNoPast
}

// Counted does eventstore.Past.
func (s *Store) Counted(context.Context, eventstore.Point) (eventstore.Counted, error) {
	return eventstore.Counted{}, errNoPast
}

// SlugAt does eventstore.Past.
func (s *Store) SlugAt(context.Context, calendar.Kind, string, eventstore.Point) (calendar.ID, error) {
	return 0, errNoPast
}

// PutCheckpoint does eventstore.Checkpoints.
func (s *Store) PutCheckpoint(context.Context, eventstore.Checkpoint) error { return errNoPast }

// Checkpoint does eventstore.Checkpoints.
func (s *Store) Checkpoint(context.Context, calendar.Position) (eventstore.Checkpoint, error) {
	return eventstore.Checkpoint{}, errNoPast
}

// Checkpoints does eventstore.Checkpoints.
func (s *Store) Checkpoints(context.Context, calendar.Position, int) ([]eventstore.Checkpoint, error) {
	return nil, errNoPast
}
