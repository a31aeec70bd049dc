package postgres_test

import (
	"testing"

	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

// TestStore: the store keeps the promises of the port, straight, as behind a
// pooler by transactions, and without listening.
func TestStore(t *testing.T) {
	t.Parallel()
	at := server(t)
	for name, c := range map[string]struct {
		at string
		o  postgres.Options
	}{
		"straight":        {at, postgres.Options{}},
		"as by a pooler":  {with(t, at, "default_query_exec_mode=exec"), postgres.Options{ListenURL: at}},
		"simple protocol": {with(t, at, "default_query_exec_mode=simple_protocol"), postgres.Options{PollOnly: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, harness(c.at, c.o))
		})
	}
}
