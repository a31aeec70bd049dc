package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"
)

// lists measures lists and updates through HTTP at a size, then memory and a
// start from the snapshot.
func lists(ctx context.Context, o options, n int, dir string, out, errw io.Writer) error {
	s, err := filled(ctx, o, dir, n, light, errw)
	if err != nil {
		return err
	}
	running := true
	defer func() {
		if running {
			_ = s.stop()
		}
	}()
	fmt.Fprintf(out, "\n%d events, through HTTP\n%-34s %8s %10s %10s %10s %12s\n", n, "", "clients", "p50", "p99", "per second", "p50 at most")
	events := s.root + "/events"
	m := newMaker(99)
	var texts, windows []string
	for range 4096 {
		texts = append(texts, m.words(2))
		windows = append(windows, today().AddDate(0, 0, m.rng.IntN(500)-100).Format(time.DateOnly))
	}
	pick := func(caller, turn int) int { return (caller*509 + turn) % 4096 }
	for _, row := range []struct {
		name string
		most time.Duration // of p50 with one client; 0: no target
		next func(caller, turn int) string
	}{
		{"default list", 300 * time.Microsecond, func(int, int) string { return events }},
		{"default list, another page each", 0, func(c, t int) string {
			return events + "?page=" + strconv.Itoa(1+pick(c, t)%(n/40))
		}},
		{"text and window", 3 * time.Millisecond, func(c, t int) string {
			i := pick(c, t)
			return events + "?search=" + url.QueryEscape(texts[i]) + "&start_date=" + windows[i]
		}},
		{"geolocation, 50 km", 0, func(c, t int) string {
			i := pick(c, t)
			return fmt.Sprintf("%s?geoloc_lat=%.3f&geoloc_lng=%.3f&geoloc_radius=50", events, 42+float64(i%97)/25, -71-float64(i%89)/25)
		}},
	} {
		for _, callers := range []int{1, 8} {
			f, err := gets(ctx, callers, o.span, "", row.next)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			line(out, row.name, callers, f, row.most)
		}
	}
	ids, err := someIDs(ctx, s, 200)
	if err != nil {
		return err
	}
	for _, callers := range []int{1, 8} {
		write, visible, err := updates(ctx, s, ids, callers, o.span)
		if err != nil {
			return fmt.Errorf("one update visible: %w", err)
		}
		line(out, "one update, acknowledged", callers, write, 0)
		line(out, "one update, visible in a list", callers, visible, 5*time.Millisecond)
	}
	loaded, err := s.resident()
	if err != nil {
		return err
	}
	running = false
	if err := s.stop(); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	begin := time.Now()
	if s, err = serve(ctx, o, dir, errw); err != nil {
		return err
	}
	running = true
	if err := s.ready(ctx); err != nil {
		return err
	}
	took := time.Since(begin)
	fresh, err := s.resident()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-34s %7.2f s (at most 2)\n", "start from snapshot", took.Seconds())
	fmt.Fprintf(out, "%-34s %7.0f MB after the load (at most 400), %.0f MB after the start\n", "resident memory", loaded, fresh)
	return nil
}

// serve starts the service on a directory that is filled.
func serve(ctx context.Context, o options, dir string, errw io.Writer) (*service, error) {
	return start(ctx, errw, o.binary, "serve", "--data", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--log-level", "warn")
}

// line prints a row; a target is for one client.
func line(out io.Writer, name string, callers int, f figures, most time.Duration) {
	target := ""
	if most > 0 && callers == 1 {
		target = fmt.Sprintf("%.1f ms", ms(most))
	}
	fmt.Fprintf(out, "%-34s %8d %7.3f ms %7.3f ms %10.0f %12s\n", name, callers, ms(f.p50), ms(f.p99), f.rate, target)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// someIDs gives ids of listed events, from all over the list.
func someIDs(ctx context.Context, s *service, n int) ([]int64, error) {
	var ids []int64
	c := client(1)
	pages, step := 1, 1
	for page := 1; page <= pages; page += step {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/events?per_page=100&page=%d", s.root, page), http.NoBody)
		if err != nil {
			return nil, err
		}
		b, _, err := do(c, r)
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

// updates changes titles. write is the time until the answer, visible that until
// a list that shows the change has come too.
func updates(ctx context.Context, s *service, ids []int64, callers int, span time.Duration) (write, visible figures, err error) {
	c := client(callers)
	defer c.CloseIdleConnections()
	whole := make([][]time.Duration, callers)
	write, err = measure(callers, span, func(caller, turn int) (time.Duration, error) {
		id := ids[(caller*31+turn*callers)%len(ids)]
		r, err := s.writing(ctx, http.MethodPatch, fmt.Sprintf("/events/%d", id), map[string]any{"title": fmt.Sprintf("changed %d %d", caller, turn)})
		if err != nil {
			return 0, err
		}
		begin := time.Now()
		header, err := drain(c, r)
		if err != nil {
			return 0, err
		}
		took := time.Since(begin)
		list, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root+"/events", http.NoBody)
		if err != nil {
			return 0, err
		}
		list.Header.Set("Daybook-Min-Position", header.Get("Daybook-Position"))
		if _, err = drain(c, list); err != nil {
			return 0, err
		}
		whole[caller] = append(whole[caller], time.Since(begin))
		return took, nil
	})
	if err != nil {
		return write, visible, err
	}
	visible = percentiles(whole)
	visible.rate = write.rate
	return write, visible, nil
}

// writing makes a request of the administrator with a JSON body.
func (s *service) writing(ctx context.Context, method, path string, fields map[string]any) (*http.Request, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.root+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("loadgen", s.token)
	return r, nil
}
