package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
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

// attack is what one hostile machine does to the service.
type attack struct {
	Name        string
	Connections int      // at the same time
	Rate        int      // requests or connections begun a second, at most: more than the service should work for
	Kind        string   // of attackKinds
	Requests    []string // as they are sent, with line feeds for line ends
	Aimed       []string // URLs of what it is aimed at, if the reader does not ask for that
}

//go:embed attacks.json
var attacksJSON []byte

var attacks = func() (list []attack) {
	check(json.Unmarshal(attacksJSON, &list))
	return list
}()

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

// assault is an attack under way.
type assault struct {
	*bench
	attack
	target
	over   context.Context
	tokens chan struct{} // the right to begin
	mutex  sync.Mutex
	got    map[string]int // statuses, and what became of connections
}

// attack is the process of an attacker. It prints what it got.
func (b *bench) attack(name, span, known string) {
	over, cancel := context.WithTimeout(b.ctx, must(time.ParseDuration(span)))
	defer cancel()
	a := &assault{bench: b, over: over, got: map[string]int{}}
	check(json.Unmarshal([]byte(known), &a.target))
	a.attack = attacks[slices.IndexFunc(attacks, func(a attack) bool { return a.Name == name })]
	a.tokens = make(chan struct{}, max(1, a.Rate/100))
	var group sync.WaitGroup
	for worker := range a.Connections {
		group.Go(func() {
			for a.begin() {
				a.connect(a.Requests[worker%len(a.Requests)], worker)
			}
		})
	}
	// Tokens are handed out evenly; what nobody takes at its time is lost.
	tick := time.NewTicker(2 * time.Millisecond)
	begin, given := time.Now(), 0
	for ; over.Err() == nil; <-tick.C {
		for due := int(time.Since(begin).Seconds() * float64(a.Rate)); given < due; given++ {
			select {
			case a.tokens <- struct{}{}:
			default:
			}
		}
	}
	group.Wait()
	for _, got := range slices.SortedFunc(maps.Keys(a.got), func(x, y string) int { return cmp.Compare(a.got[y], a.got[x]) }) {
		b.printf("%s x %d, ", got, a.got[got])
	}
}

// begin waits for the right to begin; it reports false at the end.
func (a *assault) begin() bool {
	select {
	case <-a.over.Done():
	case <-a.tokens:
	}
	return a.over.Err() == nil
}

func (a *assault) count(got string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.got[got]++
}

// connect opens a connection and does what the kind of the attack says, until that is done,
// the service closes it, or the attack is over.
func (a *assault) connect(request string, worker int) {
	connection, err := (&net.Dialer{LocalAddr: address(0, 2)}).DialContext(a.ctx, "tcp", strings.TrimPrefix(a.Host, "http://"))
	if err != nil {
		a.count("no connection")
		return
	}
	stop := context.AfterFunc(a.over, func() { _ = connection.Close() })
	defer stop()
	defer func() { _ = connection.Close() }()
	a.send(connection, request)
	got := attackKinds[a.Kind](a, connection, worker)
	switch {
	case got != "":
	case a.over.Err() != nil:
		got = "held to the end"
	default:
		got = "closed"
	}
	a.count(got)
}

// send sends a request; an error shows in the answer.
func (a *assault) send(connection net.Conn, request string) {
	_, _ = io.WriteString(connection, strings.ReplaceAll(a.expand(request), "\n", "\r\n"))
}

// attackKinds are what is done on a connection once a request was sent. They return what became of
// it, "" if it was closed.
var attackKinds = map[string]func(a *assault, connection net.Conn, worker int) string{
	"hold": func(_ *assault, connection net.Conn, _ int) string {
		_, _ = io.Copy(io.Discard, connection)
		return ""
	},
	"flood": func(a *assault, connection net.Conn, _ int) string {
		for answers := bufio.NewReader(connection); ; a.send(connection, pick(a.Requests)) {
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				return ""
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			a.count(answer.Status)
			if position, err := strconv.ParseInt(answer.Header.Get("Daybook-Position"), 10, 64); err == nil {
				a.seen.Store(position)
			}
			if answer.Close || !a.begin() {
				return ""
			}
		}
	},
	"read slowly": func(a *assault, connection net.Conn, _ int) string {
		_ = connection.(*net.TCPConn).SetReadBuffer(2 << 10)
		return status(connection, func() error {
			a.wait(500 * time.Millisecond)
			_, err := connection.Read(make([]byte, 1))
			return err
		})
	},
	"send slowly": func(a *assault, connection net.Conn, _ int) string {
		for {
			a.wait(time.Second)
			if _, err := connection.Write([]byte(" ")); err != nil {
				return ""
			}
		}
	},
	"stream": func(a *assault, connection net.Conn, worker int) string {
		return status(connection, func() error {
			if worker%2 == 0 {
				a.wait(time.Hour)
			}
			_, err := io.CopyN(io.Discard, connection, 256<<10)
			return cmp.Or(err, io.EOF)
		})
	},
	"leave": func(a *assault, _ net.Conn, _ int) string {
		a.wait(10 * time.Millisecond)
		return "left"
	},
}

// status reads the status of an answer, and more of it until that fails.
func status(connection net.Conn, read func() error) string {
	line := make([]byte, len("HTTP/1.1 200"))
	_, err := io.ReadFull(connection, line)
	for err == nil {
		err = read()
	}
	return strings.Trim(string(line[len(line)-3:]), "\x00")
}

func (a *assault) wait(span time.Duration) {
	select {
	case <-a.over.Done():
	case <-time.After(span):
	}
}
