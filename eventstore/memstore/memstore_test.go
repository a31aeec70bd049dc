package memstore

import (
	"testing"

	"pgregory.net/rapid"

	"daybook/eventstore"
	"daybook/eventstore/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{
		Open:   func(testing.TB) storetest.Store { return New() },
		Reopen: func(_ testing.TB, store storetest.Store) storetest.Store { return store.(*Store).Reopen() },
		Stray: func(_ testing.TB, to storetest.Store, held eventstore.Held) {
			store := to.(*Store)
			for _, claim := range held.Claims {
				store.claims[claim] = held.ID
			}
			for _, n := range held.Names {
				store.names[n] = append(store.names[n], held.ID)
			}
		},
	})
}

// TestRandomly: a store that is opened again answers as one that goes on.
func TestRandomly(t *testing.T) {
	t.Parallel()
	fresh := func(*rapid.T) eventstore.Store { return New() }
	storetest.RandomSequences(t, storetest.Opened{
		Fresh:  fresh,
		Reopen: func(_ *rapid.T, store eventstore.Store) eventstore.Store { return store.(*Store).Reopen() },
	}, storetest.Opened{
		Fresh:  fresh,
		Reopen: func(_ *rapid.T, store eventstore.Store) eventstore.Store { return store },
	})
}
