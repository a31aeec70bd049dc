package feed_test

import (
	"context"
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
	src := feed.NewSource(s, nil, feed.SourceOptions{})
	t.Cleanup(src.Close)
	if err := readAll(within(t), s, src, 0, head, 7); err != nil {
		t.Fatal(err)
	}
	written := make(chan calendar.Position)
	go func() { written <- add(t, s, 1) }()
	mustReadAll(t, s, src, head, head+1)
	head = <-written
	mustReadAll(t, s, src, 40, head) // begins again

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := src.Read(ended, markOf(t, s, head), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was ended: got %v", err)
	}
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
}

// sharing is a store that returns a list of its own.
type sharing struct {
	eventstore.Store
	list []eventstore.Entry
}

func (s sharing) Read(context.Context, eventstore.Range) ([]eventstore.Entry, error) {
	return s.list, nil
}

// TestListsOfTheStore: a source takes secrets from what it returns, not from the store.
func TestListsOfTheStore(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	add(t, s, 1)
	list, err := s.Read(t.Context(), eventstore.Range{Limit: 1})
	check(t, err)
	src := feed.NewSource(sharing{s, list}, nil, feed.SourceOptions{})
	t.Cleanup(src.Close)
	mustReadAll(t, s, src, 0, 1)
	if list[0].Secret == nil {
		t.Error("the list of the store was changed")
	}
}

// TestOtherEntriesBehindTheMark: a store that lost entries and has more than before, and
// does not know it yet, is noticed by the commit of the mark.
func TestOtherEntriesBehindTheMark(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	add(t, s, 20)
	src := feed.NewSource(unaware{s}, nil, feed.SourceOptions{})
	t.Cleanup(src.Close)
	mustReadAll(t, s, src, 0, 20)
	known := markOf(t, s, 20)
	lose(t, s, 10, 30)
	if got, _, err := src.Read(within(t), known, 64); !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("got %d entries and %v, want ErrHistory", len(got), err)
	}
}
