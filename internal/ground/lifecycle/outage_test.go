package lifecycle_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"daybook/internal/ground/lifecycle"
)

// TestOutage: two outages of many errors are four lines.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		outage := lifecycle.Outage{Log: slog.New(slog.NewTextHandler(&log, nil)), Message: "server is away"}
		outage.Note(t.Context(), nil)
		for range 2 {
			for range 5 {
				outage.Note(t.Context(), errors.New("refused"), "at", "here")
				time.Sleep(2 * time.Second) //nolint:forbidigo // in a bubble of synctest
			}
			outage.Note(t.Context(), nil)
			outage.Note(t.Context(), nil)
		}
		for text, want := range map[string]int{
			"level=WARN msg=\"server is away\" at=here error=refused\n":             2,
			"level=INFO msg=\"outage ended\" outage=\"server is away\" after=10s\n": 2,
			"\n": 4,
		} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("got %d of %q, want %d:\n%s", got, text, want, &log)
			}
		}
	})
}
