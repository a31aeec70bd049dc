package feed_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines keeps what is logged, for tests that want a line. The zero value works.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps a line.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String gives all lines.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// want waits until a text was logged; the test fails when ctx ends before.
func (l *lines) want(ctx context.Context, t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(l.String(), text) {
		select {
		case <-ctx.Done():
			t.Fatalf("%q was not logged:\n%s", text, l)
		case <-time.After(2 * time.Millisecond):
		}
	}
}
