package httpapi

import (
	"bytes"
	"context"
	"errors"
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
func fakeAPI(t *testing.T, deps Deps, options Options) (http.Handler, *bytes.Buffer) {
	t.Helper()
	if deps.Commands == nil {
		deps.Commands = fakeCommands{}
	}
	if deps.Queries == nil {
		deps.Queries = fakeQueries{}
	}
	if deps.Past == nil {
		deps.Past = new(past.Service)
	}
	if deps.Records == nil {
		deps.Records = fakeRecords()
	}
	if deps.Users == nil {
		deps.Users = fakeUsers{caller: calendar.Caller{ID: 7, Role: calendar.Editor}}
	}
	if deps.History == nil {
		deps.History = history.New(memstore.New(), time.Now)
	}
	if deps.Proofs == nil {
		deps.Proofs = proof.NewLog(memstore.New())
	}
	log := &bytes.Buffer{}
	if options.Log == nil {
		options.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	api, err := New(deps, options)
	if err != nil {
		t.Fatal(err)
	}
	return api, log
}

func ask(ctx context.Context, handler http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, method, "/api/"+Namespace+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	responseRecorder := httptest.NewRecorder()
	handler.ServeHTTP(responseRecorder, request)
	return responseRecorder
}

// TestFaults: faults of the parts become 500 and 503 that show nothing of the
// inside; what is a fault is logged whole.
func TestFaults(t *testing.T) {
	t.Parallel()
	const secret = "pq: password of 10.0.0.5"
	down := fmt.Errorf("%w: %s", eventstore.ErrUnavailable, secret)
	for name, tc := range map[string]struct {
		err    error
		status int
		code   string
		logged string
	}{
		"internal":                 {errors.New(secret), 500, "internal_server_error", secret},
		"store down":               {down, 503, "rest_unavailable", secret},
		"store down for a command": {fmt.Errorf("%w (append: %w)", calendar.Fail(calendar.CodeUnavailable, calendar.KindTag), down), 503, "rest_unavailable", secret},
		"store closed":             {eventstore.ErrClosed, 503, "rest_unavailable", "closed"},
		"too many at once":         {calendar.Fail(calendar.CodeUnavailable, 0), 503, "rest_unavailable", ""},
		"read model down":          {fmt.Errorf("%w: %s", readmodel.ErrUnavailable, secret), 503, "rest_unavailable", secret},
		"panic":                    {nil, 500, "internal_server_error", "boom"},
		"public":                   {fmt.Errorf("x: %w", calendar.Fail(calendar.CodeInTrash, calendar.KindTag)), 410, "tag-is-in-trash", ""},
	} {
		fault := func() error {
			if tc.err == nil {
				panic("boom")
			}
			return tc.err
		}
		for _, request := range []string{"GET /tags", "GET /tags/5", "POST /tags"} {
			handler, log := fakeAPI(t, Deps{
				Commands: fakeCommands{do: func(string, command.Request) (command.Result, error) { return command.Result{}, fault() }},
				Queries: fakeQueries{
					run:  func() (*query.List, error) { return nil, fault() },
					read: func(calendar.ID, string) (*calendar.Record, error) { return nil, fault() },
				},
			}, Options{})
			method, path, _ := strings.Cut(request, " ")
			got := ask(t.Context(), handler, method, path, "{}", "Authorization", "Bearer good")
			body := got.Body.String()
			if got.Code != tc.status || !strings.Contains(body, `"code":"`+tc.code+`"`) || strings.Contains(body, secret) || strings.Contains(body, "boom") || (got.Header().Get("Retry-After") != "") != (tc.status == 503) {
				t.Errorf("%s: %s: %d %v %s", name, request, got.Code, got.Header(), body)
			}
			if tc.logged != "" && !strings.Contains(log.String(), tc.logged) || tc.logged == "" && log.Len() > 0 {
				t.Errorf("%s: %s: logged %q, want %q", name, request, log, tc.logged)
			}
		}
	}
}

// TestSingleComputation: many equal requests at once run one query, though the first of them
// goes away; later ones and 304 run none; another generation runs again.
func TestSingleComputation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		state := query.Generation{VisibleState: shownAt(1)}
		gate := make(chan struct{})
		handler, log := fakeAPI(t, Deps{Queries: fakeQueries{
			generation: func() (query.Generation, error) { return state, nil },
			run: func() (*query.List, error) {
				runs.Add(1)
				<-gate
				return &query.List{Views: []query.View{{Record: tagRecord("Air")}}, Total: 1, TotalPages: 1, Position: state.Position}, nil
			},
		}}, Options{})
		want := func(code int, n int64, header ...string) string {
			t.Helper()
			got := ask(context.Background(), handler, http.MethodGet, "/tags", "", header...)
			if got.Code != code || runs.Load() != n || got.Header().Get("X-Total") != "1" {
				t.Errorf("got %d %v after %d runs, want %d after %d", got.Code, got.Header(), runs.Load(), code, n)
			}
			return got.Header().Get("ETag")
		}
		ctx, leave := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() { ask(ctx, handler, http.MethodGet, "/tags", "") })
		synctest.Wait()
		for range 20 {
			all.Go(func() { want(http.StatusOK, 1) })
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(gate)
		all.Wait()
		tag := want(http.StatusOK, 1)
		want(http.StatusNotModified, 1, "If-None-Match", tag)
		state = query.Generation{VisibleState: shownAt(2)}
		want(http.StatusOK, 2, "If-None-Match", tag)
		if log.Len() > 0 {
			t.Errorf("a client that went away was logged: %s", log)
		}
	})
}

// lateWriter takes its bytes when a request in between has ended.
type lateWriter struct {
	*httptest.ResponseRecorder
	between func()
}

func (writer lateWriter) Write(data []byte) (int, error) {
	writer.between()
	return writer.ResponseRecorder.Write(data)
}

// TestAnswersInBuffers: a large answer is cached when it is asked for again, and those who share
// one have it for themselves until it is sent.
func TestAnswersInBuffers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var state query.Generation
		runs, gate := 0, make(chan struct{})
		handler, _ := fakeAPI(t, Deps{Queries: fakeQueries{
			generation: func() (query.Generation, error) { return state, nil },
			run: func() (*query.List, error) {
				runs++
				name := strings.Repeat(string(rune('a'+runs%26)), 600_000)
				<-gate
				return &query.List{Views: []query.View{{Record: tagRecord(name)}}, Total: 1, TotalPages: 1, Position: state.Position}, nil
			},
		}}, Options{})
		get := func(position calendar.Position) string {
			state = query.Generation{VisibleState: shownAt(position)}
			return ask(context.Background(), handler, http.MethodGet, "/tags", "").Body.String()
		}
		var first string
		var all sync.WaitGroup
		all.Go(func() { first = get(1) })
		synctest.Wait()
		late := lateWriter{httptest.NewRecorder(), func() {
			synctest.Wait()
			for i := range calendar.Position(20) {
				get(i + 2)
			}
		}}
		all.Go(func() {
			handler.ServeHTTP(late, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/api/"+Namespace+"/tags", nil))
		})
		synctest.Wait()
		close(gate)
		all.Wait()
		if late.Body.String() != first {
			t.Errorf("one has %.200s, the other %.200s", first, late.Body)
		}
		runs = 0
		for range 2 {
			if get(100); runs != 1 {
				t.Errorf("%d runs", runs)
			}
		}
	})
}
