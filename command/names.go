package command

import (
	"cmp"
	"context"
	"maps"
	"reflect"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// nameOf is the name that the records of a kind with a shown name are found by.
func nameOf(kind calendar.Kind, shown string) calendar.Name {
	return calendar.Name{Space: "name/" + kind.String(), Key: htmltext.NameKey(shown)}
}

// sameName returns the live records that show a name in the language of the request, by id;
// the write is held to what was found.
func (decision *decision) sameName(ctx context.Context, name calendar.Name) []*calendar.Record {
	found, named, err := decision.service.records.byName(ctx, decision.language, name)
	decision.Err = cmp.Or(decision.Err, err)
	decision.guard(name, len(named))
	return found
}

// equal returns the published venue or organizer that the new one would equal, the one of
// the lowest id; nil if none exists (docs/spec/interface.md 5.3.1).
func (decision *decision) equal(ctx context.Context, record *calendar.Record) *calendar.Record {
	place := record.Kind == calendar.KindVenue || record.Kind == calendar.KindOrganizer
	keyedImport := decision.request.Mark != nil && decision.request.Mark.Key != ""
	if !place || keyedImport || record.Status(decision.Now) != calendar.StatusPublish {
		return nil
	}
	shown, _ := record.Name(decision.language)
	for _, other := range decision.sameName(ctx, nameOf(record.Kind, shown)) {
		if other.Status(decision.Now) == calendar.StatusPublish && other.Home == record.Home && equalFields(record, other) {
			return other
		}
	}
	return nil
}

// equalFields compares two records of a kind, but for what 5.3.1 leaves aside.
func equalFields(a, b *calendar.Record) bool {
	plain := func(record *calendar.Record) calendar.Fields {
		fields := maps.Clone(record.Fields)
		for _, name := range []string{"author", "date", "date_utc", "modified", "modified_utc", "slug", "status", "imports"} {
			delete(fields, name)
		}
		text := fields.Text(record.Kind.NameField())
		for i := range text {
			text[i] = htmltext.NameKey(text[i])
		}
		fields[record.Kind.NameField()] = text
		return fields
	}
	return reflect.DeepEqual(plain(a), plain(b))
}
