package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// inMemory gives traces whose spans the test reads.
func inMemory(t *testing.T, ratio float64) (*Traces, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	traces, err := newTraces(t.Context(), sdktrace.NewSimpleSpanProcessor(spans), TraceOptions{Ratio: strconv.FormatFloat(ratio, 'f', -1, 64), Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { traces.Close(t.Context()) })
	return traces, spans
}

func attr(spanStub *tracetest.SpanStub, key attribute.Key) string {
	for _, keyValue := range spanStub.Attributes {
		if keyValue.Key == key {
			return keyValue.Value.String()
		}
	}
	return ""
}

// TestRequestSpans: a request is one span, below the caller's; appends and lists
// are below it.
func TestRequestSpans(t *testing.T) {
	t.Parallel()
	traces, spans := inMemory(t, 1)
	hooks := NewHooks(nil, traces, time.Now)
	w := world.New(t, world.Options{Store: hooks.Store(memstore.New()), HTTP: httpapi.Options{Observe: hooks.Requests}})
	editor := w.As(calendar.Editor)
	spans.Reset()
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	editor.With("Traceparent", "00-"+parent+"-00f067aa0ba902b7-01", "X-Request-Id", "r7").
		Post("/tags", world.Object{"name": "Air"}).Want(http.StatusCreated)
	got := spans.GetSpans()
	if len(got) != 2 || got[0].Name != "append" || got[1].Name != "POST /tags" {
		t.Fatalf("got spans %v", got)
	}
	request, inner := &got[1], &got[0]
	if request.SpanContext.TraceID().String() != parent || request.Parent.SpanID().String() != "00f067aa0ba902b7" || request.SpanKind != trace.SpanKindServer {
		t.Errorf("the request has parent %v of trace %v", request.Parent.SpanID(), request.SpanContext.TraceID())
	}
	if inner.Parent.SpanID() != request.SpanContext.SpanID() || attr(inner, "daybook.result") != "appended" || attr(inner, "daybook.position") != fmt.Sprint(w.Head()) {
		t.Errorf("append: %v below %v", inner.Attributes, inner.Parent.SpanID())
	}
	for key, want := range map[attribute.Key]string{"http.request.method": "POST", "http.route": "/tags", "http.response.status_code": "201", "daybook.request_id": "r7"} {
		if v := attr(request, key); v != want {
			t.Errorf("%s: got %q, want %q", key, v, want)
		}
	}
	if value, _ := request.Resource.Set().Value("service.version"); value.AsString() != "1.2.3" {
		t.Errorf("resource %v", request.Resource)
	}

	spans.Reset()
	secret := "not-to-be-seen"
	w.As(calendar.Anonymous).Get("/nothing/" + secret + "?password=" + secret).Want(http.StatusNotFound)
	w.As(calendar.Anonymous).Do("BREW", "/tags", "").Want(http.StatusMethodNotAllowed)
	got = spans.GetSpans()
	if len(got) != 2 || got[0].Name != "GET" || got[1].Name != "other /tags" {
		t.Errorf("got %v", got)
	}
	if text := fmt.Sprint(got); strings.Contains(text, secret) || strings.Contains(text, "BREW") {
		t.Errorf("a span holds what a client sent: %s", text)
	}
}

// TestWorkSpans: what comes behind a write tells its positions.
func TestWorkSpans(t *testing.T) {
	t.Parallel()
	traces, spans := inMemory(t, 1)
	hooks := NewHooks(nil, traces, time.Now)
	hooks.Commits()(eventstore.Committed{Appends: 3, Group: &eventstore.Group{Entries: make([]eventstore.Entry, 2), Commits: []eventstore.Commit{{First: 8, Last: 9}}}})
	hooks.Commits()(eventstore.Committed{Appends: 1, Group: &eventstore.Group{}, Err: eventstore.ErrUnavailable})
	_, end := hooks.Publishing(t.Context(), 8, 9)
	end(nil)
	ctx, end := hooks.Projecting(t.Context(), 8, 9)
	if !trace.SpanContextFromContext(ctx).IsValid() {
		t.Error("a batch is not projected under its span")
	}
	end(nil)
	var got []string
	stubs := spans.GetSpans()
	for i := range stubs {
		spanStub := &stubs[i]
		got = append(got, fmt.Sprint(spanStub.Name, " ", spanStub.SpanKind, " ", attr(spanStub, "daybook.position.first"), "-", attr(spanStub, "daybook.position.last"), " ", spanStub.Status.Code))
	}
	want := []string{"group commit internal 8-9 Unset", "group commit internal - Error", "relay publish producer 8-9 Unset", "project batch consumer 8-9 Unset"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSampling: callers cannot have more kept than the ratio says.
func TestSampling(t *testing.T) {
	t.Parallel()
	for parent, want := range map[string][2]bool{"": {true, false}, "01": {true, false}, "00": {false, false}} { // with the ratios 1 and almost 0
		for i, ratio := range []float64{1, 1e-9} {
			traces, spans := inMemory(t, ratio)
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			if parent != "" {
				request.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"+parent)
			}
			hooks := NewHooks(nil, traces, time.Now)
			_, end := hooks.Requests(request, "r")
			end(httpapi.Answered{Route: "/tags", Status: http.StatusOK})
			if got := len(spans.GetSpans()) == 1; got != want[i] {
				t.Errorf("ratio %v, flags %q: kept %v", ratio, parent, got)
			}
		}
	}
}

// TestSend: spans arrive where the setting says, at the latest on Close; a receiver that
// refuses them is told in the log and harms nothing.
func TestSend(t *testing.T) { //nolint:paralleltest // sending sets the handler of faults of the whole process
	var mu sync.Mutex
	var got []string
	receiver := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		data, _ := io.ReadAll(request.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprint(request.Method, " ", request.URL.Path, " ", request.Header.Get("Content-Type"), " ", len(data) > 0))
		if request.URL.Path == "/refused" {
			writer.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer receiver.Close()
	for _, path := range []string{"", "/", "/elsewhere", "/refused"} {
		var log bytes.Buffer
		traces, err := NewTraces(t.Context(), TraceOptions{URL: receiver.URL + path, Ratio: "1", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		_, span := traces.tracer.Start(t.Context(), "x")
		span.End()
		traces.Close(t.Context())
		if told := strings.Contains(log.String(), "traces not sent"); told != (path == "/refused") {
			t.Errorf("%s: logged %s", path, log.String())
		}
	}
	http.DefaultClient.CloseIdleConnections()
	const form = " application/x-protobuf true"
	if want := []string{"POST /v1/traces" + form, "POST /v1/traces" + form, "POST /elsewhere" + form, "POST /refused" + form}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLogHandler: lines of a request carry its id, and the trace when it is kept.
func TestLogHandler(t *testing.T) {
	t.Parallel()
	traces, _ := inMemory(t, 1)
	var out bytes.Buffer
	log := slog.New(LogHandler{slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}), func(ctx context.Context) string {
		id, _ := ctx.Value(idKey{}).(string)
		return id
	}})
	lines := func(ctx context.Context, log *slog.Logger) string {
		out.Reset()
		log.InfoContext(ctx, "not shown")
		log.WarnContext(ctx, "shown", "a", 1)
		_, line, _ := strings.Cut(out.String(), " ") // without the time
		return strings.TrimSpace(line)
	}
	if got := lines(t.Context(), log); got != "level=WARN msg=shown a=1" {
		t.Errorf("outside of requests: %s", got)
	}
	ctx, span := traces.tracer.Start(context.WithValue(t.Context(), idKey{}, "r1"), "x")
	defer span.End()
	id := span.SpanContext().TraceID().String()
	if got := lines(ctx, log); got != "level=WARN msg=shown a=1 request_id=r1 trace_id="+id {
		t.Errorf("of a request: %s", got)
	}
	if got := lines(ctx, log.With("b", 2)); got != "level=WARN msg=shown b=2 a=1 request_id=r1 trace_id="+id {
		t.Errorf("with more: %s", got)
	}
	if got := lines(ctx, log.WithGroup("g")); !strings.Contains(got, "g.request_id=r1") {
		t.Errorf("in a group: %s", got)
	}
}

type idKey struct{}
