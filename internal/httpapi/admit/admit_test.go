package admit

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestRooms: each stage has room for so many, of one client and of all; who leaves
// one makes room there, and who has been let in comes back to work.
func TestRooms(t *testing.T) {
	t.Parallel()
	control := New(Limits{Slots: 64, LargestAnswer: 8 << 20})
	from := func(address string) Pass {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.RemoteAddr = address
		return control.Arrive(request)
	}
	fill := func(address string, stage Stage) (passes []Pass) {
		for {
			pass := from(address)
			if pass.Enter(stage, 1) != nil {
				return passes
			}
			passes = append(passes, pass)
		}
	}
	working := fill("192.0.2.1:1", Work)
	if len(working) != 16 {
		t.Errorf("one client is worked for %d times at once, want 16", len(working))
	}
	if pass := from("192.0.2.2:1"); pass.Enter(Work, 1) != nil {
		t.Error("another client finds no room")
	} else {
		pass.Leave()
	}
	if len(fill("192.0.2.2:1", Work))+len(fill("192.0.2.3:1", Work))+len(fill("192.0.2.4:1", Work)) != 48 {
		t.Error("four clients do not fill all slots")
	}
	if got := len(fill("192.0.2.5:1", Work)); got != 0 {
		t.Errorf("%d more slots than there are", got)
	}
	known := from("192.0.2.1:1")
	if known.Identify(7) != nil {
		t.Error("a caller with credentials finds no room beside a flood of anonymous ones")
	}
	known.Leave()
	for i := range working {
		if working[i].Enter(Wait, 1) != nil {
			t.Fatal("no room to wait")
		}
	}
	if got := len(fill("192.0.2.1:1", Wait)); got != 0 {
		t.Errorf("one client waits %d more times than it may", got)
	}
	again := fill("192.0.2.1:1", Work)
	if len(again) != 16 {
		t.Errorf("%d slots are free while 16 wait", len(again))
	}
	for i := range working {
		working[i].Resume() // beyond the slots
		working[i].Leave()
		again[i].Leave()
	}
	big := from("192.0.2.1:1")
	if big.Enter(Answer, AnswerBytesOfOne-1) != nil || big.Enter(Answer, AnswerBytesOfOne+1) == nil || big.size != AnswerBytesOfOne-1 {
		t.Error("bytes are not counted")
	}
	big.Leave()
	for g := range control.taken {
		for s := range control.taken[g] {
			if n := control.taken[g][s].Load(); n != 0 && (group(g) != groupAnonymous || Stage(s) != Work || n != 48) {
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
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.RemoteAddr = tc.remote
		request.Header["X-Forwarded-For"] = tc.forwarded
		want, _ := netip.ParseAddr(tc.want)
		if got := New(Limits{Slots: 1, LargestAnswer: 1, Forwarded: tc.trusted}).address(request); got != want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// TestTurnWithinATurn: who has the turn of its client is not refused where there is no room
// to wait, and does not wait for itself.
func TestTurnWithinATurn(t *testing.T) {
	t.Parallel()
	control, one := New(Limits{Slots: 1}), &OfOne{AtOnce: 1}
	pass := control.Arrive(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	leave, err := pass.Turn(t.Context(), NewTurns(one, 0), false)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	other := control.Arrive(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if other.Enter(Wait, 1) != nil {
		t.Fatal("no room to wait")
	}
	within, err := pass.Turn(t.Context(), NewTurns(one, 1), true)
	if err != nil {
		t.Fatal(err)
	}
	within()
	if _, err := pass.Turn(t.Context(), NewTurns(one, 1), false); err == nil {
		t.Error("another turn is not refused where there is no room to wait")
	}
}
