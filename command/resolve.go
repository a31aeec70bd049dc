package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/htmltext"
)

// plan is a decoded input whose references are looked up: ids of records that
// are there, and records to make together with the one that is written.
type plan struct {
	attrs *calendar.Attrs
	refs  map[string][]ref // by field: links and terms
	image *made            // the image of the record, when it has to be registered
	made  []*made          // in the order in which they are made
	found []eventstore.Guard
}

// ref is one link: to a record that is there, or to one that is made.
type ref struct {
	id   calendar.ID
	made *made
}

// made is a record that a write makes beside its own: an inline venue or
// organizer, a term by name, an image by URL.
type made struct {
	kind         calendar.Kind
	id           calendar.ID
	field, entry string // where it was sent
	attrs        *calendar.Attrs
	image        *made
	url          string // images
}

// linkKinds are the kinds that the link and term fields of events name.
var linkKinds = map[string]calendar.Kind{
	"venue": calendar.KindVenue, "organizer": calendar.KindOrganizer,
	"categories": calendar.KindCategory, "tags": calendar.KindTag,
}

// resolver looks up the references of one input. Problems are named on the
// field of the input.
type resolver struct {
	w        *writing
	problems *calendar.Problems
	plan     *plan

	ids     []calendar.ID
	claims  []calendar.Claim
	names   []calendar.Name
	records map[calendar.ID]*calendar.Record
	holders map[calendar.Claim]calendar.ID
	found   map[calendar.Name][]calendar.ID
	making  map[any]*made // by calendar.Name, or calendar.Claim of an image or a slug
}

// resolve looks up what attrs of a kind refer to.
func (w *writing) resolve(ctx context.Context, k calendar.Kind, attrs *calendar.Attrs, p *calendar.Problems) (*plan, error) {
	r := &resolver{
		w: w, problems: p, plan: &plan{attrs: attrs, refs: map[string][]ref{}},
		records: map[calendar.ID]*calendar.Record{}, holders: map[calendar.Claim]calendar.ID{},
		found: map[calendar.Name][]calendar.ID{}, making: map[any]*made{},
	}
	r.collect(attrs)
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	r.plan.attrs, r.plan.image = r.values(k, attrs, p)
	return r.plan, nil
}

// collect notes all that has to be looked up.
func (r *resolver) collect(attrs *calendar.Attrs) {
	for field, v := range attrs.Set {
		switch v := v.(type) {
		case calendar.ID:
			r.ids = append(r.ids, v)
		case calendar.ImageRef:
			if v.ID != 0 {
				r.ids = append(r.ids, v.ID)
			} else {
				r.claims = append(r.claims, imageClaim(v.URL))
			}
		case []calendar.Link:
			for _, l := range v {
				if l.Inline == nil {
					r.ids = append(r.ids, l.ID)
					continue
				}
				r.collect(l.Inline)
				r.names = append(r.names, spellings(nameOf(linkKinds[field], inlineName(linkKinds[field], l.Inline)))...)
			}
		case []calendar.TermRef:
			for _, t := range v {
				r.ids = append(r.ids, t.ID)
				if !t.Number {
					r.claims = append(r.claims, eventstore.SlugClaim(linkKinds[field], strings.ToLower(t.Entry)))
					r.names = append(r.names, spellings(nameOf(linkKinds[field], r.w.termKey(t)))...)
				}
			}
		}
	}
}

// termKey is the folded name that an entry of categories or tags means.
func (w *writing) termKey(t calendar.TermRef) string {
	return htmltext.NameKey(w.s.rules.Clean.Name(t.Entry))
}

// inlineName is the folded name of an inline venue or organizer.
func inlineName(k calendar.Kind, attrs *calendar.Attrs) string {
	name, _ := attrs.Set[k.NameField()].(string)
	return htmltext.NameKey(name)
}

