package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// TestBodiesThatDoNotCome: a client that sends half a body and waits is told so.
func TestBodiesThatDoNotCome(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{})
	for want, timeout := range map[string]time.Duration{"the body ended early": time.Minute, "the body did not come in time": 100 * time.Millisecond} {
		server := httptest.NewUnstartedServer(w.Handler)
		server.Config.ReadTimeout = timeout
		server.Start()
		t.Cleanup(server.Close)
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s/tags HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"name\":", world.Root, w.As(calendar.Editor).Token)
		if timeout == time.Minute {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		answer, err := io.ReadAll(conn)
		_ = conn.Close()
		if got := string(answer); err != nil || !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "rest_invalid_json") || !strings.Contains(got, want) {
			t.Errorf("answered %q, want 400 that says %q", got, want)
		}
	}
}
