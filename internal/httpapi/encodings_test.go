package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/internal/testkit/world"
)

// sent is a request of no one with further headers: names and values by turns.
func sent(t *testing.T, handler http.Handler, method, path string, pairs ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, world.Root+path, http.NoBody)
	request.Header.Set("X-Request-Id", "same")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != "" {
			request.Header.Set(pairs[i], pairs[i+1])
		}
	}
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, request)
	return rec
}

// TestEncodingsAndSecrets: who sends credentials or a password gets no encoding, whatever
// they are worth and wherever they are sent.
func TestEncodingsAndSecrets(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t)
	text := strings.Repeat("jazz on the river ", 200)
	event := editor.Event("Jazz", obj{"description": text, "password": "sesame"}).Path()
	open := editor.Event("Open", obj{"description": text}).Path()
	for _, row := range [][3]string{
		{open, "Authorization", "Bearer " + editor.Token},
		{open, "Authorization", "Bearer wrong"},
		{open, "Authorization", ""},
		{"/events", "Authorization", "Bearer " + editor.Token},
		{event + "?password=sesame"},
		{event + "?password=x"},
		{open + "?password=x"},
		{"/events?password=x"},
		{"/events?password[]=x"},
	} {
		for _, method := range []string{"GET", "HEAD", "PATCH", "GET"} {
			got := sent(t, w.Handler, method, row[0], "Accept-Encoding", "gzip, zstd", row[1], row[2])
			if e, tag := got.Header().Get("Content-Encoding"), got.Header().Get("ETag"); e != "" || strings.HasSuffix(tag, `p"`) || strings.HasSuffix(tag, `std"`) {
				t.Errorf("%v: Content-Encoding %q, ETag %s", row, e, tag)
			}
		}
	}
	for _, path := range []string{open, open + "?password=", "/events?password=%20"} { // an empty one counts as not sent
		if got := sent(t, w.Handler, "GET", path, "Accept-Encoding", "gzip").Header().Get("Content-Encoding"); got != "gzip" {
			t.Errorf("%s: Content-Encoding %q", path, got)
		}
	}
}

// TestEncodedTags: a strong tag comes back with its encoding: to who takes that
// encoding, or says nothing of encodings and so takes any. Writers send it as it is.
func TestEncodedTags(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t)
	path := editor.Event("Jazz", obj{"description": strings.Repeat("river ", 400)}).Path()
	bare := sent(t, w.Handler, "GET", path).Header().Get("ETag")
	with := func(coding string) string { return strings.TrimSuffix(bare, `"`) + "-" + coding + `"` }
	zipped := with("gzip")
	for _, row := range [][3]string{ // Accept-Encoding, If-None-Match, the tag of the answer: 304 if it was sent
		{"gzip", zipped, zipped},
		{"gzip, zstd", zipped, zipped},
		{"zstd", zipped, with("zstd")},
		{"gzip;q=0", zipped, bare},
		{"gzip", bare, bare},
		{"gzip, identity;q=0", bare, zipped},
		{"gzip", with("br"), zipped},
		{"zstd, gzip", bare + ", " + zipped, zipped},
		{"", zipped, zipped},
		{"", bare, bare},
	} {
		pairs := []string{"If-None-Match", row[1], "Accept-Encoding", row[0]}
		if row[0] == "" {
			pairs = pairs[:2]
		}
		got := sent(t, w.Handler, "GET", path, pairs...)
		if want := map[bool]int{true: 304, false: 200}[strings.Contains(row[1], row[2])]; got.Code != want || got.Header().Get("ETag") != row[2] {
			t.Errorf("%v: %d, ETag %s", row, got.Code, got.Header().Get("ETag"))
		}
	}
	editor.With("If-Match", zipped).Update(path, obj{"title": "Blues"})
	editor.With("If-Match", zipped).Do(http.MethodPatch, path, obj{"title": "Soul"}).Want(http.StatusPreconditionFailed)
}