// look asks the store for all that was collected: one look-up, one load.
func (r *resolver) look(ctx context.Context) error {
	claims, names := r.claims[:0], r.names[:0]
	for _, c := range r.claims {
		if _, seen := r.holders[c]; !seen && c.Key != "" {
			r.holders[c] = 0
			claims = append(claims, c)
		}
	}
	for _, n := range r.names {
		if _, seen := r.found[n]; !seen && n.Key != "" {
			r.found[n] = nil
			names = append(names, n)
		}
	}
	if len(claims)+len(names) > 0 {
		holders, found, err := r.w.s.store.Find(ctx, claims, names)
		if err != nil {
			return fmt.Errorf("find linked records: %w", err)
		}
		for i, c := range claims {
			r.holders[c] = holders[i]
			r.ids = append(r.ids, holders[i])
		}
		for i, n := range names {
			r.found[n] = found[i]
			r.ids = append(r.ids, found[i]...)
		}
	}
	ids := r.ids[:0]
	for _, id := range r.ids {
		if _, seen := r.records[id]; !seen && id > 0 {
			r.records[id] = nil
			ids = append(ids, id)
		}
	}
	loaded, err := r.w.s.records.Load(ctx, ids...)
	if err != nil {
		return err
	}
	for i, rec := range loaded {
		r.records[ids[i]] = rec
	}
	return nil
}

// live gives the record of a kind that an id names, nil when there is none.
func (r *resolver) live(k calendar.Kind, id calendar.ID) *calendar.Record {
	if rec := r.records[id]; rec != nil && rec.Kind == k {
		return rec
	}
	return nil
}

// values replaces references by what they refer to. Links and terms go to the
// plan, because some of their ids are not known yet.
func (r *resolver) values(k calendar.Kind, attrs *calendar.Attrs, p *calendar.Problems) (*calendar.Attrs, *made) {
	out := &calendar.Attrs{Lang: attrs.Lang, Set: maps.Clone(attrs.Set)}
	var image *made
	for i := range calendar.SpecOf(k).Fields {
		f := &calendar.SpecOf(k).Fields[i]
		switch v := attrs.Set[f.Name].(type) {
		case calendar.ID:
			r.named(k, f, v, p)
		case calendar.ImageRef:
			var known calendar.ResolvedImage
			known, image = r.image(f.Name, v, p)
			out.Set[f.Name] = known
		case []calendar.Link:
			r.plan.refs[f.Name] = r.links(f.Name, v)
		case []calendar.TermRef:
			r.plan.refs[f.Name] = r.terms(f.Name, v)
		}
	}
	return out, image
}

// named checks the id of an author, of a parent event or of a parent category.
func (r *resolver) named(k calendar.Kind, f *calendar.Field, id calendar.ID, p *calendar.Problems) {
	want := k
	switch f.Form {
	case calendar.FormAuthor:
		if !calendar.MayNameAuthor(r.w.r.Caller, id) {
			p.Add(f.Name, calendar.ReasonOtherAuthor)
			return
		}
		if id == r.w.r.Caller.ID {
			return
		}
		want = calendar.KindUser
	case calendar.FormParent:
		if id == 0 {
			return
		}
	default:
		return
	}
	if r.live(want, id) == nil {
		p.Add(f.Name, calendar.UnknownReason(want), id.String())
	}
}

// mayUse tells whether a sent image is known, or may be made of its URL.
func (r *resolver) mayUse(field string, v calendar.ImageRef, p *calendar.Problems) bool {
	switch {
	case v.ID != 0 && r.live(calendar.KindImage, v.ID) == nil:
		p.Add(field, calendar.ReasonUnknownImage, v.ID.String())
		return false
	case v.ID == 0 && !calendar.MayUseImageURL(r.w.r.Caller):
		p.Add(field, calendar.ReasonImageURLRight)
		return false
	default:
		return true
	}
}

// image finds a sent image, or makes a record for its URL.
func (r *resolver) image(field string, v calendar.ImageRef, p *calendar.Problems) (calendar.ResolvedImage, *made) {
	if !r.mayUse(field, v, p) {
		return calendar.ResolvedImage{}, nil
	}
	if v.ID != 0 {
		return calendar.ResolvedImage{ID: v.ID, URL: r.live(calendar.KindImage, v.ID).Fields.String("url")}, nil
	}
	claim := imageClaim(v.URL)
	if id := r.holders[claim]; id != 0 {
		return calendar.ResolvedImage{ID: id, URL: v.URL}, nil
	}
	m := r.making[claim]
	if m == nil {
		m = &made{kind: calendar.KindImage, field: field, entry: v.URL, url: v.URL}
		r.making[claim] = m
		r.plan.made = append(r.plan.made, m)
	}
	return calendar.ResolvedImage{URL: v.URL}, m
}

