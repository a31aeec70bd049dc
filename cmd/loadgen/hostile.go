package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	readRate  = 40 // requests a second of the reader: the default list and single events by turns
	writeRate = 20 // of the writer: creates and updates by turns
	aimedRate = 10 // of the reader of what an attack is aimed at

	// answerTimeout is how long they wait. A request that is refused or not answered counts
	// as one that took so long.
	answerTimeout = 10 * time.Second
)

func attackRows() (rows []row) {
	for _, a := range attacks {
		rows = append(rows, row{a.Name, a.next, nil, "<= 10 x"})
	}
	return rows
}

// users are those who use a service under attack as it is meant.
type users struct{ reader, writer, aimed load }

// openHostile makes what attacks are about and measures the quiet service.
func openHostile(b *bench, g group) *calendar {
	c := open(b, g)
	create := func(method, path, body string) {
		var made struct{ ID int64 }
		c.fetch(c.write(method, c.Root+path, c.expand(body)), &made)
		c.IDs["large"] = append(c.IDs["large"], made.ID)
	}
	events := c.IDs["event"]
	create(http.MethodPatch, fmt.Sprintf("/events/%d", events[0]), `{"password":"right"}`)
	for range 60 {
		create(http.MethodPost, "/venues", `{"venue":"Large hall $n","description":"$text199000"}`)
	}
	venues := commas(c.IDs["large"][1:])
	c.IDs["protected"], c.IDs["event"], c.IDs["large"] = events[:1], events[1:min(len(events), 1000)], nil
	for range 3 { // on no first page
		create(http.MethodPost, "/events", `{"title":"Large $n","start_date":"+1 year 10:00","end_date":"+1 year 11:00","venue":[`+venues+`]}`)
	}
	c.use(min(3*time.Second, b.hostileFor), nil)
	c.quiet = c.use(b.hostileFor, nil)
	return c
}

// use has the users work for a time, and one ask for what an attack is aimed at.
func (c *calendar) use(span time.Duration, aimed []string) (u users) {
	creates, updates := c.writes(int(span.Seconds()*writeRate)+1, true), c.writes(int(span.Seconds()*writeRate)+1, false)
	var group sync.WaitGroup
	group.Go(func() {
		u.reader = openLoop(readRate, span, func(turn int) *http.Request {
			return c.request(http.MethodGet, c.expand([]string{first, single}[turn%2]), "")
		})
	})
	group.Go(func() {
		u.writer = openLoop(writeRate, span, func(turn int) *http.Request {
			if turn%2 == 0 {
				return creates()
			}
			return updates()
		})
	})
	if aimed != nil {
		u.aimed = openLoop(aimedRate, span, func(turn int) *http.Request {
			return c.request(http.MethodGet, c.expand(aimed[turn%len(aimed)]), "")
		})
	}
	group.Wait()
	return u
}

// openLoop sends requests at a rate, each at its moment whatever became of those before it,
// so that waiting counts.
func openLoop(rate int, span time.Duration, next func(turn int) *http.Request) load {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: rate, DisableCompression: true}, Timeout: answerTimeout}
	defer c.CloseIdleConnections()
	times := make([]time.Duration, max(1, int(span.Seconds()*float64(rate))))
	failed := 0
	var group sync.WaitGroup
	var mutex sync.Mutex
	begin := time.Now()
	for turn := range times {
		r := next(turn)
		<-time.After(time.Until(begin.Add(time.Duration(turn) * time.Second / time.Duration(rate))))
		group.Go(func() {
			sent := time.Now()
			_, err := send(c, r, io.Discard)
			mutex.Lock()
			defer mutex.Unlock()
			if times[turn] = time.Since(sent); err != nil {
				times[turn] = answerTimeout
				failed++
			}
		})
	}
	group.Wait()
	l := loadOf(times, begin)
	l.failed = failed
	return l
}

// next has the users work during an attack and returns the largest ratio of a 99th percentile
// to its quiet value.
func (a attack) next(c *calendar) (f figure) {
	c.rest()
	quiet := c.quiet
	if a.Aimed != nil {
		c.use(min(3*time.Second, c.hostileFor), a.Aimed)
		quiet = c.use(c.hostileFor, a.Aimed) // the further reader costs the others something, too
	}
	var got string
	var group sync.WaitGroup
	known := string(must(json.Marshal(&c.target)))
	// The attacker stands for another machine, so it takes the processors that others leave.
	group.Go(func() { got = c.run("nice", must(os.Executable()), "attack", a.Name, c.hostileFor.String(), known) })
	u := c.use(c.hostileFor, a.Aimed)
	group.Wait()
	for _, l := range []struct {
		who            string
		quiet, present load
	}{{"reader", quiet.reader, u.reader}, {"writer", quiet.writer, u.writer}, {"aimed at", quiet.aimed, u.aimed}} {
		if l.quiet.count > 0 {
			f.value = max(f.value, float64(l.present.p99)/float64(l.quiet.p99))
			f.notes += fmt.Sprintf("  %-8s p50 %8.2f ms, p99 %8.2f ms; quiet %8.2f ms, %8.2f ms; %d of %d not answered\n", l.who,
				milliseconds(l.present.p50), milliseconds(l.present.p99), milliseconds(l.quiet.p50), milliseconds(l.quiet.p99), l.present.failed, l.present.count)
		}
	}
	f.notes += fmt.Sprintf("  %.0f MB; %d connections, at most %d a second, got %s\n", c.residentMemory(), a.Connections, a.Rate, got)
	return f
}
