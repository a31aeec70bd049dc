package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// service is a process that prints where it serves.
type service struct {
	command *exec.Cmd
	host    string // its URL without a path
}

var (
	hostPattern = regexp.MustCompile(`http://[\d.:]+`)
	idPattern   = regexp.MustCompile(`"id":(\d+)`)
)

func (b *bench) start(name string, args ...string) *service {
	s := &service{command: exec.CommandContext(b.ctx, name, args...)}
	s.command.Stderr = b.stderr
	lines := bufio.NewReader(must(s.command.StdoutPipe()))
	check(s.command.Start())
	b.cleanup = append(b.cleanup, s.stop)
	for s.host == "" {
		s.host = hostPattern.FindString(must(lines.ReadString('\n')))
	}
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

// usage returns the time that the process used, in steps of 10 ms, and its resident memory in MB.
func (s *service) usage() (processor time.Duration, memory float64) {
	_, stat, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid)))), ") ")
	field := func(i int) int { return must(strconv.Atoi(strings.Fields(stat)[i])) }
	return time.Duration(field(11)+field(12)) * 10 * time.Millisecond, float64(field(21)*os.Getpagesize()) / (1 << 20)
}

// until waits until something is done, at most ten minutes.
func until(every time.Duration, done func() bool) {
	for begin := time.Now(); !done(); <-time.After(every) {
		if time.Since(begin) > 10*time.Minute {
			panic("it does not come to its end")
		}
	}
}

// health is what a process says about itself.
type health struct{ Head, Published, Visible int64 }

// health returns an error if the process is not ready.
func (b *bench) health(s *service) (h health, err error) {
	var answer bytes.Buffer
	_, err = send(http.DefaultClient, b.request(http.MethodGet, s.host+"/health/ready", ""), &answer)
	_ = json.Unmarshal(answer.Bytes(), &h) // there may be no answer yet
	return h, err
}

// kind is one of records; there are as many as wanted if Count is 0.
type kind struct {
	Name, Collection string
	Count            int
}

// calendar is a store with events and, mostly, a service on it.
type calendar struct {
	*bench
	*service
	*words
	group
	directory, token string
	store            []string // flags
	head             int64    // position, when the service started
	small            *calendar
	name             string // of schema, streams and indices
	made             int    // of the latter
}

// open fills a calendar and, unless it is on servers, starts the service on it.
func (b *bench) open(g group, directory string, events int) *calendar {
	c := &calendar{bench: b, words: newWords(), group: g, directory: directory, store: []string{"--data", directory + "/data"}}
	check(os.MkdirAll(directory, 0o700))
	if g.Needs != nil {
		c.name = fmt.Sprintf("bench%x", time.Now().UnixNano())
		c.store = append(c.store, "--store", server("postgres"), "--store-schema", c.name)
		b.cleanup = append(b.cleanup, c.drop)
	}
	c.token = b.run(b.binary, append([]string{"user", "add", "loadgen", "--role", "administrator"}, c.store...)...)
	path := directory + "/import"
	lines := must(os.Create(path))
	c.lists["body"] = []string{"$" + g.Weight}
	for _, k := range read[[]kind]("kinds.json") {
		c.turn.Store(0)
		for range cmp.Or(k.Count, events) {
			must(fmt.Fprintln(lines, c.expand("$import_"+k.Name)))
		}
	}
	check(lines.Close())
	b.run(b.binary, append([]string{"import", path}, c.store...)...)
	if g.Needs == nil {
		c.serve()
		c.learn()
	}
	return c
}

// serve starts the service with all roles and waits until its lists show everything.
func (c *calendar) serve(args ...string) {
	c.stop()
	c.service = c.process("all", args...)
	until(2*time.Millisecond, func() bool {
		health, err := c.health(c.service)
		c.head = health.Head
		return err == nil && health.Visible >= health.Head
	})
}

func (c *calendar) process(role string, args ...string) *service {
	if c.Needs != nil {
		args = append(args, "--feed", server("nats"), "--feed-prefix", c.prefix())
	}
	args = append(args, "--role", role, "--listen", "127.0.0.1:0", "--log-level", "error")
	return c.start(c.binary, append(append([]string{"serve"}, c.store...), args...)...)
}

// learn reads ids of all kinds of records, and waits until the service is at rest.
func (c *calendar) learn() {
	for _, k := range read[[]kind]("kinds.json") {
		c.lists[k.Name] = nil
		for page, pages := 1, 1; page <= pages; page += 1 + pages/100 { // from all over the list
			var list json.RawMessage
			header := fetch(c.make(request{URL: fmt.Sprintf("$api/%s?_fields=id&per_page=100&page=%d", k.Collection, page)}), &list)
			for _, id := range idPattern.FindAllSubmatch(list, -1) {
				c.lists[k.Name] = append(c.lists[k.Name], string(id[1]))
			}
			pages = must(strconv.Atoi(header.Get("X-TotalPages")))
		}
	}
	c.rest()
}

// rest waits until the service does nothing by itself.
func (c *calendar) rest() {
	now := -time.Hour
	until(min(500*time.Millisecond, 5*c.span), func() bool {
		before := now
		now, _ = c.usage()
		return now-before <= 20*time.Millisecond
	})
}
