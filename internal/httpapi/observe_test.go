package httpapi

import (
	"bytes"
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
	h, _ := fakeAPI(t, Deps{}, Options{RequestID: func() string { return "made" }})
	long := strings.Repeat("x", 128)
	for sent, want := range map[string]string{
		"client-7.a:b": "client-7.a:b", long: long, "": "made", "a b": "made", `a"b`: "made", "a=b": "made", "é": "made", long + "x": "made", "one|two": "made",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nothing", http.NoBody)
		r.Header["X-Request-Id"] = strings.Split(sent, "|")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header()["X-Request-Id"]; !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got id %q, want %q", sent, got, want)
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
