package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// gated is a service whose every part can be made to stand still.
type gated struct {
	gate chan struct{}
	slow atomic.Bool // the parts wait for the gate
}

func (gated *gated) wait() {
	if gated.slow.Load() {
		<-gated.gate
	}
}

// slowUsers looks up credentials as slowly as the store that they are in.
type slowUsers struct {
	fakeUsers
	gated *gated
}

func (slowUsers slowUsers) Authenticate(ctx context.Context, authorization string) (calendar.Caller, error) {
	if authorization == "Bearer wrong" {
		slowUsers.gated.wait()
	}
	if authorization == "Bearer other" {
		return calendar.Caller{ID: 8, Role: calendar.Editor}, nil
	}
	return slowUsers.fakeUsers.Authenticate(ctx, authorization)
}

// slowReader takes an answer when the gate opens.
type slowReader struct {
	*httptest.ResponseRecorder
	gate chan struct{}
}

func (slowReader slowReader) Write(data []byte) (int, error) {
	if slowReader.Code == http.StatusOK {
		<-slowReader.gate
	}
	return slowReader.ResponseRecorder.Write(data)
}

// slowBody is sent when the gate opens.
type slowBody struct{ gate chan struct{} }

func (slowBody slowBody) Read([]byte) (int, error) {
	<-slowBody.gate
	return 0, io.EOF
}

// TestFloods: a thousand requests and more of one client that only wait, whatever
// for, are bounded; next to them others read, and who has credentials writes.
func TestFloods(t *testing.T) {
	t.Parallel()
	const flood = 1200 // more than there are slots
	large := tagRecord(strings.Repeat("x", 2*admit.SmallAnswer))
	for name, tc := range map[string]struct {
		request func(i int, g *gated) *http.Request
		reader  bool // takes its answer slowly
		held    int  // requests that wait; the others are refused
		same    bool // a read of the same client is answered as well
	}{
		"positions": {func(i int, _ *gated) *http.Request {
			r := httptest.NewRequest(http.MethodGet, fmt.Sprint("/tags?page=", i+1), nil)
			r.Header.Set("Daybook-Min-Position", "1")
			return r
		}, false, 256, true},
		"passwords": {func(int, *gated) *http.Request {
			return httptest.NewRequest(http.MethodGet, "/events/5?password=wrong", nil)
		}, false, admit.ChecksOfOne, true},
		"tokens": {func(int, *gated) *http.Request {
			r := httptest.NewRequest(http.MethodGet, "/tags/5", nil)
			r.Header.Set("Authorization", "Bearer wrong")
			return r
		}, false, 256, true},
		"the same list": {func(int, *gated) *http.Request {
			return httptest.NewRequest(http.MethodGet, "/tags", nil)
		}, false, 512, false}, // the room to wait, then the slots of one client
		"the same key": {func(int, *gated) *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/tags", strings.NewReader(`{"name":"a"}`))
			r.Header.Set("Authorization", "Bearer good")
			r.Header.Set("Idempotency-Key", "one")
			return r
		}, false, 512, true}, // the slots of one user
		"slow readers": {func(int, *gated) *http.Request {
			return httptest.NewRequest(http.MethodGet, "/tags/9", nil)
		}, true, admit.AnswerBytesOfOne / (2 * admit.SmallAnswer), true},
		"slow bodies": {func(_ int, g *gated) *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/tags", slowBody{g.gate})
			r.ContentLength = -1
			r.Header.Set("Authorization", "Bearer good")
			return r
		}, false, admit.BodyBytesOfOne / maxBody, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := &gated{gate: make(chan struct{})}
				handler, _ := fakeAPI(t, Deps{
					Commands: fakeCommands{
						do: func(_ string, r command.Request) (command.Result, error) {
							if r.Key != "" {
								g.wait()
							}
							return command.Result{Record: tagRecord("Air"), Position: 9}, nil
						},
						opens: func(string) bool { g.wait(); return false },
					},
					Queries: fakeQueries{
						await: func(least calendar.Position) error {
							if least > 0 {
								g.wait()
							}
							return nil
						},
						run: func() (*query.List, error) { g.wait(); return &query.List{}, nil },
						read: func(id calendar.ID, _ string) (*calendar.Record, error) {
							if id == 9 {
								return large, nil
							}
							return tagRecord("Air"), nil
						},
						protected: name == "passwords",
					},
					Users: slowUsers{fakeUsers{caller: calendar.Caller{ID: 7, Role: calendar.Editor}}, g},
				}, Options{})
				var (
					all     sync.WaitGroup
					refused atomic.Int64
				)
				g.slow.Store(true)
				for i := range flood {
					all.Go(func() {
						r := tc.request(i, g)
						r.URL.Path = "/api/" + Namespace + r.URL.Path
						rec := httptest.NewRecorder()
						if tc.reader {
							handler.ServeHTTP(slowReader{rec, g.gate}, r)
						} else {
							handler.ServeHTTP(rec, r)
						}
						if rec.Code == http.StatusServiceUnavailable {
							if rec.Header().Get("Retry-After") == "" || !strings.Contains(rec.Body.String(), `"rest_unavailable"`) {
								t.Errorf("refused with %v %s", rec.Header(), rec.Body)
							}
							refused.Add(1)
						}
					})
				}
				synctest.Wait()
				if got := flood - int(refused.Load()); got > tc.held+2 || got < tc.held-2 {
					t.Errorf("%d of %d requests are under way, want %d", got, flood, tc.held)
				}
				g.slow.Store(false)
				beside := func(what, method, path, address, body string, header ...string) {
					t.Helper()
					r := httptest.NewRequestWithContext(t.Context(), method, "/api/"+Namespace+path, strings.NewReader(body))
					r.RemoteAddr = address
					for i := 0; i+1 < len(header); i += 2 {
						r.Header.Set(header[i], header[i+1])
					}
					rec := httptest.NewRecorder()
					from := time.Now()
					handler.ServeHTTP(rec, r)
					if rec.Code != http.StatusOK && rec.Code != http.StatusCreated || time.Since(from) > 0 {
						t.Errorf("%s: %d %s after %s", what, rec.Code, rec.Body, time.Since(from))
					}
				}
				const attacker = "192.0.2.1:1234" // as httptest has it
				beside("a read", http.MethodGet, "/tags/8", "198.51.100.1:1", "")
				beside("a list", http.MethodGet, "/categories", "198.51.100.1:1", "")
				beside("a write", http.MethodPost, "/tags", "198.51.100.1:1", `{"name":"a"}`, "Authorization", "Bearer other")
				if tc.same {
					beside("a read of the same client", http.MethodGet, "/tags/8", attacker, "")
				}
				if name != "tokens" {
					beside("a write of the same client", http.MethodPost, "/tags", attacker, `{"name":"a"}`, "Authorization", "Bearer other")
				}
				close(g.gate)
				all.Wait()
				for i := range 2 * flood { // all has been given back
					beside("afterwards", http.MethodGet, fmt.Sprint("/tags/", 10+i), attacker, "")
				}
			})
		})
	}
}

