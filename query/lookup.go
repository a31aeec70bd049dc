package query

import (
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	"daybook/internal/param"
)

// load returns live records by id, nil for unknown ones and those of another kind.
// The error of a failing store is in q.err.
func (q *parser) load(k calendar.Kind, ids []calendar.ID) []*calendar.Record {
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
	found, err := q.s.records.Load(q.ctx, ids...)
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
func (q *parser) known(v *param.Value, k calendar.Kind) []calendar.ID {
	var ids []calendar.ID
	for _, e := range v.List() {
		id, ok := calendar.ParseID(e)
		if !ok {
			v.Refuse(calendar.UnknownReason(k), e)
			return nil
		}
		ids = addDistinct(ids, id)
	}
	for i, r := range q.load(k, ids) {
		if r == nil {
			v.Refuse(calendar.UnknownReason(k), ids[i].String())
			return nil
		}
	}
	return ids
}

// terms reads a list of terms by id or slug (interface 4.11), and by shown name where names
// count.
func (q *parser) terms(v *param.Value, k calendar.Kind, names bool) []calendar.ID {
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
	for _, r := range q.load(k, numbers) {
		if r != nil {
			live[r.ID] = true
		}
	}
	if q.err != nil {
		return nil
	}
	var ids []calendar.ID
	looked := map[string]calendar.ID{} // the entries may all be the same in other letters
	for _, e := range list {
		id, _ := calendar.ParseID(e)
		if lower := strings.ToLower(e); !live[id] {
			if id = looked[lower]; id == 0 {
				id = q.bySlug(k, lower)
			}
			if id == 0 && names && q.err == nil {
				id = q.byName(k, e)
			}
			looked[lower] = id
		}
		switch {
		case q.err != nil:
			return nil
		case id == 0:
			v.Refuse(calendar.UnknownReason(k), e)
			return nil
		}
		ids = addDistinct(ids, id)
	}
	q.resolved = cache.Numbers(q.resolved, ids)
	return ids
}

// bySlug finds a term by its slug; 0: none exists.
func (q *parser) bySlug(k calendar.Kind, slug string) calendar.ID {
	if q.past.FormOnly {
		return 1
	}
	var r *calendar.Record
	if r, q.err = q.s.records.BySlug(q.ctx, k, slug); r == nil || r.Deleted {
		return 0
	}
	return r.ID
}

// byName finds a term by its shown name, as names are compared; 0: none exists.
func (q *parser) byName(k calendar.Kind, name string) calendar.ID {
	if q.s.o.Clean != nil {
		name = q.s.o.Clean.Name(name)
	}
	var found []*calendar.Record
	if found, q.err = q.s.records.ByName(q.ctx, k, q.Lang, htmltext.NameKey(name)); len(found) == 0 {
		return 0
	}
	return found[0].ID
}

// readEvent reads the event whose linked records are listed. One that the caller
// may not see in full, and one with a password for every caller, counts as unknown. Of several rows the last one counts.
func readEvent(q *parser, v *param.Value) {
	id, ok := v.ID()
	if !ok || q.past.FormOnly {
		return
	}
	r := q.load(calendar.KindEvent, []calendar.ID{id})[0]
	if r == nil || !q.seesWhole(r) {
		v.Refuse(calendar.ReasonUnknownEvent, id.String())
		return
	}
	q.ofEvent = true
	q.linked = r.Fields.IDs(linkField(q.Kind))
	q.resolved = cache.Numbers(q.resolved, q.linked)
}

// seesWhole reports whether a list shows the event to the caller, or would with the status
// filter, and to all who see it not blanked.
func (q *parser) seesWhole(r *calendar.Record) bool {
	if r.Fields.Bool("protected") || q.withdrawn.has(r.ID) {
		return false
	}
	if r.Status(q.now) == calendar.StatusTrash {
		return mayListTrashed(q.Caller, r)
	}
	return calendar.MayRead(q.Caller, r, q.now)
}

// linkField is the field of an event that links to records of the kind.
func linkField(k calendar.Kind) string { return linkingFields[k] }

var linkingFields = [...]string{
	calendar.KindVenue: "venue", calendar.KindOrganizer: "organizer", calendar.KindCategory: "categories", calendar.KindTag: "tags",
}
