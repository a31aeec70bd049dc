package eventstore

import (
	"sync"

	"daybook/internal/ground/cache"
)

// EpochCache caches what was made from entries and records, by key. It drops everything
// at another epoch of the store: versions of two histories say nothing of each other, and
// what was read of an erased record has to leave the memory (docs/spec/history.md 14.2).
// It is safe for concurrent use.
type EpochCache[K comparable, V any] struct {
	mutex  sync.Mutex
	epoch  Epoch
	values *cache.Cache[K, V]
}

// NewEpochCache returns a cache of about so many bytes; size returns those of a value.
func NewEpochCache[K comparable, V any](bytes int, size func(K, V) int) *EpochCache[K, V] {
	return &EpochCache[K, V]{values: cache.New(bytes, size)}
}

// Get returns the value of a key in the present epoch of the store.
func (c *EpochCache[K, V]) Get(present Epoch, key K) (v V, ok bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.enter(present) {
		return c.values.Get(key)
	}
	return v, false
}

// Put caches a value that was read in an epoch, that of the store from before the read;
// nothing of one that is over.
func (c *EpochCache[K, V]) Put(read Epoch, key K, v V) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.enter(read) {
		c.values.Set(key, v)
	}
}

// Enter drops what was read before the present epoch of the store, for caches that nobody
// asks meanwhile.
func (c *EpochCache[K, V]) Enter(present Epoch) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.enter(present)
}

// enter reports whether the cache holds values of an epoch, after those of earlier ones
// were dropped.
func (c *EpochCache[K, V]) enter(e Epoch) bool {
	if e.History > c.epoch.History || e.History == c.epoch.History && e.Erasures > c.epoch.Erasures {
		c.epoch = e
		c.values.Clear()
	}
	return e == c.epoch
}
