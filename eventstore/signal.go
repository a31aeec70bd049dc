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
	closed bool
	moved  chan struct{} // made when somebody waits, closed when the head moves
}

// Head gives the head.
func (s *Signal) Head() calendar.Position {
	return calendar.Position(s.head.Load())
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
	for {
		s.mu.Lock()
		head, closed := s.Head(), s.closed
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
