package feed_test

import (
	"errors"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
)

// TestStoreAlone: without a stream a source reads every entry of the store once, in order
// and with its mark, returns what is written while it waits, and notices another history.
func TestStoreAlone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	head := add(t, s, 100)
	src := source(t, s, nil, feed.SourceOptions{})
	mustReadAll(t, s, src, 0, head)
	written := make(chan calendar.Position)
	go func() { written <- add(t, s, 1) }()
	mustReadAll(t, s, src, head, head+1)
	head = <-written

	ctx, old, newest, seen := within(t), markOf(t, s, 50), markOf(t, s, head), make(chan error)
	go func() {
		_, _, err := src.Read(ctx, newest, 10)
		seen <- err
	}()
	lose(t, s, 20, 20)
	if err := <-seen; !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("while it waited: got %v, want ErrHistory", err)
	}
	for range 2 { // ahead of the store, then in a history that is lost
		if _, _, err := src.Read(within(t), old, 10); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("a lost mark: got %v, want ErrHistory", err)
		}
		add(t, s, 60)
	}
	mustReadAll(t, s, src, 20, 60)
	// One that does not know of its loss, and has more than before.
	late, known := source(t, unaware{s}, nil, feed.SourceOptions{}), markOf(t, s, 60)
	mustReadAll(t, s, late, 0, 60)
	lose(t, s, 20, 80)
	if _, _, err := late.Read(within(t), known, 10); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("other entries behind the mark: got %v, want ErrHistory", err)
	}
}
