package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestClosed: an interface that cannot work yet answers as it would of a part that is
// out of reach, headers, language and form included.
func TestClosed(t *testing.T) {
	t.Parallel()
	handler, err := httpapi.Closed(httpapi.Options{BaseURL: world.Base, ReadMaxAge: 60}, calendar.CodeUnavailable)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][5]string{ // a request with a header, a header of the answer
		{"GET " + world.Root + "/events", "X-Request-Id", "r1", "X-Request-Id", "r1"},
		{"GET " + world.Root + "/events", "", "", "Cache-Control", "no-store"},
		{"GET " + world.Root + "/events", "", "", "Vary", "Accept, Accept-Encoding, Authorization, Origin, Accept-Datetime"},
		{"GET " + world.Root + "/events", "Authorization", "Bearer x", "Cache-Control", "no-store, private"},
		{"GET " + world.Root + "/events/7?password=x", "", "", "Cache-Control", "no-store, private"},
		{"GET /cn" + world.Root + "/doc", "", "", "Content-Language", "zh-Hans"},
		{"GET " + world.Root, "Accept", "application/problem+json", "Content-Type", "application/problem+json; charset=utf-8"},
		{"GET /nothing", "Origin", "https://other.example", "Access-Control-Allow-Origin", "*"},
		{"POST " + world.Root + "/events", "", "", "Retry-After", "2"},
	} {
		method, path, _ := strings.Cut(row[0], " ")
		request := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		request.Header.Set(row[1], row[2])
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, request)
		if text := got.Header().Get(row[3]); text != row[4] || got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), `"rest_unavailable"`) {
			t.Errorf("%v: %d %q %s", row, got.Code, text, got.Body)
		}
	}
}
