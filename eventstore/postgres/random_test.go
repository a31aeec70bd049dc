package postgres_test

import (
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
	sqlExec(t, conn, "ALTER TABLE "+name+".entries DISABLE TRIGGER ALL")
	sqlExec(t, conn, "ALTER TABLE "+name+".commits DISABLE TRIGGER ALL")
	fresh := func(rt *rapid.T) eventstore.Store {
		for _, table := range []string{"entries", "commits", "records", "claims", "names", "receipts"} {
			sqlExec(t, conn, "DELETE FROM "+name+"."+table)
		}
		sqlExec(t, conn, "UPDATE "+name+".identity SET uuid = gen_random_uuid()") // another store
		if _, err := store.Head(t.Context(), eventstore.Point{}); err != nil {    // which it learns
			rt.Fatal(err)
		}
		return store
	}
	reference := func(*rapid.T) eventstore.Store { return memstore.New() }
	storetest.RandomSequences(t, storetest.Opened{Fresh: fresh}, storetest.Opened{Fresh: reference})
}
