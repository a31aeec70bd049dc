package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"

	"daybook/calendar"
)

// BenchmarkAdmission is what a read with a small answer pays for its slot.
func BenchmarkAdmission(b *testing.B) {
	a := newAdmission(1024, 8<<20, 0, 0, false)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p := a.arrive(r)
			if !p.enter(stageWork, 1) {
				b.Error("refused")
			}
			p.send(r, nil)
			p.leave()
		}
	})
}

// TestRooms: each stage has room for so many, of one client and of all; who leaves
// one makes room there, and who has been let in comes back to work.
func TestRooms(t *testing.T) {
	t.Parallel()
	a := newAdmission(64, 8<<20, 0, 0, false)
	from := func(address string) pass {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = address
		return a.arrive(r)
	}
	fill := func(address string, s stage) (in []pass) {
		for {
			p := from(address)
			if !p.enter(s, 1) {
				return in
			}
			in = append(in, p)
		}
	}
	working := fill("192.0.2.1:1", stageWork)
	if len(working) != 16 {
		t.Errorf("one client is worked for %d times at once, want 16", len(working))
	}
	if p := from("192.0.2.2:1"); !p.enter(stageWork, 1) {
		t.Error("another client finds no room")
	} else {
		p.leave()
	}
	if len(fill("192.0.2.2:1", stageWork))+len(fill("192.0.2.3:1", stageWork))+len(fill("192.0.2.4:1", stageWork)) != 48 {
		t.Error("four clients do not fill all slots")
	}
	if got := len(fill("192.0.2.5:1", stageWork)); got != 0 {
		t.Errorf("%d more slots than there are", got)
	}
	known := from("192.0.2.1:1")
	if !known.identify(7) {
		t.Error("a caller with credentials finds no room beside a flood of anonymous ones")
	}
	known.leave()
	for i := range working {
		if !working[i].enter(stageWait, 1) {
			t.Fatal("no room to wait")
		}
	}
	if got := len(fill("192.0.2.1:1", stageWait)); got != 0 {
		t.Errorf("one client waits %d more times than it may", got)
	}
	again := fill("192.0.2.1:1", stageWork)
	if len(again) != 16 {
		t.Errorf("%d slots are free while 16 wait", len(again))
	}
	for i := range working {
		working[i].resume() // beyond the slots
		working[i].leave()
		again[i].leave()
	}
	big := from("192.0.2.1:1")
	if !big.enter(stageAnswer, oneAnswerBytes-1) || big.enter(stageAnswer, oneAnswerBytes+1) || big.size != oneAnswerBytes-1 {
		t.Error("bytes are not counted")
	}
	big.leave()
	for g := range a.taken {
		for s := range a.taken[g] {
			if n := a.taken[g][s].Load(); n != 0 && (group(g) != groupAnonymous || stage(s) != stageWork || n != 48) {
				t.Errorf("group %d holds %d of stage %d", g, n, s)
			}
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trusted   bool
		remote    string
		forwarded []string
		want      string
	}{
		"connection":                 {false, "192.0.2.1:80", []string{"198.51.100.1"}, "192.0.2.1"},
		"IPv4 in IPv6":               {false, "[::ffff:192.0.2.1]:80", nil, "192.0.2.1"},
		"network of IPv6":            {false, "[2001:db8:1:2:3:4:5:6]:80", nil, "2001:db8:1:2::"},
		"zone":                       {false, "[fe80::1%eth0]:80", nil, "fe80::"},
		"no address":                 {false, "@", nil, "invalid IP"},
		"proxy":                      {true, "192.0.2.1:80", []string{"198.51.100.1"}, "198.51.100.1"},
		"what the client made up":    {true, "192.0.2.1:80", []string{"203.0.113.9", "203.0.113.8, 198.51.100.1"}, "198.51.100.1"},
		"proxy with port":            {true, "192.0.2.1:80", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"proxy and IPv6":             {true, "192.0.2.1:80", []string{"2001:db8:1:2::6"}, "2001:db8:1:2::"},
		"proxy and IPv6 with port":   {true, "192.0.2.1:80", []string{"[2001:db8:1:2::6]:80"}, "2001:db8:1:2::"},
		"proxy that does not say":    {true, "192.0.2.1:80", []string{"unknown"}, "192.0.2.1"},
		"proxy that says nothing":    {true, "192.0.2.1:80", []string{""}, "192.0.2.1"},
		"proxy without X-Forwarded-": {true, "192.0.2.1:80", nil, "192.0.2.1"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = tc.remote
		r.Header["X-Forwarded-For"] = tc.forwarded
		want, _ := netip.ParseAddr(tc.want)
		if got := newAdmission(1, 1, 0, 0, tc.trusted).address(r); got != want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// TestBesideAtOnce: a path beside the interface has so many requests at once.
func TestBesideAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h, _ := fakeAPI(t, Deps{}, Options{Beside: []Beside{{
			Path: "/history", AtOnce: 64, Serve: func(*http.Request, calendar.Caller) (int, any, error) {
				<-gate
				return http.StatusOK, nil, nil
			},
		}}})
		var all sync.WaitGroup
		ask := func(address string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/history", nil)
			r.RemoteAddr = address
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		for range 16 {
			all.Go(func() {
				if got := ask("192.0.2.1:1"); got.Code != http.StatusOK {
					t.Errorf("got %d", got.Code)
				}
			})
		}
		synctest.Wait()
		if got := ask("192.0.2.1:1"); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("one more of the same address: %d %v", got.Code, got.Header())
		}
		all.Go(func() {
			if got := ask("192.0.2.2:1"); got.Code != http.StatusOK {
				t.Errorf("another address: %d", got.Code)
			}
		})
		synctest.Wait()
		close(gate)
		all.Wait()
		if got := ask("192.0.2.1:1"); got.Code != http.StatusOK {
			t.Errorf("afterwards: %d", got.Code)
		}
	})
}
