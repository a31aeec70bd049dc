package httpapi

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// TestFlights: one does the work for all who ask meanwhile; who leaves does not
// end it; a panic is an error for all.
func TestFlights(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			f     flights
			wg    sync.WaitGroup
			made  int
			gate  = make(chan struct{})
			right = &answer{etag: "right"}
			fault error

			shared []*answer // by the first, before the others have it
		)
		share := func(ans *answer) { shared = append(shared, ans) }
		produce := func() (*answer, error) {
			made++
			<-gate
			return right, fault
		}
		for range 5 {
			wg.Go(func() {
				if ans, err := f.do(t.Context(), nil, "k", produce, share); ans != right || err != nil {
					t.Errorf("got %v, %v", ans, err)
				}
			})
		}
		synctest.Wait()
		gone, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := f.do(gone, nil, "k", produce, share); !errors.Is(err, context.Canceled) {
				t.Errorf("who left: got %v", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		other := &answer{}
		if ans, err := f.do(t.Context(), nil, "other", func() (*answer, error) { return other, nil }, share); ans != other || err != nil {
			t.Errorf("another key: got %v, %v", ans, err)
		}
		close(gate)
		wg.Wait()
		if made != 1 || len(f.open) != 0 {
			t.Errorf("made %d times, %d still open", made, len(f.open))
		}
		if len(shared) != 1 || shared[0] != right {
			t.Errorf("shared %v, want the answer that others waited for, once", shared)
		}
		if _, err := f.do(t.Context(), nil, "k", func() (*answer, error) { panic("broken") }, share); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("panic: got %v", err)
		}
		if ans, err := f.do(t.Context(), nil, "k", produce, share); ans != right || err != nil {
			t.Errorf("after a panic: got %v, %v", ans, err)
		}
		fault = errors.New("fault")
		if _, err := f.do(t.Context(), nil, "k", produce, share); !errors.Is(err, fault) {
			t.Errorf("a fault: got %v", err)
		}
	})
}
