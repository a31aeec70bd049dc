package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestRateLimit: each address and each user has so many requests a minute, and is told
// how many are left.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{RateLimit: 3, TrustForwarded: true}, Unchecked: true})
	from := func(address string) *world.Client { return w.As(calendar.Anonymous).With("X-Forwarded-For", address) }
	refused := func(r *world.Response) {
		t.Helper()
		r.WantCode(http.StatusTooManyRequests, "rest_too_many_requests")
		if r.Header.Get("Retry-After") == "" || r.Header.Get("RateLimit-Remaining") != "0" || !strings.HasPrefix(r.Header.Get("Cache-Control"), "no-store") {
			t.Errorf("%s: %v", r.Request, r.Header)
		}
	}
	for _, left := range []string{"2", "1", "0"} {
		r := from("198.51.100.1").Read("/events")
		if h := r.Header; h.Get("RateLimit-Limit") != "3" || h.Get("RateLimit-Remaining") != left || h.Get("RateLimit-Reset") == "" || len(h.Get("RateLimit-Reset")) > 2 {
			t.Errorf("%v, want %s left", h, left)
		}
	}
	refused(from("198.51.100.1").Get("/events"))
	refused(from("203.0.113.7, 198.51.100.1").Get("/nothing")) // what the client says of itself
	refused(from("198.51.100.1").Get("/events?multilang_language=fr"))
	from("198.51.100.2").Read("/events")
	editor, author := w.As(calendar.Editor), w.As(calendar.Author)
	for range 3 { // the user counts, not the address
		editor.With("X-Forwarded-For", "198.51.100.1").Read("/events")
	}
	refused(editor.With("X-Forwarded-For", "198.51.100.9").Post("/tags", obj{"name": "a"}))
	author.With("X-Forwarded-For", "198.51.100.1").Read("/events")
	for range 3 {
		from("198.51.100.3").With("Authorization", "Bearer wrong").Get("/events").Want(http.StatusUnauthorized)
	}
	refused(from("198.51.100.3").With("Authorization", "Bearer wrong").Get("/events"))
	refused(from("198.51.100.3").Get("/events"))

	free := world.New(t, world.Options{}).As(calendar.Anonymous)
	for range 10 {
		if h := free.Read("/tags").Header; h.Get("RateLimit-Limit") != "" {
			t.Errorf("without a limit: %v", h)
		}
	}
}
