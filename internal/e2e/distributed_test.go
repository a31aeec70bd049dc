package e2e

import (
	"cmp"
	"log/slog"
	"slices"
	"testing"
	"time"

	"daybook/eventstore/feed"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit"
	"daybook/query/readmodel/elastic"
)

// distributed starts the distributed size on real servers: PostgreSQL, NATS, and a
// search server. Relay and projector have connections
// of their own, as in processes of their own.
//
//	HTTP ─► command ─► PostgreSQL ─► relay ─► NATS ─► projector ─► search server
func distributed(flavour elastic.Flavour) backend {
	return func(t *testing.T, s settings) *service {
		t.Helper()
		// A way over three servers takes longer than one within a process, on a busy machine
		// longer than the 5 s of a service.
		s.positionWait = cmp.Or(10*s.positionWait, 30*time.Second)
		return assemble(t, s, func(log *slog.Logger, clock *clock) (p parts) {
			database, schema := testkit.Postgres(t)
			open := func() *postgres.Store {
				store, err := postgres.Open(t.Context(), database, postgres.Options{Schema: schema, Now: clock.Now, PoolSize: 4})
				must(t, err)
				t.Cleanup(func() { closed(t, store.Close()) })
				return store
			}
			p.store, p.relayed = open(), open()

			url, prefix := testkit.NATS(t)
			conn, js, err := feed.Connect(url, feed.ConnectOptions{})
			must(t, err)
			t.Cleanup(conn.Close)
			p.js, p.feed = js, prefix

			search := testkit.Elasticsearch
			if flavour == elastic.OpenSearch {
				search = testkit.OpenSearch
			}
			url, prefix = search(t)
			model := func() *elastic.Index {
				// A server that has just started takes long to make its first indices where
				// many others want the processors; the program would try again.
				index, err := elastic.Open(t.Context(), url, elastic.Options{Flavour: flavour, Prefix: prefix, Log: log, WriteTimeout: 2 * time.Minute})
				must(t, err)
				t.Cleanup(func() { _ = index.Close() })
				return index
			}
			p.index, p.projected = model(), model()
			return p
		})
	}
}

// TestDistributed plays the checklist and the scenarios on real servers.
func TestDistributed(t *testing.T) {
	t.Parallel()
	for _, flavour := range []elastic.Flavour{elastic.Elasticsearch, elastic.OpenSearch} {
		t.Run(string(flavour), func(t *testing.T) {
			t.Parallel()
			run(t, distributed(flavour), slices.Concat(checklist, scenarios, pastLines))
		})
	}
}
