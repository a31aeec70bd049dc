package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/history"
	"daybook/internal/proof"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
)

// fakeAPI is the interface over fakes; the log goes to the buffer unless the
// test has one.
func fakeAPI(t *testing.T, d Deps, o Options) (http.Handler, *bytes.Buffer) {
	t.Helper()
	if d.Commands == nil {
		d.Commands = fakeCommands{}
	}
	if d.Queries == nil {
		d.Queries = fakeQueries{}
	}
	if d.Past == nil {
		d.Past = new(past.Service)
	}
	if d.Records == nil {
		d.Records = fakeRecords()
	}
	if d.Users == nil {
		d.Users = fakeUsers{caller: calendar.Caller{ID: 7, Role: calendar.Editor}}
	}
	if d.History == nil {
		d.History = history.New(memstore.New(), time.Now)
	}
	if d.Proofs == nil {
		d.Proofs = proof.NewLog(memstore.New())
	}
	log := &bytes.Buffer{}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	h, err := New(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return h, log
}

func ask(ctx context.Context, h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "/api/"+Namespace+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestFaults: faults of the parts become 500 and 503 that show nothing of the
// inside; what is a fault is logged whole.
func TestFaults(t *testing.T) {
	t.Parallel()
	const secret = "pq: password of 10.0.0.5"
	for name, tc := range map[string]struct {
		err    error
		panics bool
		status int
		code   string
		logged string
	}{
		"internal":   {fmt.Errorf("load: %s", secret), false, 500, "internal_server_error", secret},
		"store down": {fmt.Errorf("%w: %s", eventstore.ErrUnavailable, secret), false, 503, "rest_unavailable", secret},
		"store down for a command": {
			fmt.Errorf("%w (append: %w: %s)", calendar.Fail(calendar.CodeUnavailable, calendar.KindTag), eventstore.ErrUnavailable, secret), false, 503, "rest_unavailable", secret,
		},
		"too many at once": {calendar.Fail(calendar.CodeUnavailable, 0), false, 503, "rest_unavailable", ""},
		"read model down":  {fmt.Errorf("%w: %s", readmodel.ErrUnavailable, secret), false, 503, "rest_unavailable", secret},
		"panic":            {nil, true, 500, "internal_server_error", "boom"},
		"public":           {calendar.Fail(calendar.CodeInTrash, calendar.KindTag), false, 410, "tag-is-in-trash", ""},
	} {
		for _, request := range []string{"GET /tags", "GET /tags/5", "POST /tags"} {
			t.Run(name+" "+request, func(t *testing.T) {
				t.Parallel()
				fault := func() error {
					if tc.panics {
						panic("boom")
					}
					return tc.err
				}
				h, log := fakeAPI(t, Deps{
					Commands: fakeCommands{do: func(string, command.Request) (command.Result, error) { return command.Result{}, fault() }},
					Queries: fakeQueries{
						run:  func() (*query.List, error) { return nil, fault() },
						read: func(calendar.ID, string) (*calendar.Record, error) { return nil, fault() },
					},
				}, Options{})
				method, path, _ := strings.Cut(request, " ")
				got := ask(t.Context(), h, method, path, "{}", "Authorization", "Bearer good")
				if got.Code != tc.status || !strings.Contains(got.Body.String(), `"code":"`+tc.code+`"`) {
					t.Errorf("got %d %s", got.Code, got.Body)
				}
				if strings.Contains(got.Body.String(), secret) || strings.Contains(got.Body.String(), "boom") {
					t.Errorf("the answer shows internals: %s", got.Body)
				}
				if tc.logged != "" && !strings.Contains(log.String(), tc.logged) || tc.logged == "" && log.Len() > 0 {
					t.Errorf("logged %q, want %q", log, tc.logged)
				}
				if (got.Header().Get("Retry-After") != "") != (tc.status == 503) {
					t.Errorf("Retry-After %q", got.Header().Get("Retry-After"))
				}
			})
		}
	}
}

// TestSingleComputation: many equal requests at once run one query; later ones
// and 304 run none; another generation runs again.
func TestSingleComputation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var position atomic.Uint64
		position.Store(1)
		gate := make(chan struct{})
		h, _ := fakeAPI(t, Deps{Queries: fakeQueries{
			generation: func() (query.Generation, error) {
				return query.Generation{Shown: shownAt(calendar.Position(position.Load()))}, nil
			},
			run: func() (*query.List, error) {
				runs.Add(1)
				<-gate
				return &query.List{
					Views: []query.View{{Record: tagRecord("Air")}}, Total: 1, TotalPages: 1, Position: calendar.Position(position.Load()),
				}, nil
			},
		}}, Options{})
		var all sync.WaitGroup
		tags := make([]string, 20)
		for i := range tags {
			all.Go(func() {
				got := ask(context.Background(), h, http.MethodGet, "/tags", "")
				if got.Code != http.StatusOK {
					t.Errorf("got %d %s", got.Code, got.Body)
				}
				tags[i] = got.Header().Get("ETag")
			})
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		if n := runs.Load(); n != 1 {
			t.Errorf("%d runs for 20 equal requests", n)
		}
		again := ask(t.Context(), h, http.MethodGet, "/tags", "", "If-None-Match", tags[0])
		if again.Code != http.StatusNotModified || again.Header().Get("X-Total") != "1" || runs.Load() != 1 {
			t.Errorf("304: got %d %v after %d runs", again.Code, again.Header(), runs.Load())
		}
		position.Store(2)
		if next := ask(t.Context(), h, http.MethodGet, "/tags", "", "If-None-Match", tags[0]); next.Code != http.StatusOK || runs.Load() != 2 {
			t.Errorf("next generation: got %d after %d runs", next.Code, runs.Load())
		}
	})
}

