package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
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
