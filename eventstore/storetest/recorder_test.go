package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// recorder is a test that is expected to fail: it notes what a case reports
// instead of failing the real test.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failed   bool
	reports  []string
	cleanups []func()
}

// outcome runs a case and gives what it reported; failed tells whether it
// failed.
func outcome(t *testing.T, c Case, h Harness) (failed bool, reports []string) {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(r, h)
	}()
	<-done
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed, r.reports
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.reports = append(r.reports, text)
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) Error(args ...any)                 { r.note(fmt.Sprintln(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }
func (r *recorder) Fail()                             { r.note("Fail") }

func (r *recorder) FailNow() {
	r.note("FailNow")
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.note(fmt.Sprintln(args...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.note(fmt.Sprintf(format, args...))
	runtime.Goexit()
}
