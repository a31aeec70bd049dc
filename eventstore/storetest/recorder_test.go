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

	mutex    sync.Mutex
	reports  []string
	cleanups []func()
}

// run runs a case and returns what it reported, nothing when it did not fail.
func run(t *testing.T, c Case, harness Harness) []string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(r, harness)
	}()
	<-done
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.reports
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(f func()) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.cleanups = append(r.cleanups, f)
}

func (r *recorder) Failed() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.reports) > 0
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprintln(args...)) }
func (r *recorder) Fail()             { r.Errorf("Fail") }

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
