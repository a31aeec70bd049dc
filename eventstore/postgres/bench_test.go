package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

// BenchmarkAppend creates events one by one, with versions, claims, keys and
// chain, against raw commits of one insert of the same row each into a table
// like that of entries. The two sides take turns, so that both see the same
// machine; the ratio is that of appends by 64 callers to raw commits of 32
// clients, and of one caller to one client.
func BenchmarkAppend(b *testing.B) {
	for _, bench := range []struct{ callers, clients int }{{1, 1}, {64, 32}} {
		b.Run(fmt.Sprintf("callers=%d", bench.callers), func(b *testing.B) {
			ours := open(b, server(b), postgres.Options{Schema: schema(b)})
			raw := newRaw(b, bench.clients)
			side := func(n, workers int, do func(*eventstore.Append) error) time.Duration {
				appends := make([]eventstore.Append, n)
				next, err := ours.NewIDs(b.Context(), n) // the service gets its ids so too
				if err != nil {
					b.Fatal(err)
				}
				for i := range appends {
					appends[i] = storetest.EventAppend(b, next+calendar.ID(i), true)
				}
				start := time.Now()
				var at atomic.Int64
				var wg sync.WaitGroup
				for range workers {
					wg.Go(func() {
						for i := at.Add(1) - 1; i < int64(n); i = at.Add(1) - 1 {
							if err := do(&appends[i]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				return time.Since(start)
			}
			var a, r time.Duration
			turn := 16 * max(bench.callers, 16)
			turns := 0
			b.ResetTimer()
			for done := 0; done < b.N; done += turn {
				a += side(turn, bench.callers, func(ap *eventstore.Append) error {
					return ours.Append(b.Context(), []eventstore.Append{*ap})[0].Err
				})
				r += side(turn, bench.clients, raw)
				turns++
			}
			b.StopTimer()
			if a == 0 {
				return
			}
			n := float64(turns * turn)
			b.ReportMetric(n/a.Seconds(), "appends/s")
			b.ReportMetric(n/r.Seconds(), "raw/s")
			b.ReportMetric(r.Seconds()/a.Seconds(), "ratio")
			if commits, err := ours.Commits(b.Context(), 1, int(n)); err == nil {
				b.ReportMetric(n/float64(len(commits)), "appends/commit")
			}
		})
	}
}

// newRaw makes a table like that of entries, and gives what inserts one row and
// commits.
func newRaw(b *testing.B, clients int) func(*eventstore.Append) error {
	b.Helper()
	name := schema(b)
	c := admin(b)
	sqlExec(b, c, "CREATE SCHEMA "+name)
	sqlExec(b, c, "CREATE TABLE "+name+`.raw (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, record bigint NOT NULL,
		version bigint NOT NULL, time bigint NOT NULL, actor bigint NOT NULL, kind text NOT NULL, change text NOT NULL, leaf bytea NOT NULL,
		client text NOT NULL, request text NOT NULL, reason text NOT NULL, fields bytea NOT NULL, state bytea NOT NULL, secret bytea,
		UNIQUE (record, version))`)
	config, err := pgxpool.ParseConfig(server(b))
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = int32(clients)
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	insert := "INSERT INTO " + name + `.raw (record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	return func(a *eventstore.Append) error {
		e := a.Entry(0)
		leaf := eventstore.Leaf(&e)
		_, err := pool.Exec(b.Context(), insert, int64(e.ID), e.Version, e.Time.UnixMilli(), int64(e.Actor), e.Kind.String(), e.Change,
			leaf[:], e.Cause.Client, e.Cause.Request, e.Cause.Reason, []byte(e.Fields), []byte(e.State), e.Secret)
		return err
	}
}
