package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The bounds of what listing frontends ask for, in milliseconds at the 50th percentile.
const (
	mostTypos   = 2
	mostSuggest = 0.5
	feedEvents  = 5000
	leastFeed   = 50 // MB/s of a whole feed of so many events
)

// listings measures what listing frontends ask for beside plain lists: one client, every
// request another one, so that none is answered from the cache.
func listings(ctx context.Context, o options, dir string, r *report, errw io.Writer) (err error) {
	s, err := filled(ctx, o, dir, o.listSize, o.weights[0], errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	root := s.root
	m := newMaker(21)
	n := 0
	text := func() string { n++; return m.words(1) }
	typo := func() string { // of a word of eight letters and more
		for {
			if w := text(); len(w) >= 8 {
				at := 1 + n%(len(w)-2)
				return w[:at] + w[at+1:at+2] + w[at:at+1] + w[at+2:]
			}
		}
	}
	another := func() string { return window(today().Add(time.Duration(n*7919%500000) * time.Minute)) }
	fmt.Fprintf(r, "\nlistings, %d %s events, one client, every request another one\n%-44s %12s %12s\n", o.listSize, o.weights[0], "", "p50", "p99")
	for _, row := range []struct {
		name string
		most float64 // ms; 0: no bound
		url  func() string
	}{
		{"plain list", 0, func() string { n++; return root + "/events" + another() }},
		{"search, a word", 0, func() string { return root + "/events" + another() + "&search=" + text() }},
		{"search with typos=on", mostTypos, func() string { return root + "/events" + another() + "&typos=on&search=" + typo() }},
		{"the same, highlight=true", 0, func() string { return root + "/events" + another() + "&highlight=true&typos=on&search=" + typo() }},
		{"suggest, three letters", mostSuggest, func() string {
			return root + "/suggest?limit=" + strconv.Itoa(1+n%20) + "&multilang_language=" + []string{"en", "fr", "es", "cn"}[n/20%4] + "&q=" + text()[:3]
		}},
		{"suggest, a word and three letters", 0, func() string { return root + "/suggest?q=" + url.QueryEscape(text()+" "+text()[:3]) }},
		{"suggest, a word with typos", 0, func() string { return root + "/suggest?limit=" + strconv.Itoa(1+n%20) + "&q=" + typo() }},
	} {
		f, err := gets(ctx, 1, o.span, nil, func(int, int) string { return row.url() })
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		r.latency(row.name, row.most, f)
	}
	c := client(1)
	defer c.CloseIdleConnections()
	f, err := measure(1, o.span, func(int, int) (time.Duration, error) {
		searches := make([]string, 5)
		for i := range searches {
			n++
			searches[i] = `{"search":"` + text() + `","per_page":5,"starts_after":"` + today().AddDate(0, 0, n%700).Format(time.DateOnly) + `"}`
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, root+"/events/search", strings.NewReader(`{"searches":[`+strings.Join(searches, ",")+`]}`))
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
	return s.feedPace(ctx, o, r)
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
