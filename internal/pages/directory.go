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
	kind := l.Route.kind
	l.Title = l.text(l.Route.title)
	l.Heading, l.Canonical = l.Title, l.Route.below()
	var all []*directoryEntry
	of := map[calendar.ID]*directoryEntry{}
	add := func(view *query.View) {
		e := &directoryEntry{named: l.named(view.Record, view.Status)}
		if kind.IsTerm() {
			e.Count = max(view.Count, 0)
		}
		all, of[e.ID] = append(all, e), e
	}
	l.all(kind, listed(kind), add)
	for _, e := range all {
		for up := e.Fields.ID("parent"); of[up] == nil; up = of[up].Fields.ID("parent") {
			view, ok := l.above(kind, up)
			if !ok {
				break
			}
			add(&view)
		}
	}
	byName(l.lang, all, func(e *directoryEntry) string { return e.Label })
	b := &directoryBody{Count: l.count(kind.Collection(), len(all))}
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
