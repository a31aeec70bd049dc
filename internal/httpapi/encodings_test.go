package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"daybook/calendar"
	"daybook/internal/testkit"
)

// plain gives the body of an answer without its encoding.
func plain(t *testing.T, h http.Header, body []byte) []byte {
	t.Helper()
	var (
		r   io.Reader = bytes.NewReader(body)
		err error
	)
	switch h.Get("Content-Encoding") {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r); err == nil {
			defer z.Close()
			r = z
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sent is a request of nobody with further headers: names and values by turns.
func sent(t *testing.T, h http.Handler, method, path string, pairs ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, testkit.Root+path, http.NoBody)
	r.Header.Set("X-Request-Id", "same")
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Header.Set(pairs[i], pairs[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

// inEncodings holds the answers to one path in every encoding against the plain one
// (2.8, 2.9): body, length and tag; and what HEAD and If-None-Match make of it.
func inEncodings(t *testing.T, what string, h http.Handler, path string, want *httptest.ResponseRecorder) {
	t.Helper()
	for accept, e := range map[string]string{
		"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "gzip;q=1, zstd;q=0.5, *;q=0": "gzip", "identity": "", "br": "",
	} {
		short := want.Body.Len() < 1024
		got, head := sent(t, h, http.MethodGet, path, "Accept-Encoding", accept), sent(t, h, http.MethodHead, path, "Accept-Encoding", accept)
		wantTag := want.Header().Get("ETag")
		if e == "" || short {
			e = ""
		} else if strings.HasPrefix(wantTag, `"`) {
			wantTag = strings.TrimSuffix(wantTag, `"`) + "-" + e + `"`
		}
		fail := func(format string, args ...any) {
			t.Helper()
			t.Errorf("%s: %s with Accept-Encoding %s: %s", what, path, accept, fmt.Sprintf(format, args...))
		}
		if got.Code != want.Code || !bytes.Equal(plain(t, got.Header(), got.Body.Bytes()), want.Body.Bytes()) {
			fail("%d %q, plain %d %s", got.Code, got.Body, want.Code, want.Body)
		}
		if e != "" && got.Body.Len() >= want.Body.Len() {
			fail("%d bytes, plain %d", got.Body.Len(), want.Body.Len())
		}
		for _, a := range []*httptest.ResponseRecorder{got, head} {
			for name, values := range want.Header() {
				v := values[0]
				switch name {
				case "Content-Length":
					v = strconv.Itoa(got.Body.Len())
				case "Etag":
					v = wantTag
				}
				if a.Header().Get(name) != v {
					fail("%s %q, want %q", name, a.Header().Get(name), v)
				}
			}
			if a.Header().Get("Content-Encoding") != e {
				fail("Content-Encoding %q, want %q", a.Header().Get("Content-Encoding"), e)
			}
		}
		if head.Body.Len() > 0 {
			fail("HEAD has a body")
		}
		if wantTag == "" {
			continue
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, tag := range []string{wantTag, `"x", W/` + strings.TrimPrefix(wantTag, "W/"), "*"} {
				same := sent(t, h, method, path, "Accept-Encoding", accept, "If-None-Match", tag)
				if same.Code != http.StatusNotModified || same.Body.Len() > 0 || same.Header().Get("ETag") != wantTag ||
					same.Header().Get("Content-Encoding") != "" || same.Header().Get("Content-Length") != "" {
					fail("%s with If-None-Match %s: %d %v", method, tag, same.Code, same.Header())
				}
			}
		}
	}
}

// TestEncodedAnswers: whatever is written, every route answers in each encoding what it
// answers without one. Each path is asked several times, so that it is made, kept, and
// found.
func TestEncodedAnswers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := newCached(t, seed+10)
			for range 25 {
				c.create(c.kind())
			}
			bad := "/events?" + strings.Repeat("page=x&", 3)
			for _, name := range []string{"per_page", "start_date", "end_date", "featured", "categories", "tags", "venue", "organizer", "include", "geoloc", "geoloc_lat", "geoloc_lng", "starts_before", "starts_after", "ends_before", "ends_after", "strict_dates", "status", "ticketed"} {
				bad += name + "[x]=no&"
			}
			for range 6 {
				what := c.step()
				bare := c.bare()
				for _, path := range append(c.paths(), "/doc", bad, "/events/999999", "/nothing") {
					want := sent(t, bare, http.MethodGet, path)
					inEncodings(t, what, c.w.Handler, path, want)
					if path == bad && (want.Code != http.StatusBadRequest || want.Body.Len() < 1024) {
						t.Fatalf("the error is no long one: %d %s", want.Code, want.Body)
					}
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestEncodingsAndSecrets: who sends credentials or a password gets no encoding, whatever
// they are worth and wherever they are sent; nor does who writes.
func TestEncodingsAndSecrets(t *testing.T) {
	t.Parallel()
	w := testkit.New(t, testkit.Options{Unchecked: true})
	editor := w.As(calendar.Editor)
	text := strings.Repeat("jazz on the river ", 200)
	event := "/events/" + editor.Event("Jazz", testkit.Object{"description": text, "password": "sesame"}).ID().String()
	open := "/events/" + editor.Event("Open", testkit.Object{"description": text}).ID().String()
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
	w := testkit.New(t, testkit.Options{Unchecked: true})
	editor := w.As(calendar.Editor)
	path := "/events/" + editor.Event("Jazz", testkit.Object{"description": strings.Repeat("river ", 400)}).ID().String()
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
	editor.With("If-Match", zipped).Patch(path, testkit.Object{"title": "Blues"}).Want(http.StatusOK)
	editor.With("If-Match", zipped).Patch(path, testkit.Object{"title": "Soul"}).Want(http.StatusPreconditionFailed)
}