// TestFirstClientLeaves: the work goes on for the others when the first of them
// goes away.
func TestFirstClientLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h, log := fakeAPI(t, Deps{Queries: fakeQueries{run: func() (*query.List, error) {
			<-gate
			return &query.List{}, nil
		}}}, Options{})
		ctx, leave := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() { ask(ctx, h, http.MethodGet, "/tags", "") })
		synctest.Wait()
		all.Go(func() {
			if got := ask(context.Background(), h, http.MethodGet, "/tags", ""); got.Code != http.StatusOK {
				t.Errorf("got %d %s", got.Code, got.Body)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(gate)
		all.Wait()
		if log.Len() > 0 {
			t.Errorf("a client that went away was logged: %s", log)
		}
	})
}

// TestServeStale: while the read model is down, the last good answer stands in,
// marked, when the operator allows it.
func TestServeStale(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		down := false
		h, _ := fakeAPI(t, Deps{Queries: fakeQueries{
			generation: func() (query.Generation, error) {
				if down {
					return query.Generation{}, readmodel.ErrUnavailable
				}
				return query.Generation{Shown: shownAt(3)}, nil
			},
			run: func() (*query.List, error) {
				if down {
					return nil, readmodel.ErrUnavailable
				}
				return &query.List{Total: 0}, nil
			},
		}}, Options{ServeStale: allowed})
		good := ask(t.Context(), h, http.MethodGet, "/tags?x=1", "")
		if good.Code != http.StatusOK || good.Header().Get("Warning") != "" {
			t.Fatalf("got %d %v", good.Code, good.Header())
		}
		down = true
		got := ask(t.Context(), h, http.MethodGet, "/tags?x=1", "")
		if allowed && (got.Code != http.StatusOK || got.Header().Get("Warning") == "" || got.Body.String() != good.Body.String()) {
			t.Errorf("allowed: %d %v %s", got.Code, got.Header(), got.Body)
		}
		if !allowed && got.Code != http.StatusServiceUnavailable {
			t.Errorf("not allowed: %d", got.Code)
		}
		if got := ask(t.Context(), h, http.MethodGet, "/tags?x=2", ""); got.Code != http.StatusServiceUnavailable {
			t.Errorf("never answered before: %d", got.Code)
		}
	}
}

// TestSinglesWithoutReadModel: single reads go on while the read model is down.
func TestSinglesWithoutReadModel(t *testing.T) {
	t.Parallel()
	h, _ := fakeAPI(t, Deps{Queries: fakeQueries{
		generation: func() (query.Generation, error) { return query.Generation{}, readmodel.ErrUnavailable },
		read:       func(calendar.ID, string) (*calendar.Record, error) { return tagRecord("Air"), nil },
	}}, Options{})
	if got := ask(t.Context(), h, http.MethodGet, "/tags/5", ""); got.Code != http.StatusOK {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

// TestWriteRequest: what the write side is handed.
func TestWriteRequest(t *testing.T) {
	t.Parallel()
	var got command.Request
	var verb string
	h, _ := fakeAPI(t, Deps{Commands: fakeCommands{do: func(v string, r command.Request) (command.Result, error) {
		verb, got = v, r
		return command.Result{Record: tagRecord("Air"), Lang: calendar.LangFR, Position: 9}, nil
	}}}, Options{RequestID: func() string { return "made" }})
	res := ask(t.Context(), h, http.MethodPatch, "/events/by-slug/A%2FB?a=1&id=9", `{"b":null}`,
		"Authorization", "Bearer good", "If-Match", `"4-x"`, "Idempotency-Key", "k", "User-Agent", "agent")
	if res.Code != http.StatusOK || res.Header().Get("Daybook-Position") != "9" || res.Header().Get("Content-Language") != "fr" {
		t.Errorf("got %d %v", res.Code, res.Header())
	}
	_, hasID := got.Input["id"]
	if verb != "update" || got.Kind != calendar.KindEvent || got.Target != (command.Target{Slug: "a/b"}) || hasID ||
		got.Input["a"] != "1" || got.Input["b"] != nil || len(got.IfMatch) != 1 || got.IfMatch[0] != 4 || got.Key != "k" ||
		got.Fingerprint == [32]byte{} || got.Cause != (eventstore.Cause{Client: "agent", Request: "made"}) || got.Caller.ID != 7 {
		t.Errorf("%s %+v", verb, got)
	}
	ask(t.Context(), h, http.MethodDelete, "/tags/5", `{"x":1}`, "Authorization", "Bearer good", "Idempotency-Key", "k", "X-Request-Id", "mine")
	if verb != "delete" || got.Key != "" || got.IfMatch != nil || got.Target != (command.Target{ID: 5}) || len(got.Input) != 0 || got.Cause.Request != "mine" {
		t.Errorf("%s %+v", verb, got)
	}
}

// TestReplay: a repeated request is answered with the position of its receipt.
func TestReplay(t *testing.T) {
	t.Parallel()
	h, _ := fakeAPI(t, Deps{Commands: fakeCommands{do: func(string, command.Request) (command.Result, error) {
		return command.Result{Record: tagRecord("Air"), Position: 4, Replayed: true}, nil
	}}}, Options{})
	got := ask(t.Context(), h, http.MethodPost, "/tags", `{"name":"Air"}`, "Authorization", "Bearer good", "Idempotency-Key", "k")
	if got.Code != http.StatusCreated || got.Header().Get("Idempotency-Replayed") != "true" || got.Header().Get("Daybook-Position") != "4" ||
		!strings.HasPrefix(got.Header().Get("ETag"), `"3-`) {
		t.Errorf("got %d %v", got.Code, got.Header())
	}
}
