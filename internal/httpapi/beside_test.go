package httpapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"daybook/calendar"
)

// TestBeside: paths next to the interface come in as its requests do: with an id, with
// credentials, and what fails is answered in one shape and logged.
func TestBeside(t *testing.T) {
	t.Parallel()
	history := Beside{Path: "/history", AtOnce: 8, Serve: func(r *http.Request, c calendar.Caller) (int, any, error) {
		switch r.URL.Path {
		case "/history/broken":
			return 0, nil, errors.New("disk on fire")
		case "/history/panics":
			panic("oops")
		case "/history/role":
			if c.Role != calendar.Editor {
				return 0, nil, calendar.Fail(calendar.CodeUnauthorized, 0)
			}
		}
		return http.StatusOK, map[string]string{"a": "<b>"}, nil
	}}
	probe := Beside{Path: "/health", AtOnce: 8, Probe: true, Serve: func(_ *http.Request, c calendar.Caller) (int, any, error) {
		return http.StatusServiceUnavailable, map[string]bool{"known": c.Role != calendar.Anonymous}, nil
	}}
	var told []int
	h, log := fakeAPI(t, Deps{}, Options{
		Beside: []Beside{history, probe}, RequestID: func() string { return "id-1" },
		Observe: func(a Answered) { told = append(told, a.Status) },
	})
	for _, c := range []struct {
		name, method, path, as string
		status                 int
		want, logged           string
	}{
		{"answer", "GET", "/history", "", 200, `{"a":"<b>"}`, ""},
		{"below", "GET", "/history/x/y", "", 200, `{"a":"<b>"}`, ""},
		{"another path", "GET", "/historyx", "", 404, "rest_no_route", ""},
		{"role", "GET", "/history/role", "Bearer good", 200, "{", ""},
		{"no role", "GET", "/history/role", "", 401, `"status":401`, ""},
		{"bad credentials", "GET", "/history", "Bearer bad", 401, "incorrect", ""},
		{"method", "POST", "/history", "", 405, `"status":405`, ""},
		{"no options", "OPTIONS", "/history", "", 405, `"status":405`, ""},
		{"broken", "GET", "/history/broken", "", 500, `"status":500`, "disk on fire"},
		{"panic", "GET", "/history/panics", "", 500, `"status":500`, "oops"},
		{"probe", "GET", "/health/ready", "Bearer bad", 503, `{"known":false}`, ""},
	} {
		log.Reset()
		told = nil
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, http.NoBody)
		if c.as != "" {
			r.Header.Set("Authorization", c.as)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != c.status || !strings.Contains(body, c.want) || strings.Contains(body, "fire") {
			t.Errorf("%s: got %d %s, want %d with %s", c.name, w.Code, body, c.status, c.want)
		}
		if got := w.Header().Get(headerRequestID); got != "id-1" || !strings.Contains(w.Header().Get(headerCache), "no-store") && c.status != 404 {
			t.Errorf("%s: id %q, %v", c.name, got, w.Header())
		}
		if got := log.String(); (c.logged == "") != (got == "") || !strings.Contains(got, c.logged) {
			t.Errorf("%s: logged %q, want %q", c.name, got, c.logged)
		}
		if got := w.Header().Get(headerAllow); (c.status == 405) != (got == "GET, HEAD") {
			t.Errorf("%s: allows %q", c.name, got)
		}
		if want := c.name != "probe"; (len(told) == 1) != want {
			t.Errorf("%s: told of %v", c.name, told)
		}
	}
}

// TestBesideRate: requests next to the interface count, those of probes do not.
func TestBesideRate(t *testing.T) {
	t.Parallel()
	ok := func(*http.Request, calendar.Caller) (int, any, error) { return http.StatusOK, nil, nil }
	h, _ := fakeAPI(t, Deps{}, Options{RateLimit: 2, Beside: []Beside{
		{Path: "/history", AtOnce: 8, Serve: ok}, {Path: "/health", AtOnce: 8, Probe: true, Serve: ok},
	}})
	for i, want := range []int{200, 200, 429} {
		for path, want := range map[string]int{"/history": want, "/health": 200} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
			if w.Code != want {
				t.Errorf("request %d of %s: got %d, want %d", i+1, path, w.Code, want)
			}
		}
	}
}

// TestBesideAtOnce: a path next to the interface has so many requests at once.
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
