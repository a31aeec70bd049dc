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
	empty func() *cache.Cache[K, V]

	mutex  sync.Mutex
	epoch  Epoch
	values *cache.Cache[K, V]
}

// NewEpochCache returns a cache of about so many bytes; size returns those of a value.
func NewEpochCache[K comparable, V any](bytes int, size func(K, V) int) *EpochCache[K, V] {
	return &EpochCache[K, V]{empty: func() *cache.Cache[K, V] { return cache.New(bytes, size) }}
}

// In returns the cache for values that are read in an epoch, that of the store from before
// the read. It is empty when the epoch is new, and nil, which caches nothing, when it is over.
func (epochCache *EpochCache[K, V]) In(epoch Epoch) *cache.Cache[K, V] {
	epochCache.mutex.Lock()
	defer epochCache.mutex.Unlock()
	if epoch.History+epoch.Erasures > epochCache.epoch.History+epochCache.epoch.Erasures { // neither ever falls
		epochCache.epoch, epochCache.values = epoch, epochCache.empty()
	}
	if epoch != epochCache.epoch {
		return nil
	}
	return epochCache.values
}
