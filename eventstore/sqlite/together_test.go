package sqlite

import (
	"context"

	"daybook/eventstore"
)

// Together decides appends in one group, for the suite.
func (store *Store) Together(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	items, results := make([]*eventstore.Item, len(appends)), make([]eventstore.Result, len(appends))
	for i, addition := range appends {
		items[i] = eventstore.NewItem(addition)
	}
	_, err := store.commit(ctx, items)
	for i, item := range items {
		if results[i] = item.Result; err != nil {
			results[i] = eventstore.Result{Err: err}
		}
	}
	return results
}
