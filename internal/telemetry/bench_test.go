package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/testkit"
)

// BenchmarkRead is a read of one event out of the cache, by what watches it: what
// is between the lines is what watching costs.
func BenchmarkRead(b *testing.B) {
	traces, err := newTraces(b.Context(), sdktrace.NewSimpleSpanProcessor(tracetest.NewNoopExporter()), TraceOptions{Ratio: 0.1})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		hooks Hooks
	}{
		{"nothing", NewHooks(nil, nil, nil)},
		{"metrics", NewHooks(NewMetrics(""), nil, nil)},
		{"traces", NewHooks(nil, traces, nil)},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := testkit.New(b, testkit.Options{Unchecked: true, HTTP: httpapi.Options{Observe: c.hooks.Answers, Trace: c.hooks.Requests}})
			e := w.As(calendar.Editor).Event("Quay concert", nil)
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, testkit.Root+"/events/"+e.ID().String(), http.NoBody)
			b.ReportAllocs()
			for b.Loop() {
				rec := discard{header: http.Header{}}
				w.Handler.ServeHTTP(&rec, r)
				if rec.status != http.StatusOK {
					b.Fatalf("got %d", rec.status)
				}
			}
		})
	}
}

type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
