package calendar

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"reflect"
	"strings"
)

// trashedSuffix is what trashing appends to a slug (interface 3.7.5).
const trashedSuffix = "__trashed"

// Create decides the change that makes a record of attributes that are decoded and
// resolved. All refusals come together as CodeInvalidParam.
func Create(k Kind, id ID, a *Attrs, d *Decision) (Change, error) {
	w := &writing{kind: k, id: id, home: a.Lang, attrs: a, Decision: d, spec: SpecOf(k)}
	w.next = w.defaults()
	w.decide()
	c := change(k, id, Created, w.next)
	c.Home, c.Secret = a.Lang, w.secret
	return c, w.problems.Err()
}

// Update decides the change of a record; of a trashed post the change that
// restores it. What a change lists is what differs from the stored record, and
// modified for posts, so an empty update gives a change too.
func Update(r *Record, a *Attrs, d *Decision) (Change, error) {
	w := writingOf(r, d)
	w.attrs = a
	verb := Updated
	if w.restores() {
		verb = Restored
	}
	w.decide()
	c := change(r.Kind, r.ID, verb, w.difference())
	c.Secret = w.secret
	return c, w.problems.Err()
}

// Trash decides the change that moves a post to the trash; CodeInTrash when it
// is there already.
func Trash(r *Record, d *Decision) (Change, error) {
	if !r.Kind.IsPost() {
		return Change{}, fmt.Errorf("trash %s %d: only posts have a trash", r.Kind, r.ID)
	}
	status := r.Status(d.Now)
	if status == StatusTrash {
		return Change{}, Fail(CodeInTrash, r.Kind)
	}
	w := writingOf(r, d)
	w.next["former_status"] = string(status)
	w.next["status"] = string(StatusTrash)
	if slug := r.Slug(); slug != "" {
		trashed := w.free(slug, trashedSuffix)
		if trashed != slug+trashedSuffix {
			w.next["former_slug"] = slug
		}
		w.next["slug"] = trashed
	}
	w.touch()
	return change(r.Kind, r.ID, Trashed, w.difference()), nil
}

// Delete decides the change that ends a term. Its children and events are the
// business of the caller.
func Delete(r *Record, _ *Decision) (Change, error) {
	if !r.Kind.IsTerm() {
		return Change{}, fmt.Errorf("delete %s %d: only terms end", r.Kind, r.ID)
	}
	return change(r.Kind, r.ID, Deleted, Fields{}), nil
}

// Erase decides the change that erases a record for good, whatever it is. The children
// of a category are the business of the caller.
func Erase(r *Record) (Change, error) {
	if r.Erased {
		return Change{}, fmt.Errorf("erase %s %d: it is erased", r.Kind, r.ID)
	}
	c := change(r.Kind, r.ID, Erased, Fields{})
	c.Secret = []byte{}
	return c, nil
}

// NewImage makes the change that registers an image by its URL (interface 3.5).
func NewImage(id ID, link string, home Lang) Change {
	c := change(KindImage, id, Created, Fields{"url": link, "extension": ImageExtension(link)})
	c.Home = home
	return c
}

func change(k Kind, id ID, verb string, f Fields) Change {
	return Change{Name: k.String() + "." + verb, Kind: k, ID: id, Fields: f}
}

// ImageExtension gives the lower-case ending of the last path segment of a URL
// without its dot, "" where there is none of letters and digits.
func ImageExtension(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	ending := strings.TrimPrefix(strings.ToLower(path.Ext(u.Path)), ".")
	if strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return ending
}

// writing is one decision on its way: the fields as they will be, and what is
// wrong with them.
type writing struct {
	*Decision
	kind     Kind
	id       ID
	home     Lang
	stored   *Record // nil on create
	attrs    *Attrs
	spec     *Spec
	next     Fields
	secret   []byte
	problems Problems
}

