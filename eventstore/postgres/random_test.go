package postgres_test

import (
	"testing"

	"pgregory.net/rapid"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

func TestRandomSequences(t *testing.T) {
	t.Parallel()
	name := schema(t)
	store := open(t, server(t), postgres.Options{Schema: name, PollOnly: true})
	c := admin(t)
	sqlExec(t, c, "ALTER TABLE "+name+".entries DISABLE TRIGGER ALL")
	sqlExec(t, c, "ALTER TABLE "+name+".commits DISABLE TRIGGER ALL")
	storetest.RandomSequences(t, func(rt *rapid.T) eventstore.Verifier {
		// What nobody waited for goes along, and comes into no other sequence.
		last := eventstore.Append{Receipt: &eventstore.Receipt{User: 1, Key: "last", Record: 1}}
		if err := store.Append(t.Context(), []eventstore.Append{last})[0].Err; err != nil {
			rt.Fatal(err)
		}
		for _, table := range []string{"entries", "commits", "records", "claims", "names", "receipts"} {
			sqlExec(t, c, "DELETE FROM "+name+"."+table)
		}
		sqlExec(t, c, "UPDATE "+name+".identity SET uuid = gen_random_uuid()") // another store
		return store
	}, nil)
}
