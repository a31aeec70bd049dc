package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// TestAllowOnEveryKnownPath: also where a request ends before its route (2.8).
func TestAllowOnEveryKnownPath(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	long := "?x=" + strings.Repeat("x", 17<<10)
	for _, c := range []struct {
		method, path, authorization string
		status                      int
		want                        string
	}{
		{"OPTIONS", "/events", "", 200, "GET, HEAD, POST, OPTIONS"},
		{"OPTIONS", "/events", "Bearer x", 401, "GET, HEAD, POST, OPTIONS"},
		{"OPTIONS", "/events/7", "Bearer x", 401, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"},
		{"GET", "/events", "Bearer x", 401, "GET, HEAD, OPTIONS"},
		{"GET", "/events" + long, "", 414, "GET, HEAD, OPTIONS"},
		{"GET", "/nothing" + long, "", 414, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, world.Root+c.path, http.NoBody)
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		res := httptest.NewRecorder()
		w.Handler.ServeHTTP(res, r)
		if got := res.Header().Get("Allow"); res.Code != c.status || got != c.want {
			t.Errorf("%s %.20s, %q: status %d with Allow %q, want %d with %q", c.method, c.path, c.authorization, res.Code, got, c.status, c.want)
		}
	}
}

// TestBodiesThatDoNotCome: a client that sends half a body and waits is told so.
func TestBodiesThatDoNotCome(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	token := w.As(calendar.Editor).Token
	for _, c := range []struct {
		name  string
		close bool // the writing side
		want  string
	}{
		{"cut", true, "the body ended early"},
		{"late", false, "the body did not come in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(w.Handler)
			s.Config.ReadTimeout = 100 * time.Millisecond
			if c.close {
				s.Config.ReadTimeout = time.Minute
			}
			s.Start()
			t.Cleanup(s.Close)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			fmt.Fprintf(conn, "POST %s/tags HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"name\":", world.Root, token)
			if c.close {
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil { //nolint:forcetypeassert // it was dialed as one
					t.Fatal(err)
				}
			}
			answer, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(answer); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "rest_invalid_json") || !strings.Contains(got, c.want) {
				t.Errorf("answered %q, want 400 that says %q", got, c.want)
			}
		})
	}
}
