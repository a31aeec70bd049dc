package eventstore

import (
	"context"
	"sync"
	"sync/atomic"

	"daybook/calendar"
)

// Signal holds the head of a store and wakes those who wait for it to move. The
// zero value is a store without entries.
type Signal struct {
	mu     sync.Mutex
	head   atomic.Uint64 // changed under mu
	epoch  atomic.Uint64 // from 0, changed under mu
	closed bool
	moved  chan struct{} // made when somebody waits, closed when the head moves
}

// Head gives the head.
func (s *Signal) Head() calendar.Position {
	return calendar.Position(s.head.Load())
}

// Epoch gives how often the store went over to another history, counted from 1.
func (s *Signal) Epoch() uint64 { return s.epoch.Load() + 1 }

// Reset sets the head of another history, where it may be smaller, and wakes all
// who wait, with ErrHistory.
func (s *Signal) Reset(head calendar.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch.Add(1)
	s.head.Store(uint64(head))
	s.wake()
}

// Move sets the head, when it is greater than the present one.
func (s *Signal) Move(head calendar.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if head <= s.Head() {
		return
	}
	s.head.Store(uint64(head))
	s.wake()
}

// Close wakes all who wait, with ErrClosed.
func (s *Signal) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wake()
}

// Wait does Store.Wait.
func (s *Signal) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	began := s.Epoch()
	for {
		s.mu.Lock()
		head, closed := s.Head(), s.closed
		if s.Epoch() != began && !closed {
			s.mu.Unlock()
			return head, ErrHistory
		}
		if head > after && !closed {
			s.mu.Unlock()
			return head, nil
		}
		if closed {
			s.mu.Unlock()
			return head, ErrClosed
		}
		if s.moved == nil {
			s.moved = make(chan struct{})
		}
		moved := s.moved
		s.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return s.Head(), ctx.Err()
		}
	}
}

func (s *Signal) wake() {
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}
