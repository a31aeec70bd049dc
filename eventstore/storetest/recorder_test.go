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

func (recorder *recorder) Helper() {}

func (recorder *recorder) Cleanup(f func()) {
	recorder.mutex.Lock()
	defer recorder.mutex.Unlock()
	recorder.cleanups = append(recorder.cleanups, f)
}

func (recorder *recorder) Failed() bool {
	recorder.mutex.Lock()
	defer recorder.mutex.Unlock()
	return len(recorder.reports) > 0
}

func (recorder *recorder) Errorf(format string, args ...any) {
	recorder.mutex.Lock()
	defer recorder.mutex.Unlock()
	recorder.reports = append(recorder.reports, fmt.Sprintf(format, args...))
}

func (recorder *recorder) Error(args ...any) { recorder.Errorf("%s", fmt.Sprintln(args...)) }
func (recorder *recorder) Fail()             { recorder.Errorf("Fail") }

func (recorder *recorder) FailNow() {
	recorder.Fail()
	runtime.Goexit()
}

func (recorder *recorder) Fatal(args ...any) {
	recorder.Error(args...)
	runtime.Goexit()
}

func (recorder *recorder) Fatalf(format string, args ...any) {
	recorder.Errorf(format, args...)
	runtime.Goexit()
}
