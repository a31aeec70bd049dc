package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daybook/internal/testkit/world"
)

// sent is a request of no one with further headers: names and values by turns.
func sent(t *testing.T, h http.Handler, method, path string, pairs ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, world.Root+path, http.NoBody)
	r.Header.Set("X-Request-Id", "same")
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Header.Set(pairs[i], pairs[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// TestEncodingsAndSecrets: who sends credentials or a password gets no encoding, whatever
// they are worth and wherever they are sent; nor does who writes.
func TestEncodingsAndSecrets(t *testing.T) {
	t.Parallel()
	w, editor, _ := newWorld(t, world.Options{Unchecked: true})
	text := strings.Repeat("jazz on the river ", 200)
	event := "/events/" + editor.Event("Jazz", obj{"description": text, "password": "sesame"}).ID().String()
	open := "/events/" + editor.Event("Open", obj{"description": text}).ID().String()
	for name, c := range map[string]struct {
		method, path string
		header       [2]string
	}{
		"credentials":             {"GET", open, [2]string{"Authorization", "Bearer " + editor.Token}},
		"wrong ones":              {"GET", open, [2]string{"Authorization", "Bearer wrong"}},
		"an empty header":         {"GET", open, [2]string{"Authorization", ""}},
		"a list with credentials": {"GET", "/events", [2]string{"Authorization", "Bearer " + editor.Token}},
		"the password":            {"GET", event + "?password=sesame", [2]string{}},
		"a wrong password":        {"GET", event + "?password=x", [2]string{}},
		"one that is not needed":  {"GET", open + "?password=x", [2]string{}},
		"one on a list":           {"GET", "/events?password=x", [2]string{}},
		"one for a list of texts": {"GET", "/events?password[]=x", [2]string{}},
		"HEAD with the password":  {"HEAD", event + "?password=sesame", [2]string{}},
		"OPTIONS":                 {"OPTIONS", "/events", [2]string{}},
	} {
		pairs := []string{"Accept-Encoding", "gzip, zstd"}
		if c.header[0] != "" {
			pairs = append(pairs, c.header[:]...)
		}
		for range 3 {
			got := sent(t, w.Handler, c.method, c.path, pairs...)
			if e, tag := got.Header().Get("Content-Encoding"), got.Header().Get("ETag"); e != "" || strings.HasSuffix(tag, `p"`) || strings.HasSuffix(tag, `std"`) {
				t.Errorf("%s: Content-Encoding %q, ETag %s", name, e, tag)
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
	w, editor, _ := newWorld(t, world.Options{Unchecked: true})
	path := "/events/" + editor.Event("Jazz", obj{"description": strings.Repeat("river ", 400)}).ID().String()
	bare := sent(t, w.Handler, "GET", path).Header().Get("ETag")
	zipped := sent(t, w.Handler, "GET", path, "Accept-Encoding", "gzip").Header().Get("ETag")
	for name, c := range map[string]struct {
		accept, tag string
		status      int
		answered    string
	}{
		"the same again":              {"gzip", zipped, 304, zipped},
		"another would be sent":       {"gzip, zstd", zipped, 304, zipped},
		"no longer taken":             {"zstd", zipped, 200, strings.TrimSuffix(bare, `"`) + `-zstd"`},
		"refused":                     {"gzip;q=0", zipped, 200, bare},
		"the plain one of before":     {"gzip", bare, 304, bare},
		"the plain one, not taken":    {"gzip, identity;q=0", bare, 200, zipped},
		"an encoding that is none":    {"gzip", strings.TrimSuffix(bare, `"`) + `-br"`, 200, zipped},
		"both":                        {"zstd, gzip", bare + ", " + zipped, 304, zipped},
		"nothing said of encodings":   {"", zipped, 304, zipped},
		"nothing said, the plain one": {"", bare, 304, bare},
	} {
		pairs := []string{"If-None-Match", c.tag}
		if c.accept != "" {
			pairs = append(pairs, "Accept-Encoding", c.accept)
		}
		if got := sent(t, w.Handler, "GET", path, pairs...); got.Code != c.status || got.Header().Get("ETag") != c.answered {
			t.Errorf("%s: %d, ETag %s, want %d, %s", name, got.Code, got.Header().Get("ETag"), c.status, c.answered)
		}
	}
	editor.With("If-Match", zipped).Update(path, obj{"title": "Blues"})
	editor.With("If-Match", zipped).Patch(path, obj{"title": "Soul"}).Want(http.StatusPreconditionFailed)
}
