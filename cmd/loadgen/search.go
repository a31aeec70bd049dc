package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// searchServer is a server of the read model.
type searchServer struct{ name, flavour, url string }

func (e *searchServer) prefix(n int) string {
	return "bench" + strconv.FormatInt(time.Now().UnixMilli(), 36) + strconv.Itoa(n)
}

func (e *searchServer) args(url, prefix string) []string {
	return []string{"--index", url, "--index-flavour", e.flavour, "--index-prefix", prefix}
}

// recorded is one request to a search server.
type recorded struct {
	method, path string
	body         []byte
	opened       string // the point in time that it has opened
}

// recorder stands between daybook and a search server and keeps the requests, so
// that the very same can be sent without daybook.
type recorder struct {
	*httptest.Server

	mu   sync.Mutex
	seen []recorded
}

func (e *searchServer) record() (*recorder, error) {
	to, err := url.Parse(e.url)
	if err != nil {
		return nil, err
	}
	r := &recorder{}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(to) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorLog:  log.New(io.Discard, "", 0), // requests that end with a process that is stopped
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		q := recorded{method: req.Method, path: req.URL.RequestURI(), body: body}
		if !opensPoint(&q) {
			r.add(q)
			forward.ServeHTTP(w, req)
			return
		}
		answer := httptest.NewRecorder()
		forward.ServeHTTP(answer, req)
		q.opened = pointIn(answer.Body.Bytes())
		r.add(q) // before who asked for it can use it
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // who is gone needs no answer
	}))
	return r, nil
}

func (r *recorder) add(q recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, q)
}

// opensPoint tells whether a request opens a point in time.
func opensPoint(q *recorded) bool {
	return q.method == http.MethodPost && (strings.Contains(q.path, "/_pit?") || strings.Contains(q.path, "/_search/point_in_time?"))
}

// pointIn gives the point in time of an answer, "" where there is none.
func pointIn(answer []byte) string {
	var opened struct {
		ID    string `json:"id"`
		PitID string `json:"pit_id"` // OpenSearch
	}
	if json.Unmarshal(answer, &opened) != nil {
		return ""
	}
	return opened.ID + opened.PitID
}

// take gives what was recorded since the last call.
func (r *recorder) take() []recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	r.seen = nil
	return out
}

// send sends a request to the server itself and gives the answer.
func (e *searchServer) send(ctx context.Context, c *http.Client, q *recorded) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, q.method, e.url+q.path, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	switch {
	case len(q.body) == 0:
	case strings.Contains(q.path, "_bulk"):
		r.Header.Set("Content-Type", "application/x-ndjson")
	default:
		r.Header.Set("Content-Type", "application/json")
	}
	b, _, err := do(c, r)
	return b, err
}

// drop deletes the indices of a prefix, by name: servers refuse wildcards.
func (e *searchServer) drop(ctx context.Context, prefix string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	c := client(1)
	b, err := e.send(ctx, c, &recorded{method: http.MethodGet, path: "/" + prefix + "-*/_alias"})
	if err != nil {
		return err
	}
	var found map[string]json.RawMessage
	if err := json.Unmarshal(b, &found); err != nil {
		return err
	}
	for index := range found {
		if strings.HasPrefix(index, prefix+"-") {
			_, e := e.send(ctx, c, &recorded{method: http.MethodDelete, path: "/" + index})
			err = errors.Join(err, e)
		}
	}
	return err
}

// position reads the position that is kept with the documents.
func (e *searchServer) position(ctx context.Context, c *http.Client, prefix string) (float64, error) {
	b, err := e.send(ctx, c, &recorded{method: http.MethodGet, path: "/" + prefix + "-state/_doc/position"})
	if err != nil {
		return 0, err
	}
	var v struct {
		Source struct{ Position float64 } `json:"_source"`
	}
	err = json.Unmarshal(b, &v)
	return v.Source.Position, err
}

