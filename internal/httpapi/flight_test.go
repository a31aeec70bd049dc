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
		)
		produce := func() (*answer, error) {
			made++
			<-gate
			return right, fault
		}
		for range 5 {
			wg.Go(func() {
				if ans, err := f.do(t.Context(), "k", produce); ans != right || err != nil {
					t.Errorf("got %v, %v", ans, err)
				}
			})
		}
		synctest.Wait()
		gone, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := f.do(gone, "k", produce); !errors.Is(err, context.Canceled) {
				t.Errorf("who left: got %v", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		other := &answer{}
		if ans, err := f.do(t.Context(), "other", func() (*answer, error) { return other, nil }); ans != other || err != nil {
			t.Errorf("another key: got %v, %v", ans, err)
		}
		close(gate)
		wg.Wait()
		if made != 1 || len(f.open) != 0 {
			t.Errorf("made %d times, %d still open", made, len(f.open))
		}
		if _, err := f.do(t.Context(), "k", func() (*answer, error) { panic("broken") }); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("panic: got %v", err)
		}
		if ans, err := f.do(t.Context(), "k", produce); ans != right || err != nil {
			t.Errorf("after a panic: got %v, %v", ans, err)
		}
		fault = errors.New("fault")
		if _, err := f.do(t.Context(), "k", produce); !errors.Is(err, fault) {
			t.Errorf("a fault: got %v", err)
		}
	})
}
