package memindex

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// column has the values of a field by document, so that one walk over a set counts all of
// them. The first who counts makes it, and from then on writes keep it up.
type column struct {
	values  []int64 // by number
	numbers map[int64]uint32
	sorted  []uint32 // numbers, by value

	// cells are by ordinal, for whole words of sets: up to two numbers + 1, or the place of
	// a list. Most documents take four bytes.
	cells []uint32
	lists []uint32 // of each: how many, and the numbers + 1
	loose int      // how much of lists is of no use any more
}

const (
	cellBits = 15
	cellMask = 1<<cellBits - 1
	listed   = 1 << 31
)

// columns are those of a kind that were asked for.
type columns struct {
	mu sync.Mutex // among readers; writers are alone
	of map[string]*column
}

// column gives the column of a field of ids or of computed numbers. Who calls it holds
// the lock of the Index for reading.
func (k *kindIndex) column(field string) *column {
	k.columns.mu.Lock()
	defer k.columns.mu.Unlock()
	c := k.columns.of[field]
	if c == nil {
		c = k.newColumn(field)
		k.columns.of[field] = c
	}
	return c
}

func (k *kindIndex) newColumn(field string) *column {
	c := &column{numbers: map[int64]uint32{}}
	c.room(len(k.docs))
	if k.computed(field) {
		k.live.each(func(o uint32) bool {
			if n, ok := k.compute(field, o); ok {
				c.add(o, n)
			}
			return true
		})
		return c
	}
	values := k.links[field].values
	for _, id := range slices.Sorted(maps.Keys(values)) {
		values[id].each(func(o uint32) { c.add(o, int64(id)) })
	}
	c.tidy()
	return c
}

// follow has the columns follow a document that has come or changed. One that goes is in no
// set any more.
func (k *kindIndex) follow(o uint32, values []value) {
	for field, c := range k.columns.of {
		c.room(len(k.docs))
		c.clear(o)
		most := len(k.docs)
		if !k.computed(field) {
			most = len(k.links[field].values)
			eachOnce(values[k.fieldAt[field]].ids, func(id calendar.ID) { c.add(o, int64(id)) })
		} else if n, ok := k.compute(field, o); ok {
			c.add(o, n)
		}
		if c.tidy(); len(c.values) > 2*most+chunkSize { // of which most are carried no more
			delete(k.columns.of, field)
		}
	}
}

func (c *column) room(docs int) {
	if n := 64*wordsFor(docs) - len(c.cells); n > 0 {
		c.cells = append(c.cells, make([]uint32, n)...)
	}
}

// add adds a value of a document that does not have it.
func (c *column) add(o uint32, value int64) {
	n := c.number(value) + 1
	switch cell := c.cells[o]; {
	case cell == 0 && n <= cellMask:
		c.cells[o] = n
	case cell != 0 && cell <= cellMask && n <= cellMask:
		c.cells[o] = cell | n<<cellBits
	default:
		var before [2]uint32
		list := append(slices.Clone(c.entries(cell, &before)), n)
		c.clear(o)
		c.cells[o] = listed | uint32(len(c.lists))
		c.lists = append(append(c.lists, uint32(len(list))), list...)
	}
}

// number gives the number of a value, a new one to one that is not known.
func (c *column) number(value int64) uint32 {
	n, known := c.numbers[value]
	if !known {
		n = uint32(len(c.values))
		at, _ := slices.BinarySearchFunc(c.sorted, value, func(n uint32, value int64) int { return cmp.Compare(c.values[n], value) })
		c.sorted = slices.Insert(c.sorted, at, n)
		c.values = append(c.values, value)
		c.numbers[value] = n
	}
	return n
}

// entries gives the numbers + 1 in a cell.
func (c *column) entries(cell uint32, buf *[2]uint32) []uint32 {
	switch {
	case cell == 0:
		return nil
	case cell >= listed:
		at := cell - listed
		return c.lists[at+1:][:c.lists[at]]
	}
	buf[0], buf[1] = cell&cellMask, cell>>cellBits
	if buf[1] == 0 {
		return buf[:1]
	}
	return buf[:]
}

