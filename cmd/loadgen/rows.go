package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the raw loop that creates are compared with
)

// lists measures lists and one update through HTTP at a size.
func lists(ctx context.Context, o options, n int, dir string, out, errw io.Writer) error {
	s, err := filled(ctx, o, dir, n, errw)
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = s.stop()
		}
	}()
	fmt.Fprintf(out, "\n%d events, through HTTP\n%-34s %8s %10s %10s %12s\n", n, "", "clients", "p50", "p99", "per second")
	events := s.root + "/events"
	m := newMaker(99)
	var texts, windows []string
	for range 4096 {
		texts = append(texts, m.words(2))
		windows = append(windows, today().AddDate(0, 0, m.rng.IntN(500)-100).Format(time.DateOnly))
	}
	pick := func(caller, turn int) int { return (caller*509 + turn) % 4096 }
	for _, row := range []struct {
		name string
		next func(caller, turn int) string
	}{
		{"default list", func(int, int) string { return events }},
		{"default list, another page each", func(c, t int) string {
			return events + "?page=" + strconv.Itoa(1+pick(c, t)%(n/40))
		}},
		{"text and window", func(c, t int) string {
			i := pick(c, t)
			return events + "?search=" + url.QueryEscape(texts[i]) + "&start_date=" + windows[i]
		}},
		{"geolocation, 50 km", func(c, t int) string {
			i := pick(c, t)
			return fmt.Sprintf("%s?geoloc_lat=%.3f&geoloc_lng=%.3f&geoloc_radius=50", events, 42+float64(i%97)/25, -71-float64(i%89)/25)
		}},
	} {
		for _, callers := range []int{1, 8} {
			f, err := gets(ctx, callers, o.span, row.next)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			line(out, row.name, callers, f)
		}
	}
	ids, err := someIDs(ctx, s, 200)
	if err != nil {
		return err
	}
	for _, callers := range []int{1, 8} {
		write, visible, err := updates(ctx, s, ids, callers, o.span)
		if err != nil {
			return fmt.Errorf("one update visible: %w", err)
		}
		line(out, "one update, acknowledged", callers, write)
		line(out, "the same, until a list shows it", callers, visible)
	}
	mb, err := s.resident()
	if err != nil {
		return err
	}
	stopped = true
	if err := s.stop(); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	t := time.Now()
	s, err = start(ctx, errw, o.binary, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--log-level", "warn")
	if err != nil {
		return err
	}
	stopped = false
	if err := s.ready(ctx); err != nil {
		return err
	}
	took := time.Since(t)
	fresh, err := s.resident()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-34s %8s %9.2fs\n", "start from snapshot", "", took.Seconds())
	fmt.Fprintf(out, "%-34s %8s %7.0f MB after the load, %.0f MB after the start\n", "resident memory", "", mb, fresh)
	return nil
}

