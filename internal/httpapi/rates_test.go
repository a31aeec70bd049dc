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
	w := world.New(t, world.Options{HTTP: httpapi.Options{RateLimit: 3, TrustForwarded: true}})
	from := func(client *world.Client, last string) *world.Client {
		return client.With("X-Forwarded-For", "198.51.100."+last)
	}
	anybody, editor := w.As(calendar.Anonymous), w.As(calendar.Editor)
	refused := func(response *world.Response) {
		t.Helper()
		response.WantCode(http.StatusTooManyRequests, "rest_too_many_requests")
		if response.Header.Get("Retry-After") == "" || response.Header.Get("RateLimit-Remaining") != "0" || !strings.HasPrefix(response.Header.Get("Cache-Control"), "no-store") {
			t.Errorf("%s: %v", response.Request, response.Header)
		}
	}
	documented := 0
	for _, left := range []string{"2", "1", "0"} {
		header := from(anybody, "1").Read("/events").Header
		if reset := header.Get("RateLimit-Reset"); header.Get("RateLimit-Limit") != "3" || header.Get("RateLimit-Remaining") != left || reset == "" || len(reset) > 2 {
			t.Errorf("%v, want %s left", header, left)
		}
	}
	for name := range w.Document().Paths.Value("/events").Get.Responses.Status(http.StatusOK).Value.Headers {
		documented += strings.Count(name, "RateLimit-")
	}
	if documented != 3 {
		t.Errorf("%d headers of the limit are documented, want 3", documented)
	}
	refused(from(anybody, "1").Get("/events?multilang_language=fr"))
	refused(anybody.With("X-Forwarded-For", "203.0.113.7, 198.51.100.1").Get("/nothing")) // what the client says of itself
	from(anybody, "2").Read("/events")
	for range 3 { // the user counts, not the address
		from(editor, "1").Read("/events")
	}
	refused(from(editor, "9").Post("/tags", obj{"name": "a"}))
	from(w.As(calendar.Author), "1").Read("/events")
	wrong := from(anybody, "3").With("Authorization", "Bearer wrong")
	for range 3 {
		wrong.Get("/events").Want(http.StatusUnauthorized)
	}
	refused(wrong.Get("/events"))
	refused(from(anybody, "3").Get("/events"))
	if header := world.New(t, world.Options{}).As(calendar.Anonymous).Read("/tags").Header; header.Get("RateLimit-Limit") != "" {
		t.Errorf("without a limit: %v", header)
	}
}