// TestDeadlines: whatever hangs, a request is answered in its time.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	const read, write, wait = 3 * time.Second, 7 * time.Second, 11 * time.Second
	for hangs, request := range map[hanging]string{
		"Generation": "GET /tags", "Parse": "GET /tags", "Run": "GET /tags", "Await": "GET /tags", "Read": "GET /tags/5", "View": "GET /tags/5", "Authenticate": "GET /tags/5",
		"Create": "POST /tags", "Delete": "DELETE /tags/5",
	} {
		t.Run(string(hangs), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				handler, _ := fakeAPI(t, Deps{
					Commands: fakeCommands{hang: hangs},
					Queries: fakeQueries{
						hang: hangs, run: func() (*query.List, error) { return &query.List{}, nil },
						read: func(calendar.ID, string) (*calendar.Record, error) { return tagRecord("Air"), nil },
					},
					Users: fakeUsers{caller: calendar.Caller{ID: 7, Role: calendar.Editor}, hang: hangs},
				}, Options{ReadDeadline: read, WriteDeadline: write, Options: query.Options{PositionWait: wait}})
				method, path, _ := strings.Cut(request, " ")
				header, after := []string{"Authorization", "Bearer good"}, read
				if method != http.MethodGet {
					after = write
				} else if hangs == "Await" {
					header, after = []string{"Daybook-Min-Position", "1"}, wait+read
				}
				from := time.Now()
				got := ask(t.Context(), handler, method, path, `{"name":"a"}`, header...)
				if took := time.Since(from); took != after || got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), `"rest_unavailable"`) || got.Header().Get("Retry-After") == "" {
					t.Errorf("got %d %v %s after %s, want %s", got.Code, got.Header(), got.Body, took, after)
				}
			})
		})
	}
}

