package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the loop that writes are compared with
)

// group has the rows that are measured on one calendar.
type group struct {
	Name, Title string // the title has a verb for the number of events
	Weight      string // of events: heavy, 1.7 kB of JSON as sent and 5.6 kB as answered, or light, 0.6 kB
	Size        int    // events, unless a flag says otherwise
	Filled      int    // events to begin with, if they are others
	Small       int    // events of a second calendar, to compare with
	Needs       []string
	Rows        []row

	// Of attacks: what they are about, and the requests of reader and writer by turns.
	Prepare []struct {
		request
		Times int
		As    string // the list of ids
	}
	Users [][]request
}

// row is one line of the output.
type row struct {
	Name   string
	Bound  string // of the ratio or, without one, of the value: ">= 0.5", "<= 3 ms"
	Rounds int    // the two sides are measured by turns; medians count, so that what else the machine does counts less
	Own    side
	Other  side // what Own is divided by
}

// side is what is measured.
type side struct {
	Kind     string
	Small    bool // on the second calendar
	Requests []request
	Callers  string // of appends
	Attack   string
}

// request has texts to be expanded.
type request struct{ Method, URL, Body, Coding string }

// figure is what a side measured.
type figure struct {
	value float64
	other float64 // of the other side, if it was measured along
	notes string  // lines below the row
}

func (c *calendar) side(s side) figure {
	if s.Small {
		c = c.small
	}
	return map[string]func(side) figure{
		"load": c.rate, "bare": c.bare, "memory": c.memory, "commits": c.commits, "visible": c.visible,
		"restart": c.restart, "disk": c.disk, "past": c.past, "appends": c.appends, "relay": c.relay, "projection": c.projection,
		"bulk": c.bulk, "queries": c.queries, "attack": c.attacked,
	}[s.Kind](s)
}

// measureRow measures and prints a row.
func (c *calendar) measureRow(r row) {
	values := make([]float64, max(1, r.Rounds))
	others := slices.Clone(values)
	var f figure
	for i := range values {
		if f = c.side(r.Own); r.Other.Kind != "" {
			f.other = c.side(r.Other).value
		}
		values[i], others[i] = f.value, f.other
	}
	judged := median(values)
	fmt.Fprintf(c.out, "%-50s %-9s %12.5g", r.Name, r.Bound, judged)
	if other := median(others); other != 0 {
		judged /= other
		fmt.Fprintf(c.out, " %12.5g %7.2f", other, judged)
	}
	var order string
	var limit float64
	must(fmt.Sscan(r.Bound, &order, &limit))
	verdict := "met"
	c.measured++
	if (order == ">=") != (judged >= limit) {
		verdict = "not met"
		c.missed++
	}
	fmt.Fprintf(c.out, "  %s\n%s", verdict, f.notes)
}

func median[T cmp.Ordered](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// rate measures requests of all clients.
func (c *calendar) rate(s side) figure {
	request := c.make(s.Requests[0])
	if got := fetch(request, nil).Get("Content-Encoding"); got != s.Requests[0].Coding {
		check(fmt.Errorf("%s came as %q", request.URL, got))
	}
	return figure{value: c.load(c.span, s.Requests).Rate}
}

// bare measures a server that does nothing but send the same bytes.
func (c *calendar) bare(s side) figure {
	other := *c
	other.service = c.start(must(os.Executable()), "bare", c.make(s.Requests[0]).URL.String())
	defer other.stop()
	return figure{value: other.load(c.span, []request{{}}).Rate}
}

// memory returns the resident memory after some seconds at rest, in MB. All clients send requests
// by turns first, if there are any.
func (c *calendar) memory(s side) (f figure) {
	if s.Requests != nil {
		c.load(c.mixed, s.Requests)
	}
	c.rest()
	<-time.After(5 * c.span)
	_, f.value = c.usage()
	return f
}

// commits measures a loop of durable commits of one row.
func (c *calendar) commits(s side) figure {
	db := must(sql.Open("sqlite", "file:"+c.directory+"/raw.db?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"))
	defer func() { check(db.Close()) }()
	must(db.ExecContext(c.ctx, "CREATE TABLE IF NOT EXISTS entry (position INTEGER PRIMARY KEY, body BLOB NOT NULL)"))
	insert := must(db.PrepareContext(c.ctx, "INSERT INTO entry (body) VALUES (?)"))
	defer func() { check(insert.Close()) }()
	body := c.expand(s.Requests[0].Body)
	return figure{value: measure(1, c.span, func(*http.Client) error {
		_, err := insert.ExecContext(c.ctx, body)
		return err
	}).Rate}
}

// visible measures the time from sending an update until a list that waits for its position
// is answered, in milliseconds.
func (c *calendar) visible(s side) figure {
	c.rest()
	return figure{value: measure(1, 2*c.span, func(one *http.Client) error {
		header, err := send(one, c.make(s.Requests[0]), io.Discard)
		if err == nil {
			list := c.make(s.Requests[1])
			list.Header.Set("Daybook-Min-Position", header.Get("Daybook-Position"))
			_, err = send(one, list, io.Discard)
		}
		return err
	}).P50.Seconds() * 1000}
}

// restart measures the time from the start of the process until it is ready, in seconds.
func (c *calendar) restart(side) figure {
	c.stop()
	begin := time.Now()
	c.serve()
	return figure{value: time.Since(begin).Seconds()}
}

// disk measures what created events add to the files of the data directory, in kB per event.
func (c *calendar) disk(s side) figure {
	use := func() (bytes float64) {
		must(fmt.Sscan(c.run("du", "-sB1", c.directory), &bytes))
		return bytes
	}
	before, made := use(), 0
	for made < cmp.Or(c.events, c.Size) {
		made += c.load(c.span, s.Requests).Count
	}
	c.rest()
	c.stop()
	return figure{value: (use() - before) / float64(made) / 1000}
}

// past measures the first list as of a position, in seconds. It may be answered 503 first.
func (c *calendar) past(side) figure {
	c.head--
	begin := time.Now()
	until(time.Millisecond, func() bool {
		_, err := send(http.DefaultClient, c.make(request{URL: "$api/events?as_of=position:" + digits(c.head)}), io.Discard)
		return err == nil
	})
	return figure{value: time.Since(begin).Seconds()}
}
