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
func (c *calendar) drop() {
	connection := must(pgx.Connect(c.ctx, server("postgres")))
	must(connection.Exec(c.ctx, "DROP SCHEMA IF EXISTS "+c.name+" CASCADE"))
	check(connection.Close(c.ctx))
	feed := must(nats.Connect(server("nats")))
	defer feed.Close()
	streams := must(jetstream.New(feed))
	for stream := range streams.StreamNames(c.ctx).Name() {
		if strings.HasPrefix(strings.ToLower(stream), c.name) {
			check(streams.DeleteStream(c.ctx, stream))
		}
	}
	if slices.Contains(c.Needs, "elasticsearch") {
		var indices map[string]any // servers may refuse to delete them by wildcard
		c.ask(recorded{http.MethodGet, "/" + c.name + "*/_alias", ""}, &indices)
		for index := range indices {
			c.ask(recorded{http.MethodDelete, "/" + index, ""}, nil)
		}
	}
}

// prefix returns another name for a stream or for indices each time.
func (c *calendar) prefix() string {
	c.made++
	return fmt.Sprintf("%s-%03d", c.name, c.made)
}

var appendLine = regexp.MustCompile(`([\d.]+) appends/s.*?([\d.]+) raw/s`)

// appends runs the benchmark of the event store in PostgreSQL, which measures raw inserts by
// turns.
func (c *calendar) appends(s side) (f figure) {
	line := appendLine.FindStringSubmatch(c.run("go", "test", "-C", c.source, "-run", "^$",
		"-bench", "^BenchmarkAppend$/^callers="+s.Callers+"$", "-benchtime", c.span.String(), "./eventstore/postgres"))
	must(fmt.Sscan(strings.Join(line[1:], " "), &f.value, &f.other))
	return f
}

// pace starts a process and measures how fast a count grows from its first growth on until the
// process has come to the head of the store.
func (c *calendar) pace(role string, count func(h health) int64, args ...string) figure {
	service := c.process(role, args...)
	defer service.stop()
	var first, last int64
	var begin time.Time
	until(10*time.Millisecond, func() bool {
		h, _ := c.health(service)
		if last = count(h); first == 0 && last > 0 {
			first, begin = last, time.Now()
		}
		return h.Head > 0 && max(h.Published, h.Visible) >= h.Head
	})
	return figure{value: float64(last-first) / time.Since(begin).Seconds()}
}

// relay measures a process of that role that fills a new stream.
func (c *calendar) relay(side) figure {
	return c.pace("relay", func(h health) int64 { return h.Published })
}

// projection measures a projector that fills new indices.
func (c *calendar) projection(side) figure {
	return c.project(server("elasticsearch"), c.prefix())
}

func (c *calendar) project(index, prefix string) figure {
	return c.pace("projector", func(health) int64 {
		var written struct {
			All struct {
				Primaries struct {
					Indexing struct {
						Total int64 `json:"index_total"`
					}
				}
			} `json:"_all"`
		}
		c.ask(recorded{http.MethodGet, "/" + prefix + "-*/_stats/indexing", ""}, &written)
		return written.All.Primaries.Indexing.Total
	}, "--index", index, "--index-prefix", prefix)
}

// recorded is a request that was sent to the search server.
type recorded struct{ method, path, body string }

// record starts what forwards requests to the search server and records them.
func record() (*httptest.Server, chan recorded) {
	to := must(url.Parse(server("elasticsearch")))
	requests := make(chan recorded, 1<<16)
	return httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(proxyRequest *httputil.ProxyRequest) {
		body, _ := io.ReadAll(proxyRequest.In.Body)
		proxyRequest.Out.Body = io.NopCloser(bytes.NewReader(body))
		proxyRequest.SetURL(to)
		requests <- recorded{proxyRequest.In.Method, proxyRequest.In.URL.RequestURI(), string(body)}
	}}), requests
}

// ask sends a request to the search server and decodes the answer.
func (c *calendar) ask(q recorded, into any) {
	fetch(c.request(q.method, server("elasticsearch")+q.path, q.body), into)
}

var asking = regexp.MustCompile(`^GET|^HEAD|_refresh|_search`)

// bulk measures the _bulk requests that a projector sent, one after the other, to indices that
// are made alike.
func (c *calendar) bulk(side) figure {
	proxy, requests := record()
	defer proxy.Close()
	recording := c.prefix()
	c.project(proxy.URL, recording)
	documents, took, rename := 0, time.Duration(0), strings.NewReplacer(recording, c.prefix())
	for len(requests) > 0 {
		recorded := <-requests
		if asking.MatchString(recorded.method + recorded.path) {
			continue
		}
		var answer struct{ Items []any }
		recorded.path, recorded.body = rename.Replace(recorded.path), rename.Replace(recorded.body)
		begin := time.Now()
		if c.ask(recorded, &answer); !strings.Contains(recorded.body, `"what":"position"`) && answer.Items != nil {
			took += time.Since(begin)
			documents += len(answer.Items)
		}
	}
	return figure{value: float64(documents) / took.Seconds()}
}

// queries measures lists and the queries that answer them, sent to the search server directly,
// by turns. The queries are recorded before, by another process.
func (c *calendar) queries(s side) figure {
	index := c.prefix()
	serve := func(url string) {
		c.serve("--index", url, "--index-prefix", index)
		c.rest()
	}
	proxy, requests := record()
	defer proxy.Close()
	serve(proxy.URL)
	asked := map[request]recorded{}
	for range 400 {
		list := request{URL: c.expand(s.Requests[0].URL)}
		fetch(c.make(list), nil)
		for len(requests) > 0 {
			if q := <-requests; strings.Contains(q.body, `"track_total_hits":true`) {
				asked[list] = q
			}
		}
	}
	serve(server("elasticsearch"))
	c.load(3*c.span, []request{{URL: "$api/events?$window"}}) // as of a service in use
	var times [2][]time.Duration
	turn := 0
	for list, q := range asked {
		turn++ // of who comes first
		for i := range times {
			side, begin := (turn+i)%2, time.Now()
			if side == 0 {
				fetch(c.make(list), nil)
			} else {
				c.ask(q, nil)
			}
			times[side] = append(times[side], time.Since(begin))
		}
	}
	return figure{value: median(times[0]).Seconds() * 1000, other: median(times[1]).Seconds() * 1000}
}
