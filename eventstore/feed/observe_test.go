package feed_test

import (
	"sync"
	"testing"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
)

// TestObservePublishing: the groups that were told follow each other without a
// gap, and each of them ends.
func TestObservePublishing(t *testing.T) {
	t.Parallel()
	s, e := memstore.New(), embedded(t, t.TempDir())
	head := add(t, s, 600)
	var (
		mu   sync.Mutex
		last calendar.Position
		open int
	)
	r := relay(t, s, e.JetStream(), feed.RelayOptions{Observe: func(first, to calendar.Position) func(error) {
		mu.Lock()
		defer mu.Unlock()
		if first != last+1 || to < first {
			t.Errorf("told of %d to %d after %d", first, to, last)
		}
		last = to
		open++
		return func(err error) {
			mu.Lock()
			defer mu.Unlock()
			open--
			if err != nil {
				t.Errorf("up to %d: %v", to, err)
			}
		}
	}})
	stop := actor(t, r.Run)
	until(t, e.JetStream(), head)
	for ctx := within(t); r.Stats().Position < head; {
		pause(ctx, t)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if last != head || open != 0 {
		t.Errorf("told up to %d with %d open, want %d", last, open, head)
	}
}
