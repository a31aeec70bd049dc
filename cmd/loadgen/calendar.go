package main

import (
	"bufio"
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
	"sync/atomic"
	"syscall"
	"time"
)

// service is a process that prints where it serves.
type service struct {
	command *exec.Cmd
	target
}

func (b *bench) start(name string, args ...string) *service {
	s := &service{command: exec.CommandContext(b.ctx, name, args...)}
	s.command.Stderr = b.stderr
	lines := bufio.NewReader(must(s.command.StdoutPipe()))
	check(s.command.Start())
	b.cleanup = append(b.cleanup, s.stop)
	for s.Root == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			check(fmt.Errorf("%s did not start: %w", s.command, errors.Join(err, s.command.Wait())))
		}
		if i := strings.Index(line, "http://"); i >= 0 && !strings.HasPrefix(line, "calendar: ") { // the address of the pages
			s.Root = strings.TrimSpace(line[i:])
		}
	}
	s.Host = strings.Join(strings.SplitN(s.Root, "/", 4)[:3], "/")
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return s
}

func (s *service) stop() {
	if s == nil || s.command.ProcessState != nil {
		return
	}
	check(s.command.Process.Signal(syscall.SIGTERM))
	if err := s.command.Wait(); s.command.ProcessState.Exited() { // not by the signal
		check(err)
	}
}

// proc returns a number of a file of the process in /proc.
func (s *service) proc(file, after string, field int) int {
	_, rest, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.command.Process.Pid, file)))), after)
	return must(strconv.Atoi(strings.Fields(rest)[field]))
}

// processorTime returns the time that the process used, in steps of 10 ms.
func (s *service) processorTime() time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.proc("stat", ") ", 11)+s.proc("stat", ") ", 12)) * 10 * time.Millisecond
}

// residentMemory returns it in MB.
func (s *service) residentMemory() float64 { return float64(s.proc("status", "VmRSS:", 0)) / 1024 }

// until waits until something is done, at most ten minutes.
func (b *bench) until(every time.Duration, done func() bool) {
	for begin := time.Now(); !done(); b.pause(every) {
		if time.Since(begin) > 10*time.Minute {
			check(errors.New("it does not come to its end"))
		}
	}
}

func (b *bench) pause(span time.Duration) {
	select {
	case <-b.ctx.Done():
		check(b.ctx.Err())
	case <-time.After(span):
	}
}

// rest waits until the service does nothing by itself.
func (c *calendar) rest() {
	before := -time.Hour
	c.until(min(500*time.Millisecond, 5*c.span), func() bool {
		now := c.processorTime()
		defer func() { before = now }()
		return now-before <= 20*time.Millisecond
	})
}

// health is what a process says about itself.
type health struct {
	Ready                    bool `json:"-"`
	Head, Published, Visible int64
}

func (b *bench) health(s *service) (h health) {
	r := b.request(http.MethodGet, s.Host+"/health/ready", "")
	if answer, err := http.DefaultClient.Do(r); err == nil {
		h.Ready = json.NewDecoder(answer.Body).Decode(&h) == nil && answer.StatusCode == http.StatusOK
		check(answer.Body.Close())
	}
	return h
}

// calendar is a store with events and, mostly, a service on it.
type calendar struct {
	*bench
	*service
	directory, weight, token string
	store                    []string   // flags
	small                    *calendar  // to compare with
	quiet                    users      // without an attack
	name                     string     // of schema, streams and indices
	made                     int        // of the latter
	script                   []recorded // requests that filled indices
}

// fill makes a calendar without a service. Events are heavy, 1.7 kB of JSON as sent and 5.6 kB as
// answered, or light: 0.6 kB.
func (b *bench) fill(directory, weight string, events int, store ...string) *calendar {
	c := &calendar{bench: b, directory: directory, weight: weight, store: append(store, "--data", filepath.Join(directory, "data"))}
	check(os.MkdirAll(directory, 0o700))
	lines := filepath.Join(directory, "import")
	writeImport(lines, weight, events)
	c.token = b.run(b.binary, append([]string{"user", "add", "loadgen", "--role", "administrator"}, c.store...)...)
	b.run(b.binary, append([]string{"import", lines}, c.store...)...)
	check(os.Remove(lines))
	return c
}

// serve starts the service with all roles and waits until its lists show everything.
func (c *calendar) serve(args ...string) {
	before := c.service
	c.service = c.process("all", args...)
	if c.IDs = map[string][]int64{}; before != nil {
		c.IDs = before.IDs
	}
	c.turn.Store(time.Now().UnixMilli()) // no key comes twice
	var h health
	c.until(2*time.Millisecond, func() bool {
		h = c.health(c.service)
		return h.Ready && h.Visible >= h.Head
	})
	c.Head = h.Head
}

func (c *calendar) process(role string, args ...string) *service {
	args = append(append([]string{"serve", "--role", role, "--listen", "127.0.0.1:0", "--log-level", "error"}, c.store...), args...)
	return c.start(c.binary, args...)
}

// learn reads ids of all kinds of records, and waits until the service is at rest.
func (c *calendar) learn() *calendar {
	for _, text := range append(recordTexts(""), []string{"event", "events"}) {
		for page, pages := 1, 1; page <= pages; page += 1 + pages/100 { // from all over the list
			var list map[string]json.RawMessage
			var found []struct{ ID int64 }
			header := c.fetch(c.request(http.MethodGet, fmt.Sprintf("%s/%s?per_page=100&page=%d", c.Root, text[1], page), ""), &list)
			check(json.Unmarshal(list[text[1]], &found))
			for _, record := range found {
				c.IDs[text[0]] = append(c.IDs[text[0]], record.ID)
			}
			pages = must(strconv.Atoi(header.Get("X-TotalPages")))
		}
	}
	c.rest()
	return c
}

// writes returns what makes requests to create events or to update them, with keys of their
// own. The bodies are made before.
func (c *calendar) writes(n int, create bool) func() *http.Request {
	method, path, texts := http.MethodPost, "$root/events", recordTexts(c.weight)
	if !create {
		method, path, texts = http.MethodPatch, "$root/events/$event", recordTexts(c.weight+"-update")
	}
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = c.expand(pick(texts)[3])
	}
	var sent atomic.Int64
	return func() *http.Request {
		return c.write(method, c.expand(path), bodies[int(sent.Add(1))%n])
	}
}

// write makes a request of the administrator.
func (c *calendar) write(method, url, body string) *http.Request {
	r := c.request(method, url, body, "Content-Type", "application/json", "Idempotency-Key", c.expand("loadgen-$n"))
	r.SetBasicAuth("loadgen", c.token)
	return r
}
