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
)

// TestRequestID: every answer has an id; one of the client is taken when it is
// short and plain.
func TestRequestID(t *testing.T) {
	t.Parallel()
	handler, _ := fakeAPI(t, Deps{}, Options{})
	long := strings.Repeat("x", 128)
	for sent, want := range map[string]string{
		"client-7.a:b": "client-7.a:b", long: long, "": "made", "a b": "made", `a"b`: "made", "a=b": "made", "é": "made", long + "x": "made", "one|two": "made",
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nothing", http.NoBody)
		request.Header["X-Request-Id"] = strings.Split(sent, "|")
		responseRecorder := httptest.NewRecorder()
		handler.ServeHTTP(responseRecorder, request)
		got := responseRecorder.Header()["X-Request-Id"]
		if len(got) == 1 && len(got[0]) == 16 && isMadeOf(got[0], "0123456789abcdef") {
			got = []string{"made"}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got id %q, want %q", sent, got, want)
		}
	}
}

// TestAccessLog: requests are told at the level debug, without path or query.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		var log bytes.Buffer
		handler, _ := fakeAPI(t, Deps{Queries: fakeQueries{read: func(calendar.ID, string) (*calendar.Record, error) {
			return tagRecord("Air"), nil
		}}}, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))})
		ask(t.Context(), handler, http.MethodGet, "/tags/5?password=secret", "")
		got := log.String()
		if strings.Contains(got, "secret") || strings.Contains(got, `msg="request answered" method=GET route=/tags/{id} status=200 duration=`) != (level == slog.LevelDebug) {
			t.Errorf("at %s: logged %q", level, got)
		}
	}
}
