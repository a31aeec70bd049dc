package query

import (
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	"daybook/internal/param"
)

// load returns live records by id, nil for unknown ones and those of another kind.
// The error of a failing store is in q.err.
func (q *parser) load(kind calendar.Kind, ids []calendar.ID) []*calendar.Record {
	out := make([]*calendar.Record, len(ids))
	if q.err != nil || len(ids) == 0 {
		return out
	}
	if q.past.FormOnly {
		for i, id := range ids {
			out[i] = &calendar.Record{Kind: kind, ID: id}
		}
		return out
	}
	found, err := q.s.records.Load(q.ctx, ids...)
	if err != nil {
		q.err = err
		return out
	}
	for i, record := range found {
		if record != nil && record.Kind == kind && !record.Deleted {
			out[i] = record
		}
	}
	return out
}

// known reads a list of ids that all have to be records of the kind.
func (q *parser) known(value *param.Value, kind calendar.Kind) []calendar.ID {
	ids, wrong := idList(value)
	if i := slices.Index(q.load(kind, ids), nil); i >= 0 {
		wrong = ids[i].String()
	}
	if wrong != "" {
		value.Refuse(calendar.UnknownReason(kind), wrong)
		return nil
	}
	return ids
}

// terms reads a list of terms by id or slug (interface 4.11), and by shown name where names
// count.
func (q *parser) terms(value *param.Value, kind calendar.Kind, names bool) []calendar.ID {
	list := value.List()
	if list == nil {
		return nil
	}
	var numbers []calendar.ID
	for _, text := range list {
		if id, ok := calendar.ParseID(text); ok {
			numbers = append(numbers, id)
		}
	}
	live := map[calendar.ID]bool{}
	for _, record := range q.load(kind, numbers) {
		if record != nil {
			live[record.ID] = true
		}
	}
	if q.err != nil {
		return nil
	}
	var ids []calendar.ID
	looked := map[string]calendar.ID{} // the entries may all be the same in other letters
	for _, text := range list {
		id, _ := calendar.ParseID(text)
		if lower := strings.ToLower(text); !live[id] {
			if id = looked[lower]; id == 0 {
				id = q.bySlug(kind, lower)
			}
			if id == 0 && names && q.err == nil {
				id = q.byName(kind, text)
			}
			looked[lower] = id
		}
		switch {
		case q.err != nil:
			return nil
		case id == 0:
			value.Refuse(calendar.UnknownReason(kind), text)
			return nil
		}
		ids = addDistinct(ids, id)
	}
	q.resolved = cache.Numbers(q.resolved, ids)
	return ids
}

// bySlug finds a term by its slug; 0: none exists.
func (q *parser) bySlug(kind calendar.Kind, slug string) calendar.ID {
	if q.past.FormOnly {
		return 1
	}
	var record *calendar.Record
	if record, q.err = q.s.records.BySlug(q.ctx, kind, slug); record == nil || record.Deleted {
		return 0
	}
	return record.ID
}

// byName finds a term by its shown name, as names are compared; 0: none exists.
func (q *parser) byName(kind calendar.Kind, name string) calendar.ID {
	if q.s.o.Clean != nil {
		name = q.s.o.Clean.Name(name)
	}
	var found []*calendar.Record
	if found, q.err = q.s.records.ByName(q.ctx, kind, q.Lang, htmltext.NameKey(name)); len(found) == 0 {
		return 0
	}
	return found[0].ID
}

// readEvent reads the event whose linked records are listed. One that the caller
// may not see in full, and one with a password for every caller, counts as unknown. Of several rows the last one counts.
func readEvent(q *parser, value *param.Value) {
	id, ok := value.ID()
	if !ok || q.past.FormOnly {
		return
	}
	record := q.load(calendar.KindEvent, []calendar.ID{id})[0]
	if record == nil || !q.seesWhole(record) {
		value.Refuse(calendar.ReasonUnknownEvent, id.String())
		return
	}
	q.ofEvent = true
	q.linked = record.Fields.IDs(linkField(q.Kind))
	q.resolved = cache.Numbers(q.resolved, q.linked)
}

// seesWhole reports whether a list shows the event to the caller, or would with the status
// filter, and to all who see it not blanked.
func (q *parser) seesWhole(record *calendar.Record) bool {
	if record.Fields.Bool("protected") || q.withdrawn.has(record.ID) {
		return false
	}
	if record.Status(q.now) == calendar.StatusTrash {
		return mayListTrashed(q.Caller, record)
	}
	return calendar.MayRead(q.Caller, record, q.now)
}

// linkField is the field of an event that links to records of the kind.
func linkField(kind calendar.Kind) string { return linkingFields[kind] }

var linkingFields = [...]string{
	calendar.KindVenue: "venue", calendar.KindOrganizer: "organizer", calendar.KindCategory: "categories", calendar.KindTag: "tags",
}
