package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// figures are what one measurement found.
type figures struct {
	n        int
	rate     float64 // requests per second
	p50, p99 time.Duration
}

// client keeps one connection per caller, each from an address of its own where the
// system has many: a service gives one address a part of what it has only.
func client(callers int) *http.Client {
	var dialed atomic.Uint32
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: callers, MaxConnsPerHost: callers, DisableCompression: true,
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			var d net.Dialer
			if at, err := netip.ParseAddrPort(to); err == nil && at.Addr().Is4() && at.Addr().IsLoopback() && runtime.GOOS == "linux" {
				d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(dialed.Add(1)%250)+1)}
			}
			return d.DialContext(ctx, network, to)
		},
	}}
}

// send sends a request and checks the status; the caller closes the body.
func send(c *http.Client, r *http.Request) (*http.Response, error) {
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", r.Method, r.URL, resp.Status, b)
	}
	return resp, nil
}

// do sends a request and gives the whole answer.
func do(c *http.Client, r *http.Request) ([]byte, http.Header, error) {
	resp, err := send(c, r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return b, resp.Header, err
}

// drain sends a request and reads the answer without keeping it.
func drain(c *http.Client, r *http.Request) (http.Header, error) {
	resp, err := send(c, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.Header, err
}

// measure has callers do the work one after the other for a time, each once at least.
// work gets the number of the caller and that of its turn, and gives the time that counts.
func measure(callers int, span time.Duration, work func(caller, turn int) (time.Duration, error)) (figures, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		all   []time.Duration
		first error
	)
	begin := time.Now()
	end := begin.Add(span)
	for caller := range callers {
		wg.Go(func() {
			mine := make([]time.Duration, 0, 1<<16)
			var err error
			for turn := 0; turn == 0 || time.Now().Before(end); turn++ {
				var d time.Duration
				if d, err = work(caller, turn); err != nil {
					break
				}
				mine = append(mine, d)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	if first != nil {
		return figures{}, first
	}
	f := percentiles([][]time.Duration{all})
	f.rate = float64(f.n) / took.Seconds()
	return f, nil
}

// percentiles sums up the times of all callers.
func percentiles(times [][]time.Duration) figures {
	all := slices.Concat(times...)
	slices.Sort(all)
	f := figures{n: len(all)}
	if len(all) > 0 {
		f.p50, f.p99 = all[len(all)/2], all[len(all)*99/100]
	}
	return f
}

// gets measures GET requests with a header to the URLs that next makes.
func gets(ctx context.Context, callers int, span time.Duration, header http.Header, next func(caller, turn int) string) (figures, error) {
	c := client(callers)
	defer c.CloseIdleConnections()
	return measure(callers, span, func(caller, turn int) (time.Duration, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, next(caller, turn), http.NoBody)
		if err != nil {
			return 0, err
		}
		if header != nil {
			r.Header = header.Clone()
		}
		begin := time.Now()
		_, err = drain(c, r)
		return time.Since(begin), err
	})
}

// flushTime gives the median time of a flush after 4 KiB were added to a file: what
// the rows of durable writes depend on most.
func flushTime(dir string) (_ time.Duration, err error) {
	f, err := os.Create(filepath.Join(dir, "flush"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := make([]byte, 4<<10)
	times := make([]time.Duration, 201)
	for i := range times {
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(begin)
	}
	return median(times), nil
}
