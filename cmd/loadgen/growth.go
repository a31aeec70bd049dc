package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	million    = 1_000_000 // events, from which on the bounds of growth hold
	leastGrown = 0.8       // of the rate of a small calendar
)

// asker makes requests that no calendar was asked before.
type asker struct {
	*author
	n     int // events that the calendar was filled with
	bound int // the same where bounds of growth hold, else 0
	asked int
	texts []string
}

func newAsker(a *author, n int) *asker {
	m := newMaker(99)
	k := &asker{author: a, n: n, bound: n, texts: make([]string, 4096)}
	for i := range k.texts {
		k.texts[i] = m.words(2)
	}
	return k
}

// all is a window that holds every event, another one for each i.
func all(i int) string {
	end := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second)
	return "?strict_dates=true&start_date=2000-01-01&end_date=" + url.QueryEscape(end.Format(time.DateTime))
}

// exactly is a start within the days that events are in, another one for each i.
func exactly(i int) string {
	from := today().AddDate(0, 0, i%500-100).Add(time.Duration(i) * time.Second)
	return "&strict_dates=true&start_date=" + url.QueryEscape(from.Format(time.DateTime))
}

// growthList is a list that is asked for at each size.
type growthList struct {
	name  string
	most  time.Duration // of p50 with one client at a million events; 0: none
	least float64       // of the rate of the small calendar there; 0: none
	query func(k *asker, i int) string
}

var growthLists = []growthList{
	{"default list", 0, leastGrown, func(*asker, int) string { return "" }},
	// The bound far ahead changes nothing but that no answer comes from the cache: a small
	// calendar has few pages.
	{"default list, another page each", 300 * time.Microsecond, leastGrown, func(k *asker, i int) string {
		ahead := time.Date(2100, 1, 1+i, 0, 0, 0, 0, time.UTC)
		return "?page=" + strconv.Itoa(1+i*7919%max(1, k.n/40)) + "&starts_before=" + ahead.Format(time.DateOnly)
	}},
	{"page 1, another window each", 0, leastGrown, func(_ *asker, i int) string {
		return window(today().Add(time.Duration(i*7919%500_000) * time.Minute))
	}},
	{"page 1,000 of all", 0, leastGrown, func(k *asker, i int) string {
		return all(i) + "&page=" + strconv.Itoa(min(1000, k.n/10))
	}},
	{"any page of all", 0, leastGrown, func(k *asker, i int) string {
		return all(i) + "&page=" + strconv.Itoa(1+i*7919%(k.n/10))
	}},
	{"text and window", 600 * time.Microsecond, leastGrown, func(k *asker, i int) string {
		return "?search=" + url.QueryEscape(k.texts[i*7919%len(k.texts)]) + exactly(i)
	}},
	{"category, tag and window", 0, leastGrown, func(_ *asker, i int) string {
		return fmt.Sprintf("?categories=category-%d&tags=tag-%d%s", i%categoryCount, i%tagCount, exactly(i))
	}},
	{"geolocation, 50 km", 0, leastGrown, func(_ *asker, i int) string {
		return fmt.Sprintf("?geoloc_lat=%.3f&geoloc_lng=%.3f&geoloc_radius=50%s", 42+float64(i%97)/25, -71-float64(i%89)/25, exactly(i))
	}},
}

func (k *asker) lists(ctx context.Context, l *growthList, callers int, span time.Duration) (figures, error) {
	first := k.asked
	turns := make([]int, callers)
	f, err := gets(ctx, callers, span, nil, func(caller, _ int) string {
		turns[caller]++
		return k.root + "/events" + l.query(k, first+turns[caller]*callers+caller)
	})
	for _, t := range turns {
		k.asked = max(k.asked, first+(t+1)*callers)
	}
	return f, err
}

// growthWrite is a write that is done at each size.
type growthWrite struct {
	name string
	most time.Duration   // of p50 with one client at a million events; 0: none
	rate map[int]float64 // at least so many a second there, by clients
	do   func(a *author, ctx context.Context, callers int, span time.Duration) (figures, error)
}

