package sqlite

import (
	"container/list"
	"sync"

	"daybook/calendar"
	"daybook/eventstore"
)

// heldCost is what a held record costs beside its bytes, about.
const heldCost = 400

func heldSize(h *eventstore.Held) int64 {
	n := int64(heldCost + len(h.Record) + len(h.Secret))
	for _, c := range h.Claims {
		n += int64(32 + len(c.Space) + len(c.Key))
	}
	for _, c := range h.Names {
		n += int64(32 + len(c.Space) + len(c.Key))
	}
	return n
}

// cache keeps the present states that were used last, up to a number of bytes.
// The committer puts what it wrote before it answers, so what is there is never
// older than what was answered.
type cache struct {
	mu     sync.Mutex
	limit  int64
	bytes  int64
	order  *list.List // of *eventstore.Held, the last used in front
	byID   map[calendar.ID]*list.Element
	misses map[calendar.ID]*miss
}

// miss are the reads of one record that are under way because the cache lacked
// it. A write meanwhile makes what they read stale.
type miss struct {
	readers int
	stale   bool
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, order: list.New(), byID: map[calendar.ID]*list.Element{}, misses: map[calendar.ID]*miss{}}
}

// get gives a record, nil when the cache lacks it.
func (c *cache) get(id calendar.ID) *eventstore.Held {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*eventstore.Held)
	}
	return nil
}

// begin notes that a record is read from the file.
func (c *cache) begin(id calendar.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.misses[id]
	if m == nil {
		m = &miss{}
		c.misses[id] = m
	}
	m.readers++
}

// end keeps what the file gave (nil: nothing), unless it was overtaken.
func (c *cache) end(id calendar.ID, h *eventstore.Held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.misses[id]
	if m == nil {
		return
	}
	if m.readers--; m.readers == 0 {
		delete(c.misses, id)
	}
	if h != nil && !m.stale {
		c.keep(h)
	}
}

// put keeps what was committed.
func (c *cache) put(all ...*eventstore.Held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range all {
		if m := c.misses[h.ID]; m != nil {
			m.stale = true
		}
		c.keep(h)
	}
}

// clear forgets everything, reads under way too.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	clear(c.byID)
	c.bytes = 0
	for _, m := range c.misses {
		m.stale = true
	}
}

func (c *cache) keep(h *eventstore.Held) {
	if e := c.byID[h.ID]; e != nil {
		c.bytes += heldSize(h) - heldSize(e.Value.(*eventstore.Held))
		e.Value = h
		c.order.MoveToFront(e)
	} else {
		c.byID[h.ID] = c.order.PushFront(h)
		c.bytes += heldSize(h)
	}
	for c.bytes > c.limit && c.order.Len() > 1 {
		last := c.order.Back()
		old := c.order.Remove(last).(*eventstore.Held)
		delete(c.byID, old.ID)
		c.bytes -= heldSize(old)
	}
}
