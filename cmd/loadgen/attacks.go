package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// attack is what one hostile machine does to the service: it opens connections again and again,
// sends a request on each, and then others, if Steps is 0, or makes steps.
type attack struct {
	Connections int       // at the same time
	Rate        int       // requests or connections begun a second, at most: more than the service should work for
	Requests    []string  // as they are sent, with line feeds for line ends
	Aimed       []request // of a user, for what it is aimed at, if the reader does not ask for that

	Steps  int             // on a connection, -1 for as many as the service lets it make
	Pauses []time.Duration // before a step, of connections by turns
	Write  string          // in a step
	Read   int64           // bytes in a step
	Buffer int             // bytes that the system receives ahead
}

// attacked has users work during an attack and returns the largest ratio of a 99th percentile to
// its quiet value.
func (c *calendar) attacked(s side) (f figure) {
	span, users := 15*c.span, c.Users
	if c.lists["large"] == nil {
		c.prepare()
	}
	if aimed := read[map[string]attack]("attacks.json")[s.Attack].Aimed; aimed != nil {
		users = append(slices.Clip(users), aimed)
	}
	c.rest()
	c.use(min(3*time.Second, span), users)
	quiet := c.use(span, users)
	known := must(json.Marshal(map[string][]string{"protected": c.lists["protected"], "large": c.lists["large"]}))
	loads := make(chan []load, 1)
	go func() { loads <- c.use(span, users) }()
	// The attacker stands for another machine, so it takes the processors that others leave.
	got := c.run("nice", must(os.Executable()), "attack", s.Attack, c.host, span.String(), string(known))
	for i, present := range <-loads {
		f.value = max(f.value, float64(present.P99)/float64(quiet[i].P99))
		f.notes += fmt.Sprintf("  %s %+v\n    quiet %+v\n", []string{"reader", "writer", "aimed at"}[i], present, quiet[i])
	}
	_, memory := c.usage()
	f.notes += fmt.Sprintf("  %.0f MB; the attack got %s\n", memory, got)
	return f
}

// prepare makes what attacks are about.
func (c *calendar) prepare() {
	for _, p := range c.Prepare {
		for range p.Times {
			var record struct{ ID json.Number }
			fetch(c.make(p.request), &record)
			c.lists[p.As] = append(c.lists[p.As], record.ID.String())
		}
		c.lists[p.As+"s"] = []string{strings.Join(c.lists[p.As], ",")}
	}
}

// use has users work for a time: a reader, a writer, and a reader of what an attack is aimed at.
func (c *calendar) use(span time.Duration, users [][]request) []load {
	loads := make([]load, len(users))
	var group sync.WaitGroup
	for i, mix := range users {
		group.Go(func() { loads[i] = c.openLoop([]int{40, 20, 10}[i], span, mix) })
	}
	group.Wait()
	return loads
}

// assault is an attack under way.
type assault struct {
	*bench
	*words
	attack
	host  string
	mutex sync.Mutex
	next  time.Time      // when the next request or connection may begin
	got   map[string]int // statuses, and what became of connections
}

// attack is the process of an attacker. Its arguments are the name of the attack, whom it is
// against, its time, and ids. It prints what it got; connections end with the process.
func (b *bench) attack(args []string) {
	a := &assault{bench: b, words: newWords(), attack: read[map[string]attack]("attacks.json")[args[0]], host: strings.TrimPrefix(args[1], "http://"), got: map[string]int{}}
	check(json.Unmarshal([]byte(args[3]), &a.lists))
	for worker := range a.Connections {
		go func() {
			for {
				a.begin()
				a.connect(worker)
			}
		}()
	}
	<-time.After(must(time.ParseDuration(args[2])))
	a.mutex.Lock()
	fmt.Fprintln(b.out, a.got)
}

// begin waits for the right to begin. What no one takes at its time is lost.
func (a *assault) begin() {
	a.mutex.Lock()
	if now := time.Now(); a.next.Before(now) {
		a.next = now
	}
	wait := time.Until(a.next)
	a.next = a.next.Add(time.Second / time.Duration(a.Rate))
	a.mutex.Unlock()
	<-time.After(wait)
}

func (a *assault) count(got string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.got[got]++
}

// connect opens a connection and does what the attack says, until that is done or the service
// closes it.
func (a *assault) connect(worker int) {
	connection, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(a.ctx, "tcp", a.host)
	if err != nil {
		a.count("no connection")
		return
	}
	defer func() { _ = connection.Close() }()
	a.count("opened")
	defer a.count("closed")
	a.send(connection, a.Requests[worker%len(a.Requests)])
	if a.Steps == 0 {
		a.flood(connection)
		return
	}
	if a.Buffer > 0 {
		_ = connection.(*net.TCPConn).SetReadBuffer(a.Buffer)
	}
	if a.Read > 0 {
		status := make([]byte, len("HTTP/1.1 200"))
		_, err = io.ReadFull(connection, status)
		a.count(cmp.Or(strings.Trim(string(status), "\x00"), "no answer"))
	}
	for step := 0; err == nil && step != a.Steps; step++ {
		<-time.After(a.Pauses[worker%len(a.Pauses)])
		if _, err = io.WriteString(connection, a.Write); err == nil {
			_, err = io.CopyN(io.Discard, connection, a.Read)
		}
	}
}

// send sends a request; an error shows in the answer.
func (a *assault) send(connection net.Conn, request string) {
	_, _ = io.WriteString(connection, strings.ReplaceAll(a.expand(request), "\n", "\r\n"))
}

// flood reads answers and sends further requests.
func (a *assault) flood(connection net.Conn) {
	answers := bufio.NewReader(connection)
	for {
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		a.count(answer.Status)
		if position, err := strconv.ParseInt(answer.Header.Get("Daybook-Position"), 10, 64); err == nil {
			a.seen.Store(position)
		}
		if answer.Close {
			return
		}
		a.begin()
		a.send(connection, pick(a.Requests))
	}
}
