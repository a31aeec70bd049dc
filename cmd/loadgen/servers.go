package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// drop removes what the calendar has on servers.
func (calendar *calendar) drop() {
	connection := must(pgx.Connect(calendar.ctx, server("postgres")))
	must(connection.Exec(calendar.ctx, "DROP SCHEMA IF EXISTS "+calendar.name+" CASCADE"))
	check(connection.Close(calendar.ctx))
	feed := must(nats.Connect(server("nats")))
	defer feed.Close()
	streams := must(jetstream.New(feed))
	for stream := range streams.StreamNames(calendar.ctx).Name() {
		if strings.HasPrefix(strings.ToLower(stream), calendar.name) {
			check(streams.DeleteStream(calendar.ctx, stream))
		}
	}
	if slices.Contains(calendar.Needs, "elasticsearch") {
		var indices map[string]any // servers may refuse to delete them by wildcard
		calendar.ask(recordedRequest{http.MethodGet, "/" + calendar.name + "*/_alias", ""}, &indices)
		for index := range indices {
			calendar.ask(recordedRequest{http.MethodDelete, "/" + index, ""}, nil)
		}
	}
}

// prefix returns another name for a stream or for indices each time.
func (calendar *calendar) prefix() string {
	calendar.made++
	return fmt.Sprintf("%s-%03d", calendar.name, calendar.made)
}

var appendLine = regexp.MustCompile(`([\d.]+) appends/s.*?([\d.]+) raw/s`)

// appends runs the benchmark of the event store in PostgreSQL, which measures raw inserts by
// turns.
func (calendar *calendar) appends(side side) (figure figure) {
	line := appendLine.FindStringSubmatch(calendar.run("go", "test", "-C", calendar.source, "-run", "^$",
		"-bench", "^BenchmarkAppend$/^callers="+side.Callers+"$", "-benchtime", calendar.span.String(), "./eventstore/postgres"))
	must(fmt.Sscan(strings.Join(line[1:], " "), &figure.value, &figure.other))
	return figure
}

// pace starts a process and measures how fast a count grows from its first growth on until the
// process has come to the head of the store.
func (calendar *calendar) pace(role string, count func(health health) int64, args ...string) figure {
	service := calendar.process(role, args...)
	defer service.stop()
	var first, last int64
	var begin time.Time
	until(50*time.Millisecond, func() bool { // asking takes processor time from what is measured
		health, _ := calendar.health(service)
		if last = count(health); first == 0 && last > 0 {
			first, begin = last, time.Now()
		}
		return health.Head > 0 && max(health.Published, health.Visible) >= health.Head
	})
	return figure{value: float64(last-first) / time.Since(begin).Seconds()}
}

// relay measures a process of that role that fills a new stream.
func (calendar *calendar) relay(side) figure {
	return calendar.pace("relay", func(h health) int64 { return h.Published })
}

// projection measures a projector that fills new indices.
func (calendar *calendar) projection(side) figure {
	return calendar.project(server("elasticsearch"), calendar.prefix())
}

func (calendar *calendar) project(index, prefix string) figure {
	return calendar.pace("projector", func(health) int64 {
		var written struct {
			All struct {
				Primaries struct {
					Indexing struct {
						Total int64 `json:"index_total"`
					}
				}
			} `json:"_all"`
		}
		calendar.ask(recordedRequest{http.MethodGet, "/" + prefix + "-*/_stats/indexing", ""}, &written)
		return written.All.Primaries.Indexing.Total
	}, "--index", index, "--index-prefix", prefix)
}

// recordedRequest is a request that was sent to the search server.
type recordedRequest struct{ method, path, body string }

// record starts what forwards requests to the search server and records them.
func record() (*httptest.Server, chan recordedRequest) {
	to := must(url.Parse(server("elasticsearch")))
	requests := make(chan recordedRequest, 1<<16)
	return httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(proxyRequest *httputil.ProxyRequest) {
		body, _ := io.ReadAll(proxyRequest.In.Body)
		proxyRequest.Out.Body = io.NopCloser(bytes.NewReader(body))
		proxyRequest.SetURL(to)
		requests <- recordedRequest{proxyRequest.In.Method, proxyRequest.In.URL.RequestURI(), string(body)}
	}}), requests
}

// ask sends a request to the search server and decodes the answer.
func (calendar *calendar) ask(recorded recordedRequest, into any) {
	fetch(calendar.request(recorded.method, server("elasticsearch")+recorded.path, recorded.body), into)
}

var asking = regexp.MustCompile(`^GET|^HEAD|_refresh|_search`)

// bulk measures the _bulk requests that a projector sent, one after the other, to indices that
// are made alike.
func (calendar *calendar) bulk(side) figure {
	proxy, requests := record()
	defer proxy.Close()
	recording := calendar.prefix()
	calendar.project(proxy.URL, recording)
	documents, took, rename := 0, time.Duration(0), strings.NewReplacer(recording, calendar.prefix())
	for len(requests) > 0 {
		recorded := <-requests
		if asking.MatchString(recorded.method + recorded.path) {
			continue
		}
		var answer struct{ Items []any }
		recorded.path, recorded.body = rename.Replace(recorded.path), rename.Replace(recorded.body)
		begin := time.Now()
		if calendar.ask(recorded, &answer); !strings.Contains(recorded.body, `"what":"position"`) && answer.Items != nil {
			took += time.Since(begin)
			documents += len(answer.Items)
		}
	}
	return figure{value: float64(documents) / took.Seconds()}
}

// queries measures lists and the queries that answer them, sent to the search server directly,
// by turns. The queries are recorded before, by another process.
func (calendar *calendar) queries(s side) figure {
	index := calendar.prefix()
	serve := func(address string) {
		calendar.serve("--index", address, "--index-prefix", index)
		calendar.rest()
	}
	proxy, requests := record()
	defer proxy.Close()
	serve(proxy.URL)
	asked := map[request]recordedRequest{}
	for range 400 {
		list := request{URL: calendar.expand(s.Requests[0].URL)}
		fetch(calendar.make(list), nil)
		for len(requests) > 0 {
			if q := <-requests; strings.Contains(q.body, `"track_total_hits":true`) && !strings.Contains(q.body, `"pit"`) {
				asked[list] = q
			}
		}
	}
	serve(server("elasticsearch"))
	calendar.load(3*calendar.span, s.Requests) // as of a service in use
	var times [2][]time.Duration
	turn := 0
	for list, q := range asked {
		turn++ // of who comes first
		for i := range times {
			side, begin := (turn+i)%2, time.Now()
			if side == 0 {
				fetch(calendar.make(list), nil)
			} else {
				calendar.ask(q, nil)
			}
			times[side] = append(times[side], time.Since(begin))
		}
	}
	return figure{value: median(times[0]).Seconds() * 1000, other: median(times[1]).Seconds() * 1000}
}
