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

func (bench *bench) start(name string, args ...string) *service {
	s := &service{command: exec.CommandContext(bench.ctx, name, args...)}
	s.command.Stderr = bench.stderr
	lines := bufio.NewReader(must(s.command.StdoutPipe()))
	check(s.command.Start())
	bench.cleanup = append(bench.cleanup, s.stop)
	for s.host == "" {
		s.host = hostPattern.FindString(must(lines.ReadString('\n')))
	}
	return s
}

func (service *service) stop() {
	if service == nil || service.command.ProcessState != nil {
		return
	}
	check(service.command.Process.Signal(syscall.SIGTERM))
	if err := service.command.Wait(); service.command.ProcessState.Exited() { // not by the signal
		check(err)
	}
}

// usage returns the time that the process used, in steps of 10 ms, and its resident memory in MB.
func (service *service) usage() (processor time.Duration, memory float64) {
	_, stat, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", service.command.Process.Pid)))), ") ")
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
func (bench *bench) health(service *service) (health health, err error) {
	var answer bytes.Buffer
	_, err = send(http.DefaultClient, bench.request(http.MethodGet, service.host+"/health/ready", ""), &answer)
	_ = json.Unmarshal(answer.Bytes(), &health) // there may be no answer yet
	return health, err
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
func (bench *bench) open(group group, directory string, events int) *calendar {
	service := &calendar{bench: bench, words: newWords(), group: group, directory: directory, store: []string{"--data", directory + "/data"}}
	check(os.MkdirAll(directory, 0o700))
	if group.Needs != nil {
		service.name = fmt.Sprintf("bench%x", time.Now().UnixNano())
		service.store = append(service.store, "--store", server("postgres"), "--store-schema", service.name)
		bench.cleanup = append(bench.cleanup, service.drop)
	}
	service.token = bench.run(bench.binary, append([]string{"user", "add", "loadgen", "--role", "administrator"}, service.store...)...)
	path := directory + "/import"
	lines := must(os.Create(path))
	service.lists["body"] = []string{"$" + group.Weight}
	for _, k := range read[[]kind]("kinds.json") {
		service.turn.Store(0)
		for range cmp.Or(k.Count, events) {
			must(fmt.Fprintln(lines, service.expand("$import_"+k.Name)))
		}
	}
	check(lines.Close())
	bench.run(bench.binary, append([]string{"import", path}, service.store...)...)
	if group.Needs == nil {
		service.serve()
		service.learn()
	}
	return service
}

// serve starts the service with all roles and waits until its lists show everything.
func (calendar *calendar) serve(args ...string) {
	calendar.stop()
	calendar.service = calendar.process("all", args...)
	until(2*time.Millisecond, func() bool {
		health, err := calendar.health(calendar.service)
		calendar.head = health.Head
		return err == nil && health.Visible >= health.Head
	})
}

func (calendar *calendar) process(role string, args ...string) *service {
	if calendar.Needs != nil {
		args = append(args, "--feed", server("nats"), "--feed-prefix", calendar.prefix())
	}
	args = append(args, "--role", role, "--listen", "127.0.0.1:0", "--log-level", "error")
	return calendar.start(calendar.binary, append(append([]string{"serve"}, calendar.store...), args...)...)
}

// learn reads ids of all kinds of records, and waits until the service is at rest.
func (calendar *calendar) learn() {
	for _, k := range read[[]kind]("kinds.json") {
		calendar.lists[k.Name] = nil
		for page, pages := 1, 1; page <= pages; page += 1 + pages/100 { // from all over the list
			var list json.RawMessage
			header := fetch(calendar.make(request{URL: fmt.Sprintf("$api/%s?_fields=id&per_page=100&page=%d", k.Collection, page)}), &list)
			for _, id := range idPattern.FindAllSubmatch(list, -1) {
				calendar.lists[k.Name] = append(calendar.lists[k.Name], string(id[1]))
			}
			pages = must(strconv.Atoi(header.Get("X-TotalPages")))
		}
	}
	calendar.rest()
}

// rest waits until the service does nothing by itself.
func (calendar *calendar) rest() {
	now := -time.Hour
	until(min(500*time.Millisecond, 5*calendar.span), func() bool {
		before := now
		now, _ = calendar.usage()
		return now-before <= 20*time.Millisecond
	})
}
