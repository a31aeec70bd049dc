package memstore_test

import (
	"testing"

	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{
		Open: func(testing.TB) storetest.Store { return memstore.New() },
		Reopen: func(_ testing.TB, s storetest.Store) storetest.Store {
			return s.(*memstore.Store).Reopen()
		},
	})
}
