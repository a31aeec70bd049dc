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
func (calendar *calendar) attacked(side side) (figure figure) {
	span, users := 15*calendar.span, calendar.Users
	if calendar.lists["large"] == nil {
		calendar.prepare()
	}
	if aimed := read[map[string]attack]("attacks.json")[side.Attack].Aimed; aimed != nil {
		users = append(slices.Clip(users), aimed)
	}
	calendar.rest()
	calendar.use(min(3*time.Second, span), users)
	quiet := calendar.use(span, users)
	known := must(json.Marshal(map[string][]string{"protected": calendar.lists["protected"], "large": calendar.lists["large"]}))
	loads := make(chan []load, 1)
	go func() { loads <- calendar.use(span, users) }()
	// The attacker stands for another machine, so it takes the processors that others leave.
	got := calendar.run("nice", must(os.Executable()), "attack", side.Attack, calendar.host, span.String(), string(known))
	for i, present := range <-loads {
		figure.value = max(figure.value, float64(present.P99)/float64(quiet[i].P99))
		figure.notes += fmt.Sprintf("  %s %+v\n    quiet %+v\n", []string{"reader", "writer", "aimed at"}[i], present, quiet[i])
	}
	_, memory := calendar.usage()
	figure.notes += fmt.Sprintf("  %.0f MB; the attack got %s\n", memory, got)
	return figure
}

// prepare makes what attacks are about.
func (calendar *calendar) prepare() {
	for _, p := range calendar.Prepare {
		for range p.Times {
			var record struct{ ID json.Number }
			fetch(calendar.make(p.request), &record)
			calendar.lists[p.As] = append(calendar.lists[p.As], record.ID.String())
		}
		calendar.lists[p.As+"s"] = []string{strings.Join(calendar.lists[p.As], ",")}
	}
}

// use has users work for a time: a reader, a writer, and a reader of what an attack is aimed at.
func (calendar *calendar) use(span time.Duration, users [][]request) []load {
	loads := make([]load, len(users))
	var group sync.WaitGroup
	for i, mix := range users {
		group.Go(func() { loads[i] = calendar.openLoop([]int{40, 20, 10}[i], span, mix) })
	}
	group.Wait()
	return loads
}

// runningAttack is an attack under way.
type runningAttack struct {
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
func (bench *bench) attack(args []string) {
	a := &runningAttack{bench: bench, words: newWords(), attack: read[map[string]attack]("attacks.json")[args[0]], host: strings.TrimPrefix(args[1], "http://"), got: map[string]int{}}
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
	fmt.Fprintln(bench.output, a.got)
}

// begin waits for the right to begin. What no one takes at its time is lost.
func (assault *runningAttack) begin() {
	assault.mutex.Lock()
	if now := time.Now(); assault.next.Before(now) {
		assault.next = now
	}
	wait := time.Until(assault.next)
	assault.next = assault.next.Add(time.Second / time.Duration(assault.Rate))
	assault.mutex.Unlock()
	<-time.After(wait)
}

func (assault *runningAttack) count(got string) {
	assault.mutex.Lock()
	defer assault.mutex.Unlock()
	assault.got[got]++
}

// connect opens a connection and does what the attack says, until that is done or the service
// closes it.
func (assault *runningAttack) connect(worker int) {
	connection, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(assault.ctx, "tcp", assault.host)
	if err != nil {
		assault.count("no connection")
		return
	}
	defer func() { _ = connection.Close() }()
	assault.count("opened")
	defer assault.count("closed")
	assault.send(connection, assault.Requests[worker%len(assault.Requests)])
	if assault.Steps == 0 {
		assault.flood(connection)
		return
	}
	if assault.Buffer > 0 {
		_ = connection.(*net.TCPConn).SetReadBuffer(assault.Buffer)
	}
	if assault.Read > 0 {
		status := make([]byte, len("HTTP/1.1 200"))
		_, err = io.ReadFull(connection, status)
		assault.count(cmp.Or(strings.Trim(string(status), "\x00"), "no answer"))
	}
	for step := 0; err == nil && step != assault.Steps; step++ {
		<-time.After(assault.Pauses[worker%len(assault.Pauses)])
		if _, err = io.WriteString(connection, assault.Write); err == nil {
			_, err = io.CopyN(io.Discard, connection, assault.Read)
		}
	}
}

// send sends a request; an error shows in the answer.
func (assault *runningAttack) send(connection net.Conn, request string) {
	_, _ = io.WriteString(connection, strings.ReplaceAll(assault.expand(request), "\n", "\r\n"))
}

// flood reads answers and sends further requests.
func (assault *runningAttack) flood(connection net.Conn) {
	answers := bufio.NewReader(connection)
	for {
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		assault.count(answer.Status)
		if position, err := strconv.ParseInt(answer.Header.Get("Daybook-Position"), 10, 64); err == nil {
			assault.seen.Store(position)
		}
		if answer.Close {
			return
		}
		assault.begin()
		assault.send(connection, pick(assault.Requests))
	}
}
