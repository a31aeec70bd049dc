package postgres_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
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
				for i := range appends {
					id, err := ours.NewID(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					appends[i] = eventAppend(b, id)
				}
				start := time.Now()
				var at atomic.Int64
				var group sync.WaitGroup
				for range workers {
					group.Go(func() {
						for i := at.Add(1) - 1; i < int64(n); i = at.Add(1) - 1 {
							if err := do(&appends[i]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
				return time.Since(start)
			}
			var a, r time.Duration
			turn := 16 * max(bench.callers, 16)
			turns := 0
			b.ResetTimer()
			for done := 0; done < b.N; done += turn {
				a += side(turn, bench.callers, func(ap *eventstore.Append) error {
					return ours.Append(b.Context(), *ap).Err
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
			commits := map[calendar.Position]bool{}
			entries, err := ours.Read(b.Context(), eventstore.Range{Limit: int(n), Leaves: true})
			for _, entry := range entries {
				commits[entry.Commit.First] = true
			}
			if err == nil {
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
	conn := admin(b)
	sqlExec(b, conn, "CREATE TABLE "+name+`.raw (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, record bigint NOT NULL,
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
		entry := &eventstore.NewItem(*a).Drafts[0].Entry
		_, err := pool.Exec(b.Context(), insert, int64(entry.ID), entry.Version, entry.Time.UnixMilli(), int64(entry.Actor), entry.Kind.String(), entry.Change,
			entry.Leaf[:], entry.Cause.Client, entry.Cause.Request, entry.Cause.Reason, []byte(entry.Fields), []byte(entry.State), entry.Secret)
		return err
	}
}

// benchWords are those of the texts of events for benchmarks.
var benchWords = strings.Fields(`quay harbor river garden market concert reading festival workshop picnic theatre gallery
orchestra quartet sculpture lantern parade regatta marathon cinema the of and with for at by in on a Kameltin Brasosvos Dungarlei
Shafenulm Ostwilpra Quikarro Melgarsha Tinvosdun every evening morning children music dance bring chair ticket free entry doors
open seven half past until late`)

// eventAppend is a create of an event of real weight with an idempotency key: texts of
// 0.7 to 2 kB that differ for each id. Texts of one length would fill the pages of a
// store by chance, three rows a page or four.
func eventAppend(tb testing.TB, id calendar.ID) eventstore.Append {
	tb.Helper()
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(uint64(id), 11))
	fields := calendar.Fields{
		"title": calendar.Text{calendar.LangEN: fmt.Sprintf("Quay concert and picnic %d", id)}, "slug": fmt.Sprintf("quay-concert-and-picnic-%d", id),
		"status": "publish", "author": calendar.ID(7), "timezone": "America/New_York", "cost": []string{"$12"},
		"website": fmt.Sprintf("https://tickets.example/2026/quay-concert-and-picnic?event=%d", id),
	}
	for name, characters := range map[string]int{"description": 880, "excerpt": 460} {
		var text strings.Builder
		for least := characters/2 + rng.IntN(characters); text.Len() < least; {
			text.WriteString(benchWords[rng.IntN(len(benchWords))] + " ")
		}
		fields[name] = calendar.Text{calendar.LangEN: strings.TrimSpace(text.String())}
	}
	for hour, name := range []string{"start_date", "end_date", "utc_start_date", "utc_end_date"} {
		fields[name] = calendar.WallOf(now.AddDate(0, 0, int(id%500)).Add(time.Duration(hour) * time.Hour))
	}
	for i, name := range []string{"venue", "organizer", "categories", "tags"} {
		fields[name] = []calendar.ID{calendar.ID((i+1)*1_000_000 + rng.IntN(100))}
	}
	draft, _ := storetest.Draft(tb, nil, calendar.Change{Name: "event.created", Kind: calendar.KindEvent, ID: id, Home: calendar.LangEN, Fields: fields}, now)
	key := fmt.Sprintf("key-%d", id)
	return eventstore.Append{
		Drafts: []eventstore.Draft{draft}, Time: now, Actor: 7, Cause: eventstore.Cause{Client: "bench", Request: "r"},
		Receipt: &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: key}, Fingerprint: sha256.Sum256([]byte(key)), Record: id, Version: 1},
	}
}
