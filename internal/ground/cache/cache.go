// Package cache keeps what was made for one and may serve others, up to a number of
// bytes. A key names everything that its value depends on, the state of what it was made
// from included (ADR 20): what is stale is never found, and goes as other values need
// its room.
package cache

import "github.com/maypok86/otter/v2"

// Cache keeps values by key. A nil one keeps nothing. It is safe for concurrent use.
type Cache[K comparable, V any] struct{ values values[K, V] }

// values are those of otter, without its type: every package that knows a cache would compile
// the whole of otter for it.
type values[K comparable, V any] interface {
	GetIfPresent(key K) (V, bool)
	Set(key K, value V) (V, bool)
	InvalidateAll()
}

// The memory that a value costs besides its bytes.
const overhead = 256

// New makes a cache for so many bytes; size gives those of a key and its value. It is nil
// when bytes is negative.
func New[K comparable, V any](bytes int, size func(K, V) int) *Cache[K, V] {
	if bytes < 0 {
		return nil
	}
	return &Cache[K, V]{otter.Must(&otter.Options[K, V]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(k K, v V) uint32 { return uint32(min(size(k, v)+overhead, 1<<30)) },
	})}
}

// Get returns the value of a key, and whether it is kept.
func (cache *Cache[K, V]) Get(key K) (value V, ok bool) {
	if cache == nil {
		return value, false
	}
	return cache.values.GetIfPresent(key)
}

// Set keeps a value, which no one may change any more.
func (cache *Cache[K, V]) Set(key K, value V) {
	if cache != nil {
		cache.values.Set(key, value)
	}
}

// Clear removes all values.
func (cache *Cache[K, V]) Clear() {
	if cache != nil {
		cache.values.InvalidateAll()
	}
}
