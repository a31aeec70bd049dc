package eventstore

import "sync"

// Kept keeps what was read of a store, by key, as long as the store has the history
// that it was read of. It holds two halves: when the young one is full the old one
// is forgotten, and a hit in the old half makes a value young again. The zero value
// with a Half is ready; it is safe for concurrent use.
type Kept[K comparable, V any] struct {
	// Half is how much each half holds, in the unit of the sizes that Put is told.
	Half int

	mu         sync.Mutex
	epoch      uint64
	size       int // of what is young
	young, old map[K]kept[V]
}

type kept[V any] struct {
	value V
	size  int
}

// Get gives the value of a key that was kept in an epoch, the present one of the
// store. What was kept in epochs before is dropped.
func (k *Kept[K, V]) Get(epoch uint64, key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var none V
	if !k.in(epoch) {
		return none, false
	}
	v, ok := k.young[key]
	if !ok {
		if v, ok = k.old[key]; ok {
			k.add(key, v)
		}
	}
	return v.value, ok
}

// Put keeps a value of a size; epoch is that of the store from before the value was
// read. A value of an epoch that is over is not kept.
func (k *Kept[K, V]) Put(epoch uint64, key K, v V, size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.in(epoch) {
		k.add(key, kept[V]{v, size})
	}
}

// Drop forgets a key.
func (k *Kept[K, V]) Drop(key K) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.size -= k.young[key].size
	delete(k.young, key)
	delete(k.old, key)
}

// in tells whether values of an epoch are kept, after those of epochs before are
// dropped.
func (k *Kept[K, V]) in(epoch uint64) bool {
	if epoch > k.epoch {
		k.epoch, k.size, k.young, k.old = epoch, 0, nil, nil
	}
	return epoch == k.epoch
}

func (k *Kept[K, V]) add(key K, v kept[V]) {
	if k.size += v.size - k.young[key].size; k.young == nil || k.size > k.Half {
		k.old, k.young, k.size = k.young, make(map[K]kept[V]), v.size
	}
	k.young[key] = v
}
