package memindex

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"daybook/calendar"
)

// There are as many words as names and numbers in the calendar, and as many ids as
// records. Maps and lists of their own would take more memory than the words, and the
// collector would look into them.

// table finds numbers by their keys. The zero key is that of a number that is free.
type table[K comparable] struct {
	keyOf func(uint32) K
	hash  func(K) uint64
	slots []uint32 // number + 1; 0: free
	n     int
}

var tableSeed = maphash.MakeSeed()

func hashText(text string) uint64 { return maphash.String(tableSeed, text) }

func hashID(id calendar.ID) uint64 {
	h := uint64(id) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

func (t *table[K]) home(key K) int { return int(t.hash(key) & uint64(len(t.slots)-1)) }

// get gives the number of a key.
func (t *table[K]) get(key K) (uint32, bool) {
	at, found := t.seek(key)
	if !found {
		return 0, false
	}
	return t.slots[at] - 1, true
}

// seek gives the slot of a key, or the free one where it is missed.
func (t *table[K]) seek(key K) (at int, found bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at = t.home(key); t.slots[at] != 0; at = t.after(at) {
		if t.keyOf(t.slots[at]-1) == key {
			return at, true
		}
	}
	return at, false
}

func (t *table[K]) after(at int) int { return (at + 1) & (len(t.slots) - 1) }

// put adds a number whose key is not there yet.
func (t *table[K]) put(id uint32) {
	t.room(t.n + 1)
	t.add(id)
}

func (t *table[K]) add(id uint32) {
	at := t.home(t.keyOf(id))
	for t.slots[at] != 0 {
		at = t.after(at)
	}
	t.slots[at] = id + 1
	t.n++
}

// room makes room for n numbers.
func (t *table[K]) room(n int) {
	if 4*n <= 3*len(t.slots) {
		return
	}
	size := 64
	for 4*n > 3*size {
		size *= 2
	}
	before := t.slots
	t.slots, t.n = make([]uint32, size), 0
	for _, s := range before {
		if s != 0 {
			t.add(s - 1)
		}
	}
}

// fill adds n of the numbers below another one to an empty table.
func (t *table[K]) fill(n, below int) {
	t.room(n)
	var free K
	for id := range uint32(below) {
		if t.keyOf(id) != free {
			t.add(id)
		}
	}
}

// remove takes a key out. Those behind it move up, so that none is cut off from its
// home.
func (t *table[K]) remove(key K) {
	gap, found := t.seek(key)
	if !found {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for at := t.after(gap); t.slots[at] != 0; at = t.after(at) {
		if home := t.home(t.keyOf(t.slots[at] - 1)); (at-home)&mask >= (at-gap)&mask {
			t.slots[gap] = t.slots[at]
			gap = at
		}
	}
	t.slots[gap] = 0
}

// byText keeps numbers in the order of their texts, in chunks, so that one that comes or
// goes moves few others.
type byText struct {
	textOf func(uint32) string
	chunks [][]uint32
}

const textChunk = 512 // a chunk is cut in two at twice this

// chunked makes chunks of numbers in order.
func chunked(ids []uint32) [][]uint32 {
	var out [][]uint32
	for part := range slices.Chunk(ids, textChunk) {
		out = append(out, slices.Clone(part))
	}
	return out
}

// seek gives the place of the first one that is not before a text.
func (o *byText) seek(text string) (c, i int) {
	c, _ = slices.BinarySearchFunc(o.chunks, text, func(ids []uint32, text string) int {
		return cmp.Or(strings.Compare(o.textOf(ids[len(ids)-1]), text), 1) // the first of the chunks that end there or later
	})
	if c == len(o.chunks) {
		return c, 0
	}
	i, _ = slices.BinarySearchFunc(o.chunks[c], text, func(id uint32, text string) int { return strings.Compare(o.textOf(id), text) })
	return c, i
}

func (o *byText) insert(id uint32) {
	if len(o.chunks) == 0 {
		o.chunks = [][]uint32{{id}}
		return
	}
	c, i := o.seek(o.textOf(id))
	if c == len(o.chunks) {
		c--
		i = len(o.chunks[c])
	}
	o.chunks[c] = slices.Insert(o.chunks[c], i, id)
	if n := len(o.chunks[c]); n >= 2*textChunk {
		o.chunks = slices.Insert(o.chunks, c+1, slices.Clone(o.chunks[c][n/2:]))
		o.chunks[c] = slices.Clone(o.chunks[c][:n/2])
	}
}

// remove takes out a number whose text is still known.
func (o *byText) remove(id uint32) {
	c, i := o.seek(o.textOf(id))
	if c == len(o.chunks) || i == len(o.chunks[c]) || o.chunks[c][i] != id {
		return
	}
	if o.chunks[c] = slices.Delete(o.chunks[c], i, i+1); len(o.chunks[c]) == 0 {
		o.chunks = slices.Delete(o.chunks, c, c+1)
	}
}

// beginning gives those whose texts begin with a prefix.
func (o *byText) beginning(prefix string) []uint32 {
	var out []uint32
	for c, i := o.seek(prefix); c < len(o.chunks); c, i = c+1, 0 {
		for _, id := range o.chunks[c][i:] {
			if !strings.HasPrefix(o.textOf(id), prefix) {
				return out
			}
			out = append(out, id)
		}
	}
	return out
}
