package sqlite

import (
	"sync"

	"daybook/calendar"
	"daybook/eventstore"
)

// The bounds of the tail.
const (
	tailEntries = 1024
	tailBytes   = 4 << 20
)

// tail keeps the newest entries in memory, without a gap: those who follow the
// log read what was just written, and need no look at the file for it.
type tail struct {
	mu      sync.RWMutex
	entries []eventstore.Entry
	bytes   int
}

func entryBytes(e *eventstore.Entry) int { return len(e.Fields) + len(e.State) + len(e.Secret) }

// put adds what was committed; the oldest drop out.
func (t *tail) put(written []written) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range written {
		t.entries = append(t.entries, *w.entry)
		t.bytes += entryBytes(w.entry)
	}
	drop := 0
	for drop < len(t.entries) && (len(t.entries)-drop > tailEntries || t.bytes > tailBytes) {
		t.bytes -= entryBytes(&t.entries[drop])
		drop++
	}
	if drop > 0 {
		// The entries move to the front now and then, so the dropped ones are
		// let go and the array does not grow.
		clear(t.entries[:drop])
		if t.entries = t.entries[drop:]; cap(t.entries) < tailEntries/2 {
			t.entries = append(make([]eventstore.Entry, 0, 2*tailEntries), t.entries...)
		}
	}
}

// forget empties the tail: the end of the log is not known.
func (t *tail) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries, t.bytes = nil, 0
}

// read gives up to limit entries after a position and up to the head; ok is
// false when the tail does not reach back that far.
func (t *tail) read(after, head calendar.Position, limit int) (out []eventstore.Entry, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.entries) == 0 || t.entries[0].Position > after+1 {
		return nil, false
	}
	if after >= t.entries[len(t.entries)-1].Position {
		return nil, true
	}
	rest := t.entries[after+1-t.entries[0].Position:]
	for len(rest) > 0 && rest[len(rest)-1].Position > head {
		rest = rest[:len(rest)-1]
	}
	rest = eventstore.CutPage(rest[:min(len(rest), max(limit, 0))])
	return append(make([]eventstore.Entry, 0, len(rest)), rest...), true
}

// at gives the entry at a position up to the head, if the tail has it.
func (t *tail) at(p, head calendar.Position) (eventstore.Entry, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if p > head || len(t.entries) == 0 || p < t.entries[0].Position {
		return eventstore.Entry{}, false
	}
	i := uint64(p - t.entries[0].Position)
	if i >= uint64(len(t.entries)) {
		return eventstore.Entry{}, false
	}
	return t.entries[i], true
}

// Newest does eventstore.Recent.
func (s *Store) Newest(p calendar.Position) (eventstore.Entry, bool) {
	return s.tail.at(p, s.signal.Head())
}