// TestTimeOfAList: a list that waited for its position has its whole time for the
// work.
func TestTimeOfAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler, _ := fakeAPI(t, Deps{Queries: fakeQueries{
			await: func(calendar.Position) error { <-time.After(4 * time.Second); return nil },
			run:   func() (*query.List, error) { <-time.After(4 * time.Second); return &query.List{}, nil },
		}}, Options{})
		if got := ask(t.Context(), handler, http.MethodGet, "/tags", "", "Daybook-Min-Position", "1"); got.Code != http.StatusOK {
			t.Errorf("got %d %s", got.Code, got.Body)
		}
	})
}

// TestSlowReadersEnd: a client that takes nothing of a large answer loses its
// connection in the time that its size has.
func TestSlowReadersEnd(t *testing.T) {
	t.Parallel()
	var until []time.Time
	recorder := deadlineRecorder{httptest.NewRecorder(), &until}
	large := newBody(bytes.Repeat([]byte("x"), 5_000_000))
	small := newBody(large.bytes[:1000])
	c := &call{api: &api{}, writer: recorder, request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)}
	c.writeBody(&large)
	now := time.Now()
	if len(until) != 2 || until[0].Before(now.Add(60*time.Second)) || until[0].After(now.Add(70*time.Second)) || !until[1].IsZero() {
		t.Errorf("an answer of 5 MB may take until %v, want 70 s, and then no time", until)
	}
	until = nil
	if c.writeBody(&small); len(until) > 0 {
		t.Error("a small answer costs a deadline of its own")
	}
}

type deadlineRecorder struct {
	*httptest.ResponseRecorder
	until *[]time.Time
}

func (deadlineRecorder deadlineRecorder) SetWriteDeadline(instant time.Time) error {
	*deadlineRecorder.until = append(*deadlineRecorder.until, instant)
	return nil
}

// TestTurns: of one anonymous client so many lists are made at once, the others wait for
// their turn; other clients and callers with credentials do not wait for them, nor who
// asks for a list that is being made.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			all    sync.WaitGroup
			making atomic.Int64
			gate   = make(chan struct{})
			held   = make(chan struct{})
		)
		handler, _ := fakeAPI(t, Deps{Queries: fakeQueries{
			parse: func(request query.Request) (*query.Criteria, error) {
				page, _ := strconv.Atoi(fmt.Sprint(request.Input["page"]))
				return &query.Criteria{Request: request, Page: page, PerPage: 10, Key: fmt.Sprint(page)}, nil
			},
			await: func(least calendar.Position) error {
				if least > 0 {
					<-held
				}
				return nil
			},
			run: func() (*query.List, error) {
				making.Add(1)
				<-gate
				return &query.List{}, nil
			},
		}}, Options{MakeAtOnce: 2})
		list := func(page int, address, authorization string) {
			all.Go(func() {
				request := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/%s/tags?page=%d", Namespace, page), nil)
				request.RemoteAddr = address
				if authorization != "" {
					request.Header.Set("Authorization", authorization)
				}
				responseRecorder := httptest.NewRecorder()
				if handler.ServeHTTP(responseRecorder, request); responseRecorder.Code != http.StatusOK {
					t.Errorf("page %d: %d %s", page, responseRecorder.Code, responseRecorder.Body)
				}
			})
			synctest.Wait()
		}
		want := func(n int64, what string) {
			t.Helper()
			if got := making.Load(); got != n {
				t.Errorf("%s: %d lists are made, want %d", what, got, n)
			}
		}
		for page := range 10 {
			list(page, "192.0.2.1:1", "")
		}
		want(2, "one client")
		list(20, "192.0.2.2:1", "")
		want(3, "another client")
		list(30, "192.0.2.1:1", "Bearer good")
		want(4, "credentials")
		list(9, "192.0.2.2:1", "")
		want(5, "a list that another client has no turn for yet")
		close(gate)
		all.Wait()
		// Who takes his answer slowly, or waits for a position, has no turn meanwhile.
		reader, before := make(chan struct{}), making.Load()
		for page := range 6 {
			all.Go(func() {
				request := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/%s/tags?page=%d", Namespace, 40+page), nil)
				if page%2 == 0 {
					request.Header.Set("Daybook-Min-Position", "1")
				}
				handler.ServeHTTP(slowReader{httptest.NewRecorder(), reader}, request)
			})
		}
		synctest.Wait()
		list(50, "192.0.2.1:1", "")
		want(before+4, "three slow readers, three who wait, and one")
		close(held)
		close(reader)
		all.Wait()
	})
}
