package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	hostileTimes = 10 // times the quiet p99 that an attack may make of it
	readRate     = 40 // requests a second of the reader
	writeRate    = 20 // and of the writer
	askRate      = 10 // and of the one that asks for what an attack is aimed at
	// answerTimeout is how long the reader and the writer wait for an answer. A refused
	// request counts as one that was waited for so long.
	answerTimeout = 10 * time.Second

	largeEvents = 3
	largeVenues = 60      // of each large event
	largeText   = 199_000 // characters of the description of a large venue
)

// load is what a reader or a writer found: a request that failed counts in the
// figures with that time.
type load struct {
	figures
	failed map[string]int
}

// loads are those of all who use the service; asked is that of what an attack is aimed at.
type loads struct{ read, write, asked load }

func (l load) failures() int {
	n := 0
	for _, k := range l.failed {
		n += k
	}
	return n
}

// paced sends requests at a rate for a time, each at its moment whatever became of
// those before it, so that waiting counts.
func paced(ctx context.Context, rate int, span time.Duration, ask func(ctx context.Context, turn int) (*http.Request, error)) load {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: rate, DisableCompression: true}, Timeout: answerTimeout}
	defer c.CloseIdleConnections()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		times []time.Duration
		l     = load{failed: map[string]int{}}
	)
	begin := time.Now()
	due := time.NewTimer(0)
	defer due.Stop()
	for turn := range max(1, int(span.Seconds()*float64(rate))) {
		due.Reset(time.Until(begin.Add(time.Duration(turn) * time.Second / time.Duration(rate))))
		select {
		case <-ctx.Done():
		case <-due.C:
		}
		wg.Go(func() {
			sent := time.Now()
			failure := "no answer"
			r, err := ask(ctx, turn)
			if err == nil {
				failure = exchange(c, r)
			}
			took := time.Since(sent)
			mu.Lock()
			defer mu.Unlock()
			if failure != "" {
				took = answerTimeout
				l.failed[failure]++
			}
			times = append(times, took)
		})
	}
	wg.Wait()
	l.figures = percentiles([][]time.Duration{times})
	l.rate = float64(l.n) / time.Since(begin).Seconds()
	return l
}

// exchange sends a request and reads the answer; it gives what it got in place of
// one, "" for none.
func exchange(c *http.Client, r *http.Request) string {
	resp, err := c.Do(r)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return "answer cut off"
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return strconv.Itoa(resp.StatusCode)
	}
	return ""
}

// siege is a service under attack, with those who use it as it is meant.
type siege struct {
	*service
	prey
	o      options
	writer *maker
	ids    map[string][]int64 // of the records that events link to
	keys   int                // idempotency keys used
	asked  int                // turns of the reader of what an attack is aimed at
}

// hostile measures a reader and a writer beside each attack.
func hostile(ctx context.Context, o options, dir string, out, errw io.Writer) (err error) {
	s, err := filled(ctx, o, dir, o.hostile, o.weights[0], errw)
	if err != nil {
		return err
	}
	h := &siege{service: s, o: o, writer: newMaker(17)}
	h.writer.weight = o.weights[0]
	defer func() { err = errors.Join(err, h.stop()) }()
	if err := h.prepare(ctx); err != nil {
		return fmt.Errorf("prepare for attacks: %w", err)
	}
	fmt.Fprintf(out, "\nhostile: %d %s events; a reader (%d requests a second) and a writer (%d) beside one attacking machine, for %s each;\n",
		o.hostile, o.weights[0], readRate, writeRate, o.hostileFor)
	fmt.Fprintf(out, "a request that is refused or not answered counts as %s\n", answerTimeout)
	fmt.Fprintf(out, "%-34s %10s %10s %8s %7s  %10s %10s %8s %7s %9s  %s\n", "",
		"reader p50", "p99", "x quiet", "failed", "writer p50", "p99", "x quiet", "failed", "memory", "p99 at most "+strconv.Itoa(hostileTimes)+" x quiet")
	h.all(ctx, min(o.hostileFor, 3*time.Second), nil) // caches as they are in use
	quiet := h.all(ctx, o.hostileFor, nil)
	if err := h.line(out, "quiet", quiet, quiet, ""); err != nil {
		return err
	}
	missed := 0
	for _, at := range attacks {
		if !o.attacked(at.name) {
			continue
		}
		if err := h.atRest(ctx, dir, at.name, out, errw); err != nil {
			return err
		}
		without := quiet
		if at.asks != nil {
			h.all(ctx, min(o.hostileFor, 3*time.Second), at.asks)
			without = h.all(ctx, o.hostileFor, at.asks) // the further reader costs the others something, too
		}
		got, l, err := h.under(ctx, at, errw)
		if err != nil {
			return fmt.Errorf("%s: %w", at.name, err)
		}
		verdict := "met"
		if l.read.p99 > hostileTimes*without.read.p99 || l.write.p99 > hostileTimes*without.write.p99 || l.asked.p99 > hostileTimes*without.asked.p99 {
			verdict = "not met"
			missed++
		}
		if at.asks != nil {
			if err := h.line(out, "quiet, with the further reader", without, without, ""); err != nil {
				return err
			}
		}
		if err := h.line(out, at.name, l, without, verdict); err != nil {
			return err
		}
		fmt.Fprintf(out, "  %d connections, at most %d a second; the attacker got %s\n", at.connections, at.rate, counts(got))
		if at.asks != nil {
			fmt.Fprintf(out, "  what it is aimed at: %s; quiet p50 %.2f ms, p99 %.2f ms\n", l.asked.beside(without.asked), ms(without.asked.p50), ms(without.asked.p99))
		}
		for _, l := range []struct {
			who string
			load
		}{{"reader", l.read}, {"writer", l.write}, {"reader of what it is aimed at", l.asked}} {
			if l.failures() > 0 {
				fmt.Fprintf(out, "  the %s got %s\n", l.who, counts(l.failed))
			}
		}
	}
	if missed > 0 {
		fmt.Fprintf(out, "%d of the attacks not met\n", missed)
	}
	return nil
}

