package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The bounds of what listing frontends ask for, in milliseconds at the 50th percentile.
const (
	mostTypos   = 2
	mostSuggest = 0.5
	mostFacets  = 3   // of the time of a plain list
	mostDirect  = 1.3 // of the time of the same queries sent directly
	mostDeep    = 1.2 // of the time of the first steps: as fast, but for what a machine varies by
	deepEvents  = 40_000
	feedEvents  = 5000
	leastFeed   = 50 // MB/s of a whole feed of so many events
)

// asks makes what listing frontends ask for, every time something else.
type asks struct {
	*maker
	n int
}

// listingRow is a way to ask, by the path behind the root.
type listingRow struct {
	name   string
	most   float64 // ms; 0: no bound
	times  float64 // most of the plain list; 0: no bound
	direct bool    // measured against search servers, too
	path   func(a *asks) string
}

const plainList = "plain list"

var listingRows = []listingRow{
	{name: plainList, path: func(a *asks) string { return "/events" + a.another() }},
	{name: "the same with five facets", times: mostFacets, direct: true, path: func(a *asks) string {
		return "/events" + a.another() + "&facets=categories,tags,venue,city,month"
	}},
	{name: "search, a word", path: func(a *asks) string { return "/events" + a.another() + "&search=" + a.text() }},
	{name: "search with typos=on", most: mostTypos, direct: true, path: func(a *asks) string {
		return "/events" + a.another() + "&typos=on&search=" + a.typo()
	}},
	{name: "the same, highlight=true", path: func(a *asks) string {
		return "/events" + a.another() + "&highlight=true&typos=on&search=" + a.typo()
	}},
	{name: "the same, sort=relevance", path: func(a *asks) string {
		return "/events" + a.another() + "&sort=relevance&typos=on&search=" + a.typo()
	}},
	{name: "suggest, three letters", most: mostSuggest, direct: true, path: func(a *asks) string { return "/suggest?" + a.start() }},
	{name: "the same, 1 to 20 of each kind", path: func(a *asks) string { return "/suggest?limit=" + strconv.Itoa(1+a.n%20) + "&" + a.start() }},
	{name: "suggest, a word and three letters", path: func(a *asks) string { return "/suggest?q=" + url.QueryEscape(a.text()+" "+a.text()[:3]) }},
	{name: "suggest, a word with typos", path: func(a *asks) string { return "/suggest?limit=" + strconv.Itoa(1+a.n%20) + "&q=" + a.typo() }},
	{name: "first step of a walk", direct: true, path: func(a *asks) string { return "/events" + a.another() + "&cursor=*" }},
}

func (a *asks) text() string { a.n++; return a.words(1) }

// start gives three letters that were typed, in a language. There are few beginnings of
// words, so what is no part of a word makes each request another one.
func (a *asks) start() string {
	return "multilang_language=" + []string{"en", "fr", "es", "cn"}[a.n/50%4] + "&q=" + a.text()[:3] + strings.Repeat(".", a.n%50)
}

// typo gives a word of eight letters and more, with a typo.
func (a *asks) typo() string {
	for {
		if w := a.text(); len(w) >= 8 {
			at := 1 + a.n%(len(w)-2)
			return w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
		}
	}
}

func (a *asks) another() string {
	a.n++
	return window(today().Add(time.Duration(a.n*7919%500000) * time.Minute))
}

// listings measures what listing frontends ask for beside plain lists: one client, every
// request another one, so that none is answered from the cache.
func listings(ctx context.Context, o options, dir string, r *report, errw io.Writer) (err error) {
	fmt.Fprintf(r, "\nlistings, %d %s events, one client, every request another one\n%-44s %12s %12s\n", o.listSize, o.weights[0], "", "p50", "p99")
	if err := listingsInMemory(ctx, o, dir, r, errw); err != nil {
		return err
	}
	return listingsOnServers(ctx, o, filepath.Join(dir, "servers"), r, errw)
}