// defaults are the fields of a new record that were not sent.
func (w *writing) defaults() Fields {
	f := make(Fields, len(w.spec.stored))
	if w.kind.IsPost() {
		f["author"] = w.Caller.ID
	}
	if w.kind == KindEvent {
		f["timezone"] = w.Rules.site().Name
	}
	for i := range w.spec.Fields {
		if row := &w.spec.Fields[i]; row.Form == FormBool {
			f[row.Name] = row.Initial
		}
	}
	return f
}

// writingOf begins a decision about a stored record.
func writingOf(r *Record, d *Decision) *writing {
	return &writing{kind: r.Kind, id: r.ID, home: r.Home, stored: r, Decision: d, spec: SpecOf(r.Kind), next: maps.Clone(r.Fields)}
}

// decide applies the attributes.
func (w *writing) decide() {
	for name, v := range w.attrs.Set {
		w.take(w.spec.Field(name), v)
	}
	switch w.kind {
	case KindEvent:
		w.eventDates()
		if w.next.EventStatus() == EventScheduled {
			delete(w.next, "event_status_reason")
		}
		if w.stored != nil && w.next.ID("post_parent") == w.id {
			w.problems.Add("post_parent", ReasonSelfParent)
		}
	case KindVenue:
		checkPair(&w.problems, w.next)
	case KindCategory:
		w.breakCycle()
	default:
	}
	if w.kind.IsPost() {
		w.publication()
	}
	w.slug()
}

// take applies one sent value. Dates, zone, status and slug depend on other fields.
func (w *writing) take(f *Field, v any) {
	_, empty := v.(Clear)
	switch f.Form {
	case FormDate, FormZone, FormStatus, FormSlug, FormLang:
		return
	case FormPassword:
		w.secret = w.Password
		if empty {
			w.secret = []byte{}
		}
		set(w.next, "protected", true, empty)
		return
	case FormName, FormHTML:
		t := w.next.Text(f.Name)
		t[w.attrs.Lang], _ = v.(string)
		v, empty = t, t.IsZero()
	case FormBool:
		if empty {
			v, empty = f.Initial, false
		}
	case FormImage:
		image, _ := v.(ResolvedImage)
		set(w.next, "image_url", image.URL, empty)
		v = image.ID
	case FormParent:
		empty = empty || v == ID(0)
	}
	set(w.next, f.Name, v, empty)
}

// set keeps a value, or removes the field when the value is empty.
func set(fields Fields, name string, v any, empty bool) {
	if empty {
		delete(fields, name)
	} else {
		fields[name] = v
	}
}

// breakCycle removes a parent that is the category itself or one of its
// descendants (interface 3.4.1).
func (w *writing) breakCycle() {
	seen := map[ID]bool{}
	for id := w.next.ID("parent"); id != 0 && !seen[id]; {
		if id == w.id {
			delete(w.next, "parent")
			return
		}
		seen[id] = true
		above := w.Parent(id)
		if above == nil {
			return
		}
		id = above.Fields.ID("parent")
	}
}

// restores tells whether the decision takes a post out of the trash.
func (w *writing) restores() bool {
	return w.stored != nil && Status(w.stored.Fields.String("status")) == StatusTrash
}

// touch sets the time of the last change.
func (w *writing) touch() {
	w.next["modified"] = WallOf(w.Now.In(w.Rules.Site))
	w.next["modified_utc"] = Wall(w.Now.Unix())
}

// difference lists what differs from the stored record, and modified.
func (w *writing) difference() Fields {
	changed := Fields{}
	for name, v := range w.next {
		old, there := w.stored.Fields[name]
		if !there || !SameValue(old, v) || name == "modified" || name == "modified_utc" {
			changed[name] = v
		}
	}
	for name := range w.stored.Fields {
		if _, stays := w.next[name]; !stays {
			changed[name] = nil
		}
	}
	return changed
}

// SameValue compares two values of one field.
func SameValue(a, b any) bool { return reflect.DeepEqual(a, b) }
