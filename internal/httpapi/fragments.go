package httpapi

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
// on. So a change of one record, or of the count of a term, makes no other fragment wrong.
type fragmentKey struct {
	id      calendar.ID
	version int64
	sum     uint64 // calendar.Record.Sum
	count   int    // terms
	root    uint64 // secret of the root
	status  calendar.Status
	form    fragmentForm
	lang    calendar.Lang
}

// fragment is a rendered record, in two parts. It is never changed.
type fragment struct{ head, tail []byte }

// fragmentCache keeps fragments: there are few of them, and they stand in most answers.
type fragmentCache struct {
	c *cache.Cache[fragmentKey, fragment]
}

func newFragmentCache(bytes int) fragmentCache {
	return fragmentCache{cache.New(bytes, func(_ fragmentKey, f fragment) int {
		return int(unsafe.Sizeof(fragmentKey{})) + len(f.head) + len(f.tail)
	})}
}

func (c fragmentCache) get(key fragmentKey) (fragment, bool) { return c.c.Get(key) }

// set keeps a fragment of which so many bytes are the head; b is copied.
func (c fragmentCache) set(key fragmentKey, b []byte, head int) {
	if c.c != nil {
		own := bytes.Clone(b)
		c.c.Set(key, fragment{own[:head:head], own[head:]})
	}
}
