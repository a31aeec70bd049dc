package readmodeltest

import (
	"runtime"
	"slices"
	"testing"

	"daybook/query/readmodel"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	Run(t, Harness{Open: func(testing.TB) readmodel.Index { return NewPlain() }, Slow: true})
}

// recorder takes the failures of a case that is expected to fail.
type recorder struct {
	testing.TB
	failed bool
}

func (recorder *recorder) Helper()               {}
func (recorder *recorder) Errorf(string, ...any) { recorder.failed = true }
func (recorder *recorder) Fatalf(string, ...any) { recorder.FailNow() }
func (recorder *recorder) Fatal(...any)          { recorder.FailNow() }
func (recorder *recorder) FailNow()              { recorder.failed = true; runtime.Goexit() }

// TestMutants shows that each way to break an index is found by the case that is there for
// it, and that each case finds something.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, c := range cases(false) {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.by == c.name }) {
			t.Errorf("%s: no mutant for it", c.name)
		}
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			all := cases(false)
			at := slices.IndexFunc(all, func(c testCase) bool { return c.name == m.by })
			if at < 0 {
				t.Fatalf("there is no case %q", m.by)
			}
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				x := &broken{Plain: NewPlain(), views: map[*brokenView]bool{}}
				m.damage(x)
				all[at].run(newPair(r, x))
			}()
			if <-done; !r.failed {
				t.Errorf("%q does not find it", m.by)
			}
		})
	}
}
