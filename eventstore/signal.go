package eventstore

import (
	"sync"
	"sync/atomic"
)

// Signal holds the head of a store and wakes those who wait for it to move.
type Signal struct {
	now atomic.Pointer[Head]

	mutex sync.Mutex    // of those who change it
	moved chan struct{} // Head.Moved; nil when it is closed
}

// NewSignal returns the Signal of a store that was opened: its head, the newest
// checkpoint and the UUID.
func NewSignal(head Head) *Signal {
	signal := &Signal{moved: make(chan struct{})}
	head.Epoch = Epoch{History: 1}
	signal.set(head)
	return signal
}

// Head returns the present head, for Store.Head of the zero Point.
func (s *Signal) Head() Head { return *s.now.Load() }

// Epoch returns the present epoch.
func (s *Signal) Epoch() Epoch { return s.now.Load().Epoch }

// Move learns of another head or checkpoint, which are never behind those it knows.
// erased says that records were erased meanwhile.
func (s *Signal) Move(head Head, erased bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.Head()
	if head.Position <= now.Position && head.Signed <= now.Signed && !erased {
		return
	}
	if head.Position > now.Position {
		now.Mark = head.Mark
	}
	if now.Signed = max(now.Signed, head.Signed); erased {
		now.Epoch.Erasures++
	}
	s.set(now)
}

// Reset learns that the store has another history, with this head, newest checkpoint and
// UUID.
func (s *Signal) Reset(head Head) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	head.Epoch = Epoch{History: s.Epoch().History + 1, Erasures: s.Epoch().Erasures}
	s.set(head)
}

// Close wakes all who wait; they ask for the head, which is ErrClosed by then.
func (s *Signal) Close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}

func (s *Signal) set(head Head) {
	if s.moved == nil {
		return
	}
	before := s.moved
	s.moved = make(chan struct{})
	head.Moved = s.moved
	s.now.Store(&head)
	close(before)
}
