package elastic_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/readmodeltest"
)

// recorded keeps the bodies of requests, to send them again without this package.
type recorded struct {
	mu     sync.Mutex
	bodies [][]byte
	suffix string
	path   string
}

func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, r.suffix) && req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(b))
		r.mu.Lock()
		r.bodies, r.path = append(r.bodies, b), req.URL.RequestURI()
		r.mu.Unlock()
	}
	return http.DefaultTransport.RoundTrip(req)
}

func send(b *testing.B, url, contentType string, body []byte) {
	b.Helper()
	res, err := http.Post(url, contentType, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("status %d, %v", res.StatusCode, err)
	}
}

func batches(n int) []readmodel.Batch {
	c := readmodeltest.NewCorpus(n, 1)
	var out []readmodel.Batch
	_ = c.Fill(func(b readmodel.Batch) error { out = append(out, b); return nil })
	return out
}

func onEachB(b *testing.B, run func(b *testing.B, e engine)) {
	b.Helper()
	for _, e := range engines {
		b.Run(string(e.flavour), func(b *testing.B) {
			e.url(b)
			run(b, e)
		})
	}
}

// BenchmarkProjection writes a corpus, and sends the same bulk requests raw, by
// turns; ratio is raw time to ours: 1 is as fast as the engine.
func BenchmarkProjection(b *testing.B) {
	const n = 4000
	all := batches(n)
	documents := 0
	for _, batch := range all {
		documents += len(batch.Documents)
	}
	onEachB(b, func(b *testing.B, e engine) {
		b.Helper()
		r := &recorded{suffix: "_bulk"}
		x := e.open(b, elastic.Options{Transport: r})
		generation := 1
		write := func() time.Duration {
			started := time.Now()
			for _, batch := range all {
				if _, err := x.Write(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			return time.Since(started)
		}
		reset := func() {
			if err := x.Reset(b.Context()); err != nil {
				b.Fatal(err)
			}
			generation++
		}
		write() // warms up, and gives the requests
		documentsOf := r.bodies
		sendAll := func() time.Duration {
			bodies := make([][]byte, 0, len(documentsOf))
			for _, body := range documentsOf {
				if !bytes.Contains(body, []byte("-state-")) {
					bodies = append(bodies, bytes.ReplaceAll(body, []byte("-1-write"), fmt.Appendf(nil, "-%d-write", generation)))
				}
			}
			started := time.Now()
			for _, body := range bodies {
				send(b, e.url(b)+"/_bulk", "application/x-ndjson", body)
			}
			return time.Since(started)
		}
		var ours, raw []time.Duration
		for b.Loop() {
			reset()
			raw = append(raw, sendAll())
			reset()
			ours = append(ours, write())
			reset()
			ours = append(ours, write())
			reset()
			raw = append(raw, sendAll())
		}
		slices.Sort(ours)
		slices.Sort(raw)
		o, w := ours[len(ours)/2-1], raw[len(raw)/2-1]
		b.ReportMetric(float64(documents)/o.Seconds(), "docs/s")
		b.ReportMetric(float64(w)/float64(o), "ratio")
	})
}

// BenchmarkList asks for pages of lists, and sends the same searches raw, by
// turns; ratio is our median to the raw one.
func BenchmarkList(b *testing.B) {
	const n = 10_000
	all := batches(n)
	onEachB(b, func(b *testing.B, e engine) {
		b.Helper()
		r := &recorded{suffix: "_search"}
		x := e.open(b, elastic.Options{Transport: r})
		var last calendar.Position
		for _, batch := range all {
			if _, err := x.Write(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
			last = batch.Mark.Position
		}
		if err := x.Wait(b.Context(), last); err != nil {
			b.Fatal(err)
		}
		word := readmodeltest.NewCorpus(n, 1).Word(300)
		for name, filter := range map[string]func(day int) readmodel.And{
			"window": readmodeltest.Window,
			"search": func(day int) readmodel.And {
				return append(readmodeltest.Window(day), readmodel.Text{Fields: []string{readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt}, Search: readmodel.ParseSearch(
					word, calendar.LangEN)})
			},
		} {
			b.Run(name, func(b *testing.B) {
				var ours, raw []time.Duration
				day := 0
				for b.Loop() {
					day++
					r.bodies = nil
					q := readmodel.Query{Kind: calendar.KindEvent, Sort: readmodeltest.ByStart(), Limit: 10, Filter: filter(day % 300)}
					started := time.Now()
					p, err := x.Search(b.Context(), q)
					ours = append(ours, time.Since(started))
					if err != nil || p.Total == 0 {
						b.Fatal(fmt.Errorf("%d found, %w", p.Total, err))
					}
					q.Filter = filter((day + 150) % 300) // a new window for the raw one, too
					other := r.bodies[0]
					started = time.Now()
					send(b, e.url(b)+r.path, "application/json", other)
					raw = append(raw, time.Since(started))
				}
				slices.Sort(ours)
				slices.Sort(raw)
				o, w := ours[len(ours)/2], raw[len(raw)/2]
				b.ReportMetric(float64(o.Microseconds()), "us/p50")
				b.ReportMetric(float64(w.Microseconds()), "us/raw-p50")
				b.ReportMetric(float64(o)/float64(w), "ratio")
			})
		}
	})
}