func imageClaim(url string) calendar.Claim { return calendar.Claim{Space: "image", Key: url} }

// links finds the entries of venue or organizer (interface 3.1.5).
func (r *resolver) links(field string, links []calendar.Link) []ref {
	k := linkKinds[field]
	refs := make([]ref, 0, len(links))
	for _, l := range links {
		if l.Inline != nil {
			refs = append(refs, r.inline(field, k, l))
			continue
		}
		if r.live(k, l.ID) == nil {
			r.problems.Add(field, calendar.UnknownReason(k), l.Entry)
			continue
		}
		refs = append(refs, ref{id: l.ID})
	}
	return refs
}

// inline links the published record of the same shown name, or makes one. Bad
// fields are refused in either case.
func (r *resolver) inline(field string, k calendar.Kind, l calendar.Link) ref {
	var p calendar.Problems
	defer func() {
		for _, bad := range p.Fields {
			r.problems.Add(field, calendar.ReasonInline, inlineArgs(l.Entry, bad)...)
		}
	}()
	m := &made{kind: k, field: field, entry: l.Entry, attrs: l.Inline}
	key := inlineName(k, l.Inline)
	name := nameOf(k, key)
	for _, id := range r.ofName(name) { // ascending
		rec := r.live(k, id)
		if rec != nil && showsName(rec, r.w.lang, key) && rec.Status(r.w.now) == calendar.StatusPublish {
			r.check(m, &p)
			return ref{id: id}
		}
	}
	if first := r.making[name]; first != nil {
		r.check(m, &p)
		return ref{made: first}
	}
	m.attrs, m.image = r.values(k, l.Inline, &p)
	r.make(name, m)
	return ref{made: m}
}

// ofName returns the records that are found by a name, in either spelling.
func (r *resolver) ofName(name calendar.Name) []calendar.ID {
	names := spellings(name)
	found := make([][]calendar.ID, len(names))
	for i, n := range names {
		found[i] = r.found[n]
	}
	return ascending(found...)
}

// check is values for inline data that make nothing.
func (r *resolver) check(m *made, p *calendar.Problems) {
	for i := range calendar.SpecOf(m.kind).Fields {
		f := &calendar.SpecOf(m.kind).Fields[i]
		switch v := m.attrs.Set[f.Name].(type) {
		case calendar.ID:
			r.named(m.kind, f, v, p)
		case calendar.ImageRef:
			r.mayUse(f.Name, v, p)
		}
	}
}

// make notes a record that is made because there is none of the name.
func (r *resolver) make(name calendar.Name, m *made) {
	r.making[name] = m
	r.plan.made = append(r.plan.made, m)
	r.plan.found = append(r.plan.found, eventstore.Guard{Name: name, Count: len(r.found[name])})
}

// inlineArgs are the arguments of ReasonInline.
func inlineArgs(entry string, bad calendar.FieldError) []string {
	return append([]string{entry, bad.Field, string(bad.Reason)}, bad.Args...)
}

// terms finds the entries of categories or tags (interface 3.1.6).
func (r *resolver) terms(field string, terms []calendar.TermRef) []ref {
	k := linkKinds[field]
	refs := make([]ref, 0, len(terms))
	for _, t := range terms {
		if r.live(k, t.ID) != nil {
			refs = append(refs, ref{id: t.ID})
			continue
		}
		if t.Number {
			r.problems.Add(field, calendar.UnknownReason(k), t.Entry)
			continue
		}
		if found, ok := r.term(field, k, t); ok {
			refs = append(refs, found)
		}
	}
	return refs
}

