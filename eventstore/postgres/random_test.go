package postgres_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

func TestRandomSequences(t *testing.T) {
	t.Parallel()
	name := schema(t)
	store := open(t, server(t), postgres.Options{Schema: name, PollOnly: true})
	conn := admin(t)
	sqlExec(t, conn, strings.ReplaceAll("ALTER TABLE @.entries DISABLE TRIGGER ALL; ALTER TABLE @.commits DISABLE TRIGGER ALL", "@", name))
	empty := strings.ReplaceAll(`DELETE FROM @.entries; DELETE FROM @.commits; DELETE FROM @.records; DELETE FROM @.claims; DELETE FROM @.names;
		DELETE FROM @.receipts; UPDATE @.identity SET uuid = gen_random_uuid()`, "@", name) // another store
	fresh := func(rt *rapid.T) eventstore.Store {
		sqlExec(t, conn, empty)
		if _, err := store.Head(t.Context(), eventstore.Point{}); err != nil { // which it learns
			rt.Fatal(err)
		}
		return store
	}
	reference := func(*rapid.T) eventstore.Store { return memstore.New() }
	storetest.RandomSequences(t, storetest.Opened{Fresh: fresh}, storetest.Opened{Fresh: reference})
}
