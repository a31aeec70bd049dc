package query

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	"daybook/internal/param"
)

// load returns live records by id, nil for unknown ones and those of another kind.
// The error of a failing store is in parser.err.
func (parser *parser) load(kind calendar.Kind, ids ...calendar.ID) []*calendar.Record {
	records := make([]*calendar.Record, len(ids))
	if parser.err != nil || len(ids) == 0 {
		return records
	}
	parser.LooksUp = true
	if parser.Past.FormOnly {
		for i, id := range ids {
			records[i] = &calendar.Record{Kind: kind, ID: id}
		}
		return records
	}
	found, err := parser.records.Load(parser.ctx, ids...)
	parser.err = err
	for i, record := range found {
		if record != nil && record.Kind == kind {
			records[i] = record
		}
	}
	return records
}

// linkedTo reads a list of records of a kind that events link to, all of which have to be
// there.
func (parser *parser) linkedTo(value *param.Value, kind calendar.Kind) []calendar.ID {
	if kind.IsTerm() {
		return parser.terms(value, kind, true)
	}
	ids := value.IDs()
	if i := slices.Index(parser.load(kind, ids...), nil); i >= 0 {
		value.Refuse(calendar.UnknownReason(kind), ids[i].String())
		return nil
	}
	return ids
}

// terms reads a list of terms by id or slug (interface 4.11), and by shown name where names
// count.
func (parser *parser) terms(value *param.Value, kind calendar.Kind, names bool) []calendar.ID {
	list := value.List()
	if list == nil {
		return nil
	}
	var numbers []calendar.ID
	var sent []string
	for _, text := range list {
		if id, ok := calendar.ParseID(text); ok {
			numbers, sent = append(numbers, id), append(sent, text)
		}
	}
	known := map[string]calendar.ID{} // the entries may all be the same in other letters
	for i, record := range parser.load(kind, numbers...) {
		if record != nil {
			known[sent[i]] = record.ID
		}
	}
	var ids []calendar.ID
	for _, text := range list {
		lower := strings.ToLower(text)
		if known[lower] == 0 {
			known[lower] = parser.named(kind, text, names)
		}
		switch id := known[lower]; {
		case parser.err != nil:
			return nil
		case id == 0:
			value.Refuse(calendar.UnknownReason(kind), text)
			return nil
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	parser.resolved = cache.Numbers(parser.resolved, ids)
	return ids
}

// named finds a term by its slug and, where names count, by its shown name, as names are
// compared; 0: none exists.
func (parser *parser) named(kind calendar.Kind, text string, names bool) calendar.ID {
	if parser.Past.FormOnly {
		return 1
	}
	parser.LooksUp = true
	record, err := parser.records.BySlug(parser.ctx, kind, text)
	found := []*calendar.Record{record}
	if err == nil && names && record == nil {
		if parser.settings.Clean != nil {
			text = parser.settings.Clean.Name(text)
		}
		found, err = parser.records.ByName(parser.ctx, kind, parser.Lang, htmltext.NameKey(text))
	}
	if parser.err = cmp.Or(parser.err, err); len(found) == 0 || found[0] == nil {
		return 0
	}
	return found[0].ID
}

// readEvent filters by the event whose linked records are listed. One that the caller
// may not see in full, and one with a password for every caller, counts as unknown.
func (parser *parser) readEvent(name string) {
	value := parser.parameter(name)
	id, ok := value.ID()
	if !ok || parser.Past.FormOnly {
		return
	}
	record := parser.load(calendar.KindEvent, id)[0]
	if record == nil || !parser.seesWhole(record) {
		value.Refuse(calendar.ReasonUnknownEvent, id.String())
		return
	}
	linked := record.Fields.IDs(linkFields[parser.Kind])
	parser.ofEvent = withIDs(linked)
	parser.resolved = cache.Numbers(parser.resolved, linked)
}

// seesWhole reports whether a list shows the event to the caller, or would with the status
// filter, and to all who see it not blanked.
func (parser *parser) seesWhole(record *calendar.Record) bool {
	if record.Fields.Bool("protected") || parser.Past.Withdrawn.has(record.ID) {
		return false
	}
	if record.Status(parser.now) == calendar.StatusTrash {
		return parser.Caller.ReadsAll() || parser.Caller.Owns(record)
	}
	return calendar.MayRead(parser.Caller, record, parser.now)
}

// linkFields are the fields of an event that link to records, by their kind.
var linkFields = [...]string{
	calendar.KindVenue: "venue", calendar.KindOrganizer: "organizer", calendar.KindCategory: "categories", calendar.KindTag: "tags",
}
