package calendar

import (
	"slices"
	"strconv"
)

// ID names one record. Ids are positive, come from one sequence that serves all
// kinds, images and users, and are never used again (interface 1.5).
type ID int64

// String returns the id in decimal digits.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Kind is one of the five kinds of the interface, or one of the two that the
// service uses internally (image, user) in the same log.
type Kind uint8

// The kinds. The zero Kind is none.
const (
	KindEvent Kind = iota + 1
	KindVenue
	KindOrganizer
	KindCategory
	KindTag
	KindImage
	KindUser
)

// Kinds are the five kinds that have routes, in the order of the interface.
var Kinds = [...]Kind{KindEvent, KindVenue, KindOrganizer, KindCategory, KindTag}

var kindNames = [...]string{"", "event", "venue", "organizer", "category", "tag", "image", "user"}

var collections = [...]string{"", "events", "venues", "organizers", "categories", "tags", "images", "users"}

// String returns the singular name: "event", "venue", …
func (kind Kind) String() string { return kindNames[kind] }

// Collection returns the name of the collection: "events", "venues", …
func (kind Kind) Collection() string { return collections[kind] }

// ParseKind reads a singular name.
func ParseKind(text string) (Kind, bool) {
	index := max(0, slices.Index(kindNames[:], text))
	return Kind(index), index > 0
}

// IsPost reports whether the kind has an author, dates, a status and a trash.
func (kind Kind) IsPost() bool {
	return kind != 0 && kind <= KindOrganizer
}

// IsTerm reports whether the kind is a category or a tag.
func (kind Kind) IsTerm() bool { return kind == KindCategory || kind == KindTag }

var nameFields = [...]string{"", "title", "venue", "organizer", "name", "name", "", "name"}

// NameField is the translatable field that names a record of the kind:
// "title", "venue", "organizer" or "name".
func (kind Kind) NameField() string { return nameFields[kind] }
