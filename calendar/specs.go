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
	KindCategory:  newSpec(KindCategory, termFields(Field{Name: "parent", Form: FormParent, Empty: EmptyClears})),
	KindTag:       newSpec(KindTag, termFields()),
	KindImage: newSpec(KindImage, []Field{
		kept("url", TypeString),
		kept("extension", TypeString),
	}),
	KindUser: newSpec(KindUser, []Field{
		kept("name", TypeString),
		kept("role", TypeString),
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
		fields = append(fields, kept("imports", TypeStrings))
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

// kept is a row that is kept but cannot be sent, and never shown.
func kept(name string, t Type) Field { return Field{Name: name, Stored: t} }

// computed is a time that is kept and shown, but cannot be sent.
func computed(name string, s Shown) Field {
	return Field{Name: name, Stored: TypeWall, Shown: s, Stays: true}
}

// keptOfPosts are the kept rows that all posts have.
func keptOfPosts() []Field {
	return []Field{
		computed("modified", ShownWall),
		computed("modified_utc", ShownWall),
		kept("former_status", TypeString),
		// The slug before trashing, where "<slug>__trashed" was not free.
		kept("former_slug", TypeString),
		kept("image_url", TypeString),
	}
}

// languageField is the language selector, a parameter of every route.
func languageField() Field {
	return Field{Name: "multilang_language", Form: FormLang, Enum: LangNames()}
}
