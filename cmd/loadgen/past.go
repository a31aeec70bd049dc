package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	formRounds = 7    // turns of the two forms of a leaf: their difference is small
	streams    = 100  // open streams of changes
	streamRate = 1000 // updates a second beside them

	mostPast  = 10 // times the p50 of a present list that a further one of the past may take
	firstPast = time.Second
	leastForm = 0.95 // of the rate of form 1, and of updates without streams
	pageOf    = 50   // changes on a page
	lookedAt  = 5000 // entries that a page of changes looks at, at most
)

// past measures what the past costs: leaves of form 2, lists of the past, pages of the
// log of changes and its streams.
func past(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	fmt.Fprintf(r, "\nthe past, light events\n")
	if err := forms(ctx, o, filepath.Join(dir, "forms"), r, errw); err != nil {
		return fmt.Errorf("forms: %w", err)
	}
	if err := pastParts(ctx, o, "", dir, r, errw); err != nil || o.servers.postgres == "" {
		return err
	}
	fmt.Fprintf(r, "\nthe same with the store in PostgreSQL\n")
	return pastParts(ctx, o, o.servers.postgres, dir, r, errw)
}

// pastParts measures what is read of the past, with stores in SQLite, or in schemas of a
// PostgreSQL server.
func pastParts(ctx context.Context, o options, postgres, dir string, r *report, errw io.Writer) error {
	for _, part := range []struct {
		name string
		run  func(ctx context.Context, stores [2]options, dir string, r *report, errw io.Writer) error
	}{
		{"as-of", pastLists},
		{"changes", changePages},
		{"streams", openStreams},
	} {
		stores, drop := [2]options{o, o}, [2]func() error{} // a part has two at most
		for i := range stores {
			if postgres != "" {
				stores[i].store, drop[i] = ownSchema(ctx, postgres)
			}
		}
		err := part.run(ctx, stores, filepath.Join(dir, part.name), r, errw)
		for i := range drop {
			if drop[i] != nil {
				err = errors.Join(err, drop[i]())
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if err := os.RemoveAll(filepath.Join(dir, part.name)); err != nil {
			return err
		}
	}
	return nil
}

// form1 makes of the sources a store that writes entries of form 1: without salts.
var form1 = []struct{ file, now, then string }{
	{"eventstore/leaf.go", "newSalts(d.Secret != nil),", "nil,"},
	{"eventstore/postgres/write.go", "make([]byte, 0, n*saltBytes)", "nil"},
}

// withoutSalts writes the file that go build -overlay takes.
func withoutSalts(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("root of the module: %w", err)
	}
	replace := map[string]string{}
	for i, f := range form1 {
		at := filepath.Join(strings.TrimSpace(string(root)), f.file)
		text, err := os.ReadFile(at)
		if err != nil {
			return "", err
		}
		if strings.Count(string(text), f.now) != 1 {
			return "", fmt.Errorf("%s does not have %q once: entries without salts are made of it", f.file, f.now)
		}
		replace[at] = filepath.Join(dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(replace[at], []byte(strings.Replace(string(text), f.now, f.then, 1)), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// formStore is a store whose appends are measured with leaves of both forms.
type formStore struct {
	name, folder string
	bench        string      // by the number of callers
	each         map[int]int // appends in a second of measurement, by callers
	env          []string
}

// forms measures appends with salts and without, by turns. Form 2 costs under 5 %.
func forms(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	overlay, err := withoutSalts(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(r, "%-52s %12s %12s %8s  %s\n", "appends with leaves of form 2 (salted)", "per second", "form 1", "ratio", "at least")
	stores := []formStore{{"SQLite", "sqlite", "callers=%d/keyed=true", map[int]int{64: 6000, 1: 1000}, nil}}
	if o.servers.postgres != "" {
		stores = append(stores, formStore{
			"PostgreSQL", "postgres", "callers=%d", map[int]int{64: 2000, 1: 250}, []string{"DAYBOOK_TEST_POSTGRES=" + o.servers.postgres},
		})
	}
	for i := range stores {
		if err := stores[i].measure(ctx, o, dir, overlay, r, errw); err != nil {
			return fmt.Errorf("%s: %w", stores[i].name, err)
		}
	}
	if o.servers.postgres == "" {
		fmt.Fprintf(r, "%-52s not measured: no PostgreSQL\n", "the same in PostgreSQL")
	}
	return nil
}

func (s *formStore) measure(ctx context.Context, o options, dir, overlay string, r *report, errw io.Writer) error {
	binaries := [2]string{filepath.Join(dir, s.folder+".form2"), filepath.Join(dir, s.folder+".form1")}
	for i, args := range [][]string{nil, {"-overlay", overlay}} {
		build := exec.CommandContext(ctx, "go", append(append([]string{"test", "-c", "-o", binaries[i]}, args...), "daybook/eventstore/"+s.folder)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=") // CI sets -race
		build.Stderr = errw
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the benchmark: %w", err)
		}
	}
	for _, callers := range []int{64, 1} {
		bench := fmt.Sprintf(s.bench, callers)
		n := max(16, int(o.span.Seconds()*float64(s.each[callers])))
		var rates [2][]float64
		var ratios []float64
		turns := formRounds
		if o.span < 100*time.Millisecond { // too short to tell anything
			turns = 1
		}
		for round := range turns {
			for turn := range binaries {
				side := (round + turn) % len(binaries) // each is the first one half of the times
				run := exec.CommandContext(ctx, binaries[side], "-test.run", "^$", "-test.bench", "^BenchmarkAppend$/^"+strings.ReplaceAll(bench, "/", "$/^")+"$", "-test.benchtime", strconv.Itoa(n)+"x")
				run.Dir, run.Stderr, run.Env = dir, errw, append(os.Environ(), s.env...)
				text, err := run.Output()
				if err != nil {
					return fmt.Errorf("benchmark: %w: %s", err, text)
				}
				found := false
				for line := range strings.Lines(string(text)) {
					if name, rate, ok := benchMetric(line, "appends/s"); ok && name == bench {
						rates[side], found = append(rates[side], rate), true
					}
				}
				if !found {
					return fmt.Errorf("the benchmark has no %q", bench)
				}
			}
			ratios = append(ratios, rates[0][round]/rates[1][round])
		}
		name := s.name + ", 1 caller"
		if callers > 1 {
			name = fmt.Sprintf("%s, %d callers", s.name, callers)
		}
		r.against(name, leastForm, median(rates[0]), median(rates[1]), median(ratios))
	}
	return nil
}

// atMostTimes writes a row whose times are held against those of another side.
func (r *report) atMostTimes(name string, most float64, own, other time.Duration, ratio float64) {
	fmt.Fprintf(r, "%-52s %9.3f ms %9.3f ms %8.2f  %.2f %s\n", name, ms(own), ms(other), ratio, most, r.verdict(ratio <= most))
}

// pastLists measures lists of the past: the first one at a point, and further ones against
// the same lists of the present.
func pastLists(ctx context.Context, stores [2]options, dir string, r *report, errw io.Writer) (err error) {
	o := stores[0]
	s, err := filled(ctx, o, dir, o.pastSize, light, errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var firsts []time.Duration
	point := ""
	for i := range rounds {
		point = "as_of=" + url.QueryEscape("position:"+strconv.Itoa(o.pastSize-i))
		took, err := s.first(ctx, s.root+"/events?"+point)
		if err != nil {
			return err
		}
		firsts = append(firsts, took)
	}
	fmt.Fprintf(r, "\n%-52s %9.3f ms %31.3f ms %s\n", fmt.Sprintf("first list at a point, %d changes", o.pastSize), ms(median(firsts)), ms(firstPast), "at most: "+r.verdict(median(firsts) <= firstPast))
	fmt.Fprintf(r, "%-52s %12s %12s %8s  %s\n", "further lists at it, 1 client", "p50", "present", "ratio", "at most")
	for _, l := range []struct {
		name  string
		query func(i int) string
	}{
		{"the same list", func(int) string { return "?per_page=10" }},
		{"another window each", func(i int) string { return window(today().Add(time.Duration(i*7919%500_000) * time.Minute)) }},
	} {
		asked := 0
		lists := func(point string) (figures, error) {
			return gets(ctx, 1, o.span/2, nil, func(int, int) string {
				asked++
				return s.root + "/events" + l.query(asked) + point
			})
		}
		var own, other []time.Duration
		var ratios []float64
		for range rounds {
			then, err := lists("&" + point)
			if err != nil {
				return err
			}
			now, err := lists("")
			if err != nil {
				return err
			}
			own, other, ratios = append(own, then.p50), append(other, now.p50), append(ratios, float64(then.p50)/float64(now.p50))
		}
		r.atMostTimes(l.name, mostPast, median(own), median(other), median(ratios))
	}
	return nil
}

// first gives the time until a list is answered; one that is being made says so until then.
func (s *service) first(ctx context.Context, at string) (time.Duration, error) {
	c := client(1)
	defer c.CloseIdleConnections()
	begin := time.Now()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			return 0, err
		}
		resp, err := c.Do(r)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		err = errors.Join(err, resp.Body.Close())
		took := time.Since(begin)
		switch {
		case err != nil:
			return 0, err
		case resp.StatusCode == http.StatusOK:
			return took, nil
		case resp.StatusCode != http.StatusServiceUnavailable || took > time.Minute:
			return 0, fmt.Errorf("%s: %s", at, resp.Status)
		}
	}
}

// changed makes a data directory with a log of n changes and starts the service on it: a
// hundredth are new events, the others change their titles in turn.
func changed(ctx context.Context, o options, dir string, n int, errw io.Writer) (*asker, error) {
	s, err := filledFrom(ctx, o, dir, func(path string) error { return fillChanges(path, n) }, errw)
	if err != nil {
		return nil, err
	}
	return &asker{author: &author{service: s}, n: n}, nil
}

// changeList is a page of the log of changes that is asked for.
type changeList struct {
	name  string
	query func(n, i int) string
}

// before and behind are positions from all over a log of n entries, as parameters, with so
// many entries before or behind them where the log has as many.
func before(n, i, room int) string {
	return "before=" + strconv.Itoa(min(room, n)+1+i*7919%max(1, n-room+1))
}

func behind(n, i, room int) string {
	return "order=asc&after=" + strconv.Itoa(i*7919%max(1, n-room+1))
}

var changeLists = []changeList{
	{"newest page", func(int, int) string { return "" }},
	{"page before any position", func(n, i int) string { return "?" + before(n, i, pageOf) }},
	{"page behind any position, ascending", func(n, i int) string { return "?" + behind(n, i, pageOf) }},
	{"kind", func(n, i int) string { return "?kind=event&" + before(n, i, pageOf) }},
	{"action and field", func(n, i int) string { return "?action=updated&field=title&" + before(n, i, pageOf) }},
	{"since and until", func(n, i int) string {
		return "?since=2026-01-01&until=2027-01-01&" + before(n, i, pageOf)
	}},
	{"id that nothing has, 5,000 looked at", func(n, i int) string { return "?id=999999999&" + before(n, i, lookedAt) }},
	{"the same, ascending", func(n, i int) string { return "?id=999999999&" + behind(n, i, lookedAt) }},
}

// changePages measures pages of a large log against those of a small one.
func changePages(ctx context.Context, stores [2]options, dir string, r *report, errw io.Writer) (err error) {
	begin := time.Now()
	o := stores[0]
	var logs [2]*asker
	for i, n := range []int{o.writeSize, o.changesSize} {
		if logs[i], err = changed(ctx, stores[i], filepath.Join(dir, strconv.Itoa(i)), n, errw); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, logs[i].stop()) }()
	}
	fmt.Fprintf(r, "\n%-52s %12s %12s %8s  %s\n", fmt.Sprintf("pages of %d of %d changes, 1 client", pageOf, o.changesSize), "per second", fmt.Sprintf("of %d", o.writeSize), "ratio", "at least")
	for i, k := range logs { // caches as they are in use
		if _, err := gets(ctx, 1, o.span, nil, func(_, i int) string { return k.root + "/changes?" + before(k.n, i, pageOf) }); err != nil {
			return fmt.Errorf("log %d: %w", i, err)
		}
	}
	for _, l := range changeLists {
		var rates [2][]float64
		var ratios []float64
		asked := 0
		for round := range rounds {
			for side, k := range logs {
				f, err := gets(ctx, 1, o.span/4, nil, func(int, int) string {
					asked++
					return k.root + "/changes" + l.query(k.n, asked)
				})
				if err != nil {
					return fmt.Errorf("%s: %w", l.name, err)
				}
				rates[side] = append(rates[side], f.rate)
			}
			ratios = append(ratios, rates[1][round]/rates[0][round])
		}
		r.against(l.name, leastGrown, median(rates[1]), median(rates[0]), median(ratios))
	}
	fmt.Fprintf(r, "both logs were made and read in %s\n", time.Since(begin).Round(time.Second))
	return nil
}

// listener is a client of the stream of changes.
type listener struct {
	at      atomic.Int64 // position that it was told last
	entries atomic.Int64
}

// hear reads a stream until its end.
func (l *listener) hear(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		line := lines.Bytes()
		if text, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			n, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				return err
			}
			l.at.Store(n)
		} else if bytes.HasPrefix(line, []byte("event: ")) {
			l.entries.Add(1)
		}
	}
	return lines.Err()
}

