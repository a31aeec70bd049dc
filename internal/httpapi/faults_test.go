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
			h, log := fakeAPI(t, Deps{
				Commands: fakeCommands{do: func(string, command.Request) (command.Result, error) { return command.Result{}, fault() }},
				Queries: fakeQueries{
					run:  func() (*query.List, error) { return nil, fault() },
					read: func(calendar.ID, string) (*calendar.Record, error) { return nil, fault() },
				},
			}, Options{})
			method, path, _ := strings.Cut(request, " ")
			got := ask(t.Context(), h, method, path, "{}", "Authorization", "Bearer good")
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
