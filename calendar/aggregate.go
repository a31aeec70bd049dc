package calendar

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
)

// trashedSuffix is what trashing appends to a slug (interface 3.7.5).
const trashedSuffix = "__trashed"

// Create decides the change that makes a record of attributes that are decoded and
// resolved. All refusals come together as CodeInvalidParam.
func Create(kind Kind, id ID, attrs *Attrs, decision *Decision) (Change, error) {
	edit := newEdit(SpecOf(kind), id, attrs, decision)
	edit.decide()
	c := change(kind, id, Created, edit.Fields)
	c.Home, c.Secret = attrs.Lang, edit.secret
	return c, cmp.Or(decision.Err, edit.problems.Err())
}

// Update decides the change of a record; of a trashed post the change that
// restores it. What a change lists is what differs from the stored record, and
// modified for posts, so an empty update is a change too.
func Update(record *Record, attrs *Attrs, decision *Decision) (Change, error) {
	edit := editOf(record, decision)
	edit.attrs = attrs
	verb := Updated
	if edit.restores() {
		verb = Restored
	}
	edit.decide()
	c := change(record.Kind, record.ID, verb, edit.difference())
	c.Secret = edit.secret
	return c, cmp.Or(decision.Err, edit.problems.Err())
}

// Remove decides the change that moves a post to the trash, CodeInTrash when it is there
// already, or that ends a term. The children and events of a term are up to the caller.
func Remove(record *Record, decision *Decision) (Change, error) {
	if record.Kind.IsTerm() {
		return change(record.Kind, record.ID, Deleted, Fields{}), nil
	}
	status := record.Status(decision.Now)
	if status == StatusTrash {
		return Change{}, Fail(CodeInTrash, record.Kind)
	}
	edit := editOf(record, decision)
	edit.Fields["former_status"] = string(status)
	edit.Fields["status"] = string(StatusTrash)
	if slug := record.Slug(); slug != "" {
		trashed := edit.freeSlug(slug, trashedSuffix)
		if trashed != slug+trashedSuffix {
			edit.Fields["former_slug"] = slug
		}
		edit.Fields["slug"] = trashed
	}
	edit.setModified()
	return change(record.Kind, record.ID, Trashed, edit.difference()), decision.Err
}

// Erase decides the change that erases a record for good, whatever it is. The children
// of a category are up to the caller.
func Erase(record *Record) (Change, error) {
	if record.Erased {
		return Change{}, fmt.Errorf("erase %s %d: it is erased", record.Kind, record.ID)
	}
	c := change(record.Kind, record.ID, Erased, Fields{})
	c.Secret = []byte{}
	return c, nil
}

// NewImage makes the change that registers an image by its URL (interface 3.5).
func NewImage(id ID, link string, home Lang) Change {
	c := change(KindImage, id, Created, Fields{"url": link})
	c.Home = home
	return c
}

func change(kind Kind, id ID, verb string, fields Fields) Change {
	return Change{Name: kind.String() + "." + verb, Kind: kind, ID: id, Fields: fields}
}

// edit is a decision in progress: the record with the fields as they will be, and what is
// wrong with them.
type edit struct {
	*Decision
	Record
	stored   *Record // nil on create
	attrs    *Attrs
	secret   []byte
	problems Problems
}

// newEdit begins a decision about a new record, with the fields that were not sent.
func newEdit(spec *Spec, id ID, attrs *Attrs, decision *Decision) *edit {
	e := &edit{Decision: decision, Record: Record{ID: id, Kind: spec.Kind, Home: attrs.Lang, Fields: make(Fields, len(spec.stored))}, attrs: attrs}
	if spec.Kind.IsPost() {
		e.Fields["author"] = decision.Caller.ID
	}
	if spec.Kind == KindEvent {
		e.Fields["timezone"] = decision.Rules.site().Name
	}
	for i := range spec.Fields {
		if row := &spec.Fields[i]; row.Form == FormBool {
			e.Fields[row.Name] = row.Initial
		}
	}
	return e
}

