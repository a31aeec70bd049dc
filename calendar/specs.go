package calendar

import (
	"slices"
	"strings"
)

// specs are the field tables of all kinds; they are never changed.
var specs = [KindUser + 1]*Spec{
	KindEvent:     newSpec(KindEvent, eventFields()),
	KindVenue:     newSpec(KindVenue, venueFields()),
	KindOrganizer: newSpec(KindOrganizer, organizerFields()),
	KindCategory:  newSpec(KindCategory, termFields(Field{Name: "parent", Form: FormParent, Links: KindCategory})),
	KindTag:       newSpec(KindTag, termFields()),
	KindImage: newSpec(KindImage, []Field{
		internalField("url", TypeString),
		internalField("extension", TypeString),
	}),
	KindUser: newSpec(KindUser, []Field{
		internalField("name", TypeString),
		internalField("role", TypeString),
	}),
}

// The limits of interface 9: of elements of a list, links of an event and cost
// values; and of a password, in characters.
const (
	MaxElements = 1000
	MaxPassword = 255
)

// The limits of texts, in characters.
const (
	maxName        = 1000
	maxDetail      = 1000
	maxDescription = 200000
	maxURL         = 2000
	maxEmail       = 254

	maxEventStatusReason = 300
)

func newSpec(k Kind, fields []Field) *Spec {
	if k.IsPost() || k.IsTerm() {
		fields = append(fields, internalField("imports", TypeStrings))
	}
	s := &Spec{Kind: k, Fields: fields, byName: make(map[string]*Field, len(fields))}
	for i := range fields {
		f := &fields[i]
		f.Complete()
		s.byName[f.Name] = f
		if f.Stored != 0 {
			s.stored = append(s.stored, f)
		}
		if f.Stored == TypeText {
			s.texts = append(s.texts, f.Name)
		}
	}
	slices.SortFunc(s.stored, func(a, b *Field) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// internalField is a row that is stored but cannot be sent, and never shown.
func internalField(name string, t Type) Field { return Field{Name: name, Stored: t} }

// computedTime is a time that is stored and shown, but cannot be sent.
func computedTime(name string, s Shown) Field {
	return Field{Name: name, Stored: TypeWall, Shown: s, Stays: true}
}

// internalPostFields are the rows of all posts that cannot be sent.
func internalPostFields() []Field {
	return []Field{
		computedTime("modified", ShownWall),
		computedTime("modified_utc", ShownWall),
		internalField("former_status", TypeString),
		// The slug before trashing, where "<slug>__trashed" was not free.
		internalField("former_slug", TypeString),
		internalField("image_url", TypeString),
	}
}

// languageField is the language selector, a parameter of every route.
func languageField() Field {
	return Field{Name: "multilang_language", Form: FormLang, Enum: LangNames()}
}