var growthWrites = []growthWrite{
	{"create", 0, nil, (*author).creates},
	{"one update, acknowledged", 2 * time.Millisecond, map[int]float64{8: 1000}, (*author).updates},
	{"one update, visible in a list", 4 * time.Millisecond, nil, (*author).visible},
}

// growth measures the embedded size with ever more light events, beside a small
// calendar on the same machine.
func growth(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	fmt.Fprintf(r, "\ngrowth of the embedded size, light events, idempotency keys on writes; a calendar of more than %d takes turns with one of %d; but for the default list itself, no list is asked for twice at any size, so none comes from the cache\n", o.writeSize, o.writeSize)
	for _, n := range o.sizes {
		begin := time.Now()
		if err := growthAt(ctx, o, n, filepath.Join(dir, strconv.Itoa(n)), r, errw); err != nil {
			return fmt.Errorf("%d events: %w", n, err)
		}
		fmt.Fprintf(r, "this size took %s\n", time.Since(begin).Round(time.Second))
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// atMost and atLeast give a bound of a million events with its verdict.
func (r *report) atMost(n int, value, bound float64, unit string) string {
	if n < million || bound == 0 {
		return ""
	}
	return fmt.Sprintf("at most %g %s: %s", bound, unit, r.verdict(value <= bound))
}

func (r *report) atLeast(n int, value, bound float64, unit string) string {
	if n < million || bound == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("at least %g %s", bound, unit)) + ": " + r.verdict(value >= bound)
}

func (r *report) fact(name string, value float64, format, bound string) {
	fmt.Fprintf(r, "%s\n", strings.TrimRight(fmt.Sprintf("%-34s %s  %s", name, fmt.Sprintf(format, value), bound), " "))
}

func growthAt(ctx context.Context, o options, n int, dir string, r *report, errw io.Writer) (err error) {
	fmt.Fprintf(r, "\n%d events\n", n)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var small *asker
	if n > o.writeSize {
		s, err := filled(ctx, o, filepath.Join(dir, "small"), o.writeSize, light, errw)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		a, err := newAuthor(ctx, s, light)
		if err != nil {
			return err
		}
		small = newAsker(a, o.writeSize)
	}
	own := filepath.Join(dir, "own")
	data := filepath.Join(own, "data")
	token, took, err := imported(ctx, o, own, n, light, errw)
	if err != nil {
		return err
	}
	rate := float64(n) / took.Seconds()
	r.fact("import", rate, "%10.0f a second", r.atLeast(n, rate, 5000, "a second"))
	bytes, err := used(data)
	if err != nil {
		return err
	}
	r.fact("disk after it, store alone", bytes/float64(n)/1000, "%10.2f kB an event", "")
	begin := time.Now()
	s, err := serve(ctx, o, own, errw)
	if err != nil {
		return err
	}
	running := true
	defer func() {
		if running {
			_ = s.stop()
		}
	}()
	s.token = token
	if err := s.ready(ctx); err != nil {
		return err
	}
	r.fact("first start: lists made from store", time.Since(begin).Seconds(), "%10.2f s", "")
	if err := s.settle(ctx); err != nil {
		return err
	}
	r.fact("and feed filled, at rest", time.Since(begin).Seconds(), "%10.2f s", "")
	memory, err := s.resident()
	if err != nil {
		return err
	}
	r.fact("resident memory then", memory, "%10.0f MB", "")
	a, err := newAuthor(ctx, s, light)
	if err != nil {
		return err
	}
	if err := growthRows(ctx, o, newAsker(a, n), small, r); err != nil {
		return err
	}
	if memory, err = s.rested(ctx); err != nil {
		return err
	}
	r.fact("resident memory after the load", memory, "%10.0f MB", r.atMost(n, memory, 1200, "MB"))
	events, err := a.total(ctx)
	if err != nil {
		return err
	}
	if bytes, err = used(data); err != nil {
		return err
	}
	r.fact("disk, all files, while it serves", bytes/1e6, "%10.0f MB", r.atMost(n, bytes/1e6, 2000, "MB"))
	running = false
	start, err := s.restart(ctx, o, own, errw)
	if err != nil {
		return err
	}
	running = true
	r.fact("start from snapshot", start.Seconds(), "%10.2f s", "")
	ticks, err := s.processor()
	if err != nil {
		return err
	}
	r.fact("processor time of that start", (time.Duration(ticks) * tick).Seconds(), "%10.2f s", "")
	if memory, err = s.resident(); err != nil {
		return err
	}
	r.fact("resident memory after the start", memory, "%10.0f MB", "")
	if bytes, err = used(data); err != nil {
		return err
	}
	r.fact("disk, with the snapshot", bytes/1e6, "%10.0f MB", r.atMost(n, bytes/1e6, 2000, "MB"))
	r.fact("the same for each event", bytes/float64(events)/1000, "%10.2f kB", "")
	return nil
}

// growthRows measures lists and writes of a calendar, in turn with a small one unless
// that is nil.
func growthRows(ctx context.Context, o options, own, small *asker, r *report) error {
	against := "of " + strconv.Itoa(o.writeSize)
	if small == nil {
		against = ""
	}
	fmt.Fprintf(r, "%-34s %8s %10s %10s %12s %9s\n", "", "clients", "p50", "p99", "per second", against)
	row := func(name string, callers int, most time.Duration, rate, least float64, do func(k *asker) (figures, error)) error {
		f, ratio, err := inTurns(own, small, do)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var bounds []string
		if callers == 1 {
			bounds = append(bounds, r.atMost(own.bound, ms(f.p50), ms(most), "ms"))
		}
		bounds = append(bounds, r.atLeast(own.bound, f.rate, rate, "a second"))
		of := ""
		if small != nil {
			of = strconv.FormatFloat(ratio, 'f', 2, 64)
			bounds = append(bounds, r.atLeast(own.bound, ratio, least, ""))
		}
		line := fmt.Sprintf("%-34s %8d %7.3f ms %7.3f ms %12.0f %9s", name, callers, ms(f.p50), ms(f.p99), f.rate, of)
		bounds = slices.DeleteFunc(bounds, func(b string) bool { return b == "" })
		fmt.Fprintln(r, strings.TrimRight(line+"  "+strings.Join(bounds, "  "), " "))
		return nil
	}
	for _, l := range growthLists {
		for _, callers := range []int{1, 8} {
			if err := row(l.name, callers, l.most, 0, l.least, func(k *asker) (figures, error) { return k.lists(ctx, &l, callers, o.span/2) }); err != nil {
				return err
			}
		}
	}
	for _, w := range growthWrites {
		for _, callers := range []int{1, 8} {
			if err := row(w.name, callers, w.most, w.rate[callers], leastGrown, func(k *asker) (figures, error) { return w.do(k.author, ctx, callers, o.span/2) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// inTurns measures one calendar, and the small one after each time; of all figures it
// gives the medians.
func inTurns(own, small *asker, do func(k *asker) (figures, error)) (figures, float64, error) {
	var rates, ratios []float64
	var p50, p99 []time.Duration
	for range rounds {
		f, err := do(own)
		if err != nil {
			return f, 0, err
		}
		rates, p50, p99 = append(rates, f.rate), append(p50, f.p50), append(p99, f.p99)
		if small == nil {
			continue
		}
		other, err := do(small)
		if err != nil {
			return f, 0, fmt.Errorf("the small calendar: %w", err)
		}
		ratios = append(ratios, f.rate/other.rate)
	}
	f := figures{rate: median(rates), p50: median(p50), p99: median(p99)}
	if small == nil {
		return f, 0, nil
	}
	return f, median(ratios), nil
}
