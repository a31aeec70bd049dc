package eventstore

import "sync"

// Kept keeps what was read of a store, by key, as long as the store has the history
// that it was read of. It holds two halves: when the young one is full the old one
// is forgotten, and a hit in the old half makes a value young again. The zero value
// with a Half is ready; it is safe for concurrent use.
type Kept[K comparable, V any] struct {
	// Half is how many values each half holds; 0: 2048.
	Half int

	mu         sync.Mutex
	epoch      uint64
	young, old map[K]V
}

const keptHalf = 2048

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
	return v, ok
}

// Put keeps a value; epoch is that of the store from before the value was read. A
// value of an epoch that is over is not kept.
func (k *Kept[K, V]) Put(epoch uint64, key K, v V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.in(epoch) {
		k.add(key, v)
	}
}

// Drop forgets a key.
func (k *Kept[K, V]) Drop(key K) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.young, key)
	delete(k.old, key)
}

// in tells whether values of an epoch are kept, after those of epochs before are
// dropped.
func (k *Kept[K, V]) in(epoch uint64) bool {
	if epoch > k.epoch {
		k.epoch, k.young, k.old = epoch, nil, nil
	}
	return epoch == k.epoch
}

func (k *Kept[K, V]) add(key K, v V) {
	half := k.Half
	if half == 0 {
		half = keptHalf
	}
	if _, there := k.young[key]; !there && (k.young == nil || len(k.young) >= half) {
		k.old, k.young = k.young, make(map[K]V)
	}
	k.young[key] = v
}