// attacked tells whether an attack is to be run.
func (o *options) attacked(name string) bool {
	return o.attack == "" || strings.Contains(name, o.attack)
}

// counts prints what came back, most often first.
func counts(got map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(got), func(a, b string) int {
		if d := got[b] - got[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s x %d", k, got[k])
	}
	if len(keys) == 0 {
		return "nothing"
	}
	return strings.Join(keys, ", ")
}

// beside tells of a load, and how that is beside a quiet one.
func (l load) beside(quiet load) string {
	return fmt.Sprintf("%7.2f ms %7.2f ms %8.1f %7d", ms(l.p50), ms(l.p99), float64(l.p99)/float64(quiet.p99), l.failures())
}

func (h *siege) line(out io.Writer, name string, l, quiet loads, verdict string) error {
	memory, err := h.resident()
	if err != nil {
		return fmt.Errorf("the service is gone after %s: %w", name, err)
	}
	fmt.Fprintf(out, "%-34s %s  %s %6.0f MB  %s\n", name, l.read.beside(quiet.read), l.write.beside(quiet.write), memory, verdict)
	return nil
}

// prepare makes what the attacks are about, and reads what the writer links to.
func (h *siege) prepare(ctx context.Context) error {
	ids, err := someIDs(ctx, h.service, 1000)
	if err != nil {
		return err
	}
	h.ids = map[string][]int64{}
	for kind, collection := range map[string]string{"venue": "venues", "organizer": "organizers", "category": "categories", "tag": "tags"} {
		if h.ids[kind], err = h.listed(ctx, collection); err != nil {
			return err
		}
	}
	h.prey = prey{Root: h.root, Host: h.host, User: "loadgen", Events: ids[1:], Protected: ids[0]}
	c := client(1)
	defer c.CloseIdleConnections()
	write := func(method, path string, fields map[string]any) (int64, error) {
		r, err := h.writing(ctx, method, path, fields)
		if err != nil {
			return 0, err
		}
		b, _, err := do(c, r)
		if err != nil {
			return 0, err
		}
		var made struct{ ID int64 }
		err = json.Unmarshal(b, &made)
		return made.ID, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.root+"/events?per_page=1", http.NoBody)
	if err != nil {
		return err
	}
	_, shown, err := do(c, r)
	if err != nil {
		return err
	}
	if h.Head, err = strconv.ParseInt(shown.Get("Daybook-Position"), 10, 64); err != nil {
		return err
	}
	if _, err := write(http.MethodPatch, fmt.Sprintf("/events/%d", h.Protected), map[string]any{"password": "right"}); err != nil {
		return err
	}
	venues := make([]int64, largeVenues)
	text := h.writer.text(largeText)
	for i := range venues {
		if venues[i], err = write(http.MethodPost, "/venues", map[string]any{"venue": fmt.Sprintf("Large hall %d", i), "description": text}); err != nil {
			return err
		}
	}
	for i := range largeEvents {
		e := h.writer.event(i, today())
		day := today().AddDate(1, 0, i).Format(time.DateOnly) // on no first page
		e["start_date"], e["end_date"], e["venue"] = day+" 10:00:00", day+" 11:00:00", venues
		id, err := write(http.MethodPost, "/events", e)
		if err != nil {
			return err
		}
		h.Large = append(h.Large, id)
	}
	return nil
}

// listed gives ids of the records of a collection.
func (s *service) listed(ctx context.Context, collection string) ([]int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/"+collection+"?per_page=100", http.NoBody)
	if err != nil {
		return nil, err
	}
	b, _, err := do(client(1), r)
	if err != nil {
		return nil, err
	}
	var list map[string]json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, err
	}
	var records []struct{ ID int64 }
	if err := json.Unmarshal(list[collection], &records); err != nil {
		return nil, err
	}
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids, nil
}