func line(out io.Writer, name string, callers int, f figures) {
	fmt.Fprintf(out, "%-34s %8d %7.3f ms %7.3f ms %12.0f\n", name, callers, ms(f.p50), ms(f.p99), f.rate)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// someIDs gives ids of listed events.
func someIDs(ctx context.Context, s *service, n int) ([]int64, error) {
	var ids []int64
	c := client(1)
	for page := 1; len(ids) < n; page++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/events?per_page=100&page=%d", s.root, page), http.NoBody)
		if err != nil {
			return nil, err
		}
		b, _, err := do(c, r)
		if err != nil {
			return nil, err
		}
		var list struct{ Events []struct{ ID int64 } }
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, err
		}
		for _, e := range list.Events {
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}

// updates changes a title and asks a list for the position of the change.
func updates(ctx context.Context, s *service, ids []int64, callers int, span time.Duration) (write, visible figures, err error) {
	c := client(callers)
	defer c.CloseIdleConnections()
	waits := make([][]time.Duration, callers)
	write, err = measure(callers, span, func(caller, turn int) (time.Duration, error) {
		id := ids[(caller*31+turn*callers)%len(ids)]
		body := []byte(fmt.Sprintf(`{"title":"changed %d %d"}`, caller, turn))
		r, err := http.NewRequestWithContext(ctx, http.MethodPatch, fmt.Sprintf("%s/events/%d", s.root, id), bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("loadgen", s.token)
		t := time.Now()
		_, header, err := do(c, r)
		if err != nil {
			return 0, err
		}
		took := time.Since(t)
		list, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/events", http.NoBody)
		if err != nil {
			return 0, err
		}
		list.Header.Set("Daybook-Min-Position", header.Get("Daybook-Position"))
		t = time.Now()
		if _, _, err = do(c, list); err != nil {
			return 0, err
		}
		waits[caller] = append(waits[caller], time.Since(t))
		return took, nil
	})
	if err != nil {
		return write, visible, err
	}
	visible = percentiles(waits)
	visible.rate = write.rate
	return write, visible, nil
}

// ratios measures against a bare server and a raw SQLite loop in the same run.
func ratios(ctx context.Context, o options, dir string, out, errw io.Writer) error {
	const callers = 8
	s, err := filled(ctx, o, dir, o.ratioSize, errw)
	if err != nil {
		return err
	}
	defer func() { _ = s.stop() }()
	fmt.Fprintf(out, "\n%d events, %d clients beside the server, against a bare net/http server that sends the same bytes\n", o.ratioSize, callers)
	fmt.Fprintf(out, "%-40s %12s %12s %8s %8s\n", "", "per second", "bare", "ratio", "at least")
	ids, err := someIDs(ctx, s, 1000)
	if err != nil {
		return err
	}
	events := s.root + "/events"
	m := newMaker(7)
	var texts []string
	for range 1 << 16 {
		texts = append(texts, m.words(1+m.rng.IntN(2)))
	}
	day := today()
	for _, row := range []struct {
		name  string
		floor float64
		next  func(caller, turn int) string
	}{
		{"default list, from the cache", 0.5, func(int, int) string { return events }},
		{"list, every request another window", 0.25, func(c, t int) string {
			i := c*7919 + t*callers
			from := day.Add(time.Duration(i%500000) * time.Minute)
			return events + "?strict_dates=true&start_date=" + url.QueryEscape(from.Format(time.DateTime)) + "&end_date=" + url.QueryEscape(from.AddDate(0, 1, 0).Format(time.DateTime))
		}},
		{"one event by id", 0.5, func(c, t int) string { return events + "/" + strconv.FormatInt(ids[(c*131+t)%len(ids)], 10) }},
		{"search, every request another text", 0.1, func(c, t int) string {
			i := c*8191 + t
			return events + "?search=" + url.QueryEscape(texts[i%len(texts)]+" "+strconv.Itoa(i%10))
		}},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, row.next(1, 1), http.NoBody)
		if err != nil {
			return err
		}
		body, _, err := do(client(1), r)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		// Both are measured twice in turn; the better run of each counts.
		var own, bare figures
		for range 2 {
			a, err := gets(ctx, callers, o.span, row.next)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			b, err := bareRate(ctx, dir, body, callers, o.span, errw)
			if err != nil {
				return err
			}
			own, bare = better(own, a), better(bare, b)
		}
		fmt.Fprintf(out, "%-40s %12.0f %12.0f %8.2f %8.2f\n", row.name, own.rate, bare.rate, own.rate/bare.rate, row.floor)
	}
	return creates(ctx, o, s, dir, out)
}

func better(a, b figures) figures {
	if a.rate > b.rate {
		return a
	}
	return b
}

func bareRate(ctx context.Context, dir string, body []byte, callers int, span time.Duration, errw io.Writer) (figures, error) {
	path := filepath.Join(dir, "bytes")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		return figures{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return figures{}, err
	}
	bare, err := start(ctx, errw, self, "bare", path)
	if err != nil {
		return figures{}, err
	}
	f, err := gets(ctx, callers, span, func(int, int) string { return bare.root })
	return f, errors.Join(err, bare.stop())
}

// creates measures durable creates against a loop of raw single-row commits.
func creates(ctx context.Context, o options, s *service, dir string, out io.Writer) error {
	const callers = 8
	raw, err := rawCommits(ctx, filepath.Join(dir, "raw.db"), o.span)
	if err != nil {
		return fmt.Errorf("raw commits: %w", err)
	}
	c := client(callers)
	makers := make([]*maker, callers)
	for i := range makers {
		makers[i] = newMaker(uint64(1000 + i))
	}
	f, err := measure(callers, o.span, func(caller, turn int) (time.Duration, error) {
		e := makers[caller].event(turn*callers+caller, today())
		body, err := json.Marshal(e)
		if err != nil {
			return 0, err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.root+"/events", bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth("loadgen", s.token)
		t := time.Now()
		_, _, err = do(c, r)
		return time.Since(t), err
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	again, err := rawCommits(ctx, filepath.Join(dir, "raw2.db"), o.span)
	if err != nil {
		return fmt.Errorf("raw commits: %w", err)
	}
	raw = max(raw, again)
	fmt.Fprintf(out, "%-40s %12.0f %12.0f %8.2f %8.2f   (against raw single-row SQLite commits)\n", "create, durable", f.rate, raw, f.rate/raw, 0.75)
	return nil
}

// rawCommits gives the rate of single-row commits with the same durability.
func rawCommits(ctx context.Context, path string, span time.Duration) (float64, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE entry (position INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return 0, err
	}
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
