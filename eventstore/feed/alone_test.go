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
	store := newStore(t)
	head := add(t, store, 100)
	src := source(t, store, nil, feed.SourceOptions{})
	mustReadAll(t, store, src, 0, head)
	written := make(chan calendar.Position)
	go func() { written <- add(t, store, 1) }()
	mustReadAll(t, store, src, head, head+1)
	head = <-written

	ctx, old, newest, seen := within(t), markOf(t, store, 50), markOf(t, store, head), make(chan error)
	go func() {
		_, _, err := src.Read(ctx, newest, 10)
		seen <- err
	}()
	lose(t, store, 20, 20)
	if err := <-seen; !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("while it waited: got %v, want ErrHistory", err)
	}
	for range 2 { // ahead of the store, then in a history that is lost
		if _, _, err := src.Read(within(t), old, 10); !errors.Is(err, eventstore.ErrHistory) {
			t.Errorf("a lost mark: got %v, want ErrHistory", err)
		}
		add(t, store, 60)
	}
	mustReadAll(t, store, src, 20, 60)
	// One that does not know of its loss, has more than before, and goes on where it was.
	late, known := source(t, unaware{store}, nil, feed.SourceOptions{}), markOf(t, store, 64)
	if _, last, err := late.Read(within(t), eventstore.Mark{}, 64); err != nil || last != known {
		t.Fatalf("the first page: got %v, %v, want %v", last, err, known)
	}
	lose(t, store, 20, 84)
	if _, _, err := late.Read(within(t), known, 10); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("other entries behind the mark: got %v, want ErrHistory", err)
	}
}
