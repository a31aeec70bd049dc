package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// pageRow is a page, against the JSON list that a program asks for in its place, or against
// a bare server that sends the same bytes.
type pageRow struct {
	name   string
	least  float64
	coding string
	page   func(p *pager, caller int) string
	list   func(p *pager, caller int) string // nil: a bare server
}

// The pages of a calendar: its lists show 20 events, those of the interface as many here.
var pageRows = []pageRow{
	{name: "list page, kept", least: 0.9, page: (*pager).coming, list: (*pager).comingList},
	{name: "event page, kept", least: 0.9, page: (*pager).oneEvent, list: (*pager).comingList},
	{name: "list page, kept, gzip", least: 0.9, coding: "gzip", page: (*pager).coming, list: (*pager).comingList},
	{name: "event page, kept, zstd", least: 0.9, coding: "zstd", page: (*pager).oneEvent, list: (*pager).comingList},
	{name: "list page, every request another window", least: 0.5, page: (*pager).window, list: (*pager).windowList},
	{name: "event page, any of them", least: 0.5, page: (*pager).anyEvent, list: (*pager).windowList},
}

var barePages = []pageRow{
	{name: "list page, kept", least: 0.4, page: (*pager).coming},
	{name: "list page, every request another window", least: 0.1, page: (*pager).window},
}

// pager asks a calendar for pages.
type pager struct {
	*service
	events []string // addresses of event pages
	turns  []int    // of each caller; they go on over the rounds, so that no request comes twice
}

func (p *pager) next(caller int) int {
	p.turns[caller]++
	return caller + p.turns[caller]*len(p.turns)
}

func (p *pager) coming(int) string     { return p.host + "/events/" }
func (p *pager) comingList(int) string { return p.root + "/events?overlap=true&per_page=20" }
func (p *pager) oneEvent(int) string   { return p.events[0] }

func (p *pager) anyEvent(caller int) string { return p.events[p.next(caller)*7919%len(p.events)] }

func (p *pager) another(caller int) string {
	return window(today().Add(time.Duration(p.next(caller)*7919%500000) * time.Minute))
}

func (p *pager) window(caller int) string { return p.host + "/events/" + p.another(caller) }
func (p *pager) windowList(caller int) string {
	return p.root + "/events" + p.another(caller) + "&per_page=20"
}

// pages measures pages for people against lists for programs.
func pages(ctx context.Context, o options, dir string, r *report, errw io.Writer) (err error) {
	const callers = 8
	s, err := filled(ctx, o, dir, o.listSize, o.weights[0], errw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	p := &pager{service: s, turns: make([]int, callers)}
	if p.events, err = eventPages(ctx, s, o.listSize); err != nil {
		return err
	}
	for _, side := range []struct {
		title, other string
		rows         []pageRow
	}{
		{fmt.Sprintf("pages, %d events, %d clients, against lists of 20 events", o.listSize, callers), "list", pageRows},
		{"the same, against a bare net/http server that sends the same bytes", "bare", barePages},
	} {
		t := newTable(r, o.weights[:1], side.title, side.other)
		for _, row := range side.rows {
			measured, err := p.measure(ctx, o, dir, &row, callers, errw)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			t.row(row.name, row.least, []pair{measured})
		}
	}
	return nil
}

func (p *pager) measure(ctx context.Context, o options, dir string, row *pageRow, callers int, errw io.Writer) (pair, error) {
	send := http.Header{}
	if row.coding != "" {
		send.Set("Accept-Encoding", row.coding)
	}
	body, header, err := p.get(ctx, row.page(p, 1), send)
	if err != nil {
		return pair{}, err
	}
	if got := header.Get("Content-Encoding"); got != row.coding {
		return pair{}, fmt.Errorf("the page came as %q, asked for as %q", got, row.coding)
	}
	rate := func(at func(*pager, int) string) (figures, error) {
		return gets(ctx, callers, o.span, send, func(caller, _ int) string { return at(p, caller) })
	}
	return compare(p.service, func() (figures, error) { return rate(row.page) }, func() (float64, error) {
		if row.list == nil {
			return bareRate(ctx, dir, body, callers, o.span, errw)
		}
		f, err := rate(row.list)
		return f.rate, err
	})
}

// eventPages gives the addresses of pages of listed events, from all over the list.
func eventPages(ctx context.Context, s *service, n int) ([]string, error) {
	var out []string
	for page := 1; len(out) < min(n, 20_000); page++ {
		b, header, err := s.get(ctx, fmt.Sprintf("%s/events?per_page=100&_fields=url&page=%d", s.root, page), nil)
		if err != nil {
			return nil, err
		}
		var list struct {
			Events []struct{ URL string }
		}
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, err
		}
		for _, e := range list.Events {
			out = append(out, e.URL)
		}
		if header.Get("X-TotalPages") == strconv.Itoa(page) || len(list.Events) == 0 {
			break
		}
	}
	return out, nil
}
