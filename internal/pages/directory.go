package pages

import (
	"daybook/calendar"
	"daybook/query"
)

// directoryEntry is a record of a directory, and those below it.
type directoryEntry struct {
	named

	Children []*directoryEntry
}

type directoryBody struct {
	Count   string
	Entries []*directoryEntry
}

// serveDirectory lists what is linked from a listed event, by name; categories with those
// that they are below.
func (l *look) serveDirectory() {
	k := l.Route.kind
	l.Title = l.text(l.Route.title)
	l.Heading, l.Canonical = l.Title, l.Route.below()
	var all []*directoryEntry
	of := map[calendar.ID]*directoryEntry{}
	add := func(v *query.View) {
		e := &directoryEntry{named: l.named(v.Record, v.Status)}
		if k.IsTerm() {
			e.Count = max(v.Count, 0)
		}
		all, of[e.ID] = append(all, e), e
	}
	l.all(k, listed(k), add)
	for _, e := range all {
		for up := e.Fields.ID("parent"); of[up] == nil; up = of[up].Fields.ID("parent") {
			v, ok := l.above(k, up)
			if !ok {
				break
			}
			add(&v)
		}
	}
	byName(l.lang, all, func(e *directoryEntry) string { return e.Label })
	b := &directoryBody{Count: l.count(k.Collection(), len(all))}
	for _, e := range all {
		in := &b.Entries
		if up := of[e.Fields.ID("parent")]; up != nil {
			in = &up.Children
		}
		*in = append(*in, e)
	}
	l.NoIndex = l.parametered() || len(all) == 0
	l.Body = b
}