// editOf begins a decision about a stored record.
func editOf(record *Record, decision *Decision) *edit {
	e := &edit{Decision: decision, Record: *record, stored: record}
	e.Fields = maps.Clone(record.Fields)
	return e
}

// decide applies the attributes.
func (edit *edit) decide() {
	edit.apply()
	switch edit.Kind {
	case KindEvent:
		if edit.Fields.EventStatus() == EventScheduled {
			delete(edit.Fields, "event_status_reason")
		}
		if edit.stored != nil && edit.Fields.ID("post_parent") == edit.ID {
			edit.problems.Add("post_parent", ReasonSelfParent)
		}
	case KindCategory:
		edit.breakCycle()
	default:
	}
	edit.slug()
}

// apply sets what was sent and the times and the status that follow from it.
func (edit *edit) apply() {
	for name, value := range edit.attrs.Set {
		edit.setField(SpecOf(edit.Kind).Field(name), value)
	}
	switch edit.Kind {
	case KindVenue:
		edit.checkPair()
	case KindEvent:
		edit.eventDates()
	default:
	}
	if edit.Kind.IsPost() {
		edit.publication()
	}
}

// checkPair refuses one coordinate of a venue without the other (interface 3.2.1).
func (edit *edit) checkPair() {
	for missing, other := range map[string]string{"geo_lat": "geo_lng", "geo_lng": "geo_lat"} {
		if edit.Fields[missing] == nil && edit.Fields[other] != nil {
			edit.problems.Add(missing, ReasonPairMissing, other)
		}
	}
}

// setField applies one sent value. Dates, zone, status and slug depend on other fields.
func (edit *edit) setField(field *Field, value any) {
	_, empty := value.(Clear)
	switch field.Form {
	case FormDate, FormZone, FormStatus, FormSlug, FormLang:
		return
	case FormPassword:
		edit.secret = edit.Password
		if empty {
			edit.secret = []byte{}
		}
		set(edit.Fields, "protected", true, empty)
		return
	case FormName, FormHTML:
		text := edit.Fields.Text(field.Name)
		text[edit.attrs.Lang], _ = value.(string)
		value, empty = text, text.IsZero()
	case FormBool:
		if empty {
			value, empty = field.Initial, false
		}
	case FormImage:
		if empty {
			delete(edit.Fields, "image_url")
		}
	case FormParent:
		empty = empty || value == ID(0)
	default: // stored as it is
	}
	set(edit.Fields, field.Name, value, empty)
}

// set stores a value, or removes the field when the value is empty.
func set(fields Fields, name string, value any, empty bool) {
	if empty {
		delete(fields, name)
	} else {
		fields[name] = value
	}
}

// breakCycle removes a parent that is the category itself or one of its
// descendants (interface 3.4.1).
func (edit *edit) breakCycle() {
	seen := map[ID]bool{}
	for id := edit.Fields.ID("parent"); id != 0 && !seen[id]; {
		if id == edit.ID {
			delete(edit.Fields, "parent")
			return
		}
		seen[id] = true
		above := edit.Parent(id)
		if above == nil {
			return
		}
		id = above.Fields.ID("parent")
	}
}

// restores reports whether the decision takes a post out of the trash.
func (edit *edit) restores() bool {
	return edit.stored != nil && Status(edit.stored.Fields.String("status")) == StatusTrash
}

// setModified sets the time of the last change.
func (edit *edit) setModified() {
	edit.Fields["modified"] = WallOf(edit.Now.In(edit.Rules.Site))
	edit.Fields["modified_utc"] = Wall(edit.Now.Unix())
}

// difference lists what differs from the stored record, and modified.
func (edit *edit) difference() Fields {
	changed := Fields{}
	for name, value := range edit.Fields {
		old, there := edit.stored.Fields[name]
		if !there || !reflect.DeepEqual(old, value) || name == "modified" || name == "modified_utc" {
			changed[name] = value
		}
	}
	for name := range edit.stored.Fields {
		if _, stays := edit.Fields[name]; !stays {
			changed[name] = nil
		}
	}
	return changed
}
