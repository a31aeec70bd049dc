package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// openDistributed fills a schema of PostgreSQL. Streams and indices get its name and a number.
func openDistributed(b *bench, g group) *calendar {
	name := fmt.Sprintf("bench%x", time.Now().UnixNano())
	c := b.fill(b.directory+"/"+g.name, "heavy", *b.sizes[g.name], "--store", *b.servers["postgres"], "--store-schema", name)
	c.name, b.cleanup = name, append(b.cleanup, func() {
		connection := must(pgx.Connect(b.ctx, *b.servers["postgres"]))
		must(connection.Exec(b.ctx, "DROP SCHEMA "+name+" CASCADE"))
		check(connection.Close(b.ctx))
		feed := must(nats.Connect(*b.servers["nats"]))
		defer feed.Close()
		streams := must(jetstream.New(feed))
		for stream := range streams.StreamNames(b.ctx).Name() {
			if strings.HasPrefix(strings.ToLower(stream), name) {
				check(streams.DeleteStream(b.ctx, stream))
			}
		}
		if g.name == "index" {
			var indices map[string]any // servers may refuse to delete them by wildcard
			c.ask(recorded{http.MethodGet, "/" + name + "*/_alias", ""}, &indices)
			for index := range indices {
				c.ask(recorded{http.MethodDelete, "/" + index, ""}, &struct{}{})
			}
		}
	})
	return c
}

// prefix returns another name for a stream or for indices each time.
func (c *calendar) prefix() string {
	c.made++
	return fmt.Sprintf("%s-%d", c.name, c.made)
}

var appendLine = regexp.MustCompile(`BenchmarkAppend/callers=(\d+)\S*\s.*?([\d.]+) appends/s.*?([\d.]+) raw/s`)

// appends runs the benchmark of the event store in PostgreSQL, which measures raw inserts by
// turns.
func appends(callers string) side {
	var measured figure // once
	return func(c *calendar) figure {
		if measured.value == 0 {
			own, raw := make([]float64, 0, rounds), make([]float64, 0, rounds)
			for _, line := range appendLine.FindAllStringSubmatch(c.run("go", "test", "-C", c.source, "-run", "^$", "-bench", "^BenchmarkAppend$/^callers="+callers+"$",
				"-benchtime", c.span.String(), "-count", strconv.Itoa(rounds), "./eventstore/postgres"), -1) {
				own, raw = append(own, must(strconv.ParseFloat(line[2], 64))), append(raw, must(strconv.ParseFloat(line[3], 64)))
			}
			measured = figure{value: median(own), other: median(raw)}
		}
		return measured
	}
}

// pace measures how fast a count grows to its end, from its first growth on.
func (c *calendar) pace(count func() (now int64, done bool)) figure {
	var first, last int64
	var begin time.Time
	c.until(10*time.Millisecond, func() (done bool) {
		if last, done = count(); first == 0 && last > 0 {
			first, begin = last, time.Now()
		}
		return done
	})
	return figure{value: float64(last-first) / time.Since(begin).Seconds()}
}

// relay measures a process of that role that fills a new stream.
func relay(c *calendar) figure {
	s := c.process("relay", "--feed", *c.servers["nats"], "--feed-prefix", c.prefix())
	defer s.stop()
	return c.pace(func() (int64, bool) {
		h := c.health(s)
		return h.Published, h.Head > 0 && h.Published >= h.Head
	})
}

// recorded is a request that was sent to the search server.
type recorded struct{ method, path, body string }

// record starts what forwards requests to the search server; take returns those that came since
// it was called last.
func (c *calendar) record() (proxy *httptest.Server, take func() []recorded) {
	to := must(url.Parse(*c.servers["elasticsearch"]))
	var mutex sync.Mutex
	var seen []recorded
	forward := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(p *httputil.ProxyRequest) {
		body, _ := io.ReadAll(p.In.Body)
		p.Out.Body = io.NopCloser(bytes.NewReader(body))
		mutex.Lock()
		defer mutex.Unlock()
		seen = append(seen, recorded{p.In.Method, p.In.URL.RequestURI(), string(body)})
		p.SetURL(to)
	}}
	return httptest.NewServer(forward), func() []recorded {
		mutex.Lock()
		defer mutex.Unlock()
		defer func() { seen = nil }()
		return seen
	}
}

