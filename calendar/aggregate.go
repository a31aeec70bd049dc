package calendar

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// trashedSuffix is what trashing appends to a slug (interface 3.7.5).
const trashedSuffix = "__trashed"

// Create decides the change that makes a record. attrs are decoded and resolved.
// Required fields that are missing are CodeMissingParam; all other refusals come
// together as CodeInvalidParam.
func Create(k Kind, id ID, a *Attrs, d *Decision) (Change, error) {
	if !k.IsPost() && !k.IsTerm() {
		return Change{}, fmt.Errorf("create record %d: kind %q is not made from attributes", id, k)
	}
	w := &writing{kind: k, id: id, home: a.Lang, attrs: a, Decision: d, spec: SpecOf(k)}
	var missing []string
	for _, f := range w.spec.Fields {
		if _, sent := a.Set[f.Name]; f.Required && !sent {
			missing = append(missing, f.Name)
		}
	}
	if missing != nil {
		return Change{}, &Error{Code: CodeMissingParam, Kind: k, Missing: missing}
	}
	w.next = w.defaults()
	if err := w.decide(); err != nil {
		return Change{}, fmt.Errorf("create %s %d: %w", k, id, err)
	}
	if err := w.problems.Err(); err != nil {
		return Change{}, err
	}
	return Change{Name: k.String() + "." + Created, Kind: k, ID: id, Home: a.Lang, Fields: w.next, Secret: w.secret}, nil
}

// Update decides the change of a record; of a trashed post the change that
// restores it. What a change lists is what differs from the stored record, and
// modified for posts, so an empty update gives a change too.
func Update(r *Record, a *Attrs, d *Decision) (Change, error) {
	k := r.Kind
	if r.Deleted || !k.IsPost() && !k.IsTerm() {
		return Change{}, fmt.Errorf("update %s %d: it cannot be updated", k, r.ID)
	}
	w := &writing{kind: k, id: r.ID, home: r.Home, stored: r, attrs: a, Decision: d, spec: SpecOf(k), next: maps.Clone(r.Fields)}
	name := k.String() + "." + Updated
	if w.restores() {
		name = k.String() + "." + Restored
	}
	if err := w.decide(); err != nil {
		return Change{}, fmt.Errorf("update %s %d: %w", k, r.ID, err)
	}
	if err := w.problems.Err(); err != nil {
		return Change{}, err
	}
	return Change{Name: name, Kind: k, ID: r.ID, Fields: w.difference(), Secret: w.secret}, nil
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
	w := &writing{kind: r.Kind, id: r.ID, home: r.Home, stored: r, Decision: d, spec: SpecOf(r.Kind), next: maps.Clone(r.Fields)}
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
	return Change{Name: r.Kind.String() + "." + Trashed, Kind: r.Kind, ID: r.ID, Fields: w.difference()}, nil
}

// Delete decides the change that ends a term. Its children and events are the
// business of the caller.
func Delete(r *Record, _ *Decision) (Change, error) {
	if !r.Kind.IsTerm() || r.Deleted {
		return Change{}, fmt.Errorf("delete %s %d: only terms end, and only once", r.Kind, r.ID)
	}
	return Change{Name: r.Kind.String() + "." + Deleted, Kind: r.Kind, ID: r.ID, Fields: Fields{}}, nil
}

// Erase decides the change that erases a record for good, whatever it is. The children
// of a category are the business of the caller.
func Erase(r *Record) (Change, error) {
	if r.Erased {
		return Change{}, fmt.Errorf("erase %s %d: it is erased", r.Kind, r.ID)
	}
	return Change{Name: r.Kind.String() + "." + Erased, Kind: r.Kind, ID: r.ID, Fields: Fields{}, Secret: []byte{}}, nil
}

// NewImage makes the change that registers an image by its URL (interface 3.5).
func NewImage(id ID, link string, home Lang) Change {
	return Change{
		Name: KindImage.String() + "." + Created, Kind: KindImage, ID: id, Home: home,
		Fields: Fields{"url": link, "extension": ImageExtension(link)},
	}
}

