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

func (calendar *calendar) side(s side) figure {
	if s.Small {
		calendar = calendar.small
	}
	return map[string]func(side) figure{
		"load": calendar.rate, "bare": calendar.bare, "memory": calendar.memory, "commits": calendar.commits, "visible": calendar.visible,
		"restart": calendar.restart, "disk": calendar.disk, "past": calendar.past, "appends": calendar.appends, "relay": calendar.relay, "projection": calendar.projection,
		"bulk": calendar.bulk, "queries": calendar.queries, "attack": calendar.attacked,
	}[s.Kind](s)
}

// measureRow measures and prints a row.
func (calendar *calendar) measureRow(row row) {
	values := make([]float64, max(1, row.Rounds))
	others := slices.Clone(values)
	var f figure
	for i := range values {
		if f = calendar.side(row.Own); row.Other.Kind != "" {
			f.other = calendar.side(row.Other).value
		}
		values[i], others[i] = f.value, f.other
	}
	judged := median(values)
	fmt.Fprintf(calendar.output, "%-50s %-9s %12.5g", row.Name, row.Bound, judged)
	if other := median(others); other != 0 {
		judged /= other
		fmt.Fprintf(calendar.output, " %12.5g %7.2f", other, judged)
	}
	var order string
	var limit float64
	must(fmt.Sscan(row.Bound, &order, &limit))
	verdict := "met"
	calendar.measured++
	if (order == ">=") != (judged >= limit) {
		verdict = "not met"
		calendar.missed++
	}
	fmt.Fprintf(calendar.output, "  %s\n%s", verdict, f.notes)
}

func median[T cmp.Ordered](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// rate measures requests of all clients.
func (calendar *calendar) rate(side side) figure {
	request := calendar.make(side.Requests[0])
	if got := fetch(request, nil).Get("Content-Encoding"); got != side.Requests[0].Coding {
		check(fmt.Errorf("%s came as %q", request.URL, got))
	}
	return figure{value: calendar.load(calendar.span, side.Requests).Rate}
}

// bare measures a server that does nothing but send the same bytes.
func (calendar *calendar) bare(side side) figure {
	other := *calendar
	other.service = calendar.start(must(os.Executable()), "bare", calendar.make(side.Requests[0]).URL.String())
	defer other.stop()
	return figure{value: other.load(calendar.span, []request{{}}).Rate}
}

// memory returns the resident memory after some seconds at rest, in MB. All clients send requests
// by turns first, if there are any.
func (calendar *calendar) memory(side side) (figure figure) {
	if side.Requests != nil {
		calendar.load(calendar.mixed, side.Requests)
	}
	calendar.rest()
	<-time.After(5 * calendar.span)
	_, figure.value = calendar.usage()
	return figure
}

// commits measures a loop of durable commits of one row.
func (calendar *calendar) commits(side side) figure {
	database := must(sql.Open("sqlite", "file:"+calendar.directory+"/raw.db?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"))
	defer func() { check(database.Close()) }()
	must(database.ExecContext(calendar.ctx, "CREATE TABLE IF NOT EXISTS entry (position INTEGER PRIMARY KEY, body BLOB NOT NULL)"))
	insert := must(database.PrepareContext(calendar.ctx, "INSERT INTO entry (body) VALUES (?)"))
	defer func() { check(insert.Close()) }()
	body := calendar.expand(side.Requests[0].Body)
	return figure{value: measure(1, calendar.span, func(*http.Client) error {
		_, err := insert.ExecContext(calendar.ctx, body)
		return err
	}).Rate}
}

// visible measures the time from sending an update until a list that waits for its position
// is answered, in milliseconds.
func (calendar *calendar) visible(side side) figure {
	calendar.rest()
	return figure{value: measure(1, 2*calendar.span, func(client *http.Client) error {
		header, err := send(client, calendar.make(side.Requests[0]), io.Discard)
		if err == nil {
			list := calendar.make(side.Requests[1])
			list.Header.Set("Daybook-Min-Position", header.Get("Daybook-Position"))
			_, err = send(client, list, io.Discard)
		}
		return err
	}).P50.Seconds() * 1000}
}

// restart measures the time from the start of the process until it is ready, in seconds.
func (calendar *calendar) restart(side) figure {
	calendar.stop()
	begin := time.Now()
	calendar.serve()
	return figure{value: time.Since(begin).Seconds()}
}

// disk measures what created events add to the files of the data directory, in kB per event.
func (calendar *calendar) disk(side side) figure {
	use := func() (bytes float64) {
		must(fmt.Sscan(calendar.run("du", "-sB1", calendar.directory), &bytes))
		return bytes
	}
	before, made := use(), 0
	for made < cmp.Or(calendar.events, calendar.Size) {
		made += calendar.load(calendar.span, side.Requests).Count
	}
	calendar.rest()
	calendar.stop()
	return figure{value: (use() - before) / float64(made) / 1000}
}

// past measures the first list as of a position, in seconds. It may be answered 503 first.
func (calendar *calendar) past(side) figure {
	calendar.head--
	begin := time.Now()
	until(time.Millisecond, func() bool {
		_, err := send(http.DefaultClient, calendar.make(request{URL: "$api/events?as_of=position:" + digits(calendar.head)}), io.Discard)
		return err == nil
	})
	return figure{value: time.Since(begin).Seconds()}
}
