package httpapi

import (
	"bytes"
	"unsafe"

	"github.com/maypok86/otter/v2"

	"daybook/calendar"
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

// fragmentCache keeps fragments up to a number of bytes: there are few of them, and they stand
// in most answers. A nil one keeps nothing.
type fragmentCache struct {
	c *otter.Cache[fragmentKey, fragment]
}

func newFragmentCache(bytes int) (*fragmentCache, error) {
	if bytes < 0 {
		return nil, nil // no cache is a choice
	}
	c, err := otter.New(&otter.Options[fragmentKey, fragment]{
		MaximumWeight: uint64(bytes),
		Weigher: func(_ fragmentKey, f fragment) uint32 {
			return uint32(min(int(unsafe.Sizeof(fragmentKey{}))+entryOverhead+len(f.head)+len(f.tail), 1<<30))
		},
	})
	if err != nil {
		return nil, err
	}
	return &fragmentCache{c}, nil
}

func (c *fragmentCache) get(key fragmentKey) (fragment, bool) {
	if c == nil {
		return fragment{}, false
	}
	return c.c.GetIfPresent(key)
}

// set keeps a fragment of which so many bytes are the head; b is copied.
func (c *fragmentCache) set(key fragmentKey, b []byte, head int) {
	if c != nil {
		own := bytes.Clone(b)
		c.c.Set(key, fragment{own[:head:head], own[head:]})
	}
}
