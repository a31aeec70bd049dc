package main

import (
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the loop that writes are compared with
)

func (b *bench) filled(directory, weight string, events int) *calendar {
	c := b.fill(filepath.Join(b.directory, directory), weight, events)
	c.serve()
	return c.learn()
}

func open(b *bench, g group) *calendar { return b.filled(g.name, "heavy", *b.sizes[g.name]) }

func openEmpty(b *bench, g group) *calendar { return b.filled(g.name, "heavy", 100) }

// withSmall makes a small calendar, too.
func withSmall(weight string) func(b *bench, g group) *calendar {
	return func(b *bench, g group) *calendar {
		small := b.filled(filepath.Join(g.name, "small"), weight, *b.sizes["writes"])
		c := b.filled(filepath.Join(g.name, "large"), weight, *b.sizes[g.name])
		c.small = small
		return c
	}
}

// memory returns the resident memory after some seconds at rest.
func memory(c *calendar) figure {
	c.rest()
	c.pause(5 * c.span)
	return figure{value: c.residentMemory()}
}

// memoryMixed has all clients read and update for a while first.
func memoryMixed(c *calendar) figure {
	urls := []string{first, other, single, search, filter, page}
	update := c.writes(10_000, false)
	requests(clients, c.mixedFor, func() *http.Request {
		if i := int(c.turn.Add(1)) % (len(urls) + 1); i < len(urls) {
			return c.request(http.MethodGet, c.expand(urls[i]), "")
		}
		return update()
	})
	return memory(c)
}

func creates(c *calendar) figure { return c.written(true) }
func updates(c *calendar) figure { return c.written(false) }

func (c *calendar) written(create bool) figure {
	l := requests(clients, c.span, c.writes(int(c.span.Seconds()*5000)+clients, create))
	return figure{value: l.rate, count: l.count}
}

// small measures a side on the small calendar.
func small(s side) side { return func(c *calendar) figure { return s(c.small) } }

// commits measures a loop of durable commits of one row.
func commits(c *calendar) figure {
	db := must(sql.Open("sqlite", "file:"+filepath.Join(c.directory, "raw.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"))
	defer func() { check(db.Close()) }()
	must(db.ExecContext(c.ctx, "CREATE TABLE IF NOT EXISTS entry (position INTEGER PRIMARY KEY, body BLOB NOT NULL)"))
	insert := must(db.PrepareContext(c.ctx, "INSERT INTO entry (body) VALUES (?)"))
	defer func() { check(insert.Close()) }()
	bodies := make([][]byte, 1000)
	for i := range bodies {
		bodies[i] = []byte(c.expand(pick(recordTexts(c.weight))[3]))
	}
	return figure{value: measure(1, c.span, func() time.Duration {
		must(insert.ExecContext(c.ctx, pick(bodies)))
		return 0
	}).rate}
}

// visible measures the time from sending an update until a list that waits for its position
// is answered.
func visible(c *calendar) figure {
	c.rest()
	next := c.writes(int(c.span.Seconds()*5000)+1, false)
	one := client(1)
	defer one.CloseIdleConnections()
	return figure{value: milliseconds(measure(1, 2*c.span, func() time.Duration {
		update := next()
		begin := time.Now()
		position := must(send(one, update, io.Discard)).Get("Daybook-Position")
		must(send(one, c.request(http.MethodGet, c.expand(first), "", "Daybook-Min-Position", position), io.Discard))
		return time.Since(begin)
	}).p50)}
}

// restart measures the time from the start of the process until it is ready.
func restart(c *calendar) figure {
	c.stop()
	begin := time.Now()
	c.serve()
	return figure{value: time.Since(begin).Seconds()}
}

// disk measures what created events add to the files of the data directory.
func disk(c *calendar) figure {
	before, made := diskUse(c.directory), 0
	for made < *c.sizes["disk"] {
		made += creates(c).count
	}
	c.rest()
	c.stop()
	return figure{value: (diskUse(c.directory) - before) / float64(made) / 1000}
}

func diskUse(directory string) (bytes float64) {
	check(filepath.WalkDir(directory, func(_ string, d fs.DirEntry, err error) error {
		if info, failed := d.Info(); err == nil && failed == nil {
			bytes += float64(info.Sys().(*syscall.Stat_t).Blocks) * 512
		} else if err = errors.Join(err, failed); errors.Is(err, fs.ErrNotExist) { // some files come and go
			err = nil
		}
		return err
	}))
	return bytes
}

// firstPast measures the first lists as of three positions.
func firstPast(c *calendar) figure {
	times := make([]float64, rounds)
	for i := range times {
		begin := time.Now()
		c.until(time.Millisecond, func() bool { // it may be answered 503 first
			_, err := send(http.DefaultClient, c.request(http.MethodGet, c.expand("$root/events?as_of=position:"+digits(c.Head-int64(i))), ""), io.Discard)
			return err == nil
		})
		times[i] = time.Since(begin).Seconds()
	}
	return figure{value: median(times)}
}