func (c *column) clear(o uint32) {
	if cell := c.cells[o]; cell >= listed {
		c.loose += 1 + int(c.lists[cell-listed])
	}
	c.cells[o] = 0
}

// tidy takes out what is of no use when that is half of the lists.
func (c *column) tidy() {
	if 2*c.loose <= len(c.lists) {
		return
	}
	lists := make([]uint32, 0, len(c.lists)-c.loose)
	for o, cell := range c.cells {
		if cell >= listed {
			at := cell - listed
			c.cells[o] = listed | uint32(len(lists))
			lists = append(lists, c.lists[at:][:1+c.lists[at]]...)
		}
	}
	c.lists, c.loose = lists, 0
}

// counted is what a set has of a column.
type counted struct {
	*column
	n       []uint32 // by number + 1; of values that came later there may be none
	several bool     // some documents may have several values
}

// count counts a set of documents that are there.
func (c *column) count(set bitset) *counted {
	n, several := make([]uint32, len(c.values)+1), false
	for i, w := range set {
		if w == 0 {
			continue
		}
		cells := (*[64]uint32)(c.cells[i<<6:])
		for ; w != 0; w &= w - 1 {
			switch cell := cells[bits.TrailingZeros64(w)&63]; {
			case cell <= cellMask:
				n[cell]++
			case cell < listed:
				n[cell&cellMask]++
				n[cell>>cellBits]++
				several = true
			default:
				at := cell - listed
				for _, v := range c.lists[at+1:][:c.lists[at]] {
					n[v]++
				}
				several = true
			}
		}
	}
	return &counted{c, n, several}
}

// without gives what is left without a part.
func (c *counted) without(part *counted) *counted {
	out := &counted{c.column, part.n, c.several}
	for i := range out.n {
		if i < len(c.n) {
			out.n[i] = c.n[i] - out.n[i]
		}
	}
	return out
}

// follow counts what a document has of the column, by 1 or −1.
func (c *counted) follow(o uint32, by int) {
	if n := len(c.values) + 1 - len(c.n); n > 0 {
		c.n = append(c.n, make([]uint32, n)...)
	}
	var buf [2]uint32
	has := c.entries(c.cells[o], &buf)
	for _, n := range has {
		c.n[n] += uint32(by)
	}
	c.several = c.several || len(has) > 1
}

func (c *counted) at(number uint32) int {
	if int(number)+1 < len(c.n) {
		return int(c.n[number+1])
	}
	return 0
}

// of gives the count of a value.
func (c *counted) of(value int64) int {
	if n, known := c.numbers[value]; known {
		return c.at(n)
	}
	return 0
}

// list gives the values of which there are some, ascending.
func (c *counted) list() []readmodel.Value {
	out := make([]readmodel.Value, 0, len(c.sorted))
	for _, n := range c.sorted {
		if count := c.at(n); count > 0 {
			out = append(out, readmodel.Value{Value: c.values[n], N: count})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// unions counts the documents of the set that have one of some values, for several lists
// of values, each with a value once.
func (c *counted) unions(set bitset, lists [][]calendar.ID) []int {
	out := make([]int, len(lists))
	for i, ids := range lists {
		for _, id := range ids {
			out[i] += c.of(int64(id))
		}
	}
	if !c.several {
		return out
	}
	// What was counted more than once: by documents with several values of a list.
	in := make([][]int, len(c.values)) // lists, by number
	for i, ids := range lists {
		for _, id := range ids {
			if n, known := c.numbers[int64(id)]; known {
				in[n] = append(in[n], i)
			}
		}
	}
	met := make([]uint32, len(lists)) // the last document that has a value of a list, + 1
	var buf [2]uint32
	set.each(func(o uint32) bool {
		cell := c.cells[o]
		if cell <= cellMask {
			return true
		}
		for _, n := range c.entries(cell, &buf) {
			for _, i := range in[n-1] {
				if met[i] == o+1 {
					out[i]--
				}
				met[i] = o + 1
			}
		}
		return true
	})
	return out
}
