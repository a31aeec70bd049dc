package pages

import (
	"slices"

	"daybook/calendar"
	"daybook/query"
)

// directoryEntry is one of a directory.
type directoryEntry struct {
	link

	Detail   string
	Children []directoryEntry
}

type directoryBody struct {
	Count   string
	Entries []directoryEntry
}

// serveDirectory lists what is linked from a listed event, by name; categories with those
// that they are below.
func (l *look) serveDirectory() {
	k := l.Route.kind
	l.Title = word(l.Route.title, l.lang)
	l.Heading, l.Canonical = l.Title, l.Route.below()
	l.NoIndex = l.parametered()
	var all []calendar.ID
	of := map[calendar.ID]*directoryEntry{}
	parents := map[calendar.ID]calendar.ID{}
	add := func(v *query.View) {
		label, in := v.Record.Name(l.lang)
		e := directoryEntry{link: link{Href: l.named(v.Record, v.Status).Href(), Label: label, Lang: l.other(in)}, Detail: v.Record.Fields.String("city")}
		if k.IsTerm() && v.Count > 0 {
			e.Count = l.number(v.Count)
		}
		all = append(all, v.Record.ID)
		of[v.Record.ID], parents[v.Record.ID] = &e, v.Record.Fields.ID("parent")
	}
	l.all(k, listed(k), add)
	for queue := all; len(queue) > 0; queue = queue[1:] {
		if up := parents[queue[0]]; up != 0 && of[up] == nil {
			v, ok := l.above(k, up)
			if !ok {
				continue
			}
			add(&v)
			queue = append(slices.Clip(queue), up)
		}
	}
	order := collator(l.lang)
	slices.SortStableFunc(all, func(a, c calendar.ID) int { return order.CompareString(of[a].Label, of[c].Label) })
	l.NoIndex = l.NoIndex || len(all) == 0
	l.Body = &directoryBody{Count: l.count(k.Collection(), len(all)), Entries: tree(all, of, parents)}
}

// tree puts entries in order below their parents; one whose parent is not there stands on top.
func tree(ids []calendar.ID, of map[calendar.ID]*directoryEntry, parents map[calendar.ID]calendar.ID) []directoryEntry {
	children := map[calendar.ID][]calendar.ID{}
	for _, id := range ids {
		up := parents[id]
		if of[up] == nil {
			up = 0
		}
		children[up] = append(children[up], id)
	}
	var below func(id calendar.ID) []directoryEntry
	below = func(id calendar.ID) (out []directoryEntry) {
		for _, child := range children[id] {
			e := *of[child]
			e.Children = below(child)
			out = append(out, e)
		}
		return out
	}
	return below(0)
}
