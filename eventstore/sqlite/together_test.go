package sqlite

import (
	"context"

	"daybook/eventstore"
	"daybook/eventstore/storetest"
)

// Together decides appends in one group, for the suite.
func (store *Store) Together(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	return storetest.Together(ctx, store.commit, appends)
}
