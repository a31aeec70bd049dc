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
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the raw loop that writes are compared with
)

// author writes events to a service with links and idempotency keys, as the site
// of an organizer does.
type author struct {
	*service
	maker *maker
	links map[string][]int64 // records that events link to
	ids   []int64            // events that are changed
	made  int                // bodies made
	keys  atomic.Int64       // keys used
}

// newAuthor reads what there is to link to and to change.
func newAuthor(ctx context.Context, s *service, of weight) (*author, error) {
	a := &author{service: s, maker: newMaker(1000), links: map[string][]int64{}}
	a.maker.weight = of
	var err error
	for kind, collection := range map[string]string{"venue": "venues", "organizer": "organizers", "category": "categories", "tag": "tags"} {
		if a.links[kind], err = s.listed(ctx, collection); err != nil {
			return nil, err
		}
	}
	a.ids, err = someIDs(ctx, s, 1000)
	return a, err
}

// bodies makes events to create, as JSON.
func (a *author) bodies(n int) ([][]byte, error) {
	out := make([][]byte, n)
	for i := range out {
		e := a.maker.event(a.made, today())
		a.made++
		a.maker.links(e, func(kind string, i int) any { return a.links[kind][i%len(a.links[kind])] })
		var err error
		if out[i], err = json.Marshal(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changes makes updates, as JSON: another title, and of a heavy event the text too.
func (a *author) changes(n int) ([][]byte, error) {
	out := make([][]byte, n)
	for i := range out {
		e := map[string]any{"title": fmt.Sprintf("%s, changed %d", a.maker.words(2), a.made)}
		a.made++
		if a.maker.weight == heavy {
			e["description"] = a.maker.description()
		}
		var err error
		if out[i], err = json.Marshal(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keyed makes a request of the administrator with a JSON body and a key of its own.
func (a *author) keyed(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.root+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "loadgen-"+strconv.FormatInt(a.keys.Add(1), 10))
	r.SetBasicAuth("loadgen", a.token)
	return r, nil
}

// prepared is how many bodies are made before a second of writing begins, so that
// making them is not measured; a faster service gets them again, with other keys.
const prepared = 5000

// creates has callers create events for a time.
func (a *author) creates(ctx context.Context, callers int, span time.Duration) (figures, error) {
	bodies, err := a.bodies(int(span.Seconds()*prepared) + callers)
	if err != nil {
		return figures{}, err
	}
	return a.write(callers, span, bodies, func(_ int, body []byte) (*http.Request, error) {
		return a.keyed(ctx, http.MethodPost, "/events", body)
	})
}

// updates has callers change events for a time.
func (a *author) updates(ctx context.Context, callers int, span time.Duration) (figures, error) {
	bodies, err := a.changes(int(span.Seconds()*prepared) + callers)
	if err != nil {
		return figures{}, err
	}
	return a.write(callers, span, bodies, func(i int, body []byte) (*http.Request, error) {
		return a.keyed(ctx, http.MethodPatch, "/events/"+strconv.FormatInt(a.ids[i*31%len(a.ids)], 10), body)
	})
}

// write sends what ask makes of the bodies.
func (a *author) write(callers int, span time.Duration, bodies [][]byte, ask func(i int, body []byte) (*http.Request, error)) (figures, error) {
	c := client(callers)
	defer c.CloseIdleConnections()
	var next atomic.Int64
	return measure(callers, span, func(int, int) (time.Duration, error) {
		i := int(next.Add(1) - 1)
		r, err := ask(i, bodies[i%len(bodies)])
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		_, err = drain(c, r)
		return time.Since(begin), err
	})
}

// createAll creates so many events with callers at once.
func (a *author) createAll(ctx context.Context, callers, n int) error {
	bodies, err := a.bodies(n)
	if err != nil {
		return err
	}
	c := client(callers)
	defer c.CloseIdleConnections()
	var next atomic.Int64
	failed := make(chan error, callers)
	for range callers {
		go func() {
			var err error
			for i := next.Add(1) - 1; i < int64(n) && err == nil; i = next.Add(1) - 1 {
				var r *http.Request
				if r, err = a.keyed(ctx, http.MethodPost, "/events", bodies[i]); err == nil {
					_, err = drain(c, r)
				}
			}
			failed <- err
		}()
	}
	for range callers {
		err = errors.Join(err, <-failed)
	}
	return err
}

// visible changes events one after the other: the time from sending a change until
// a list that waits for its position has answered.
func (a *author) visible(ctx context.Context, callers int, span time.Duration) (figures, error) {
	bodies, err := a.changes(int(span.Seconds()*prepared) + callers)
	if err != nil {
		return figures{}, err
	}
	c := client(callers)
	defer c.CloseIdleConnections()
	var next atomic.Int64
	return measure(callers, span, func(int, int) (time.Duration, error) {
		i := int(next.Add(1) - 1)
		r, err := a.keyed(ctx, http.MethodPatch, "/events/"+strconv.FormatInt(a.ids[i*31%len(a.ids)], 10), bodies[i%len(bodies)])
		if err != nil {
			return 0, err
		}
		list, err := http.NewRequestWithContext(ctx, http.MethodGet, a.root+"/events", http.NoBody)
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		header, err := drain(c, r)
		if err != nil {
			return 0, err
		}
		list.Header.Set("Daybook-Min-Position", header.Get("Daybook-Position"))
		_, err = drain(c, list)
		return time.Since(begin), err
	})
}

// writeRow is a way to write.
type writeRow struct {
	name    string
	callers int
	do      func(a *author, ctx context.Context, callers int, span time.Duration) (figures, error)
	least   float64 // of raw commits
}

var writeRows = []writeRow{
	{"create through HTTP", 8, (*author).creates, 0.6},
	{"create through HTTP", 1, (*author).creates, 0.25},
	{"update through HTTP", 8, (*author).updates, 0.6},
	{"update through HTTP", 1, (*author).updates, 0.25},
}

func (w *writeRow) title() string {
	if w.callers == 1 {
		return w.name + ", 1 client"
	}
	return fmt.Sprintf("%s, %d clients", w.name, w.callers)
}

// calendars fills one of each weight and gives their authors.
func calendars(ctx context.Context, o options, dir string, n int, errw io.Writer) (out []*author, stop func(), err error) {
	stop = func() {
		for _, a := range out {
			_ = a.stop()
		}
	}
	for _, w := range o.weights {
		s, err := filled(ctx, o, filepath.Join(dir, string(w)), n, w, errw)
		if err != nil {
			stop()
			return nil, nil, err
		}
		a, err := newAuthor(ctx, s, w)
		out = append(out, &author{service: s})
		if err != nil {
			stop()
			return nil, nil, err
		}
		out[len(out)-1] = a
	}
	return out, stop, nil
}

// writes measures durable creates and updates against raw single-row commits of
// the same events on the same disk.
func writes(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	authors, stop, err := calendars(ctx, o, dir, o.writeSize, errw)
	if err != nil {
		return err
	}
	defer stop()
	raws := make([]func() (float64, error), len(authors))
	for i, a := range authors {
		raw, err := newRaw(ctx, filepath.Join(dir, "raw-"+string(o.weights[i])+".db"), a)
		if err != nil {
			return err
		}
		defer func() { _ = raw.Close() }()
		raws[i] = func() (float64, error) { return raw.rate(ctx, o.span) }
	}
	t := newTable(r, o.weights, fmt.Sprintf("creates and updates with idempotency keys, from %d events on, against a loop of raw commits of the same row", o.writeSize), "raw commits")
	for _, row := range writeRows {
		pairs := make([]pair, len(authors))
		for i, a := range authors {
			own := func() (figures, error) { return row.do(a, ctx, row.callers, o.span) }
			if pairs[i], err = compare(a.service, own, raws[i]); err != nil {
				return fmt.Errorf("%s: %w", row.title(), err)
			}
		}
		t.row(row.title(), row.least, pairs)
	}
	return nil
}

// sizes measures the same writes on a large calendar against a small one, then how
// soon a change shows and a start.
func sizes(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	small, stop, err := calendars(ctx, o, filepath.Join(dir, "small"), o.writeSize, errw)
	if err != nil {
		return err
	}
	defer stop()
	large, stop, err := calendars(ctx, o, filepath.Join(dir, "large"), o.largeSize, errw)
	if err != nil {
		return err
	}
	defer stop()
	t := newTable(r, o.weights, fmt.Sprintf("the same at %d events against %d", o.largeSize, o.writeSize), "small")
	for _, row := range writeRows {
		pairs := make([]pair, len(large))
		for i, a := range large {
			own := func() (figures, error) { return row.do(a, ctx, row.callers, o.span) }
			other := func() (float64, error) {
				f, err := row.do(small[i], ctx, row.callers, o.span)
				return f.rate, err
			}
			if pairs[i], err = compare(a.service, own, other); err != nil {
				return fmt.Errorf("%s: %w", row.title(), err)
			}
		}
		t.row(row.title(), 0.9, pairs)
	}
	seen, started, used := make([]float64, len(large)), make([]float64, len(large)), make([]float64, len(large))
	for i, a := range large {
		if err := a.settle(ctx); err != nil {
			return err
		}
		f, err := a.visible(ctx, 1, 2*o.span)
		if err != nil {
			return err
		}
		seen[i] = ms(f.p50)
	}
	r.figure("one update, visible in a list, p50", o.weights, seen, "ms", 3)
	for i, a := range large {
		took, err := a.restart(ctx, o, filepath.Join(dir, "large", string(o.weights[i])), errw)
		if err != nil {
			return err
		}
		started[i] = took.Seconds()
		ticks, err := a.processor()
		if err != nil {
			return err
		}
		used[i] = (time.Duration(ticks) * tick).Seconds()
	}
	r.figure("start from snapshot", o.weights, started, "s", 1)
	r.figure("processor time of that start", o.weights, used, "s", 0)
	return nil
}

// restart stops the service and starts it again; it gives the time of the start.
func (s *service) restart(ctx context.Context, o options, dir string, errw io.Writer) (time.Duration, error) {
	if err := s.stop(); err != nil {
		return 0, fmt.Errorf("stop: %w", err)
	}
	begin := time.Now()
	again, err := serve(ctx, o, dir, errw)
	if err != nil {
		return 0, err
	}
	again.token = s.token
	*s = *again
	if err := s.ready(ctx); err != nil {
		return 0, errors.Join(err, s.stop())
	}
	return time.Since(begin), nil
}

// raw is a file of one table with the durability of the event store, and rows of
// the same weight as events.
type raw struct {
	*sql.DB
	insert *sql.Stmt
	rows   [][]byte
}

func newRaw(ctx context.Context, path string, a *author) (_ *raw, err error) {
	w := &raw{}
	if w.rows, err = a.bodies(1000); err != nil {
		return nil, err
	}
	if w.DB, err = sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"); err != nil {
		return nil, err
	}
	w.SetMaxOpenConns(1)
	if _, err = w.ExecContext(ctx, "CREATE TABLE entry (position INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err == nil {
		w.insert, err = w.PrepareContext(ctx, "INSERT INTO entry (body) VALUES (?)")
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// rate gives the rate of single-row commits in a loop.
func (w *raw) rate(ctx context.Context, span time.Duration) (float64, error) {
	f, err := measure(1, span, func(_, turn int) (time.Duration, error) {
		_, err := w.insert.ExecContext(ctx, w.rows[turn%len(w.rows)])
		return 0, err
	})
	return f.rate, err
}

func (w *raw) Close() error {
	var err error
	if w.insert != nil {
		err = w.insert.Close()
	}
	return errors.Join(err, w.DB.Close())
}
