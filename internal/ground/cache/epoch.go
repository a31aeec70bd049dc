package cache

import "sync"

// Epoch is what a cached value was made in. A later one never comes before an earlier one.
type Epoch[E any] interface {
	comparable
	After(other E) bool
}

// ByEpoch caches values by key, and drops all of them when another epoch begins: what was
// made in one must neither be found in the next nor stay in memory. It is safe for
// concurrent use.
type ByEpoch[E Epoch[E], K comparable, V any] struct {
	empty func() *Cache[K, V]

	mutex  sync.Mutex
	epoch  E
	values *Cache[K, V]
}

// NewByEpoch returns a cache of about so many bytes; size returns those of a value.
func NewByEpoch[E Epoch[E], K comparable, V any](bytes int, size func(K, V) int) *ByEpoch[E, K, V] {
	return &ByEpoch[E, K, V]{empty: func() *Cache[K, V] { return New(bytes, size) }}
}

// In returns the cache for values that are made in an epoch, that of before they are made.
// It is empty when the epoch is new, and nil, which caches nothing, when it is over.
func (byEpoch *ByEpoch[E, K, V]) In(epoch E) *Cache[K, V] {
	byEpoch.mutex.Lock()
	defer byEpoch.mutex.Unlock()
	if epoch.After(byEpoch.epoch) {
		byEpoch.epoch, byEpoch.values = epoch, byEpoch.empty()
	}
	if epoch != byEpoch.epoch {
		return nil
	}
	return byEpoch.values
}