// ImageExtension gives the lower-case ending of the last path segment of a URL
// without its dot, "" where there is none of letters and digits.
func ImageExtension(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	segment := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	dot := strings.LastIndexByte(segment, '.')
	if dot < 0 {
		return ""
	}
	ending := strings.ToLower(segment[dot+1:])
	for i := range len(ending) {
		if c := ending[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return ""
		}
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

// decide applies the attributes. Its error is a mistake of the program; refused
// values are in problems.
func (w *writing) decide() error {
	for name := range w.attrs.Set {
		if f := w.spec.Field(name); f == nil || f.Form == FormNone {
			return fmt.Errorf("attribute %q is no field that can be sent", name)
		}
	}
	for i := range w.spec.Fields {
		f := &w.spec.Fields[i]
		v, sent := w.attrs.Set[f.Name]
		if !sent {
			continue
		}
		if err := w.take(f, v); err != nil {
			return err
		}
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
	return nil
}

// take applies one sent value. Dates, zone, status and slug depend on other
// fields; here only their Go types are checked.
func (w *writing) take(f *Field, v any) error {
	_, cleared := v.(Clear)
	if cleared && f.Empty != EmptyClears {
		return fmt.Errorf("field %s cannot be cleared", f.Name)
	}
	ok := true
	switch f.Form {
	case FormName, FormHTML:
		var s string
		if !cleared {
			s, ok = v.(string)
		}
		t := w.next.Text(f.Name)
		t[w.attrs.Lang] = s
		set(w.next, f.Name, t, t.IsZero())
	case FormDetail, FormWord, FormURL, FormEventURL, FormEmail:
		s, is := v.(string)
		set(w.next, f.Name, s, s == "")
		ok = is
	case FormBool:
		b, is := v.(bool)
		w.next[f.Name] = b || cleared && f.Initial
		ok = is
	case FormCost:
		list, is := v.([]string)
		set(w.next, f.Name, list, len(list) == 0)
		ok = is
	case FormTerms, FormLinks:
		ids, is := v.([]ID)
		set(w.next, f.Name, ids, len(ids) == 0)
		ok = is
	case FormAuthor, FormParent:
		id, is := v.(ID)
		set(w.next, f.Name, id, id == 0)
		ok = is
	case FormLatitude, FormLongitude:
		n, is := v.(float64)
		set(w.next, f.Name, n, cleared)
		ok = is
	case FormImage:
		image, is := v.(ResolvedImage)
		set(w.next, f.Name, image.ID, image.ID == 0)
		set(w.next, "image_url", image.URL, image.ID == 0)
		ok = is
	case FormPassword:
		_, ok = v.(string)
		return w.password(cleared, ok)
	case FormDate:
		_, ok = v.(Date)
	case FormZone:
		_, ok = v.(Zone)
	case FormStatus:
		_, ok = v.(Status)
	case FormSlug:
		_, ok = v.(string)
	case FormLang, FormNone:
	}
	if !ok && !cleared {
		return fmt.Errorf("field %s: attribute of Go type %T does not fit the table", f.Name, v)
	}
	return nil
}

// set keeps a value, or removes the field when the value is empty.
func set(fields Fields, name string, v any, empty bool) {
	if empty {
		delete(fields, name)
	} else {
		fields[name] = v
	}
}

// password protects an event or ends its protection.
func (w *writing) password(cleared, text bool) error {
	switch {
	case cleared:
		w.secret = []byte{}
		delete(w.next, "protected")
	case !text || len(w.Password) == 0:
		return errors.New("field password: no hash to keep")
	default:
		w.secret = w.Password
		w.next["protected"] = true
	}
	return nil
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
		above := w.parent(id)
		if above == nil {
			return
		}
		id = above.Fields.ID("parent")
	}
}

// parent finds a category that is named as a parent.
func (w *writing) parent(id ID) *Record {
	if id == 0 || w.Parent == nil {
		return nil
	}
	return w.Parent(id)
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
func SameValue(a, b any) bool {
	switch a := a.(type) {
	case []ID:
		b, ok := b.([]ID)
		return ok && slices.Equal(a, b)
	case []string:
		b, ok := b.([]string)
		return ok && slices.Equal(a, b)
	}
	return a == b
}
