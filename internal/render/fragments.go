package render

import (
	"bytes"
	"unsafe"

	"daybook/calendar"
	"daybook/internal/ground/cache"
)

// fragmentForm is what a fragment is a rendering of.
type fragmentForm uint8

const (
	formPost   fragmentForm = iota + 1 // a venue or organizer
	formNested                         // a term within an event
)

// fragmentKey names a rendered record that events embed: everything that its bytes depend
// on. So a change of one record, or of the count of a term, invalidates no other fragment.
type fragmentKey struct {
	id      calendar.ID
	version int64
	sum     uint64 // calendar.Record.Sum
	count   int    // terms
	links   uint64 // Links.Secret
	status  calendar.Status
	form    fragmentForm
	lang    calendar.Lang
}

// fragment is a rendered record, in two parts. It is never changed.
type fragment struct{ head, tail []byte }

// fragmentCache caches fragments: there are few of them, and they stand in most answers.
type fragmentCache struct {
	*cache.Cache[fragmentKey, fragment]
}

func newFragmentCache(bytes int) fragmentCache {
	return fragmentCache{cache.New(bytes, func(_ fragmentKey, f fragment) int {
		return int(unsafe.Sizeof(fragmentKey{})) + len(f.head) + len(f.tail)
	})}
}

// add caches a copy of b as a fragment of which so many bytes are the head.
func (c fragmentCache) add(key fragmentKey, b []byte, head int) {
	if c.Cache != nil {
		own := bytes.Clone(b)
		c.Set(key, fragment{own[:head:head], own[head:]})
	}
}
