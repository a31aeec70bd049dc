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
func (l *pageBuilder) serveDirectory() {
	kind := l.Route.kind
	l.Title = l.text(l.Route.title)
	l.Heading, l.Canonical = l.Title, l.Route.below()
	var all []*directoryEntry
	of := map[calendar.ID]*directoryEntry{}
	add := func(view *query.View) {
		entry := &directoryEntry{named: l.named(view.Record, view.Status)}
		if kind.IsTerm() {
			entry.Count = max(view.Count, 0)
		}
		all, of[entry.ID] = append(all, entry), entry
	}
	l.all(kind, listed(kind), add)
	for _, entry := range all {
		for up := entry.Fields.ID("parent"); of[up] == nil; up = of[up].Fields.ID("parent") {
			view, ok := l.above(kind, up)
			if !ok {
				break
			}
			add(&view)
		}
	}
	byName(l.lang, all, func(entry *directoryEntry) string { return entry.Label })
	body := &directoryBody{Count: l.count(kind.Collection(), len(all))}
	for _, entry := range all {
		directoryEntries := &body.Entries
		if up := of[entry.Fields.ID("parent")]; up != nil {
			directoryEntries = &up.Children
		}
		*directoryEntries = append(*directoryEntries, entry)
	}
	l.NoIndex = l.parametered() || len(all) == 0
	l.Body = body
}
