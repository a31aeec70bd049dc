package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"daybook/calendar"
	"daybook/internal/ground/keylock"
)

func TestReadAcceptance(t *testing.T) {
	t.Parallel()
	const all = "identity zstd gzip"
	names := [encodings]string{"identity", "zstd", "gzip"}
	for sent, want := range map[string]struct{ best, takes string }{
		"gzip":                               {"gzip", "identity gzip"},
		"zstd":                               {"zstd", "identity zstd"},
		"gzip, deflate, br, zstd":            {"zstd", all},
		"gzip,zstd":                          {"zstd", all},
		"GZip":                               {"gzip", "identity gzip"},
		"x-gzip":                             {"gzip", "identity gzip"},
		" gzip ; q=0.5 , zstd;q=0.4":         {"gzip", all},
		"zstd;q=0.5, gzip;q=0.5":             {"zstd", all},
		"zstd;Q=0, gzip;q=0.001":             {"gzip", "identity gzip"},
		"gzip;q=0":                           {"identity", "identity"},
		"*":                                  {"zstd", all},
		"*;q=0.1":                            {"zstd", all},
		"*;q=0":                              {"identity", ""},
		"gzip, *;q=0":                        {"gzip", "gzip"},
		"zstd;q=0, *":                        {"gzip", "identity gzip"},
		"gzip;q=0.5, *;q=0.7, zstd;q=0":      {"identity", "identity gzip"},
		"identity":                           {"identity", "identity"},
		"identity;q=0":                       {"identity", ""},
		"identity;q=0, gzip;q=0.2":           {"gzip", "gzip"},
		"identity, gzip":                     {"gzip", "identity gzip"},
		"identity;q=0.8, gzip;q=0.7":         {"identity", "identity gzip"},
		"br, deflate":                        {"identity", "identity"},
		"gzip;q=two, zstd;q=-1, x;q=1":       {"identity", "identity"},
		"gzip;q=1.5":                         {"identity", "identity"},
		"gzip;level=9;q=0.3, identity;q=0.1": {"gzip", "identity gzip"},
		"":                                   {"identity", "identity"},
		",;,":                                {"identity", "identity"},
	} {
		got := readAcceptance([]string{sent})
		var takes []string
		for e, yes := range got.takes {
			if yes {
				takes = append(takes, names[e])
			}
		}
		if names[got.best] != want.best || strings.Join(takes, " ") != want.takes {
			t.Errorf("%q: best %s, takes %q, want %s, %q", sent, names[got.best], takes, want.best, want.takes)
		}
	}
	if got := readAcceptance(nil); got.best != encodingNone || got.takes != [encodings]bool{true, true, true} {
		t.Errorf("nothing said: %+v", got)
	}
	if got := readAcceptance([]string{"gzip;q=0.5", "zstd;q=0.6"}); got.best != encodingZstd {
		t.Errorf("two headers: %+v", got)
	}
}

// decoded gives the body of an answer as it is without its encoding.
func decoded(t *testing.T, h http.Header, body []byte) []byte {
	t.Helper()
	var (
		r   io.Reader = bytes.NewReader(body)
		err error
	)
	switch e := h.Get("Content-Encoding"); e {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r, zstd.WithDecoderMaxWindow(zstdWindow)); err == nil {
			defer z.Close()
			r = z
		}
	case "":
	default:
		t.Fatalf("Content-Encoding %q", e)
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

// TestEncodings: what is encoded is the body, however large it is, and within the window
// that every client has.
func TestEncodings(t *testing.T) {
	t.Parallel()
	e, err := newEncoders(&keylock.Locks[netip.Addr]{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, leastEncoded, 100_000, 3 << 20} {
		body := []byte(strings.Repeat(`{"title":"Jazz on the river","cost":"12"},`, size/40+1)[:size])
		for in := encodingNone + 1; in < encodings; in++ {
			for range 2 { // with an encoder that was used before, too
				sent := e.append([]byte("before"), in, body)
				h := http.Header{"Content-Encoding": valuesEncoding[in]}
				if size == 0 && in == encodingZstd {
					continue // nothing is so short
				}
				if got := decoded(t, h, sent[len("before"):]); !bytes.Equal(got, body) {
					t.Errorf("%s of %d bytes: got %d others", valuesEncoding[in][0], size, len(got))
				}
			}
		}
	}
	if n := runtime.GOMAXPROCS(0); cap(e.turns.all) > max(1, n/2) || cap(e.turns.all) < 1 {
		t.Errorf("%d bodies are encoded at once on %d processors", cap(e.turns.all), n)
	}
}

// TestTurnsOfEncodings: one client encodes one body at once, and all of them as many as
// there are encoders, and who waits holds no slot. What is kept encoded waits for nobody,
// is made once, and stands in the bytes of the cache.
func TestTurnsOfEncodings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, err := newAPI(Deps{
			Commands: fakeCommands{}, Records: fakeRecords{}, Users: fakeUsers{},
			Queries: fakeQueries{read: func(calendar.ID, string) (*calendar.Record, error) {
				return tagRecord(strings.Repeat("x", leastEncoded)), nil
			}},
		}, Options{BaseURL: "http://x"})
		if err != nil {
			t.Fatal(err)
		}
		h := http.HandlerFunc(a.enter)
		var all sync.WaitGroup
		get := func(path, address string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			all.Go(func() {
				r := httptest.NewRequest(http.MethodGet, "/api/"+Namespace+path, nil)
				r.RemoteAddr = address
				r.Header.Set("Accept-Encoding", "gzip")
				h.ServeHTTP(w, r)
			})
			synctest.Wait()
			return w
		}
		get("/tags/5", "192.0.2.1:1")
		kept := get("/tags/5", "192.0.2.1:1")
		if kept.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("got %d %v", kept.Code, kept.Header())
		}
		for range cap(a.encoders.turns.all) {
			a.encoders.turns.all <- struct{}{} // all encoders are at work
		}
		others := []*httptest.ResponseRecorder{}
		for i := range 40 {
			others = append(others, get("/tags/5?_fields=name,"+strings.Repeat("y", i+1), "192.0.2.1:1"))
		}
		others = append(others, get("/tags/5?_fields=name", "192.0.2.2:1"))
		for _, w := range others {
			if w.Body.Len() > 0 {
				t.Fatal("a body is encoded though all encoders are at work")
			}
		}
		if n := a.rooms.taken[groupAnonymous][stageWork].Load(); n != 0 {
			t.Errorf("%d slots are held by those who wait for an encoder", n)
		}
		again := get("/tags/5", "192.0.2.2:1")
		if !bytes.Equal(again.Body.Bytes(), kept.Body.Bytes()) {
			t.Errorf("what is kept waits for an encoder: %d, %d bytes", again.Code, again.Body.Len())
		}
		for range cap(a.encoders.turns.all) {
			<-a.encoders.turns.all
		}
		all.Wait()
		for _, w := range others {
			if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" {
				t.Errorf("after the wait: %d %v", w.Code, w.Header())
			}
		}
	})
}