// written reads how many documents were written to the indices of a prefix.
func (e *searchServer) written(ctx context.Context, c *http.Client, prefix string) (float64, error) {
	b, err := e.send(ctx, c, &recorded{method: http.MethodGet, path: "/" + prefix + "-*/_stats/indexing"})
	if err != nil {
		return 0, err
	}
	var v struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total float64 `json:"index_total"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	err = json.Unmarshal(b, &v)
	return v.All.Primaries.Indexing.Total, err
}

// searchRows prints the rows of one search server.
func (c *calendarOn) searchRows(ctx context.Context, e *searchServer, r *report) error {
	if c.o.wants("projection") {
		if err := c.projection(ctx, e, r); err != nil {
			return fmt.Errorf("projection: %w", err)
		}
	}
	if !c.o.wants("engines") {
		return nil
	}
	prefix := e.prefix(0)
	return errors.Join(c.searchLists(ctx, e, prefix, r), e.drop(ctx, prefix))
}

// project has a projector fill new indices and gives its rate in documents. It is
// done when the position that is kept is the head: a new index is filled from the
// present state of records, and its position comes at the end.
func (c *calendarOn) project(ctx context.Context, e *searchServer, at, prefix string) (_ float64, err error) {
	role := "projector"
	if c.o.servers.postgres == "" || c.o.servers.nats == "" {
		role = "all" // the work is not shared without them
	}
	s, err := c.serve(ctx, role, e.args(at, prefix)...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	hc := client(1)
	defer hc.CloseIdleConnections()
	var head float64
	return pace(ctx, func() (float64, float64, error) {
		if head == 0 {
			var h struct{ Head float64 }
			if err := s.health(ctx, &h); err != nil {
				return 0, 0, err
			}
			head = h.Head
		}
		n, err := e.written(ctx, hc, prefix)
		if err != nil {
			return 0, 0, err
		}
		if p, err := e.position(ctx, hc, prefix); err != nil || p < head {
			return n, n + 1, nil //nolint:nilerr // no position is kept before the end
		}
		return n, n, nil
	})
}

// projection measures a projector on new indices against the same _bulk requests
// sent one after the other to new indices of the same mappings.
func (c *calendarOn) projection(ctx context.Context, e *searchServer, r *report) (err error) {
	rec, err := e.record()
	if err != nil {
		return err
	}
	defer rec.Close()
	var prefixes []string
	defer func() {
		for _, p := range prefixes {
			err = errors.Join(err, e.drop(ctx, p))
		}
	}()
	next := func() string {
		prefixes = append(prefixes, e.prefix(len(prefixes)))
		return prefixes[len(prefixes)-1]
	}
	first := next()
	if _, err := c.project(ctx, e, rec.URL, first); err != nil {
		return err
	}
	script := rec.take()
	own := func() (float64, error) { return c.project(ctx, e, e.url, next()) }
	raw := func() (float64, error) { return e.replay(ctx, script, first, next()) }
	var a, b, ratio []float64
	for range rounds {
		x, err := own()
		if err != nil {
			return err
		}
		y, err := raw()
		if err != nil {
			return err
		}
		a, b, ratio = append(a, x), append(b, y), append(ratio, x/y)
	}
	r.against("projection into "+e.name+", against raw _bulk", 0.85, median(a), median(b), median(ratio))
	return nil
}

// replay makes indices as they were recorded, under another prefix, and sends the
// recorded documents to them. It gives the rate of the documents.
func (e *searchServer) replay(ctx context.Context, script []recorded, was, prefix string) (float64, error) {
	c := client(1)
	defer c.CloseIdleConnections()
	documents := 0
	var took time.Duration
	for i := range script {
		q := script[i]
		if q.method == http.MethodGet || q.method == http.MethodHead || strings.Contains(q.path, "_refresh") || strings.Contains(q.path, "_search") {
			continue
		}
		q.path = strings.ReplaceAll(q.path, was, prefix)
		q.body = bytes.ReplaceAll(q.body, []byte(was), []byte(prefix))
		begin := time.Now()
		b, err := e.send(ctx, c, &q)
		if err != nil {
			return 0, err
		}
		if !strings.Contains(q.path, "_bulk") || bytes.Contains(q.body, []byte(`"what":"position"`)) {
			continue
		}
		took += time.Since(begin)
		if err := refused(b); err != nil {
			return 0, fmt.Errorf("raw _bulk: %w", err)
		}
		documents += bytes.Count(q.body, []byte("\n")) / 2
	}
	if documents == 0 {
		return 0, errors.New("no documents were recorded")
	}
	return float64(documents) / took.Seconds(), nil
}

// refused finds an item of a _bulk answer that was not taken. A conflict of versions is
// none: a mark that goes with several requests is there already.
func refused(answer []byte) error {
	if !bytes.Contains(answer, []byte(`"errors":true`)) {
		return nil
	}
	var v struct {
		Items []map[string]struct {
			Status int
			Error  json.RawMessage
		}
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		return err
	}
	for _, item := range v.Items {
		for _, done := range item {
			if done.Status >= http.StatusMultipleChoices && done.Status != http.StatusConflict {
				return fmt.Errorf("%d: %.300s", done.Status, done.Error)
			}
		}
	}
	return nil
}

// listQueries is how many different lists are compared with their queries.
const listQueries = 400

// searchLists measures lists through the service against the searches that they
// are answered by. Indices of the prefix are filled unless they are.
func (c *calendarOn) searchLists(ctx context.Context, e *searchServer, prefix string, rep *report) (err error) {
	if c.o.servers.nats != "" {
		if err := clearFeed(ctx, c.o.servers.nats); err != nil {
			return err
		}
	}
	m := newMaker(5)
	windows, texts := make([]string, listQueries), make([]string, listQueries)
	for i := range windows {
		from := today().AddDate(0, 0, -100).Add(time.Duration(i*1789) * time.Minute)
		windows[i] = window(from)
		texts[i] = "?search=" + url.QueryEscape(m.words(1+i%2)+" "+strconv.Itoa(i%10))
	}
	r, err := e.record()
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := c.serve(ctx, "all", e.args(r.URL, prefix)...)
	if err != nil {
		return err
	}
	searches := map[string]*recorded{}
	err = func() error {
		if err := s.complete(ctx); err != nil {
			return err
		}
		hc := client(1)
		for _, q := range append(append([]string(nil), windows...), texts...) {
			r.take()
			if _, err := s.list(ctx, hc, q); err != nil {
				return err
			}
			for _, found := range r.take() {
				if strings.Contains(found.path, "_search") && bytes.Contains(found.body, []byte(`"track_total_hits":true`)) {
					searches[q] = &found
				}
			}
			if searches[q] == nil {
				return fmt.Errorf("the list %s sent no search", q)
			}
		}
		return nil
	}()
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	if s, err = c.serveComplete(ctx, e, prefix); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	// A service that has run for a while: other windows, so no answer is kept of
	// those that count.
	if _, err := gets(ctx, 1, 3*c.o.span, nil, func(_, turn int) string {
		return s.root + "/events" + window(today().AddDate(0, 0, -150).Add(time.Duration(turn*7919%1_000_000)*time.Minute+time.Second))
	}); err != nil {
		return err
	}
	fmt.Fprintf(rep, "%-52s %12s %12s %8s  %s\n", "", "p50", "direct p50", "ratio", "at most")
	for _, row := range []struct {
		name    string
		queries []string
	}{{"another window each", windows}, {"another text each", texts}} {
		own, direct, err := s.beside(ctx, e, row.queries, searches)
		if err != nil {
			return err
		}
		ratio := float64(own.p50) / float64(direct.p50)
		fmt.Fprintf(rep, "%-52s %9.3f ms %9.3f ms %8.2f  1.20 %s\n", "list through "+e.name+", "+row.name,
			ms(own.p50), ms(direct.p50), ratio, rep.verdict(ratio <= 1.2))
	}
	return c.cachedLists(ctx, e, s, rep)
}

func window(from time.Time) string {
	return "?strict_dates=true&start_date=" + url.QueryEscape(from.Format(time.DateTime)) +
		"&end_date=" + url.QueryEscape(from.AddDate(0, 1, 0).Format(time.DateTime))
}

// serveComplete starts all roles over a search server, and gives the service once lists
// show everything and it is at rest.
func (c *calendarOn) serveComplete(ctx context.Context, e *searchServer, prefix string) (*service, error) {
	s, err := c.serve(ctx, "all", e.args(e.url, prefix)...)
	if err != nil {
		return nil, err
	}
	err = s.complete(ctx)
	if err == nil {
		err = s.settle(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// complete waits until lists show everything.
func (s *service) complete(ctx context.Context) error {
	for range 30_000 {
		var h struct{ Visible, Head float64 }
		if err := s.health(ctx, &h); err == nil && h.Head > 0 && h.Visible >= h.Head {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return errors.New("lists do not show everything after five minutes")
}

func (s *service) list(ctx context.Context, c *http.Client, query string) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/events"+query, http.NoBody)
	if err != nil {
		return nil, err
	}
	return drain(c, r)
}

// beside sends each list and the search that answers it, one after the other, in
// turn this one and that one first, from one client.
func (s *service) beside(ctx context.Context, e *searchServer, queries []string, searches map[string]*recorded) (own, direct figures, err error) {
	c := client(1)
	defer c.CloseIdleConnections()
	var a, b []time.Duration
	for i, q := range queries {
		for side := range 2 {
			begin := time.Now()
			if side == i%2 {
				if _, err := s.list(ctx, c, q); err != nil {
					return own, direct, err
				}
				a = append(a, time.Since(begin))
				continue
			}
			if _, err := e.send(ctx, c, searches[q]); err != nil {
				return own, direct, err
			}
			b = append(b, time.Since(begin))
		}
	}
	return percentiles([][]time.Duration{a}), percentiles([][]time.Duration{b}), nil
}

// cachedLists measures lists from the cache, and 304, against lists that have to
// be asked for.
func (c *calendarOn) cachedLists(ctx context.Context, e *searchServer, s *service, r *report) error {
	const callers = 8
	header, err := s.list(ctx, client(1), "")
	if err != nil {
		return err
	}
	turns := make([]int, callers) // go on over the rounds, so that no request comes twice
	events := s.root + "/events"
	uncached := func() (float64, error) {
		f, err := gets(ctx, callers, c.o.span, nil, func(caller, _ int) string {
			turns[caller]++
			return events + window(today().Add(time.Duration((caller+turns[caller]*callers)*7919%500000)*time.Minute))
		})
		return f.rate, err
	}
	fmt.Fprintf(r, "%-52s %12s %12s %8s  %s\n", "", "per second", "uncached", "ratio", "at least")
	for _, row := range []struct {
		name   string
		header http.Header
	}{{"cached list", nil}, {"304", http.Header{"If-None-Match": {header.Get("Etag")}}}} {
		var a, b, ratio []float64
		for range rounds {
			f, err := gets(ctx, callers, c.o.span, row.header, func(int, int) string { return events })
			if err != nil {
				return err
			}
			y, err := uncached()
			if err != nil {
				return err
			}
			a, b, ratio = append(a, f.rate), append(b, y), append(ratio, f.rate/y)
		}
		r.against(row.name+", "+strconv.Itoa(callers)+" clients, "+e.name, 20, median(a), median(b), median(ratio))
	}
	return nil
}
