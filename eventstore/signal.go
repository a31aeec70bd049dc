package eventstore

import (
	"sync"
	"sync/atomic"
)

// Signal holds the head of a store and wakes those who wait for it to move.
type Signal struct {
	now atomic.Pointer[Head]

	mutex  sync.Mutex // of those who change it
	closed bool
}

// NewSignal returns the Signal of a store that was opened: its head, the newest
// checkpoint and the UUID.
func NewSignal(h Head) *Signal {
	h.Epoch, h.Moved = Epoch{History: 1}, make(chan struct{})
	s := &Signal{}
	s.now.Store(&h)
	return s
}

// Head returns the present head, for Store.Head of the zero Point.
func (s *Signal) Head() Head { return *s.now.Load() }

// Epoch returns the present epoch.
func (s *Signal) Epoch() Epoch { return s.now.Load().Epoch }

// Move learns of another head or checkpoint, which are never behind those it knows.
// erased says that records were erased meanwhile.
func (s *Signal) Move(h Head, erased bool) {
	s.change(func(now *Head) {
		if h.Position > now.Position {
			now.Mark = h.Mark
		}
		if now.Signed = max(now.Signed, h.Signed); erased {
			now.Epoch.Erasures++
		}
	})
}

// Reset learns that the store has another history, with this head, newest checkpoint and
// UUID.
func (s *Signal) Reset(h Head) {
	s.change(func(now *Head) {
		h.Epoch = Epoch{History: now.Epoch.History + 1, Erasures: now.Epoch.Erasures}
		*now = h
	})
}

// change edits the head, and wakes those who wait where it is another one then.
func (s *Signal) change(edit func(now *Head)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := s.Head()
	h := before
	if edit(&h); h == before || s.closed {
		return
	}
	h.Moved = make(chan struct{})
	s.now.Store(&h)
	close(before.Moved)
}

// Close wakes all who wait; they ask for the head, which is ErrClosed by then.
func (s *Signal) Close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.closed {
		s.closed = true
		close(s.Head().Moved)
	}
}
