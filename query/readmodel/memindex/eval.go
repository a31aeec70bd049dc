package memindex

import (
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

// evalInto makes dst the live documents that a filter admits. The filter fits
// the schema.
func (k *kindIndex) evalInto(dst bitset, f readmodel.Filter) {
	switch f := f.(type) {
	case nil:
		dst.copyFrom(k.live)
	case readmodel.And:
		k.andInto(dst, f)
	case readmodel.Or:
		clear(dst)
		part := k.scratch()
		for _, p := range f {
			k.evalInto(part, p)
			dst.or(part)
		}
		k.release(part)
	case readmodel.Not:
		part := k.scratch()
		k.evalInto(part, f.Filter)
		dst.copyFrom(k.live)
		dst.andNot(part)
		k.release(part)
	case readmodel.Term:
		k.termInto(dst, f)
	case readmodel.In:
		k.inInto(dst, f)
	case readmodel.Range:
		k.numbers[f.Field].rangeInto(dst, f.Min, f.Max)
	case readmodel.Contains:
		k.containsInto(dst, f)
	case readmodel.Text:
		k.searchInto(dst, f, k.live)
	case readmodel.Near:
		clear(dst)
		k.places[f.Field].nearInto(dst, f.Lat, f.Lng, f.Km)
	case readmodel.Exists:
		k.existsInto(dst, f.Field)
	}
}

// andInto evaluates the cheap parts first: a search looks into documents, and
// only into those that are left.
func (k *kindIndex) andInto(dst bitset, parts readmodel.And) {
	dst.copyFrom(k.live)
	part := k.scratch()
	defer k.release(part)
	for _, p := range parts {
		switch p := p.(type) {
		case readmodel.Text:
		case readmodel.Term:
			if set, ok := k.bools[p.Field]; ok {
				if p.Value == "true" {
					dst.and(*set)
				} else {
					dst.andNot(*set)
				}
				continue
			}
			k.termInto(part, p)
			dst.and(part)
		case readmodel.Not:
			k.evalInto(part, p.Filter)
			dst.andNot(part)
		default:
			k.evalInto(part, p)
			dst.and(part)
		}
	}
	for _, p := range parts {
		if t, ok := p.(readmodel.Text); ok {
			k.searchInto(part, t, dst)
			dst.and(part)
		}
	}
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
		scratch := k.emptyScratch()
		p.orInto(dst, scratch)
		k.release(scratch)
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
	scratch := k.emptyScratch()
	values := k.links[f.Field].values
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
	o := byID.chunks[c].ords[i]
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
	case readmodel.TypeBool:
		clear(dst)
	}
}
