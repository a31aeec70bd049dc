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
		Reopen: func(_ testing.TB, s storetest.Store) storetest.Store { return s.(*Store).Reopen() },
		Stray: func(_ testing.TB, to storetest.Store, h eventstore.Held) {
			s := to.(*Store)
			for _, c := range h.Claims {
				s.claims[c] = h.ID
			}
			for _, n := range h.Names {
				s.names[n] = append(s.names[n], h.ID)
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
		Reopen: func(_ *rapid.T, s eventstore.Store) eventstore.Store { return s.(*Store).Reopen() },
	}, storetest.Opened{
		Fresh:  fresh,
		Reopen: func(_ *rapid.T, s eventstore.Store) eventstore.Store { return s },
	})
}
