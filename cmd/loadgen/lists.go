package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// reader asks a calendar of one weight.
type reader struct {
	*author
	ids   []int64 // of all its events
	texts []string
	turns []int // of each caller; they go on over the rounds, so that no request comes twice
}

func (r *reader) next(caller int) int {
	r.turns[caller]++
	return caller + r.turns[caller]*len(r.turns)
}

// listRow is a way to read.
type listRow struct {
	name  string
	least float64 // of a bare server
	seen  bool    // the client has the answer already
	url   func(r *reader, caller int) string
}

var listRows = []listRow{
	{"default list, from the cache", 0.85, false, func(r *reader, _ int) string { return r.root + "/events" }},
	{"the same, 304", 0, true, func(r *reader, _ int) string { return r.root + "/events" }},
	{"list, every request another window", 0.35, false, func(r *reader, caller int) string {
		return r.root + "/events" + window(today().Add(time.Duration(r.next(caller)*7919%500000)*time.Minute))
	}},
	{"list, another window of the coming 60 days", 0, false, func(r *reader, caller int) string {
		return r.root + "/events" + window(today().Add(time.Duration(r.next(caller)*7919%(60*24*60))*time.Minute))
	}},
	{"one event by id, any of them", 0.6, false, func(r *reader, caller int) string {
		return r.root + "/events/" + strconv.FormatInt(r.ids[r.next(caller)*7919%len(r.ids)], 10)
	}},
	{"search, every request another text", 0.3, false, func(r *reader, caller int) string {
		i := r.next(caller)
		return r.root + "/events?search=" + url.QueryEscape(r.texts[i%len(r.texts)]+" "+strconv.Itoa(i%10))
	}},
}

// lists measures reading against a bare server that sends the same bytes, then the
// memory that the service has after that, and after creates and updates.
func lists(ctx context.Context, o options, dir string, rep *report, errw io.Writer) error {
	const callers = 8
	made := o.listSize / 10 // through HTTP, the others by import
	authors, stop, err := calendars(ctx, o, dir, o.listSize-made, errw)
	if err != nil {
		return err
	}
	defer stop()
	readers := make([]*reader, len(authors))
	for i, a := range authors {
		if err := a.createAll(ctx, callers, made); err != nil {
			return err
		}
		if err := a.settle(ctx); err != nil {
			return err
		}
		r := &reader{author: a, turns: make([]int, callers), texts: make([]string, 1<<16)}
		if r.ids, err = someIDs(ctx, a.service, o.listSize); err != nil {
			return err
		}
		m := newMaker(7)
		for i := range r.texts {
			r.texts[i] = m.words(1 + m.rng.IntN(2))
		}
		readers[i] = r
	}
	t := newTable(rep, o.weights, fmt.Sprintf("%d events, %d clients beside the server, against a bare net/http server that sends the same bytes", o.listSize, callers), "bare")
	for _, row := range listRows {
		pairs := make([]pair, len(readers))
		for i, r := range readers {
			body, header, err := r.get(ctx, row.url(r, 1), nil)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			var send http.Header
			if row.seen {
				send = http.Header{"If-None-Match": {header.Get("Etag")}}
			}
			own := func() (figures, error) {
				return gets(ctx, callers, o.span, send, func(caller, _ int) string { return row.url(r, caller) })
			}
			bare := func() (float64, error) { return bareRate(ctx, dir, body, callers, o.span, errw) }
			if pairs[i], err = compare(r.service, own, bare); err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
		}
		t.row(row.name, row.least, pairs)
	}
	if err := compressed(ctx, o, readers, rep); err != nil {
		return err
	}
	memory, peak := make([]float64, len(readers)), make([]float64, len(readers))
	for i, r := range readers {
		if _, err := r.updates(ctx, callers, o.span); err != nil {
			return err
		}
		if memory[i], err = r.rested(ctx); err != nil {
			return err
		}
		if peak[i], err = r.memory("VmHWM"); err != nil {
			return err
		}
	}
	rep.figure("resident memory, 10 s at rest after all that", o.weights, memory, "MB", 250)
	rep.figure("at its peak", o.weights, peak, "MB", 0)
	return nil
}

// compressed measures a list from the cache as it travels compressed against the
// same one plain.
func compressed(ctx context.Context, o options, readers []*reader, rep *report) error {
	const callers = 8
	t := newTable(rep, o.weights, fmt.Sprintf("default list from the cache, compressed, %d clients", callers), "plain")
	for _, coding := range []string{"gzip", "zstd"} {
		var pairs []pair
		var sizes strings.Builder
		for _, r := range readers {
			list := r.root + "/events"
			send := http.Header{"Accept-Encoding": {coding}}
			packed, header, err := r.get(ctx, list, send)
			if err != nil {
				return err
			}
			if header.Get("Content-Encoding") != coding {
				break
			}
			plain, _, err := r.get(ctx, list, nil)
			if err != nil {
				return err
			}
			fmt.Fprintf(&sizes, ", %.1f kB of %.1f", float64(len(packed))/1000, float64(len(plain))/1000)
			rate := func(header http.Header) func() (figures, error) {
				return func() (figures, error) {
					return gets(ctx, callers, o.span, header, func(int, int) string { return list })
				}
			}
			p, err := compare(r.service, rate(send), func() (float64, error) {
				f, err := rate(nil)()
				return f.rate, err
			})
			if err != nil {
				return err
			}
			pairs = append(pairs, p)
		}
		if len(pairs) < len(readers) {
			fmt.Fprintf(rep, "%-44s  not compressed: %s\n", coding, rep.verdict(false))
			continue
		}
		t.row(coding+sizes.String(), 1, pairs)
	}
	return nil
}

// get gives the answer to one request.
func (s *service) get(ctx context.Context, at string, header http.Header) ([]byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(r.Header, header)
	c := client(1)
	defer c.CloseIdleConnections()
	return do(c, r)
}

// total gives the number of all events.
func (s *service) total(ctx context.Context) (int, error) {
	_, header, err := s.get(ctx, s.root+"/events"+all(0), nil)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(header.Get("X-Total"))
}

// serve starts the service on a directory that is filled.
func serve(ctx context.Context, o options, dir string, errw io.Writer) (*service, error) {
	return start(ctx, errw, o.binary, append([]string{"serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--log-level", "warn"}, o.store...)...)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// someIDs gives ids of listed events, from all over the list.
func someIDs(ctx context.Context, s *service, n int) ([]int64, error) {
	var ids []int64
	pages, step := 1, 1
	for page := 1; page <= pages; page += step {
		b, _, err := s.get(ctx, fmt.Sprintf("%s/events?per_page=100&page=%d", s.root, page), nil)
		if err != nil {
			return nil, err
		}
		var list struct {
			Events     []struct{ ID int64 }
			TotalPages int `json:"total_pages"`
		}
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, err
		}
		if pages == 1 {
			pages = list.TotalPages
			step = max(1, pages*100/n)
		}
		for _, e := range list.Events {
			ids = append(ids, e.ID)
		}
	}
	return ids, nil
}
