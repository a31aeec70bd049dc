package sqlite

import (
	"cmp"
	"slices"
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
	commits []eventstore.Commit // that they are of
	bytes   int
}

func entryBytes(e *eventstore.Entry) int { return len(e.Fields) + len(e.State) + len(e.Secret) }

// put adds what was committed; the oldest drop out.
func (t *tail) put(written []written, hash [32]byte) {
	if len(written) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.commits = append(t.commits, eventstore.Commit{
		First: written[0].entry.Position, Last: written[len(written)-1].entry.Position, Hash: hash,
	})
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
		gone := 0
		for gone < len(t.commits) && (len(t.entries) == 0 || t.commits[gone].Last < t.entries[0].Position) {
			gone++
		}
		t.commits = slices.Delete(t.commits, 0, gone)
	}
}

// forget empties the tail: the end of the log is not known.
func (t *tail) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries, t.commits, t.bytes = nil, nil, 0
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

// commitsOf gives the commits that the entries from one position to another are of.
func (t *tail) commitsOf(first, last calendar.Position) []eventstore.Commit {
	t.mu.RLock()
	defer t.mu.RUnlock()
	byLast := func(c eventstore.Commit, p calendar.Position) int { return cmp.Compare(c.Last, p) }
	from, _ := slices.BinarySearchFunc(t.commits, first, byLast)
	to, _ := slices.BinarySearchFunc(t.commits, last, byLast)
	if to == len(t.commits) || t.commits[from].First > first {
		return nil
	}
	return slices.Clone(t.commits[from : to+1])
}

// Recent does eventstore.Recent.
func (s *Store) Recent(after calendar.Position, limit int) ([]eventstore.Entry, []eventstore.Commit, bool) {
	entries, ok := s.tail.read(after, s.signal.Head(), limit)
	if !ok || len(entries) == 0 {
		return nil, nil, false
	}
	commits := s.tail.commitsOf(entries[0].Position, entries[len(entries)-1].Position)
	return entries, commits, commits != nil
}
