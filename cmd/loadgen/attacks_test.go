package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain lets the test binary be the process of an attacker or a bare server, as
// loadgen is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "attack" || os.Args[1] == "bare") {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// victim is a service that keeps what it was sent.
type victim struct {
	*httptest.Server

	mu      sync.Mutex
	asked   []asked
	conns   map[net.Conn]http.ConnState
	blocked int // answers that the client did not take for a while
	short   int // bodies that stopped before their end, with credentials or without
	denied  int // the same with wrong credentials
	left    int // lists of the past that the client did not wait for
	waiting atomic.Int64
}

type asked struct {
	method, path, query, host, from string
	header                          http.Header
}

// newVictim starts a service that answers a list's position, waits for greater
// ones until the client goes, and sends pages of 100 without end.
func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{conns: map[net.Conn]http.ConnState{}}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(v.answer))
	v.Config.ConnState = func(c net.Conn, s http.ConnState) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.conns[c] = s; s == http.StateClosed {
			delete(v.conns, c)
		}
	}
	v.Config.MaxHeaderBytes = 2 << 20
	v.Start()
	t.Cleanup(v.Close)
	return v
}

const victimHead = 41

func (v *victim) answer(w http.ResponseWriter, r *http.Request) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	v.mu.Lock()
	v.asked = append(v.asked, asked{r.Method, r.URL.Path, r.URL.RawQuery, r.Host, from, r.Header})
	v.mu.Unlock()
	switch {
	case r.Header.Get("Daybook-Min-Position") != "":
		v.waiting.Add(1)
		<-r.Context().Done()
		return
	case r.Method == http.MethodPost && r.ContentLength > 1000:
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(2 * time.Second))
		if _, err := io.Copy(io.Discard, r.Body); errors.Is(err, os.ErrDeadlineExceeded) {
			v.mu.Lock()
			if v.short++; r.Header.Get("Authorization") != "" {
				v.denied++
			}
			v.mu.Unlock()
		}
	case r.URL.Query().Get("as_of") != "":
		<-r.Context().Done()
		v.mu.Lock()
		v.left++
		v.mu.Unlock()
		return
	case r.URL.Query().Get("per_page") == "100" && r.URL.Query().Get("page") != "", strings.HasPrefix(r.URL.Path, "/api/events."):
		some := make([]byte, 64<<10)
		for {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * time.Second))
			if _, err := w.Write(some); errors.Is(err, os.ErrDeadlineExceeded) {
				v.mu.Lock()
				v.blocked++
				v.mu.Unlock()
				return
			} else if err != nil {
				return
			}
		}
	}
	w.Header().Set("Daybook-Position", strconv.Itoa(victimHead))
	_, _ = io.WriteString(w, "{}")
}

// in gives how many connections are in a state.
func (v *victim) in(s http.ConnState) int {
	n := 0
	for _, state := range v.conns {
		if state == s {
			n++
		}
	}
	return n
}

// most gives how many requests fit.
func (v *victim) most(fits func(a asked) bool) int {
	n := 0
	for _, a := range v.asked {
		if fits(a) {
			n++
		}
	}
	return n
}

// different gives how many values there are of something.
func (v *victim) different(of func(a asked) string) int {
	seen := map[string]bool{}
	for _, a := range v.asked {
		seen[of(a)] = true
	}
	return len(seen)
}

