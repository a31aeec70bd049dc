package memindex

import (
	"daybook/calendar"
	"daybook/query/readmodel"
)

// Numbers that follow from others take no room until they are counted, see column: a filter
// computes them for the documents that are left.

func (k *kindIndex) computed(field string) bool {
	return k.schema.Field(field).Type == readmodel.TypeComputed
}

// compute gives a computed number of a document.
func (k *kindIndex) compute(field string, o uint32) (int64, bool) {
	f := k.schema.Field(field)
	if f.Type != readmodel.TypeComputed {
		return 0, false
	}
	return f.Compute(k.clock().times(o))
}

// clock has the columns that computed numbers follow from.
type clock struct {
	start, end, utcStart, utcEnd *order[int64]
	allDay                       *bitset
}

func (k *kindIndex) clock() clock {
	return clock{
		k.numbers[readmodel.FieldStart], k.numbers[readmodel.FieldEnd],
		k.numbers[readmodel.FieldUTCStart], k.numbers[readmodel.FieldUTCEnd], k.bools[readmodel.FieldAllDay],
	}
}

func (c clock) times(o uint32) readmodel.Times {
	return readmodel.Times{
		Start: wallOf(c.start, o), End: wallOf(c.end, o), UTCStart: wallOf(c.utcStart, o), UTCEnd: wallOf(c.utcEnd, o),
		AllDay: c.allDay.has(o),
	}
}

func wallOf(times *order[int64], o uint32) calendar.Wall {
	if !times.in.has(o) {
		return calendar.NoWall
	}
	return calendar.Wall(times.keys[o])
}

// narrowComputed keeps those of dst of which a computed number is admitted.
func (e *evaluation) narrowComputed(dst bitset, field string, admitted func(int64) bool) {
	f, c := e.k.schema.Field(field), e.k.clock()
	dst.each(func(o uint32) bool {
		e.r.steps++
		if n, ok := f.Compute(c.times(o)); !ok || !admitted(n) {
			dst.clear(o)
		}
		return true
	})
}

func admits(f readmodel.Range, n int64) bool {
	return (f.Min == nil || n >= *f.Min) && (f.Max == nil || n <= *f.Max)
}

func oneOf(ids []calendar.ID) func(int64) bool {
	in := make(map[int64]bool, len(ids))
	for _, id := range ids {
		in[int64(id)] = true
	}
	return func(n int64) bool { return in[n] }
}

// boxInto adds the places in a box.
func (p *places) boxInto(dst bitset, f readmodel.Box) {
	p.in.each(func(o uint32) bool {
		if f.Holds(p.lat[o], p.lng[o]) {
			dst.put(o)
		}
		return true
	})
}