func listingsInMemory(ctx context.Context, o options, dir string, r *report, errw io.Writer) (err error) {
	s, err := filled(ctx, o, dir, o.listSize, o.weights[0], errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	a := &asks{maker: newMaker(21)}
	var plain time.Duration
	for _, row := range listingRows {
		f, err := gets(ctx, 1, o.span, nil, func(int, int) string { return s.root + row.path(a) })
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		r.latency(row.name, row.most, f)
		if row.name == plainList {
			plain = f.p50
		}
		if row.times > 0 {
			r.times("that, against the plain list", row.times, f.p50, plain)
		}
	}
	if err := s.severalAtOnce(ctx, o, r, a); err != nil {
		return err
	}
	if err := s.deepStep(ctx, o, r); err != nil {
		return err
	}
	return s.feedPace(ctx, o, r)
}

// times writes how many times another row takes.
func (r *report) times(name string, most float64, own, other time.Duration) {
	r.ratio(name, most, float64(own)/float64(other))
}

func (r *report) ratio(name string, most, n float64) {
	fmt.Fprintf(r, "%-44s %9.2f      at most %g: %s\n", name, n, most, r.verdict(n <= most))
}

// deepStep measures the first steps of a walk and those at a depth, in turn this one and
// that one, in several rounds; the median of the ratios of the rounds counts.
func (s *service) deepStep(ctx context.Context, o options, r *report) error {
	const size, some = 50, 100
	from := min(deepEvents, o.listSize*8/10) / size
	c := client(1)
	defer c.CloseIdleConnections()
	step := func(at string) (took time.Duration, next string, err error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			return 0, "", err
		}
		begin := time.Now()
		b, _, err := do(c, q)
		took = time.Since(begin)
		if err != nil {
			return 0, "", err
		}
		var list struct {
			Next string `json:"next_rest_url"`
		}
		err = json.Unmarshal(b, &list)
		return took, list.Next, err
	}
	// All walks are of one selection. What they differ by has no effect but that no answer
	// is one that was given before.
	walk := func(n int) string {
		return s.root + "/events?starts_after=1970-01-01&per_page=" + strconv.Itoa(size) + "&highlight_length=" + strconv.Itoa(100+n) + "&cursor=*"
	}
	var first, deep []time.Duration
	var ratios []float64
	for round := range 2 * rounds {
		at := walk(2 * round)
		var err error
		for n := range from {
			if _, at, err = step(at); err != nil || at == "" {
				return fmt.Errorf("step %d of a walk to %d: %w", n, from*size, cmp.Or(err, io.ErrUnexpectedEOF))
			}
		}
		places := [2]string{walk(2*round + 1), at}
		var times [2][]time.Duration
		for n := 0; n < 2*some && places[0] != "" && places[1] != ""; n++ {
			side := (n + n/2) % 2 // 0 1 1 0
			var took time.Duration
			if took, places[side], err = step(places[side]); err != nil {
				return fmt.Errorf("steps at %d: %w", from*size, err)
			}
			times[side] = append(times[side], took)
		}
		first, deep = append(first, times[0]...), append(deep, times[1]...)
		ratios = append(ratios, float64(median(times[1]))/float64(median(times[0])))
	}
	r.latency("first "+strconv.Itoa(some)+" steps of a walk by "+strconv.Itoa(size), 0, percentiles([][]time.Duration{first}))
	r.latency("steps at a depth of "+strconv.Itoa(from*size), 0, percentiles([][]time.Duration{deep}))
	r.ratio("these, against the first ones", mostDeep, median(ratios))
	return nil
}

// severalAtOnce measures several searches in one request.
func (s *service) severalAtOnce(ctx context.Context, o options, r *report, a *asks) error {
	c := client(1)
	defer c.CloseIdleConnections()
	f, err := measure(1, o.span, func(int, int) (time.Duration, error) {
		searches := make([]string, 5)
		for i := range searches {
			searches[i] = `{"search":"` + a.text() + `","per_page":5,"starts_after":"` + today().AddDate(0, 0, a.n%700).Format(time.DateOnly) + `"}`
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.root+"/events/search", strings.NewReader(`{"searches":[`+strings.Join(searches, ",")+`]}`))
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		_, err = drain(c, q)
		return time.Since(begin), err
	})
	if err != nil {
		return fmt.Errorf("several searches: %w", err)
	}
	r.latency("five searches at once", 0, f)
	return nil
}

// latency writes a row of times.
func (r *report) latency(name string, most float64, f figures) {
	bound := ""
	if most > 0 {
		bound = fmt.Sprintf("  at most %g ms: %s", most, r.verdict(ms(f.p50) <= most))
	}
	fmt.Fprintf(r, "%-44s %9.3f ms %9.3f ms%s\n", name, ms(f.p50), ms(f.p99), bound)
}

// feedPace measures a whole feed of so many events.
func (s *service) feedPace(ctx context.Context, o options, r *report) error {
	c := client(1)
	defer c.CloseIdleConnections()
	days := feedEvents * 730 / o.listSize // as the events lie
	to := url.QueryEscape(today().AddDate(0, 0, days).Format(time.DateOnly))
	for _, feed := range []struct{ name, query string }{{"the feed of all", "?starts_after=1970-01-01"}, {"a feed of some thousand", "?end_date=" + to}} {
		var bytes, events int64
		begin := time.Now()
		for time.Since(begin) < o.span {
			q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/events.ics"+feed.query, http.NoBody)
			if err != nil {
				return err
			}
			q.Header.Set("Accept-Encoding", "identity")
			res, err := c.Do(q)
			if err != nil {
				return err
			}
			got, err := io.Copy(io.Discard, res.Body)
			err = errors.Join(err, res.Body.Close())
			if err != nil || res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: %s: %w", feed.name, res.Status, err)
			}
			bytes += got
			events, err = strconv.ParseInt(res.Header.Get("X-Total"), 10, 64)
			if err != nil {
				return err
			}
		}
		pace := float64(bytes) / 1e6 / time.Since(begin).Seconds()
		fmt.Fprintf(r, "%-44s %9.1f MB/s, %d events  at least %d: %s\n", feed.name+" as iCalendar", pace, events, leastFeed, r.verdict(pace >= leastFeed))
	}
	return nil
}

