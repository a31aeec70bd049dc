package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const clients = 8 // at the same time

// load is what requests of several callers took.
type load struct {
	count, failed int
	rate          float64 // a second
	p50, p99      time.Duration
}

func loadOf(times []time.Duration, begin time.Time) (l load) {
	l.count, l.rate = len(times), float64(len(times))/time.Since(begin).Seconds()
	slices.Sort(times)
	l.p50, l.p99 = times[len(times)/2], times[len(times)*99/100]
	return l
}

// address is one of this machine, nil where it has one only: a service grants each a share of
// what it has.
func address(third, fourth byte) net.Addr {
	if runtime.GOOS != "linux" {
		return nil
	}
	return &net.TCPAddr{IP: net.IPv4(127, 0, third, fourth)}
}

// client has one connection per caller, each from an address of its own.
func client(callers int) *http.Client {
	var dialed atomic.Uint32
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: callers, MaxConnsPerHost: callers, DisableCompression: true,
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: address(1, byte(dialed.Add(1)%250)+1)}).DialContext(ctx, network, to)
		},
	}}
}

// request makes a request with headers: names and values by turns.
func (b *bench) request(method, url, body string, headers ...string) *http.Request {
	r := must(http.NewRequestWithContext(b.ctx, method, url, strings.NewReader(body)))
	for header := range slices.Chunk(headers, 2) {
		r.Header.Set(header[0], header[1])
	}
	return r
}

// send sends a request and copies the body of the answer, which must not be an error.
func send(c *http.Client, r *http.Request, to io.Writer) (http.Header, error) {
	answer, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
		err = fmt.Errorf("%s %s: %s: %s", r.Method, r.URL, answer.Status, text)
	} else {
		_, err = io.Copy(to, answer.Body)
	}
	return answer.Header, err
}

// fetch decodes an answer of JSON.
func (b *bench) fetch(r *http.Request, into any) http.Header {
	var body strings.Builder
	header := must(send(http.DefaultClient, r, &body))
	check(json.Unmarshal([]byte(body.String()), into))
	return header
}

// measure has callers do work again and again for a time, each once at least. Work returns
// the time that counts.
func measure(callers int, span time.Duration, work func() time.Duration) load {
	var (
		group  sync.WaitGroup
		mutex  sync.Mutex
		times  []time.Duration
		failed any
	)
	begin := time.Now()
	for range callers {
		group.Go(func() {
			own := make([]time.Duration, 0, 1<<16)
			defer func() {
				mutex.Lock()
				defer mutex.Unlock()
				times = append(times, own...)
				if problem := recover(); problem != nil {
					failed = problem
				}
			}()
			for len(own) == 0 || time.Since(begin) < span {
				own = append(own, work())
			}
		})
	}
	group.Wait()
	if failed != nil {
		panic(failed)
	}
	return loadOf(times, begin)
}

// requests measures the requests that next makes.
func requests(callers int, span time.Duration, next func() *http.Request) load {
	c := client(callers)
	defer c.CloseIdleConnections()
	return measure(callers, span, func() time.Duration {
		r := next()
		begin := time.Now()
		must(send(c, r, io.Discard))
		return time.Since(begin)
	})
}

// reads measures GET requests of all clients, with a coding of the answers or without.
func reads(url, coding string) side {
	return func(c *calendar) figure {
		next := func() *http.Request { return c.request(http.MethodGet, c.expand(url), "", "Accept-Encoding", coding) }
		if got := must(send(http.DefaultClient, next(), io.Discard)).Get("Content-Encoding"); got != coding {
			check(fmt.Errorf("%s came as %q, not as %q", url, got, coding))
		}
		l := requests(clients, c.span, next)
		return figure{value: l.rate, count: l.count}
	}
}

// bare measures a server that does nothing but send the same bytes.
func bare(url string) side {
	return func(c *calendar) figure {
		path := filepath.Join(c.directory, "bytes")
		f := must(os.Create(path))
		must(send(http.DefaultClient, c.request(http.MethodGet, c.expand(url), "", "Accept-Encoding", ""), f))
		check(f.Close())
		s := c.start(must(os.Executable()), "bare", path)
		defer s.stop()
		return figure{value: requests(clients, c.span, func() *http.Request { return c.request(http.MethodGet, s.Root, "") }).rate}
	}
}

// serveBare answers every request with the bytes of a file until it is killed.
func (b *bench) serveBare(path string) {
	body := must(os.ReadFile(path))
	listener := must((&net.ListenConfig{}).Listen(b.ctx, "tcp", "127.0.0.1:0"))
	b.printf("http://%s/\n", listener.Addr())
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", digits(int64(len(body))))
		_, _ = w.Write(body) //nolint:gosec // an error says that the client is gone
	})}
	check(s.Serve(listener))
}
