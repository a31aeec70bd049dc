package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	clients = 8 // at the same time

	// answerTimeout is how long users next to an attack wait. A request that is refused or not
	// answered counts as one that took longer.
	answerTimeout = 10 * time.Second
)

// load is what requests of several callers took.
type load struct {
	Count, Failed int
	Rate          float64 // a second
	P50, P99      time.Duration
}

func newLoad(times []time.Duration, failed int, begin time.Time) load {
	rate := float64(len(times)) / time.Since(begin).Seconds()
	slices.Sort(times)
	return load{len(times), failed, rate, times[len(times)/2], times[len(times)*99/100]}
}

// client has connections from several addresses: a service grants each a share of what it has.
func client(connections int, addresses uint32) *http.Client {
	var dialed atomic.Uint32
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true,
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(dialed.Add(1)%addresses)+1)}}).DialContext(ctx, network, to)
		},
	}}
}

func (bench *bench) request(method, address, body string) *http.Request {
	request := must(http.NewRequestWithContext(bench.ctx, method, address, strings.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	return request
}

// make makes a request, of the administrator if it has a body.
func (calendar *calendar) make(request request) *http.Request {
	r := calendar.request(request.Method, calendar.host+calendar.expand(request.URL), calendar.expand(request.Body))
	if request.Coding != "" {
		r.Header.Set("Accept-Encoding", request.Coding)
	}
	if request.Body != "" {
		r.Header.Set("Idempotency-Key", calendar.expand("loadgen-$n"))
		r.SetBasicAuth("loadgen", calendar.token)
	}
	return r
}

// send sends a request and copies the body of the answer, which must not be an error.
func send(client *http.Client, request *http.Request, writer io.Writer) (http.Header, error) {
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err = io.Copy(writer, answer.Body); answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s", request.Method, request.URL, answer.Status)
	}
	return answer.Header, err
}

// fetch decodes an answer of JSON, or checks only that there is one.
func fetch(request *http.Request, into any) http.Header {
	var answer bytes.Buffer
	header, err := send(http.DefaultClient, request, &answer)
	if err != nil {
		check(fmt.Errorf("%w: %s", err, &answer))
	}
	if into != nil {
		check(json.Unmarshal(answer.Bytes(), into))
	}
	return header
}

// measure has callers do work again and again for a time, each once at least.
func measure(callers int, span time.Duration, work func(*http.Client) error) load {
	one := client(callers, 250)
	defer one.CloseIdleConnections()
	var group errgroup.Group
	var mutex sync.Mutex
	times := make([]time.Duration, 0, 1<<16)
	begin := time.Now()
	for range callers {
		group.Go(func() (err error) {
			for err == nil {
				sent := time.Now()
				err = work(one)
				mutex.Lock()
				times = append(times, time.Since(sent))
				mutex.Unlock()
				if time.Since(begin) >= span {
					break
				}
			}
			return err
		})
	}
	check(group.Wait())
	return newLoad(times, 0, begin)
}

// load measures requests of all clients by turns. Their bodies are made before.
func (calendar *calendar) load(span time.Duration, mix []request) load {
	made := slices.Repeat(mix, int(calendar.span.Seconds()*5000)/len(mix)+clients)
	for i := range made {
		made[i].Body = calendar.expand(made[i].Body)
	}
	var sent atomic.Int64
	return measure(clients, span, func(client *http.Client) error {
		_, err := send(client, calendar.make(made[int(sent.Add(1))%len(made)]), io.Discard)
		return err
	})
}

// openLoop sends requests by turns at a rate, each at its moment whatever became of those before
// it, so that waiting counts.
func (calendar *calendar) openLoop(rate int, span time.Duration, mix []request) load {
	one := client(rate*int(answerTimeout/time.Second), 1)
	one.Timeout = answerTimeout
	defer one.CloseIdleConnections()
	times := make([]time.Duration, max(1, int(span.Seconds()*float64(rate))))
	var failed atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	for turn := range times {
		request := calendar.make(mix[turn%len(mix)])
		<-time.After(time.Until(begin.Add(time.Duration(turn) * time.Second / time.Duration(rate))))
		group.Go(func() {
			sent := time.Now()
			if _, err := send(one, request, io.Discard); err != nil {
				failed.Add(1)
				sent = sent.Add(-answerTimeout)
			}
			times[turn] = time.Since(sent)
		})
	}
	group.Wait()
	return newLoad(times, int(failed.Load()), begin)
}

// serveBare answers every request with the bytes of the answer at a URL until it is killed.
func (bench *bench) serveBare(address string) {
	var body bytes.Buffer
	must(send(http.DefaultClient, bench.request(http.MethodGet, address, ""), &body))
	listener := must((&net.ListenConfig{}).Listen(bench.ctx, "tcp", "127.0.0.1:0"))
	fmt.Fprintf(bench.output, "http://%s/\n", listener.Addr())
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "application/json; charset=utf-8")
		writer.Header().Set("Content-Length", digits(int64(body.Len())))
		_, _ = writer.Write(body.Bytes()) // an error says that the client is gone
	})}
	check(server.Serve(listener))
}
