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

// NewSignal returns the Signal of a store that was opened, with its mark and UUID.
func NewSignal(head Head) *Signal {
	signal := &Signal{moved: make(chan struct{})}
	head.Epoch = Epoch{History: 1}
	signal.set(head)
	return signal
}

// Head returns the present head, for Store.Head of the zero Point.
func (signal *Signal) Head() Head { return *signal.now.Load() }

// Epoch returns the present epoch.
func (signal *Signal) Epoch() Epoch { return signal.now.Load().Epoch }

// Move learns of another mark, unless it is behind the one that is known. erased says that
// records were erased meanwhile.
func (signal *Signal) Move(mark Mark, erased bool) {
	signal.mutex.Lock()
	defer signal.mutex.Unlock()
	now := signal.Head()
	if mark.Position > now.Position {
		now.Mark = mark
	} else if !erased {
		return
	}
	if erased {
		now.Epoch.Erasures++
	}
	signal.set(now)
}

// Reset learns that the store has another history, with this mark and UUID.
func (signal *Signal) Reset(head Head) {
	signal.mutex.Lock()
	defer signal.mutex.Unlock()
	head.Epoch = signal.Epoch()
	head.Epoch.History++
	signal.set(head)
}

// Close wakes all who wait; they ask for the head, which is ErrClosed by then.
func (signal *Signal) Close() {
	signal.mutex.Lock()
	defer signal.mutex.Unlock()
	if signal.moved != nil {
		close(signal.moved)
		signal.moved = nil
	}
}

func (signal *Signal) set(head Head) {
	if signal.moved == nil {
		return
	}
	before := signal.moved
	signal.moved = make(chan struct{})
	head.Moved = signal.moved
	signal.now.Store(&head)
	close(before)
}
