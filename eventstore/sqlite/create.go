package sqlite

import (
	"context"
	"errors"
	"fmt"

	"daybook/eventstore"
)

// Create makes a store as Open does and fills it, whole or not at all, with what another
// one holds. Errors: eventstore.ErrNotEmpty; those of eventstore.Restore.
func Create(ctx context.Context, path string, from *eventstore.Copy) error {
	store, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if err = eventstore.ErrNotEmpty; store.signal.Head().Position == 0 && store.readOnly == nil {
		err = store.write(ctx, func(within context.Context) error {
			if err := eventstore.Restore(ctx, store.insert, from); err != nil { // the context ends the reading
				return err
			}
			return store.writer.exec(within, "UPDATE identity SET uuid = ?", from.UUID[:])
		})
	}
	if err != nil {
		err = fmt.Errorf("create event store %s: %w", path, err)
	}
	return errors.Join(err, store.Close())
}
