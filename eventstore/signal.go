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
func NewSignal(h Head) *Signal {
	s := &Signal{moved: make(chan struct{})}
	h.Epoch = Epoch{History: 1}
	s.set(h)
	return s
}

// Head returns the present head, for Store.Head of the zero Point.
func (s *Signal) Head() Head { return *s.now.Load() }

// Epoch returns the present epoch.
func (s *Signal) Epoch() Epoch { return s.now.Load().Epoch }

// Move learns of another head or checkpoint, which are never behind those it knows.
// erased says that records were erased meanwhile.
func (s *Signal) Move(h Head, erased bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.Head()
	if h.Position <= now.Position && h.Signed <= now.Signed && !erased {
		return
	}
	if h.Position > now.Position {
		now.Mark = h.Mark
	}
	if now.Signed = max(now.Signed, h.Signed); erased {
		now.Epoch.Erasures++
	}
	s.set(now)
}

// Reset learns that the store has another history, with this head, newest checkpoint and
// UUID.
func (s *Signal) Reset(h Head) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	h.Epoch = Epoch{History: s.Epoch().History + 1, Erasures: s.Epoch().Erasures}
	s.set(h)
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

func (s *Signal) set(h Head) {
	if s.moved == nil {
		return
	}
	before := s.moved
	s.moved = make(chan struct{})
	h.Moved = s.moved
	s.now.Store(&h)
	close(before)
}
