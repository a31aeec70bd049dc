package httpapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/query"
	"daybook/query/readmodel"
)

// TestRequestID: every answer has an id; one of the client is taken when it is
// short and plain.
func TestRequestID(t *testing.T) {
	t.Parallel()
	h, _ := fakeAPI(t, Deps{Queries: fakeQueries{read: func(calendar.ID, string) (*calendar.Record, error) {
		return tagRecord("Air"), nil
	}}}, Options{RequestID: func() string { return "made" }})
	for _, c := range []struct {
		path, want string
		sent       []string
	}{
		{"/tags/5", "made", nil},
		{"/tags/5", "client-7.a:b", []string{"client-7.a:b"}},
		{"/nothing", "made", nil},
		{"/nothing", "x", []string{"x"}},
		{"/tags/5", "made", []string{""}},
		{"/tags/5", "made", []string{"a b"}},
		{"/tags/5", "made", []string{"a\"b"}},
		{"/tags/5", "made", []string{"a=b"}},
		{"/tags/5", "made", []string{"é"}},
		{"/tags/5", "made", []string{strings.Repeat("x", 129)}},
		{"/tags/5", strings.Repeat("x", 128), []string{strings.Repeat("x", 128)}},
		{"/tags/5", "made", []string{"one", "two"}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/"+Namespace+c.path, http.NoBody)
		r.Header["X-Request-Id"] = c.sent
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header()["X-Request-Id"]; !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s with %q: got id %q, want %q", c.path, c.sent, got, c.want)
		}
	}
}

// TestObserveCache: each use of the cache is told.
func TestObserveCache(t *testing.T) {
	t.Parallel()
	var told []Answered
	down := false
	h, _ := fakeAPI(t, Deps{Queries: fakeQueries{
		generation: func() (query.Generation, error) {
			if down {
				return query.Generation{}, readmodel.ErrUnavailable
			}
			return query.Generation{Shown: shownAt(1)}, nil
		},
		run: func() (*query.List, error) {
			if down {
				return nil, readmodel.ErrUnavailable
			}
			return &query.List{}, nil
		},
		read: func(calendar.ID, string) (*calendar.Record, error) {
			return nil, calendar.Fail(calendar.CodeNotFound, calendar.KindTag)
		},
	}}, Options{ServeStale: true, Log: slog.New(slog.DiscardHandler), Observe: func(x Answered) { told = append(told, x) }})
	step := func(path string, use CacheUse, code calendar.Code) {
		t.Helper()
		told = told[:0]
		ask(t.Context(), h, http.MethodGet, path, "")
		if len(told) != 1 || told[0].Cache != use || told[0].Code != code {
			t.Errorf("%s: told %+v, want use %d and code %q", path, told, use, code)
		}
	}
	step("/tags", CacheMiss, "")
	step("/tags?page=1", CacheHit, "")
	step("/tags", CacheHit, "")
	h.(*Handler).Forget()
	step("/tags", CacheMiss, "")
	step("/tags/7", CacheMiss, calendar.CodeNotFound)
	step("/nothing", CacheNone, calendar.CodeNoRoute)
	down = true
	step("/tags", CacheStale, "")
	step("/tags?per_page=3", CacheNone, calendar.CodeUnavailable)
}

// TestTrace: the work is done under the context of the span, and its end is told.
func TestTrace(t *testing.T) {
	t.Parallel()
	type key struct{}
	var ended []string
	var log bytes.Buffer
	h, _ := fakeAPI(t, Deps{Queries: fakeQueries{read: func(calendar.ID, string) (*calendar.Record, error) {
		return nil, errors.New("boom")
	}}}, Options{
		Log: slog.New(contextual{slog.NewTextHandler(&log, nil), func(ctx context.Context) string {
			return ctx.Value(key{}).(string) + " " + RequestID(ctx)
		}}),
		Trace: func(r *http.Request, id string) (context.Context, func(string, int)) {
			return context.WithValue(r.Context(), key{}, "span"), func(route string, status int) {
				ended = append(ended, route+" "+http.StatusText(status)+" "+id)
			}
		},
	})
	ask(t.Context(), h, http.MethodGet, "/tags/5", "", "X-Request-Id", "r1")
	ask(t.Context(), h, http.MethodGet, "/nothing", "", "X-Request-Id", "r2")
	if want := []string{"/tags/{id} Internal Server Error r1", " Not Found r2"}; !slices.Equal(ended, want) {
		t.Errorf("got %q, want %q", ended, want)
	}
	if !strings.Contains(log.String(), `of="span r1"`) {
		t.Errorf("logged %s", log.String())
	}
}

// TestAccessLog: requests are told at the level debug, without path or query.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		var log bytes.Buffer
		h, _ := fakeAPI(t, Deps{Queries: fakeQueries{read: func(calendar.ID, string) (*calendar.Record, error) {
			return tagRecord("Air"), nil
		}}}, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))})
		ask(t.Context(), h, http.MethodGet, "/tags/5?password=secret", "")
		got := log.String()
		if strings.Contains(got, "secret") || strings.Contains(got, `msg="request answered" method=GET route=/tags/{id} status=200 duration=`) != (level == slog.LevelDebug) {
			t.Errorf("at %s: logged %q", level, got)
		}
	}
}

// contextual adds what the context of a line says.
type contextual struct {
	slog.Handler
	of func(context.Context) string
}

func (c contextual) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(slog.String("of", c.of(ctx)))
	return c.Handler.Handle(ctx, r)
}
