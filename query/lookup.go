package query

import (
	"context"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	"daybook/internal/param"
)

// load returns live records by id, nil for unknown ones and those of another kind.
// The error of a failing store is in q.err.
func (q *parser) load(ctx context.Context, k calendar.Kind, ids []calendar.ID) []*calendar.Record {
	out := make([]*calendar.Record, len(ids))
	if q.err != nil || len(ids) == 0 {
		return out
	}
	if q.past.FormOnly {
		for i, id := range ids {
			out[i] = &calendar.Record{Kind: k, ID: id}
		}
		return out
	}
	found, err := q.s.records.Load(ctx, ids...)
	if err != nil {
		q.err = err
		return out
	}
	for i, r := range found {
		if r != nil && r.Kind == k && !r.Deleted {
			out[i] = r
		}
	}
	return out
}

// known reads a list of ids that all have to be records of the kind.
func known(k calendar.Kind) func(*parser, context.Context, *param.Value) []calendar.ID {
	return func(q *parser, ctx context.Context, v *param.Value) []calendar.ID {
		list := v.List()
		out := newDistinct(len(list))
		for _, e := range list {
			id, ok := calendar.ParseID(e)
			if !ok {
				v.Refuse(calendar.UnknownReason(k), e)
				return nil
			}
			out.add(id)
		}
		for i, r := range q.load(ctx, k, out.ids) {
			if r == nil {
				v.Refuse(calendar.UnknownReason(k), out.ids[i].String())
				return nil
			}
		}
		return out.ids
	}
}

// resolve reads a list of terms. Digits are an id, else, as any other text, what
// find makes of them; find returns 0 when it finds none.
func (q *parser) resolve(ctx context.Context, v *param.Value, k calendar.Kind, find func(entry string) calendar.ID) []calendar.ID {
	list := v.List()
	if list == nil {
		return nil
	}
	var numbers []calendar.ID
	for _, e := range list {
		if id, ok := calendar.ParseID(e); ok {
			numbers = append(numbers, id)
		}
	}
	live := map[calendar.ID]bool{}
	for _, r := range q.load(ctx, k, numbers) {
		if r != nil {
			live[r.ID] = true
		}
	}
	out := newDistinct(len(list))
	for _, e := range list {
		id, _ := calendar.ParseID(e)
		if !live[id] {
			id = find(e)
		}
		if q.err != nil {
			return nil
		}
		if id == 0 {
			v.Refuse(calendar.UnknownReason(k), e)
			return nil
		}
		out.add(id)
	}
	q.resolved = cache.Numbers(q.resolved, out.ids)
	return out.ids
}

// named reads a list of terms by id, slug or shown name (interface 4.5).
func named(k calendar.Kind) func(*parser, context.Context, *param.Value) []calendar.ID {
	return func(q *parser, ctx context.Context, v *param.Value) []calendar.ID {
		bySlug, byName := q.bySlug(ctx, k), q.byName(ctx, k)
		return q.resolve(ctx, v, k, func(entry string) calendar.ID {
			if id := bySlug(entry); id != 0 || q.err != nil {
				return id
			}
			return byName(entry)
		})
	}
}

// slugs reads a list of terms by id or slug (interface 4.11).
func (q *parser) slugs(ctx context.Context, v *param.Value) []calendar.ID {
	return q.resolve(ctx, v, q.Kind, q.bySlug(ctx, q.Kind))
}

// bySlug finds terms by slug.
func (q *parser) bySlug(ctx context.Context, k calendar.Kind) func(string) calendar.ID {
	return once(strings.ToLower, func(slug string) calendar.ID {
		if q.past.FormOnly {
			return 1
		}
		r, err := q.s.records.BySlug(ctx, k, slug)
		if err != nil {
			q.err = err
			return 0
		}
		if r == nil || r.Deleted {
			return 0
		}
		return r.ID
	})
}

// byName finds terms by shown name.
func (q *parser) byName(ctx context.Context, k calendar.Kind) func(string) calendar.ID {
	clean := func(entry string) string {
		if q.s.o.Clean != nil {
			entry = q.s.o.Clean.Name(entry)
		}
		return htmltext.NameKey(entry)
	}
	return once(clean, func(name string) calendar.ID {
		found, err := q.s.records.ByName(ctx, k, q.Lang, name)
		if err != nil {
			q.err = err
		}
		if len(found) == 0 {
			return 0
		}
		return found[0].ID
	})
}

// once finds each key once: the entries of a list may all be the same in other
// letters.
func once(keyOf func(entry string) string, find func(key string) calendar.ID) func(string) calendar.ID {
	found := map[string]calendar.ID{}
	return func(entry string) calendar.ID {
		key := keyOf(entry)
		id, known := found[key]
		if !known {
			id = find(key)
			found[key] = id
		}
		return id
	}
}

// readEvent reads the event whose linked records are listed. One that the caller
// may not see in full, and one with a password for every caller, counts as unknown. Of several rows the last one counts.
func readEvent(ctx context.Context, q *parser, v *param.Value) {
	id, ok := v.ID()
	if !ok || q.past.FormOnly {
		return
	}
	r := q.load(ctx, calendar.KindEvent, []calendar.ID{id})[0]
	if r == nil || !q.seesWhole(r) {
		v.Refuse(calendar.ReasonUnknownEvent, id.String())
		return
	}
	q.run.ofEvent = true
	q.run.linked = r.Fields.IDs(linkField(q.Kind))
	q.resolved = cache.Numbers(q.resolved, q.run.linked)
}

// seesWhole reports whether a list shows the event to the caller, or would with the status
// filter, and to all who see it not blanked.
func (q *parser) seesWhole(r *calendar.Record) bool {
	if r.Fields.Bool("protected") || q.withdrawn.has(r.Kind, r.ID) {
		return false
	}
	if r.Status(q.now) == calendar.StatusTrash {
		return mayListTrashed(q.Caller, r)
	}
	return calendar.MayRead(q.Caller, r, q.now)
}

// linkField is the field of an event that links to records of the kind.
func linkField(k calendar.Kind) string {
	switch k {
	case calendar.KindVenue:
		return "venue"
	case calendar.KindOrganizer:
		return "organizer"
	case calendar.KindCategory:
		return "categories"
	default:
		return "tags"
	}
}
