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
func (builder *pageBuilder) serveDirectory() {
	kind := builder.Route.kind
	builder.Title = builder.text(builder.Route.title)
	builder.Heading, builder.Canonical = builder.Title, builder.Route.below()
	var all []*directoryEntry
	of := map[calendar.ID]*directoryEntry{}
	add := func(view *query.View) {
		entry := &directoryEntry{named: builder.named(view.Record, view.Status)}
		if kind.IsTerm() {
			entry.Count = max(view.Count, 0)
		}
		all, of[entry.ID] = append(all, entry), entry
	}
	builder.all(kind, listed(kind), add)
	for _, entry := range all {
		for up := entry.Fields.ID("parent"); of[up] == nil; up = of[up].Fields.ID("parent") {
			view, ok := builder.above(kind, up)
			if !ok {
				break
			}
			add(&view)
		}
	}
	byName(builder.language, all, func(entry *directoryEntry) string { return entry.Label })
	body := &directoryBody{Count: builder.count(kind.Collection(), len(all))}
	for _, entry := range all {
		directoryEntries := &body.Entries
		if up := of[entry.Fields.ID("parent")]; up != nil {
			directoryEntries = &up.Children
		}
		*directoryEntries = append(*directoryEntries, entry)
	}
	builder.NoIndex = builder.parametered() || len(all) == 0
	builder.Body = body
}