// ask sends a request to the search server and decodes the answer.
func (c *calendar) ask(q recorded, into any) {
	kind := "application/json"
	if strings.Contains(q.path, "_bulk") {
		kind = "application/x-ndjson"
	}
	c.fetch(c.request(q.method, *c.servers["elasticsearch"]+q.path, q.body, "Content-Type", kind), into)
}

// projection measures a projector that fills new indices.
func projection(c *calendar) figure { return c.project(*c.servers["elasticsearch"], c.prefix()) }

func (c *calendar) project(index, prefix string) figure {
	s := c.process("projector", "--feed", *c.servers["nats"], "--feed-prefix", c.prefix(), "--index", index, "--index-prefix", prefix)
	defer s.stop()
	return c.pace(func() (int64, bool) {
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
		h := c.health(s)
		return written.All.Primaries.Indexing.Total, h.Head > 0 && h.Visible >= h.Head
	})
}

// rawBulk measures the _bulk requests that a projector sent, one after the other, to indices
// that are made alike.
func rawBulk(c *calendar) figure {
	recording := c.name + "-recording"
	if c.script == nil {
		proxy, take := c.record()
		defer proxy.Close()
		c.project(proxy.URL, recording)
		c.script = take()
	}
	documents, took, prefix := 0, time.Duration(0), c.prefix()
	for _, q := range c.script {
		if q.method == http.MethodGet || q.method == http.MethodHead || strings.Contains(q.path, "_refresh") || strings.Contains(q.path, "_search") {
			continue
		}
		q.path, q.body = strings.ReplaceAll(q.path, recording, prefix), strings.ReplaceAll(q.body, recording, prefix)
		var answer struct{ Items []any }
		begin := time.Now()
		if c.ask(q, &answer); !strings.Contains(q.body, `"what":"position"`) && len(answer.Items) > 0 {
			took += time.Since(begin)
			documents += len(answer.Items)
		}
	}
	return figure{value: float64(documents) / took.Seconds()}
}

// remoteLists measures lists and the queries that answer them, sent to the search server
// directly, by turns. The queries are recorded before, by another process.
func remoteLists(query string) side {
	return func(c *calendar) figure {
		index := c.prefix()
		proxy, take := c.record()
		defer proxy.Close()
		serve := func(url string) {
			c.stop()
			c.serve("--feed", *c.servers["nats"], "--feed-prefix", c.prefix(), "--index", url, "--index-prefix", index)
			c.rest()
		}
		list := func(query string) {
			must(send(http.DefaultClient, c.request(http.MethodGet, c.Root+"/events"+query, ""), io.Discard))
		}
		serve(proxy.URL)
		queries := map[string]recorded{}
		for range 400 {
			one := c.expand(query)
			take()
			list(one)
			for _, q := range take() {
				if strings.Contains(q.path, "_search") && strings.Contains(q.body, `"track_total_hits":true`) {
					queries[one] = q
				}
			}
		}
		serve(*c.servers["elasticsearch"])
		requests(1, 3*c.span, func() *http.Request { return c.request(http.MethodGet, c.expand(other), "") }) // as of a service in use
		var times [2][]time.Duration
		turn := 0
		for one, q := range queries {
			turn++ // of who comes first
			for i := range times {
				side, begin := (turn+i)%2, time.Now()
				if side == 0 {
					list(one)
				} else {
					c.ask(q, &struct{}{})
				}
				times[side] = append(times[side], time.Since(begin))
			}
		}
		return figure{value: milliseconds(median(times[0])), other: milliseconds(median(times[1]))}
	}
}
