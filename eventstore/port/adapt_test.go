package port_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore/memstore"
	eventstore "daybook/eventstore/port"
	"daybook/eventstore/port/storetest"
	"daybook/eventstore/sqlite"
)

// adapted is a store of the former port behind the new one.
type adapted struct {
	eventstore.Store

	former interface {
		eventstore.Adapted
		io.Closer
	}
	path string // of its file
}

func (a *adapted) Close() error { return a.former.Close() }

func inMemory(s *memstore.Store) *adapted { return &adapted{eventstore.Adapt(s), s, ""} }

func inFile(tb testing.TB, path string) *adapted {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), path, sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return &adapted{eventstore.Adapt(s), s, path}
}

// TestAdapt: stores of the former port keep what the new one promises.
func TestAdapt(t *testing.T) {
	t.Parallel()
	t.Run("memstore", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, storetest.Harness{
			Open: func(testing.TB) storetest.Store { return inMemory(memstore.New()) },
			Reopen: func(_ testing.TB, s storetest.Store) storetest.Store {
				return inMemory(s.(*adapted).former.(*memstore.Store).Reopen())
			},
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, storetest.Harness{
			Open: func(tb testing.TB) storetest.Store {
				tb.Helper()
				return inFile(tb, filepath.Join(tb.TempDir(), "events.db"))
			},
			Reopen: func(tb testing.TB, s storetest.Store) storetest.Store {
				tb.Helper()
				if err := s.Close(); err != nil {
					tb.Fatalf("Close: %v", err)
				}
				return inFile(tb, s.(*adapted).path)
			},
		})
	})
}

// TestAdaptRandomly: the adapted store in a file answers as the one in memory does.
func TestAdaptRandomly(t *testing.T) {
	t.Parallel()
	storetest.RandomSequences(t, storetest.Opened{
		Fresh: func(*rapid.T) eventstore.Store { return inFile(t, filepath.Join(t.TempDir(), "events.db")) },
		Reopen: func(rt *rapid.T, s eventstore.Store) eventstore.Store {
			if err := s.(*adapted).Close(); err != nil {
				rt.Fatalf("Close: %v", err)
			}
			return inFile(t, s.(*adapted).path)
		},
	}, storetest.Opened{
		Fresh: func(*rapid.T) eventstore.Store { return inMemory(memstore.New()) },
		Reopen: func(_ *rapid.T, s eventstore.Store) eventstore.Store {
			return inMemory(s.(*adapted).former.(*memstore.Store).Reopen())
		},
	})
}

// asked notes that the head was asked for.
type asked struct {
	eventstore.Store

	done chan struct{}
	once sync.Once
}

func (a *asked) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	h, err := a.Store.Head(ctx, p)
	a.once.Do(func() { close(a.done) })
	return h, err
}

// TestAnotherHistory: another history ends waiting, and what was decided before it is
// refused.
func TestAnotherHistory(t *testing.T) {
	t.Parallel()
	m := memstore.New()
	t.Cleanup(func() { _ = m.Close() })
	s := &asked{Store: eventstore.Adapt(m), done: make(chan struct{})}
	a := eventstore.Append{
		Drafts: []eventstore.Draft{{Kind: calendar.KindTag, ID: 1, Change: "tag.changed", Fields: []byte(`{}`), State: []byte(`{}`)}},
		Epoch:  s.Epoch(),
	}
	if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil {
		t.Fatal(res.Err)
	}
	waited := make(chan error)
	go func() {
		_, err := eventstore.Wait(t.Context(), s, 1)
		waited <- err
	}()
	<-s.done
	m.Rewind(0)
	if err := <-waited; !errors.Is(err, eventstore.ErrHistory) {
		t.Errorf("Wait returns %v, want ErrHistory", err)
	}
	if now := s.Epoch(); now.History != a.Epoch.History+1 || now.Erasures != 0 {
		t.Errorf("the epoch is %+v after %+v", now, a.Epoch)
	}
	for _, redact := range [][]calendar.ID{nil, {1}} {
		a.Redact = redact
		if res := s.Append(t.Context(), []eventstore.Append{a})[0]; !errors.Is(res.Err, eventstore.ErrConflict) {
			t.Errorf("an append of another history with redactions of %v: %+v", redact, res)
		}
	}
}