// term finds a term by slug, else by shown name, else makes it. Terms that entries
// before it make are found too.
func (r *resolver) term(field string, k calendar.Kind, t calendar.TermRef) (ref, bool) {
	bySlug := eventstore.SlugClaim(k, strings.ToLower(t.Entry))
	if id := r.holders[bySlug]; r.live(k, id) != nil {
		return ref{id: id}, true
	}
	if m := r.making[bySlug]; m != nil {
		return ref{made: m}, true
	}
	key := r.w.termKey(t)
	name := nameOf(k, key)
	for _, id := range r.ofName(name) { // ascending
		if rec := r.live(k, id); rec != nil && showsName(rec, r.w.lang, key) {
			return ref{id: id}, true
		}
	}
	if m := r.making[name]; m != nil {
		return ref{made: m}, true
	}
	if t.ID != 0 || calendar.IsDigits(calendar.Trim(t.Entry)) {
		r.problems.Add(field, calendar.UnknownReason(k), t.Entry)
		return ref{}, false
	}
	if !calendar.MayCreateTerm(r.w.r.Caller, k) {
		r.problems.Add(field, calendar.ReasonTermRight, t.Entry)
		return ref{}, false
	}
	var p calendar.Problems
	attrs, _ := calendar.SpecOf(k).Decode(calendar.Input{"name": t.Entry}, calendar.OpCreate, r.w.lang, r.w.now, r.w.s.rules, r.w.r.Caller, &p)
	if p.Err() != nil {
		r.problems.Add(field, calendar.ReasonEntry, t.Entry)
		return ref{}, false
	}
	m := &made{kind: k, field: field, entry: t.Entry, attrs: attrs}
	r.make(name, m)
	clean := r.w.s.rules.Clean
	if slug := eventstore.SlugClaim(k, calendar.MakeSlug(clean.Name(t.Entry), clean)); slug.Key != "" && r.making[slug] == nil {
		r.making[slug] = m // where another has it, that one is found first
	}
	return ref{made: m}, true
}

// settle gives ids to the records that are made, decides them into the group,
// and completes the attributes. What a decision refuses is a problem of the
// field that the record was sent in.
func (w *writing) settle(ctx context.Context, pl *plan, g *group, p *calendar.Problems) error {
	for _, guard := range pl.found {
		g.guard(guard.Name, guard.Count)
	}
	for i, m := range pl.made {
		id, err := w.fresh(ctx, w.own+i)
		if err != nil {
			return err
		}
		m.id = id
	}
	for _, images := range []bool{true, false} { // venues name images, not the other way round
		for _, m := range pl.made {
			if images != (m.kind == calendar.KindImage) {
				continue
			}
			if err := w.settleOne(ctx, m, g, p); err != nil {
				return err
			}
		}
	}
	setImage(pl.attrs, pl.image)
	for field, refs := range pl.refs {
		ids := make([]calendar.ID, 0, len(refs))
		seen := make(map[calendar.ID]bool, len(refs))
		for _, r := range refs {
			id := r.id
			if r.made != nil {
				id = r.made.id
			}
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		pl.attrs.Set[field] = ids
	}
	return nil
}

func (w *writing) settleOne(ctx context.Context, m *made, g *group, p *calendar.Problems) error {
	if m.kind == calendar.KindImage {
		_, err := g.add(nil, calendar.NewImage(m.id, m.url, w.lang))
		return err
	}
	setImage(m.attrs, m.image)
	c, err := w.decide(ctx, g, m.kind, m.id, func(d *calendar.Decision) (calendar.Change, error) {
		return calendar.Create(m.kind, m.id, m.attrs, d)
	})
	if refused, ok := errors.AsType[*calendar.Error](err); ok {
		for _, bad := range refused.Fields {
			p.Add(m.field, calendar.ReasonInline, inlineArgs(m.entry, bad)...)
		}
		return nil
	}
	if err != nil {
		return err
	}
	_, err = g.add(nil, c)
	return err
}

func setImage(attrs *calendar.Attrs, m *made) {
	if m != nil {
		attrs.Set["image"] = calendar.ResolvedImage{ID: m.id, URL: m.url}
	}
}