// listen opens streams of changes; stop waits until they have told everything up to a
// position and ends them. It gives the entries that they told, and how long after the call
// the last one was told.
func (s *service) listen(ctx context.Context, n int) (stop func(to int64) (int64, time.Duration, error), err error) {
	ctx, cancel := context.WithCancel(ctx)
	c := client(n)
	all := make([]listener, n)
	var ended atomic.Bool
	failed := make(chan error, n)
	var wg sync.WaitGroup
	for i := range all {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/changes/stream", http.NoBody)
		if err != nil {
			cancel()
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+s.token) // a stranger has only a few
		resp, err := send(c, r)
		if err != nil {
			cancel()
			return nil, err
		}
		wg.Go(func() {
			defer func() { _ = resp.Body.Close() }()
			if err := all[i].hear(resp.Body); !ended.Load() {
				failed <- errors.Join(errors.New("a stream has ended"), err)
			}
		})
	}
	return func(to int64) (told int64, late time.Duration, err error) {
		defer c.CloseIdleConnections()
		defer wg.Wait()
		defer cancel()
		defer ended.Store(true)
		begin := time.Now()
		for i := range all {
			for all[i].at.Load() < to {
				select {
				case err := <-failed:
					return 0, 0, err
				case <-ctx.Done():
					return 0, 0, ctx.Err()
				case <-time.After(time.Millisecond):
				}
				if time.Since(begin) > 2*time.Minute {
					return 0, 0, fmt.Errorf("a stream told changes up to %d of %d", all[i].at.Load(), to)
				}
			}
			told += all[i].entries.Load()
		}
		return told, time.Since(begin), nil
	}, nil
}

