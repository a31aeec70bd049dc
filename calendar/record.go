package calendar

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Fields are the values of a record by field name. A field without a value is
// absent; a nil value means removal and occurs in changes only. The Go type of a
// value follows the Type of its Field:
//
//	TypeString string · TypeText Text · TypeBool bool · TypeNumber float64
//	TypeID ID · TypeIDs []ID · TypeStrings []string · TypeWall Wall
type Fields map[string]any

// Text returns a translatable field.
func (fields Fields) Text(name string) Text { text, _ := fields[name].(Text); return text }

// String returns a text field, "" when absent.
func (fields Fields) String(name string) string { text, _ := fields[name].(string); return text }

// Bool returns a boolean field, false when absent.
func (fields Fields) Bool(name string) bool { return fields.BoolOr(name, false) }

// BoolOr returns a boolean field, or def when absent.
func (fields Fields) BoolOr(name string, def bool) bool {
	if value, ok := fields[name].(bool); ok {
		return value
	}
	return def
}

// ID returns an id field, 0 when absent.
func (fields Fields) ID(name string) ID { id, _ := fields[name].(ID); return id }

// IDs returns a list of ids, nil when absent. The caller must not change it.
func (fields Fields) IDs(name string) []ID { ids, _ := fields[name].([]ID); return ids }

// Strings returns a list of texts, nil when absent. The caller must not change it.
func (fields Fields) Strings(name string) []string { texts, _ := fields[name].([]string); return texts }

// Wall returns a wall clock, NoWall when absent.
func (fields Fields) Wall(name string) Wall {
	if wall, ok := fields[name].(Wall); ok {
		return wall
	}
	return NoWall
}

// Number returns a number and whether it is there.
func (fields Fields) Number(name string) (float64, bool) {
	value, ok := fields[name].(float64)
	return value, ok
}

// Copy returns some of the fields, with copies of their texts, but not of lists.
func (fields Fields) Copy(names []string) Fields {
	result := make(Fields, len(names))
	for _, name := range names {
		switch v := fields[name].(type) {
		case nil:
		case string:
			result[name] = strings.Clone(v)
		case Text:
			for language := range v {
				v[language] = strings.Clone(v[language])
			}
			result[name] = v
		default:
			result[name] = v
		}
	}
	return result
}

// Record is the present state of one event, venue, organizer, category or tag
// (or of an image or a user). It is never changed in place: Apply makes a new
// one.
type Record struct {
	ID      ID
	Kind    Kind
	Version int64     // number of changes so far: 1, 2, 3 …
	Home    Lang      // language of the request that created it
	Changed time.Time // moment of the last write, UTC, whole milliseconds
	Deleted bool      // a deleted term, or an erased record
	Erased  bool      // nothing but the hashed marks of imports is left of it
	Fields  Fields

	// Sum names the content: SumOf the stored JSON, 0 for a record that is not
	// stored yet. Two histories may give one id and version to other content.
	Sum uint64

	// Rendered holds what package render made of the record, as long as that is in memory.
	Rendered atomic.Value
}

// EventStatus says whether an event takes place.
type EventStatus string

// The values of event_status (interface 3.1.1). A scheduled event stores none.
const (
	EventScheduled EventStatus = "scheduled"
	EventCancelled EventStatus = "cancelled"
	EventPostponed EventStatus = "postponed"
)

// EventStatus reports whether the event takes place.
func (fields Fields) EventStatus() EventStatus {
	return cmp.Or(EventStatus(fields.String("event_status")), EventScheduled)
}

// Status is the status of a post.
type Status string

// The statuses (interface 5.4).
const (
	StatusPublish Status = "publish"
	StatusFuture  Status = "future"
	StatusDraft   Status = "draft"
	StatusPending Status = "pending"
	StatusPrivate Status = "private"
	StatusTrash   Status = "trash"
)

// Status returns the status that holds at a moment: a scheduled post is published
// from its publication time on, without a change.
func (record *Record) Status(now time.Time) Status { return record.statusIn("status", now) }

func (record *Record) statusIn(field string, now time.Time) Status {
	status := Status(record.Fields.String(field))
	if status == StatusFuture && record.Fields.Wall("date_utc") <= Wall(now.Unix()) {
		return StatusPublish
	}
	return status
}

// FormerStatus is Status for a post that is not in the trash; for a trashed one
// it is the status it had before, as it would hold at the moment.
func (record *Record) FormerStatus(now time.Time) Status {
	if status := record.Status(now); status != StatusTrash {
		return status
	}
	return record.statusIn("former_status", now)
}

// Author is the id of the author, 0 if none exists.
func (record *Record) Author() ID { return record.Fields.ID("author") }

// Slug is the slug, "" while none exists.
func (record *Record) Slug() string { return record.Fields.String("slug") }

// Name is the text that names the record in a language, and the language that
// the text is in.
func (record *Record) Name(language Lang) (string, Lang) {
	return record.Fields.Text(record.Kind.NameField()).In(language, record.Home)
}

// Langs are the languages that hold any text, the home language first, the
// others in the order cn, en, fr, es (interface 2.6).
func (record *Record) Langs() []Lang {
	langs := append(make([]Lang, 0, len(Langs)), record.Home)
	for _, language := range Langs {
		has := func(name string) bool { return record.Fields.Text(name)[language] != "" }
		if language != record.Home && slices.ContainsFunc(SpecOf(record.Kind).texts, has) {
			langs = append(langs, language)
		}
	}
	return langs
}

// Change is one decided fact about one record.
type Change struct {
	Name   string // "<kind>.created", ".updated", ".trashed", ".restored", ".deleted", ".erased"
	Kind   Kind
	ID     ID
	Home   Lang   // set by ".created" only
	Fields Fields // fields that changed, with their new value; nil removes

	// Secret is a new password hash or token hash; it never leaves the store.
	// nil leaves the stored one, an empty one removes it.
	Secret []byte
}

// The last parts of change names. They are frozen: stored changes carry them.
const (
	Created  = "created"
	Updated  = "updated"
	Trashed  = "trashed"
	Restored = "restored"
	Deleted  = "deleted"
	Erased   = "erased"
)

// Claim is a name that one record at a time may hold: a slug, the URL of an
// image, the name or token of a user.
type Claim struct{ Space, Key string }

// Name is a name that many records may share and that must be found quickly:
// the lower-case shown names of a kind.
type Name = Claim
