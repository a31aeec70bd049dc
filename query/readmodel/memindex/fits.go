package memindex

import (
	"slices"
	"sync"

	"daybook/calendar"
)

// A beginning of a word that many words have costs more than all the rest of a
// search, and people search for the same few. What such beginnings fit is kept
// until the next change of the kind.
const (
	manyWords = 16  // from how many words on it is kept
	mostFits  = 128 // sets that are kept; with 100,000 documents each takes 12 KB
)

// fits are the documents that a beginning fits.
type fits struct {
	mu   sync.Mutex
	sets map[fitKey]bitset // never changed
}

type fitKey struct {
	lang   calendar.Lang
	fields string
	word   string
}

func (f *fits) get(key fitKey) bitset {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sets[key]
}

func (f *fits) put(key fitKey, set bitset) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sets == nil {
		f.sets = map[fitKey]bitset{}
	}
	if len(f.sets) >= mostFits {
		for some := range f.sets {
			delete(f.sets, some)
			break
		}
	}
	f.sets[key] = slices.Clone(set)
}

// forget is called under the write lock of the index: a search that is under way
// cannot put back what it found before.
func (f *fits) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.sets)
}
