package memindex

import (
	"slices"
	"sync"
)

// A beginning of a word that many words have costs more than all the rest of a
// search, and people search for the same few. What such beginnings fit is kept;
// who uses it looks again into the documents that have changed since.
const (
	manyWords = 16  // from how many words on it is kept
	mostFits  = 128 // sets that are kept; with 100,000 documents each takes 12 KB
)

// fits are the documents that a beginning fits, by piece.
type fits struct {
	mu   sync.Mutex
	sets map[string]fit
}

type fit struct {
	set bitset // never changed
	seq uint64 // of the last change that it knows of
}

func (f *fits) get(key string) (bitset, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	have := f.sets[key]
	return have.set, have.seq
}

func (f *fits) put(key string, set bitset, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sets == nil {
		f.sets = map[string]fit{}
	}
	if _, known := f.sets[key]; !known && len(f.sets) >= mostFits {
		for some := range f.sets {
			delete(f.sets, some)
			break
		}
	}
	f.sets[key] = fit{slices.Clone(set), seq}
}