// all has the reader and the writer go about their work for a time, and a further reader
// ask for what asks says.
func (h *siege) all(ctx context.Context, span time.Duration, asks func(*prey, int) string) (l loads) {
	var wg sync.WaitGroup
	wg.Go(func() { l.read = paced(ctx, readRate, span, h.read) })
	if asks != nil {
		first := h.asked
		h.asked += int(span.Seconds()*askRate) + 1
		wg.Go(func() {
			l.asked = paced(ctx, askRate, span, func(ctx context.Context, turn int) (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodGet, h.root+asks(&h.prey, first+turn), http.NoBody)
			})
		})
	}
	bodies, first := h.bodies(int(span.Seconds()*writeRate)+1), h.keys
	h.keys += len(bodies)
	wg.Go(func() {
		l.write = paced(ctx, writeRate, span, func(ctx context.Context, turn int) (*http.Request, error) {
			return h.write(ctx, bodies[turn], first+turn)
		})
	})
	wg.Wait()
	return l
}

// read makes a request of the reader: the default list and single events in turn.
func (h *siege) read(ctx context.Context, turn int) (*http.Request, error) {
	at := h.root + "/events"
	if turn%2 == 1 {
		at += "/" + strconv.FormatInt(h.Events[turn*7919%len(h.Events)], 10)
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
}

// bodies makes the events that the writer sends.
func (h *siege) bodies(n int) []map[string]any {
	out := make([]map[string]any, n)
	for i := range out {
		out[i] = h.writer.event(h.keys+i, today())
		h.writer.links(out[i], func(kind string, i int) any { return h.ids[kind][i%len(h.ids[kind])] })
	}
	return out
}

// write makes a request of the writer, creates and updates in turn, each with a key
// of its own.
func (h *siege) write(ctx context.Context, e map[string]any, key int) (*http.Request, error) {
	method, path := http.MethodPost, "/events"
	if key%2 == 1 {
		method, path = http.MethodPatch, fmt.Sprintf("/events/%d", h.Events[key*31%len(h.Events)])
		e = map[string]any{"title": e["title"], "description": e["description"]}
	}
	r, err := h.writing(ctx, method, path, e)
	if err == nil {
		r.Header.Set("Idempotency-Key", fmt.Sprintf("hostile-%d", key))
	}
	return r, err
}

// under has the reader and the writer at work during an attack, which is a process
// of its own.
func (h *siege) under(ctx context.Context, at attack, errw io.Writer) (got map[string]int, l loads, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, l, err
	}
	known, err := json.Marshal(h.prey)
	if err != nil {
		return nil, l, err
	}
	cmd := exec.CommandContext(ctx, self, "attack", "-name", at.name, "-for", h.o.hostileFor.String(), "-prey", string(known))
	cmd.Stderr = errw
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // for its priority
	var text strings.Builder
	cmd.Stdout = &text
	if err := cmd.Start(); err != nil {
		return nil, l, err
	}
	giveWay(cmd.Process.Pid)
	l = h.all(ctx, h.o.hostileFor, at.asks)
	if err := cmd.Wait(); err != nil {
		return nil, l, err
	}
	err = json.Unmarshal([]byte(text.String()), &got)
	return got, l, err
}

// giveWay lowers the priority of an attacker below that of the service and of those
// who use it: it stands for a machine that takes none of their processors.
func giveWay(group int) {
	if own, err := niceness(0); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, group, min(own+10, 19))
	}
}

// niceness gives the nice value of a process, 0 for this one: -20 to 19, the lower
// the more of the processors it gets.
func niceness(pid int) (int, error) {
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	if runtime.GOOS == "linux" {
		n = 20 - n // what the system call gives there
	}
	return n, err
}

// atRest waits until the service has done with the attack before; one that has not
// after a while is started again.
func (h *siege) atRest(ctx context.Context, dir, next string, out, errw io.Writer) error {
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if h.settle(limited) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Fprintf(out, "  not at rest 20 s later: started again\n")
	if err := h.stop(); err != nil {
		return fmt.Errorf("stop before %s: %w", next, err)
	}
	s, err := serve(ctx, h.o, dir, errw)
	if err != nil {
		return err
	}
	s.token = h.token
	h.service = s
	h.Root, h.Host = s.root, s.host
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.settle(ctx)
}
