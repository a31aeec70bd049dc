package memindex

import (
	"slices"
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

var scratches sync.Pool // of *bitset

// scratch gives a set that is as long as there are ordinals; its content is
// undefined. It is given back by release.
func (k *kindIndex) scratch() bitset {
	n := wordsFor(len(k.docs))
	if b, ok := scratches.Get().(*bitset); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return make(bitset, n, n+n/8+1)
}

func (k *kindIndex) release(b bitset) { scratches.Put(&b) }

// evaluation evaluates a filter.
type evaluation struct {
	k *kindIndex
	r *reading // has the documents of the pieces of searches
	// by is the field of the order that is asked for, "" or byTallies: no list is.
	by string
	// upper: rows are not looked for yet. The result is an upper bound, and each row
	// notes the documents that have to be looked into.
	upper bool
	// counted are the fields of the present result, see countedOf.
	counted map[string]*counted
}

// byTallies stands for the order where tallies are asked for.
const byTallies = "tallies"

// evaluate calls use with the result of a filter.
func (e *evaluation) evaluate(f readmodel.Filter, use func(result)) {
	k := e.k
	// The window of a list of all is another one for each request, so without it the
	// filter is one that is asked for again.
	if parts, ok := f.(readmodel.And); ok && slices.ContainsFunc(parts, k.admitsAll) {
		f = slices.DeleteFunc(slices.Clone(parts), k.admitsAll)
	}
	if r := k.keptFor(e, f); r != nil {
		use(result{bitset: r.set, of: r})
		return
	}
	base, rest := k.split(f)
	res := result{begin: k.beginOf(rest, e.by)}
	if r := k.keptFor(e, base); len(base) > 0 && r != nil {
		if res.window = k.window(r, rest, e.by); res.window != nil {
			res.bitset = r.set
			use(res)
			return
		}
		res.bitset, res.within = k.scratch(), r
		res.copyFrom(r.set)
		e.narrowAll(res.bitset, rest)
	} else {
		res.bitset = k.scratch()
		e.evalInto(res.bitset, f, k.live)
	}
	use(res)
	k.release(res.bitset)
}

// beginOf gives the first chunk, in the order of a field, of what ranges admit.
func (k *kindIndex) beginOf(parts readmodel.And, field string) int {
	begin := 0
	for _, part := range parts {
		if r, ok := part.(readmodel.Range); ok && r.Field == field && r.Min != nil {
			c, _ := k.numbers[field].seek(*r.Min, 0)
			begin = max(begin, c)
		}
	}
	return begin
}

// admitsAll tells of a range at a glance that it admits every document, as the window of
// a list of all does.
func (k *kindIndex) admitsAll(f readmodel.Filter) bool {
	r, ok := f.(readmodel.Range)
	return ok && !k.computed(r.Field) && k.numbers[r.Field].within(r.Min, r.Max) && k.numbers[r.Field].n == len(k.docs)-len(k.free)
}

// split takes from a filter the parts that many others have too: all but what is
// chosen by a range, by ids or by words.
func (k *kindIndex) split(f readmodel.Filter) (base, rest readmodel.And) {
	parts, _ := f.(readmodel.And)
	for _, part := range parts {
		chosen := !keepable(part)
		switch part := part.(type) {
		case readmodel.Range:
			chosen = !k.computed(part.Field) // as others, a window is not found by it
		case readmodel.In:
			chosen = !k.computed(part.Field) || chosen
		}
		if chosen {
			rest = append(rest, part)
		} else {
			base = append(base, part)
		}
	}
	return base, rest
}

// evalInto makes dst the live documents that a filter admits. The filter fits
// the schema. Only documents of within count: whether others are in dst is
// undefined, so a search need not look into them.
func (e *evaluation) evalInto(dst bitset, f readmodel.Filter, within bitset) {
	k := e.k
	switch f := f.(type) {
	case nil:
		dst.copyFrom(k.live)
	case readmodel.And:
		e.andInto(dst, f, within)
	case readmodel.Or:
		e.orInto(dst, f, within)
	case readmodel.Not:
		part := k.scratch()
		e.evalInto(part, f.Filter, within)
		dst.copyFrom(k.live)
		if !e.upper || !readmodel.Searches(f.Filter) {
			dst.andNot(part)
		}
		k.release(part)
	case readmodel.Term:
		k.termInto(dst, f)
	case readmodel.In:
		if k.computed(f.Field) {
			dst.copyFrom(within)
			e.narrowComputed(dst, f.Field, oneOf(f.IDs))
			return
		}
		k.inInto(dst, f)
	case readmodel.Range:
		if k.computed(f.Field) {
			dst.copyFrom(within)
			e.narrowComputed(dst, f.Field, func(n int64) bool { return admits(f, n) })
			return
		}
		o := k.numbers[f.Field]
		dst.copyFrom(o.in)
		o.narrow(dst, f.Min, f.Max)
	case readmodel.Contains:
		k.containsInto(dst, f)
	case readmodel.Text:
		dst.copyFrom(within)
		e.search(dst, f)
	case readmodel.Near:
		clear(dst)
		k.places[f.Field].nearInto(dst, f.Lat, f.Lng, f.Km)
	case readmodel.Box:
		clear(dst)
		k.places[f.Field].boxInto(dst, f)
	case readmodel.Exists:
		if k.computed(f.Field) {
			dst.copyFrom(within)
			e.narrowComputed(dst, f.Field, func(int64) bool { return true })
			return
		}
		k.existsInto(dst, f.Field)
	}
}

func (e *evaluation) orInto(dst bitset, parts readmodel.Or, within bitset) {
	k := e.k
	first := true
	for _, p := range parts {
		switch {
		case k.empty(p):
		case first:
			e.evalInto(dst, p, within)
			first = false
		default:
			part := k.scratch()
			e.evalInto(part, p, within)
			dst.or(part)
			k.release(part)
		}
	}
	if first {
		clear(dst)
	}
}

// empty tells at a glance that no document is admitted.
func (k *kindIndex) empty(f readmodel.Filter) bool {
	switch f := f.(type) {
	case readmodel.Term:
		_, isBool := k.bools[f.Field]
		return !isBool && k.keywords[f.Field].values[f.Value] == nil
	case readmodel.And:
		return slices.ContainsFunc(f, k.empty)
	}
	return false
}

// andInto evaluates searches last: they look into documents, and only into those
// that are left by then.
func (e *evaluation) andInto(dst bitset, parts readmodel.And, within bitset) {
	k := e.k
	if k.empty(parts) {
		clear(dst)
		return
	}
	dst.copyFrom(within)
	e.narrowAll(dst, parts)
}

// narrowAll keeps those of dst that all parts admit.
func (e *evaluation) narrowAll(dst bitset, parts readmodel.And) {
	k := e.k
	part := k.scratch()
	defer k.release(part)
	var last readmodel.And
	for _, p := range parts {
		if readmodel.Searches(p) {
			last = append(last, p)
		} else {
			e.narrow(dst, p, part)
		}
	}
	for _, p := range last {
		e.narrow(dst, p, part)
	}
}

// narrow keeps those of dst that a part admits.
func (e *evaluation) narrow(dst bitset, p readmodel.Filter, scratch bitset) {
	k := e.k
	switch p := p.(type) {
	case readmodel.Term:
		if set, ok := k.bools[p.Field]; ok {
			if p.Value == "true" {
				dst.and(*set)
			} else {
				dst.andNot(*set)
			}
			return
		}
	case readmodel.Range:
		if k.computed(p.Field) {
			e.narrowComputed(dst, p.Field, func(n int64) bool { return admits(p, n) })
			return
		}
		k.numbers[p.Field].narrow(dst, p.Min, p.Max)
		return
	case readmodel.Text:
		e.search(dst, p)
		return
	case readmodel.Not:
		if t, ok := p.Filter.(readmodel.Term); ok {
			if set, ok := k.bools[t.Field]; ok && t.Value == "true" {
				dst.andNot(*set)
				return
			}
		}
		e.evalInto(scratch, p.Filter, dst)
		if !e.upper || !readmodel.Searches(p.Filter) {
			dst.andNot(scratch)
		}
		return
	}
	e.evalInto(scratch, p, dst)
	dst.and(scratch)
}

func (k *kindIndex) termInto(dst bitset, f readmodel.Term) {
	if set, ok := k.bools[f.Field]; ok {
		if f.Value == "true" {
			dst.copyFrom(*set)
		} else {
			dst.copyFrom(k.live)
			dst.andNot(*set)
		}
		return
	}
	clear(dst)
	if p := k.keywords[f.Field].values[f.Value]; p != nil {
		p.putInto(dst)
	}
}

func (k *kindIndex) emptyScratch() bitset {
	s := k.scratch()
	clear(s)
	return s
}

func (k *kindIndex) inInto(dst bitset, f readmodel.In) {
	clear(dst)
	if f.Field == readmodel.FieldID {
		for _, id := range f.IDs {
			if o, ok := k.ordinal(id); ok {
				dst.put(o)
			}
		}
		return
	}
	values := k.links[f.Field].values
	if len(f.IDs) == 1 {
		values[f.IDs[0]].putInto(dst)
		return
	}
	scratch := k.emptyScratch()
	for _, id := range f.IDs {
		if p := values[id]; p != nil {
			p.orInto(dst, scratch)
		}
	}
	k.release(scratch)
}

// ordinal finds a document by id.
func (k *kindIndex) ordinal(id calendar.ID) (uint32, bool) {
	byID := k.numbers[readmodel.FieldID]
	c, i := byID.seek(int64(id), id)
	if c == len(byID.chunks) {
		return 0, false
	}
	o := byID.chunks[c][i]
	return o, k.ids[o] == id
}

func (k *kindIndex) containsInto(dst bitset, f readmodel.Contains) {
	clear(dst)
	part := strings.ToLower(f.Value)
	scratch := k.emptyScratch()
	for _, name := range f.Fields {
		for v, p := range k.keywords[name].values {
			if strings.Contains(strings.ToLower(v), part) {
				p.orInto(dst, scratch)
			}
		}
	}
	k.release(scratch)
}

func (k *kindIndex) existsInto(dst bitset, field string) {
	switch k.schema.Field(field).Type {
	case readmodel.TypeKeyword:
		dst.copyFrom(k.keywords[field].has)
	case readmodel.TypeIDs:
		if field == readmodel.FieldID {
			dst.copyFrom(k.live)
		} else {
			dst.copyFrom(k.links[field].has)
		}
	case readmodel.TypeNumber:
		dst.copyFrom(k.numbers[field].in)
	case readmodel.TypePoint:
		dst.copyFrom(k.places[field].in)
	case readmodel.TypeText:
		clear(dst)
		k.texts.hasInto(dst, field)
	case readmodel.TypeBool, readmodel.TypeComputed:
		clear(dst)
	}
}
