package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"daybook/internal/httpapi/admit"
	"daybook/internal/testkit/table"
	"daybook/query"
)

func TestReadAcceptance(t *testing.T) {
	t.Parallel()
	names := [encodings]string{"identity", "zstd", "gzip"}
	for _, row := range table.Rows(t, "acceptance.txt") {
		got := readAcceptance([]string{row[0]})
		var takes []string
		for e, yes := range got.takes {
			if yes {
				takes = append(takes, names[e])
			}
		}
		if names[got.best] != row[1] || strings.Join(takes, " ") != row[2] {
			t.Errorf("%q: best %s, takes %q", row, names[got.best], takes)
		}
	}
	if got := readAcceptance(nil); got.best != encodingNone || got.takes != [encodings]bool{true, true, true} {
		t.Errorf("nothing said: %+v", got)
	}
	if got := readAcceptance([]string{"gzip;q=0.5", "zstd;q=0.6"}); got.best != encodingZstd {
		t.Errorf("two headers: %+v", got)
	}
}

// decoded returns the body of an answer as it is without its encoding.
func decoded(t *testing.T, header http.Header, body []byte) []byte {
	t.Helper()
	var (
		reader io.Reader = bytes.NewReader(body)
		err    error
	)
	switch text := header.Get("Content-Encoding"); text {
	case "gzip":
		reader, err = gzip.NewReader(reader)
	case "zstd":
		var decoder *zstd.Decoder
		if decoder, err = zstd.NewReader(reader, zstd.WithDecoderMaxWindow(zstdWindow)); err == nil {
			defer decoder.Close()
			reader = decoder
		}
	case "":
	default:
		t.Fatalf("Content-Encoding %q", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEncodings: what is encoded is the body, however large it is, and within the window
// that every client has.
func TestEncodings(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, leastEncoded, 100_000, 3 << 20} {
		body := []byte(strings.Repeat(`{"title":"Jazz on the river","cost":"12"},`, size/40+1)[:size])
		for encoding := encodingNone + 1; encoding < encodings; encoding++ {
			for range 2 { // with an encoder that was used before, too
				sent, err := (&answer{body: newBody(body)}).encode(encoding)
				if err != nil {
					t.Fatal(err)
				}
				header := http.Header{"Content-Encoding": valuesEncoding[encoding]}
				if size == 0 && encoding == encodingZstd {
					continue // nothing is so short
				}
				if got := decoded(t, header, sent); !bytes.Equal(got, body) {
					t.Errorf("%s of %d bytes: got %d others", valuesEncoding[encoding][0], size, len(got))
				}
			}
		}
	}
}

// takeEncoders takes all encoders, which leave half of the processors to others.
func takeEncoders(t *testing.T, encoders *admit.Turns) (free func()) {
	t.Helper()
	var taken []func()
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		leave, err := encoders.Acquire(t.Context(), netip.Addr{}, true)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, leave)
	}
	return func() {
		for _, leave := range taken {
			leave()
		}
	}
}

// TestListsAreEncodedInTheirTurn: a client has so many lists made at once, until they are
// encoded.
func TestListsAreEncodedInTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			a    *api
			made atomic.Int64
			all  sync.WaitGroup
			gate = make(chan struct{})
		)
		list := &query.List{Views: []query.View{{Record: tagRecord(strings.Repeat("x", leastEncoded))}}}
		a, err := newAPI(Deps{
			Commands: fakeCommands{}, Records: fakeRecords(), Users: fakeUsers{},
			Queries: fakeQueries{
				parse: func(request query.Request) (*query.Criteria, error) {
					return &query.Criteria{Request: request, Page: 1, PerPage: 10, Key: fmt.Sprint(request.Input["page"])}, nil
				},
				run: func() (*query.List, error) {
					made.Add(1)
					<-gate
					return list, nil
				},
			},
		}, Options{BaseURL: "http://x", MakeAtOnce: 1})
		if err != nil {
			t.Fatal(err)
		}
		h := a
		get := func(page int, accept string, writer http.ResponseWriter) {
			all.Go(func() {
				request := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/%s/tags?page=%d", Namespace, page), nil)
				request.Header.Set("Accept-Encoding", accept)
				h.ServeHTTP(writer, request)
			})
		}
		free := takeEncoders(t, a.encoders)
		var answers []*httptest.ResponseRecorder
		for page := range 5 {
			answers = append(answers, httptest.NewRecorder())
			get(page, "gzip", answers[page])
		}
		synctest.Wait()
		close(gate) // the others stand behind the first one
		synctest.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("%d lists are made while none can be encoded, want 1", n)
		}
		free()
		all.Wait()
		for i, responseRecorder := range answers {
			if responseRecorder.Code != http.StatusOK || responseRecorder.Header().Get("Content-Encoding") == "" {
				t.Errorf("list %d: %d %v", i, responseRecorder.Code, responseRecorder.Header())
			}
		}
	})
}