// pacedUpdates has callers change events at a rate, each at its moment; waiting counts.
func (a *author) pacedUpdates(ctx context.Context, callers, rate int, span time.Duration) (figures, error) {
	bodies, err := a.changes(int(span.Seconds()*float64(rate)) + callers)
	if err != nil {
		return figures{}, err
	}
	c := client(callers)
	defer c.CloseIdleConnections()
	var next atomic.Int64
	begin := time.Now()
	return measure(callers, span, func(int, int) (time.Duration, error) {
		i := int(next.Add(1) - 1)
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		r, err := a.keyed(ctx, http.MethodPatch, "/events/"+strconv.FormatInt(a.ids[i*31%len(a.ids)], 10), bodies[i%len(bodies)])
		if err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Until(due)):
		}
		_, err = drain(c, r)
		return time.Since(due), err
	})
}

// head gives the position of the newest entry.
func (s *service) head(ctx context.Context) (int64, error) {
	_, header, err := s.get(ctx, s.root+"/changes?limit=1", nil)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(header.Get("Daybook-Position"), 10, 64)
}

// openStreams measures updates at a rate without streams and with many, by turns.
func openStreams(ctx context.Context, stores [2]options, dir string, r *report, errw io.Writer) (err error) {
	o := stores[0]
	s, err := filled(ctx, o, dir, o.writeSize, light, errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	a, err := newAuthor(ctx, s, light)
	if err != nil {
		return err
	}
	const callers = 16
	var quiet, loud [4][]float64 // rate, p50, p99 and processor for an update in milliseconds
	update := func(to *[4][]float64) (figures, error) {
		before, err := s.processor()
		if err != nil {
			return figures{}, err
		}
		f, err := a.pacedUpdates(ctx, callers, streamRate, 2*o.span)
		if err != nil {
			return f, err
		}
		after, err := s.processor()
		for i, v := range []float64{f.rate, ms(f.p50), ms(f.p99), ms(tick) * float64(after-before) / float64(f.n)} {
			to[i] = append(to[i], v)
		}
		return f, err
	}
	var ratios, slower []float64
	var late []time.Duration
	for range rounds {
		f, err := update(&quiet)
		if err != nil {
			return err
		}
		before, err := s.head(ctx)
		if err != nil {
			return err
		}
		stop, err := s.listen(ctx, streams)
		if err != nil {
			return err
		}
		g, err := update(&loud)
		if err != nil {
			return err
		}
		head, err := s.head(ctx)
		if err != nil {
			return err
		}
		told, behind, err := stop(head)
		if err != nil {
			return err
		}
		if want := streams * (head - before); told != want {
			return fmt.Errorf("%d streams told %d changes, not %d", streams, told, want)
		}
		late = append(late, behind)
		ratios, slower = append(ratios, g.rate/f.rate), append(slower, float64(g.p50)/float64(f.p50))
	}
	fmt.Fprintf(r, "\n%-52s %12s %12s %8s  %s\n", fmt.Sprintf("%d updates a second, %d streams of changes open", streamRate, streams), "with them", "without", "ratio", "at least")
	r.against("updates a second", leastForm, median(loud[0]), median(quiet[0]), median(ratios))
	fmt.Fprintf(r, "%-52s %9.3f ms %9.3f ms %8.2f\n", "from the moment of an update to its answer, p50", median(loud[1]), median(quiet[1]), median(slower))
	fmt.Fprintf(r, "%-52s %9.3f ms %9.3f ms\n", "the same, p99", median(loud[2]), median(quiet[2]))
	fmt.Fprintf(r, "%-52s %9.3f ms %9.3f ms\n", "processor of the service for an update", median(loud[3]), median(quiet[3]))
	fmt.Fprintf(r, "%-52s %9.3f ms\n", "after the last answer all streams have told it in", ms(median(late)))
	return nil
}