// listingsOnServers measures the same on search servers, against the queries by which it is
// answered.
func listingsOnServers(ctx context.Context, o options, dir string, r *report, errw io.Writer) (err error) {
	if o.distributed == 0 || o.servers.elasticsearch == "" && o.servers.opensearch == "" {
		fmt.Fprintf(r, "on search servers: not measured, none is named\n")
		return nil
	}
	c, drop, err := fillServers(ctx, o, dir, errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	fmt.Fprintf(r, "%-44s %12s %12s %8s\n", strconv.Itoa(o.distributed)+" "+string(o.weights[0])+" events on search servers", "p50", "direct p50", "ratio")
	for _, e := range []searchServer{{"Elasticsearch", "elasticsearch", o.servers.elasticsearch}, {"OpenSearch", "opensearch", o.servers.opensearch}} {
		if e.url == "" {
			continue
		}
		prefix := e.prefix(0)
		if err := errors.Join(c.listingRows(ctx, &e, prefix, r), e.drop(ctx, prefix)); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return nil
}

// listingPaths is how many different requests of a row are compared with their queries.
const listingPaths = 100

func (c *calendarOn) listingRows(ctx context.Context, e *searchServer, prefix string, rep *report) (err error) {
	if c.o.servers.nats != "" {
		if err := clearFeed(ctx, c.o.servers.nats); err != nil {
			return err
		}
	}
	rec, err := e.record()
	if err != nil {
		return err
	}
	defer rec.Close()
	s, err := c.serve(ctx, "all", e.args(rec.URL, prefix)...)
	if err != nil {
		return err
	}
	hc := client(1)
	defer hc.CloseIdleConnections()
	a := &asks{maker: newMaker(23)}
	paths, scripts := map[string][]string{}, map[string][]recorded{}
	err = func() error {
		if err := s.complete(ctx); err != nil {
			return err
		}
		for _, row := range listingRows {
			// What is asked for once is known after the first one.
			for i := 0; row.direct && i <= listingPaths; i++ {
				path := row.path(a)
				rec.take()
				if err := s.fetch(ctx, hc, path); err != nil {
					return fmt.Errorf("%s: %w", row.name, err)
				}
				var script []recorded
				for _, q := range rec.take() {
					if q.method == http.MethodPost && (strings.Contains(q.path, "search") || strings.Contains(q.path, "_pit")) {
						script = append(script, q)
					}
				}
				if i > 0 && scripts[path] == nil && script != nil {
					paths[row.name], scripts[path] = append(paths[row.name], path), script
				}
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
	for _, row := range listingRows {
		if !row.direct {
			continue
		}
		for range 5 {
			if err := s.fetch(ctx, hc, row.path(a)); err != nil {
				return err
			}
		}
		var own, direct []time.Duration
		for i, path := range paths[row.name] {
			for side := range 2 {
				if side == i%2 {
					begin := time.Now()
					if err := s.fetch(ctx, hc, path); err != nil {
						return err
					}
					own = append(own, time.Since(begin))
					continue
				}
				took, err := e.resend(ctx, hc, scripts[path])
				if err != nil {
					return fmt.Errorf("%s directly: %w", row.name, err)
				}
				direct = append(direct, took)
			}
		}
		x, y := percentiles([][]time.Duration{own}), percentiles([][]time.Duration{direct})
		ratio := float64(x.p50) / float64(y.p50)
		fmt.Fprintf(rep, "%-44s %9.3f ms %9.3f ms %8.2f  at most %.2f: %s\n", row.name+", "+e.name, ms(x.p50), ms(y.p50), ratio, mostDirect, rep.verdict(ratio <= mostDirect))
	}
	return nil
}

func (s *service) fetch(ctx context.Context, c *http.Client, path string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+path, http.NoBody)
	if err != nil {
		return err
	}
	_, err = drain(c, q)
	return err
}

var pointOf = regexp.MustCompile(`"pit":\{"id":"([^"]+)"`)

// resend sends the queries of an answer one after the other, and gives what they took.
// Points in time are opened anew, and closed when the time is taken.
func (e *searchServer) resend(ctx context.Context, c *http.Client, script []recorded) (took time.Duration, err error) {
	fresh := map[string]string{} // by the point that was recorded
	begin := time.Now()
	for _, q := range script {
		if m := pointOf.FindSubmatch(q.body); m != nil {
			q.body = bytes.ReplaceAll(q.body, m[1], []byte(fresh[string(m[1])]))
		}
		b, err := e.send(ctx, c, &q)
		if err != nil {
			return 0, err
		}
		if q.opened != "" {
			fresh[q.opened] = pointIn(b)
		}
	}
	took = time.Since(begin)
	for _, id := range fresh {
		q := &recorded{method: http.MethodDelete, path: "/_pit", body: []byte(`{"id":"` + id + `"}`)}
		if e.flavour == "opensearch" {
			q = &recorded{method: http.MethodDelete, path: "/_search/point_in_time", body: []byte(`{"pit_id":["` + id + `"]}`)}
		}
		if _, err := e.send(ctx, c, q); err != nil {
			return 0, err
		}
	}
	return took, nil
}
