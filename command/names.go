package command

import (
	"context"
	"maps"
	"reflect"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// showsName reports whether the name shown in a language has the key.
func showsName(r *calendar.Record, l calendar.Lang, key string) bool {
	shown, _ := r.Name(l)
	return htmltext.NameKey(shown) == key
}

func nameOf(k calendar.Kind, key string) calendar.Name {
	return calendar.Name{Space: "name/" + k.String(), Key: key}
}

// sameName returns the live records of a kind that show the folded name in the language of
// the request, by id; the write is held to what was found.
func (d *decision) sameName(ctx context.Context, k calendar.Kind, key string) ([]*calendar.Record, error) {
	found, named, err := d.s.records.byKey(ctx, k, d.lang, key)
	if err == nil {
		d.guard(nameOf(k, key), len(named))
	}
	return found, err
}

// equal returns the published venue or organizer that the new one would equal, the one of
// the lowest id; nil when there is none (docs/spec/interface.md 5.3.1).
func (d *decision) equal(ctx context.Context, rec *calendar.Record) (*calendar.Record, error) {
	place := rec.Kind == calendar.KindVenue || rec.Kind == calendar.KindOrganizer
	keyedImport := d.r.Mark != nil && d.r.Mark.Key != ""
	if !place || keyedImport || rec.Status(d.Now) != calendar.StatusPublish {
		return nil, nil // no record is no error
	}
	name, _ := rec.Name(d.lang)
	same, err := d.sameName(ctx, rec.Kind, htmltext.NameKey(name))
	if err != nil {
		return nil, err
	}
	for _, other := range same {
		if other.Status(d.Now) == calendar.StatusPublish && other.Home == rec.Home && equalFields(rec, other) {
			return other, nil
		}
	}
	return nil, nil // no record is no error
}

// equalFields compares two records of a kind, but for what 5.3.1 leaves aside.
func equalFields(a, b *calendar.Record) bool {
	plain := func(r *calendar.Record) calendar.Fields {
		f := maps.Clone(r.Fields)
		for _, name := range []string{"author", "date", "date_utc", "modified", "modified_utc", "slug", "status", "imports"} {
			delete(f, name)
		}
		t := f.Text(r.Kind.NameField())
		for i := range t {
			t[i] = htmltext.NameKey(t[i])
		}
		f[r.Kind.NameField()] = t
		return f
	}
	return reflect.DeepEqual(plain(a), plain(b))
}
