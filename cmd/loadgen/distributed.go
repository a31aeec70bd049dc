package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// servers are those of the distributed size; "" is one that is missing.
type servers struct {
	postgres, nats, elasticsearch, opensearch string
}

func (s *servers) any() bool {
	return s.postgres != "" || s.nats != "" || s.elasticsearch != "" || s.opensearch != ""
}

// calendarOn is a filled calendar of the distributed size.
type calendarOn struct {
	o     options
	dir   string
	args  []string // of the store
	feed  []string
	head  int
	token string
	errw  io.Writer
}

// distributed measures the size of several servers: the rows of those that there
// are; of the others it says that they are missing.
func distributed(ctx context.Context, o options, dir string, r *report, errw io.Writer) (err error) {
	if !o.servers.any() {
		fmt.Fprintf(r, "\ndistributed size: not measured, no server is named (make engines bench starts them)\n")
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fmt.Fprintf(r, "\ndistributed size, %s events\n%-52s %12s %12s %8s  %s\n", o.weights[0], "", "per second", "other side", "ratio", "at least")
	missing := func(row, server string) { fmt.Fprintf(r, "%-52s not measured: no %s\n", row, server) }
	const (
		relayRow      = "relay, against appends of 64 callers"
		projectionRow = "projection, against raw _bulk"
		listRows      = "lists, against the same query sent directly"
	)
	var appended float64
	switch {
	case !o.wants("postgres") && !o.wants("relay"): // that is measured against them
	case o.servers.postgres == "":
		missing("appends, against raw insert commits", "PostgreSQL")
	default:
		if appended, err = postgresAppends(ctx, o, dir, r, errw); err != nil {
			return err
		}
	}
	if o.distributed == 0 || !o.wants("relay") && !o.wants("projection") && !o.wants("engines") {
		return nil
	}
	c, drop, err := fillServers(ctx, o, dir, errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	switch {
	case !o.wants("relay"):
	case appended == 0:
		missing(relayRow, "PostgreSQL")
	case o.servers.nats == "":
		missing(relayRow, "NATS")
	default:
		if err := c.relayRow(ctx, relayRow, appended, r); err != nil {
			return err
		}
	}
	for _, e := range []searchServer{
		{"Elasticsearch", "elasticsearch", o.servers.elasticsearch},
		{"OpenSearch", "opensearch", o.servers.opensearch},
	} {
		if e.url == "" {
			if o.wants("projection") {
				missing(projectionRow, e.name)
			}
			if o.wants("engines") {
				missing(listRows, e.name)
			}
			continue
		}
		if err := c.searchRows(ctx, &e, r); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// against writes a row of the distributed size.
func (r *report) against(name string, least, own, other, ratio float64) {
	fmt.Fprintf(r, "%-52s %12.0f %12.0f %8.2f  %.2f %s\n", name, own, other, ratio, least, r.verdict(ratio >= least))
}

// postgresAppends runs the benchmark of the event store in PostgreSQL, in which
// both sides take turns, and gives the rate of 64 callers.
func postgresAppends(ctx context.Context, o options, dir string, r *report, errw io.Writer) (float64, error) {
	binary := filepath.Join(dir, "postgres.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./eventstore/postgres")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = errw
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("build the benchmark of the event store: %w", err)
	}
	type sides struct{ own, raw, ratio []float64 }
	found := map[string]*sides{}
	for range rounds {
		run := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.bench", "^BenchmarkAppend$", "-test.benchtime", o.span.String())
		run.Dir, run.Stderr = dir, errw
		run.Env = append(os.Environ(), "DAYBOOK_TEST_POSTGRES="+o.servers.postgres)
		text, err := run.Output()
		if err != nil {
			return 0, fmt.Errorf("benchmark of the event store: %w: %s", err, text)
		}
		for line := range strings.Lines(string(text)) {
			name, own, ok := benchMetric(line, "appends/s")
			if !ok {
				continue
			}
			_, raw, ok := benchMetric(line, "raw/s")
			if !ok || raw == 0 {
				return 0, errors.New("the benchmark of the event store has no raw loop")
			}
			s := found[name]
			if s == nil {
				s = &sides{}
				found[name] = s
			}
			s.own, s.raw, s.ratio = append(s.own, own), append(s.raw, raw), append(s.ratio, own/raw)
		}
	}
	var most float64
	for _, row := range []struct {
		name, bench string
		floor       float64
	}{
		{"append, 1 caller, against 1 raw client", "callers=1", 0.65},
		{"appends, 64 callers, against 32 raw clients", "callers=64", 1.5},
	} {
		s := found[row.bench]
		if s == nil || len(s.own) != rounds {
			return 0, fmt.Errorf("the benchmark of the event store has no %q", row.bench)
		}
		most = median(s.own)
		r.against(row.name, row.floor, most, median(s.raw), median(s.ratio))
	}
	return most, nil
}

// ownSchema gives the arguments of a store in a schema of its own, and what removes that.
func ownSchema(ctx context.Context, url string) (args []string, drop func() error) {
	schema := "bench" + strconv.FormatInt(time.Now().UnixNano(), 36)
	return []string{"--store", url, "--store-schema", schema}, func() error { return execSQL(ctx, url, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") }
}

// fillServers makes a calendar in a schema of its own, or in SQLite without
// PostgreSQL. drop removes it.
func fillServers(ctx context.Context, o options, dir string, errw io.Writer) (c *calendarOn, drop func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	c = &calendarOn{o: o, dir: dir, errw: errw, args: []string{"--data", filepath.Join(dir, "data")}}
	drop = func() error { return nil }
	if o.servers.postgres != "" {
		var args []string
		args, drop = ownSchema(ctx, o.servers.postgres)
		c.args = append(c.args, args...)
	}
	if o.servers.nats != "" {
		c.feed = []string{"--feed", o.servers.nats}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, drop())
		}
	}()
	lines := filepath.Join(dir, "fill.ndjson")
	if err := fill(lines, o.distributed, today(), o.weights[0]); err != nil {
		return nil, nil, err
	}
	token, err := c.tool(ctx, "user", "add", "loadgen", "--role", "administrator")
	if err != nil {
		return nil, nil, fmt.Errorf("add a user: %w", err)
	}
	c.token = strings.TrimSpace(string(token))
	if _, err := c.tool(ctx, "import", lines); err != nil {
		return nil, nil, fmt.Errorf("import: %w", err)
	}
	c.head = o.distributed + venueCount + categoryCount + tagCount // at least
	return c, drop, nil
}

// tool runs a command on the store.
func (c *calendarOn) tool(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.o.binary, append(args, c.args...)...)
	cmd.Stderr = c.errw
	return cmd.Output()
}

// serve starts a process on the calendar.
func (c *calendarOn) serve(ctx context.Context, role string, more ...string) (*service, error) {
	args := append([]string{"serve", "--role", role, "--listen", "127.0.0.1:0", "--log-level", "error"}, c.args...)
	args = append(append(args, c.feed...), more...)
	s, err := start(ctx, c.errw, c.o.binary, args...)
	if err == nil {
		s.token = c.token
	}
	return s, err
}

func execSQL(ctx context.Context, url, statement string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// clearFeed deletes the streams of a feed that another calendar left.
func clearFeed(ctx context.Context, url string) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	names := js.StreamNames(ctx)
	for name := range names.Name() {
		if strings.HasPrefix(name, "DAYBOOK") || strings.HasPrefix(name, "KV_DAYBOOK") {
			if err := js.DeleteStream(ctx, name); err != nil {
				return err
			}
		}
	}
	return names.Err()
}

// pace gives the rate at which a count grows to its end, from the first growth
// that is seen on.
func pace(ctx context.Context, read func() (at, end float64, err error)) (float64, error) {
	var first float64
	var since time.Time
	deadline := time.Now().Add(30 * time.Minute)
	for time.Now().Before(deadline) {
		at, end, err := read()
		now := time.Now()
		switch {
		case err != nil || at == 0 || end == 0: // it is starting
		case since.IsZero():
			first, since = at, now
			if at >= end {
				return 0, errors.New("it was done before it could be watched: take more events")
			}
		case at >= end:
			return (at - first) / now.Sub(since).Seconds(), nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return 0, errors.New("not done within half an hour")
}

// relayRow measures how fast a new stream is filled from the store.
func (c *calendarOn) relayRow(ctx context.Context, name string, appended float64, r *report) error {
	var rates []float64
	for range rounds {
		rate, err := c.relayed(ctx)
		if err != nil {
			return fmt.Errorf("relay: %w", err)
		}
		rates = append(rates, rate)
	}
	rate := median(rates)
	r.against(name, 3, rate, appended, rate/appended)
	return nil
}

func (c *calendarOn) relayed(ctx context.Context) (_ float64, err error) {
	if err := clearFeed(ctx, c.o.servers.nats); err != nil {
		return 0, err
	}
	s, err := c.serve(ctx, "relay")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return pace(ctx, func() (float64, float64, error) {
		var h struct{ Published, Head float64 }
		err := s.health(ctx, &h)
		return h.Published, h.Head, err
	})
}

// health reads what a process tells of itself, ready or not.
func (s *service) health(ctx context.Context, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.host+"/health/ready", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return json.NewDecoder(resp.Body).Decode(v)
}
