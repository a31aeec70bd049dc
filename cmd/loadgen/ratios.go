package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the raw loop that creates are compared with
)

// rounds is how often both sides of a ratio are measured, one after the other;
// the median of the ratios counts, so that what else the machine does meanwhile
// counts less.
const rounds = 3

// pairs measures two rates in turn and prints them with their ratio.
func pairs(out io.Writer, name string, floor float64, own, other func() (float64, error)) error {
	var a, b, ratio []float64
	for range rounds {
		x, err := own()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		y, err := other()
		if err != nil {
			return fmt.Errorf("%s, other side: %w", name, err)
		}
		a, b, ratio = append(a, x), append(b, y), append(ratio, x/y)
	}
	ratioLine(out, name, floor, median(a), median(b), median(ratio))
	return nil
}

func ratioLine(out io.Writer, name string, floor, own, other, ratio float64) {
	target := ""
	if floor > 0 {
		target = strconv.FormatFloat(floor, 'f', 2, 64)
	}
	fmt.Fprintf(out, "%-40s %12.0f %12.0f %8.2f %10s\n", name, own, other, ratio, target)
}

func median[T cmp.Ordered](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}

// ratios measures against a bare server and a raw SQLite loop in the same run.
func ratios(ctx context.Context, o options, dir string, out, errw io.Writer) error {
	const callers = 8
	s, err := filled(ctx, o, dir, o.ratioSize, light, errw)
	if err != nil {
		return err
	}
	defer func() { _ = s.stop() }()
	fmt.Fprintf(out, "\n%d events, %d clients beside the server, against a bare net/http server that sends the same bytes\n", o.ratioSize, callers)
	fmt.Fprintf(out, "%-40s %12s %12s %8s %10s\n", "", "per second", "bare", "ratio", "at least")
	ids, err := someIDs(ctx, s, o.ratioSize)
	if err != nil {
		return err
	}
	events := s.root + "/events"
	m := newMaker(7)
	texts := make([]string, 1<<16)
	for i := range texts {
		texts[i] = m.words(1 + m.rng.IntN(2))
	}
	day := today()
	turns := make([]int, callers) // go on over the rounds, so that no request comes twice
	next := func(caller int) int {
		turns[caller]++
		return caller + turns[caller]*callers
	}
	for _, row := range []struct {
		name  string
		floor float64
		next  func(caller, turn int) string
		seen  bool // the client has the answer already
	}{
		{"default list, from the cache", 0.5, func(int, int) string { return events }, false},
		{"the same, 304", 0, func(int, int) string { return events }, true},
		{"list, every request another window", 0.25, func(c, _ int) string {
			from := day.Add(time.Duration(next(c)*7919%500000) * time.Minute)
			return events + "?strict_dates=true&start_date=" + url.QueryEscape(from.Format(time.DateTime)) + "&end_date=" + url.QueryEscape(from.AddDate(0, 1, 0).Format(time.DateTime))
		}, false},
		{"one event by id, any of them", 0.5, func(c, _ int) string {
			return events + "/" + strconv.FormatInt(ids[next(c)*7919%len(ids)], 10)
		}, false},
		{"search, every request another text", 0.1, func(c, _ int) string {
			i := next(c)
			return events + "?search=" + url.QueryEscape(texts[i%len(texts)]+" "+strconv.Itoa(i%10))
		}, false},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, row.next(1, 1), http.NoBody)
		if err != nil {
			return err
		}
		body, header, err := do(client(1), r)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		etag := ""
		if row.seen {
			etag = header.Get("Etag")
		}
		own := func() (float64, error) {
			f, err := gets(ctx, callers, o.span, etag, row.next)
			return f.rate, err
		}
		bare := func() (float64, error) { return bareRate(ctx, dir, body, callers, o.span, errw) }
		if err := pairs(out, row.name, row.floor, own, bare); err != nil {
			return err
		}
	}
	return creates(ctx, o, s, dir, out)
}

func bareRate(ctx context.Context, dir string, body []byte, callers int, span time.Duration, errw io.Writer) (float64, error) {
	path := filepath.Join(dir, "bytes")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	bare, err := start(ctx, errw, self, "bare", path)
	if err != nil {
		return 0, err
	}
	f, err := gets(ctx, callers, span, "", func(int, int) string { return bare.root })
	return f.rate, errors.Join(err, bare.stop())
}

// creates measures durable creates against a loop of raw single-row commits on
// the same disk.
func creates(ctx context.Context, o options, s *service, dir string, out io.Writer) error {
	const callers = 8
	fmt.Fprintf(out, "\n%-40s %12s %12s %8s %10s\n", "", "per second", "raw commits", "ratio", "at least")
	raw, err := openRaw(ctx, filepath.Join(dir, "raw.db"))
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }()
	c := client(callers)
	defer c.CloseIdleConnections()
	makers := make([]*maker, callers)
	for i := range makers {
		makers[i] = newMaker(uint64(1000 + i))
	}
	made := make([]int, callers)
	own := func() (float64, error) {
		f, err := measure(callers, o.span, func(caller, _ int) (time.Duration, error) {
			made[caller]++
			r, err := s.writing(ctx, http.MethodPost, "/events", makers[caller].event(made[caller]*callers+caller, today()))
			if err != nil {
				return 0, err
			}
			begin := time.Now()
			_, err = drain(c, r)
			return time.Since(begin), err
		})
		return f.rate, err
	}
	return pairs(out, "create through HTTP, 8 clients", 0.75, own, func() (float64, error) { return rawRate(ctx, raw, o.span) })
}

// openRaw makes a file of one table with the durability of the event store.
func openRaw(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE entry (position INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// rawRate gives the rate of single-row commits in a loop.
func rawRate(ctx context.Context, db *sql.DB, span time.Duration) (float64, error) {
	row := bytes.Repeat([]byte("x"), 1500)
	st, err := db.PrepareContext(ctx, "INSERT INTO entry (body) VALUES (?)")
	if err != nil {
		return 0, err
	}
	defer func() { _ = st.Close() }()
	f, err := measure(1, span, func(int, int) (time.Duration, error) {
		_, err := st.ExecContext(ctx, row)
		return 0, err
	})
	return f.rate, err
}
