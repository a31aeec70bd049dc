package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/eventstore/storetest"
)

// BenchmarkAppend creates events one by one, with versions, claims and chain,
// against a loop of raw commits of one row in a file of the same kind.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		for _, keyed := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/keyed=%t", callers, keyed), func(b *testing.B) {
				s := open(b, filepath.Join(b.TempDir(), "events.db"), sqlite.Options{})
				appends := make([]eventstore.Append, b.N)
				for i := range appends {
					appends[i] = storetest.EventAppend(b, calendar.ID(i+1), keyed)
				}
				var next atomic.Int64
				var wg sync.WaitGroup
				b.ResetTimer()
				for range callers {
					wg.Go(func() {
						for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
							if res := s.Append(b.Context(), appends[i:i+1]); res[0].Err != nil {
								b.Error(res[0].Err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
				b.StopTimer()
				if commits, err := s.Commits(b.Context(), 0, b.N); err == nil {
					b.ReportMetric(float64(b.N)/float64(len(commits)), "appends/commit")
				}
			})
		}
	}
	b.Run("raw", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "raw.db")
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		if _, err := db.ExecContext(b.Context(), "CREATE TABLE entries (position INTEGER PRIMARY KEY, fields BLOB, state BLOB)"); err != nil {
			b.Fatal(err)
		}
		insert, err := db.PrepareContext(b.Context(), "INSERT INTO entries (position, fields, state) VALUES (?, ?, ?)")
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = insert.Close() }()
		d := storetest.EventAppend(b, 1, false).Drafts[0]
		b.ResetTimer()
		for i := range b.N {
			if _, err := insert.ExecContext(b.Context(), i+1, []byte(d.Fields), []byte(d.State)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
	})
}