// Each attack does to a server what its row says, from an address of its own and
// over no more connections than the row says.
func TestAttacks(t *testing.T) {
	t.Parallel()
	const connections = 12
	position := func(a asked) int {
		n, _ := strconv.Atoi(a.header.Get("Daybook-Min-Position"))
		return n
	}
	shows := map[string]func(v *victim) bool{
		"idle connections": func(v *victim) bool {
			return v.in(http.StateNew) == connections/2 && v.in(http.StateIdle) == connections/2
		},
		"slow readers": func(v *victim) bool { return v.blocked >= connections },
		"slow headers and bodies": func(v *victim) bool {
			return v.denied >= connections/3 && v.short-v.denied >= connections/3 && v.in(http.StateActive) >= connections/3
		},
		"waits for a position": func(v *victim) bool {
			return v.waiting.Load() == connections && v.most(func(a asked) bool { return position(a) == 999_999_999 }) == connections/2 &&
				v.most(func(a asked) bool { p := position(a); return p > victimHead && p < victimHead+100 }) == connections/2
		},
		"wrong passwords of an event": func(v *victim) bool {
			return v.most(func(a asked) bool { return a.path == "/api/events/7" && strings.HasPrefix(a.query, "password=") }) > 2*connections &&
				v.different(func(a asked) string { return a.query }) == len(v.asked)
		},
		"wrong credentials": func(v *victim) bool {
			return v.most(func(a asked) bool {
				return a.method == http.MethodGet && strings.HasPrefix(a.header.Get("Authorization"), "Basic ")
			}) > 0 &&
				v.most(func(a asked) bool {
					return a.method == http.MethodPost && strings.HasPrefix(a.header.Get("Authorization"), "Bearer ")
				}) > 0
		},
		"preflights of many names": func(v *victim) bool {
			names := func(a asked) int { return strings.Count(a.header.Get("Access-Control-Request-Headers"), ",") }
			return v.most(func(a asked) bool { return a.method == http.MethodOptions && names(a) > 10_000 && names(a) < 20_000 }) > 0 &&
				v.most(func(a asked) bool { return a.method == http.MethodOptions && names(a) > 100_000 }) > 0
		},
		"documentation for fresh hosts": func(v *victim) bool {
			return len(v.asked) > 2*connections && v.different(func(a asked) string { return a.host }) == len(v.asked) &&
				v.most(func(a asked) bool { return a.path == "/api/doc" }) == len(v.asked)
		},
		"lists of 1,000 ids, of empty ones": func(v *victim) bool {
			return v.most(func(a asked) bool { return strings.Count(a.query, ",") == 999 }) > 2*connections &&
				v.most(func(a asked) bool { return strings.Count(a.query, ",,") > 5000 }) > 0 &&
				v.different(func(a asked) string { return a.query }) > len(v.asked)/2
		},
		"lists with another window each": func(v *victim) bool {
			return len(v.asked) > 10*connections && v.different(func(a asked) string { return a.query }) == len(v.asked)
		},
		"searches, up to 495 characters": func(v *victim) bool {
			return len(v.asked) > 4*connections && v.different(func(a asked) string { return a.query }) == len(v.asked)
		},
		"large answers": func(v *victim) bool {
			return v.most(func(a asked) bool { return a.path == "/api/events/8" || a.path == "/api/events/9" }) > 0 &&
				v.most(func(a asked) bool { return strings.HasPrefix(a.query, "include=8,9&") }) > 0 &&
				v.most(func(a asked) bool { return a.path == "/api/venues" }) > 0
		},
		"lists and texts to be compressed": func(v *victim) bool {
			of := func(encoding, path string) int {
				return v.most(func(a asked) bool { return a.header.Get("Accept-Encoding") == encoding && a.path == path })
			}
			return of("gzip", "/api/events") > 0 && of("zstd", "/api/events") > 0 && of("gzip", "/api/doc")+of("zstd", "/api/doc") > 0 &&
				of("gzip", "/api/venues")+of("zstd", "/api/venues") > 0 &&
				v.different(func(a asked) string { return a.host + a.query }) == len(v.asked)
		},
		"pages of changes": func(v *victim) bool {
			empty := func(a asked) bool { return strings.Contains(a.query, "id=") }
			return v.most(func(a asked) bool { return a.path == "/api/changes" }) == len(v.asked) &&
				v.most(empty) > connections && len(v.asked)-v.most(empty) > connections
		},
		"slow readers of feeds": func(v *victim) bool {
			return v.blocked >= connections && v.most(func(a asked) bool { return strings.HasPrefix(a.path, "/api/events.") }) == len(v.asked)
		},
		"lists of the past, left at once": func(v *victim) bool {
			return v.left > 2*connections && v.different(func(a asked) string { return a.query }) == victimHead &&
				v.most(func(a asked) bool { return strings.HasPrefix(a.query, "as_of=position:") }) == len(v.asked)
		},
		"streams of changes": func(v *victim) bool {
			return v.most(func(a asked) bool { return a.path == "/api/changes/stream" && a.query == "after=0" }) >= connections
		},
	}
	for _, at := range attacks {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			if shows[at.name] == nil {
				t.Fatal("nothing says what this attack shows")
			}
			if at.connections < 1 || at.rate < 1 {
				t.Fatalf("an attack without bounds: %d connections, %d a second", at.connections, at.rate)
			}
			v := newVictim(t)
			at.connections = connections
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan map[string]int)
			go func() {
				done <- at.run(ctx, prey{Root: v.URL + "/api", Host: v.URL, Events: []int64{5, 6}, Large: []int64{8, 9}, Protected: 7, User: "loadgen", Head: victimHead}, time.Minute)
			}()
			shown, most := false, 0
			for !shown {
				select {
				case <-done:
					t.Fatalf("it did not do its attack in time; it sent %d requests, %d, %d and %d connections are new, active and idle",
						len(v.asked), v.in(http.StateNew), v.in(http.StateActive), v.in(http.StateIdle))
				case <-time.After(5 * time.Millisecond):
				}
				v.mu.Lock()
				shown, most = shows[at.name](v), max(most, len(v.conns))
				v.mu.Unlock()
			}
			cancel()
			got := <-done
			if len(got) == 0 {
				t.Error("it tells nothing of what it got")
			}
			v.mu.Lock()
			defer v.mu.Unlock()
			if most > connections && !slices.Contains([]string{"slow readers", "slow readers of feeds", "slow headers and bodies", "lists of the past, left at once"}, at.name) {
				t.Errorf("held %d connections, not %d", most, connections)
			}
			for _, a := range v.asked {
				if a.from != attackerAddress {
					t.Fatalf("a request came from %s, not from %s", a.from, attackerAddress)
				}
			}
		})
	}
}

// What an attack begins a second is bounded, and what was not begun at its time is
// not made up for.
func TestAttackRate(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	const rate, span = 50, 2 * time.Second
	at := attack{name: "one by one", connections: 20, rate: rate, drive: windows}
	begin := time.Now()
	at.run(t.Context(), prey{Root: v.URL, Host: v.URL}, span)
	took := time.Since(begin)
	v.mu.Lock()
	defer v.mu.Unlock()
	if n, most := len(v.asked), int(took.Seconds()*rate)+1; n == 0 || n > most {
		t.Errorf("got %d requests in %s, at most %d may be", n, took, most)
	}
}

func TestSearchTexts(t *testing.T) {
	t.Parallel()
	long, answered := 0, 0
	for _, text := range searchTexts() {
		if len(text) > maxSearch {
			t.Errorf("a search of %d characters, at most %d may be: %q", len(text), maxSearch, text)
		}
		if len(text) > maxSearch-30 {
			long++
		}
		words := map[string]bool{}
		for w := range strings.FieldsSeq(strings.NewReplacer(`"`, "", "-", "").Replace(text)) {
			words[w] = true
		}
		if len(words) <= searchWords && strings.Count(text, `"`) <= 2*searchQuoted {
			answered++
		}
	}
	if long != 3 || answered != 4 {
		t.Errorf("got %d long searches and %d within the limits, want 3 and 4", long, answered)
	}
}
