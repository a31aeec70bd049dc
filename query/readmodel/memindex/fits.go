package memindex

import "sync"

// People search for the same few words. What a beginning of a word fits is kept where
// finding it cost something; who uses it looks again into the documents that have
// changed since.
const (
	manySteps = 1 << 10  // from how many on it is kept
	mostFits  = 16 << 20 // bytes of the sets that are kept
)

// fits are the documents that a beginning fits, by piece.
type fits struct {
	mu    sync.Mutex
	sets  map[string]fit
	bytes int
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

// put keeps a set, which is not changed any more.
func (f *fits) put(key string, set bitset, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sets == nil {
		f.sets = map[string]fit{}
	}
	f.drop(key)
	f.sets[key] = fit{set, seq}
	f.bytes += len(set) * 8
	for some := range f.sets {
		if f.bytes <= mostFits {
			break
		}
		if some != key {
			f.drop(some)
		}
	}
}

func (f *fits) drop(key string) {
	f.bytes -= len(f.sets[key].set) * 8
	delete(f.sets, key)
}
