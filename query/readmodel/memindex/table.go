package memindex

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
)

// There are as many words as names and numbers in the calendar. Maps and lists of their
// own would take more memory than the words, and the collector would look into them.

// table finds numbers by their texts.
type table struct {
	textOf func(uint32) string
	slots  []uint32 // number + 1; 0: free
	n      int
}

var tableSeed = maphash.MakeSeed()

func (t *table) home(text string) int {
	return int(maphash.String(tableSeed, text) & uint64(len(t.slots)-1))
}

// get gives the number of a text.
func (t *table) get(text string) (uint32, bool) {
	at, found := t.seek(text)
	if !found {
		return 0, false
	}
	return t.slots[at] - 1, true
}

// seek gives the slot of a text, or the free one where it is missed.
func (t *table) seek(text string) (at int, found bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at = t.home(text); t.slots[at] != 0; at = t.after(at) {
		if t.textOf(t.slots[at]-1) == text {
			return at, true
		}
	}
	return at, false
}

func (t *table) after(at int) int { return (at + 1) & (len(t.slots) - 1) }

// put adds a number whose text is not there yet.
func (t *table) put(id uint32) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow(max(64, 2*len(t.slots)))
	}
	at, _ := t.seek(t.textOf(id))
	t.slots[at] = id + 1
	t.n++
}

// grow makes room; n is a power of two.
func (t *table) grow(n int) {
	before := t.slots
	t.slots = make([]uint32, n)
	for _, s := range before {
		if s != 0 {
			at, _ := t.seek(t.textOf(s - 1))
			t.slots[at] = s
		}
	}
}

// remove takes a text out. Those behind it move up, so that none is cut off from its
// home.
func (t *table) remove(text string) {
	gap, found := t.seek(text)
	if !found {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for at := t.after(gap); t.slots[at] != 0; at = t.after(at) {
		if home := t.home(t.textOf(t.slots[at] - 1)); (at-home)&mask >= (at-gap)&mask {
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

// fill makes the order of all its numbers at once.
func (o *byText) fill(ids []uint32) {
	slices.SortFunc(ids, func(a, b uint32) int { return strings.Compare(o.textOf(a), o.textOf(b)) })
	o.chunks = nil
	for part := range slices.Chunk(ids, textChunk) {
		o.chunks = append(o.chunks, slices.Clone(part))
	}
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
