package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/htmltext"
)

// linkKinds are the kinds that the link and term fields of events name.
var linkKinds = map[string]calendar.Kind{
	"venue": calendar.KindVenue, "organizer": calendar.KindOrganizer,
	"categories": calendar.KindCategory, "tags": calendar.KindTag,
}

// linked is a record that an input refers to: one that is there, or one that the write makes
// with its own: an inline venue or organizer, a term by name, an image by URL.
type linked struct {
	id    calendar.ID // 0: it is to be made
	kind  calendar.Kind
	attrs *calendar.Attrs // nil for images
	url   string          // of images
}

// links finds the records that one input refers to.
type links struct {
	*decision

	// What was found in the store.
	records map[calendar.ID]*calendar.Record
	holders map[calendar.Claim]calendar.ID
	named   map[calendar.Name][]calendar.ID

	making map[any]*linked // by calendar.Name, or by calendar.Claim of an image or a slug
	made   []*linked       // in the order of their ids
}

// link returns the attributes of the input with the ids of the records that they refer to.
// Those that are not there are made. All refused fields come back together. id is the first
// of some fresh ids.
func (d *decision) link(ctx context.Context, fresh int) (attrs *calendar.Attrs, id calendar.ID, err error) {
	l := &links{
		decision: d, records: map[calendar.ID]*calendar.Record{}, holders: map[calendar.Claim]calendar.ID{},
		named: map[calendar.Name][]calendar.ID{}, making: map[any]*linked{},
	}
	l.collect(d.attrs)
	if err := l.look(ctx); err != nil {
		return nil, 0, err
	}
	p := calendar.Problems{Fields: slices.Clone(d.problems.Fields)}
	attrs = l.values(d.r.Kind, d.attrs, &p)
	p.Join(d.together)
	if err := p.Err(); err != nil {
		return nil, 0, err
	}
	l.order(d.r.Kind, attrs)
	if n := fresh + len(l.made); n > 0 {
		if id, err = d.s.store.NewIDs(ctx, n); err != nil {
			return nil, 0, fmt.Errorf("fresh ids: %w", err)
		}
	}
	for i, m := range l.made {
		m.id = id + calendar.ID(fresh+i)
	}
	if err := l.make(ctx); err != nil {
		return nil, 0, err
	}
	complete(attrs)
	return attrs, id, nil
}

// collect notes all that has to be looked up.
func (l *links) collect(attrs *calendar.Attrs) {
	for field, v := range attrs.Set {
		switch v := v.(type) {
		case calendar.ID:
			l.records[v] = nil
		case calendar.ImageRef:
			if v.ID != 0 {
				l.records[v.ID] = nil
			} else {
				l.holders[imageClaim(v.URL)] = 0
			}
		case []calendar.Link:
			for _, link := range v {
				if link.Inline == nil {
					l.records[link.ID] = nil
					continue
				}
				l.collect(link.Inline)
				l.collectName(nameOf(linkKinds[field], inlineKey(linkKinds[field], link.Inline)))
			}
		case []calendar.TermRef:
			for _, t := range v {
				l.records[t.ID] = nil
				if !t.Number {
					l.holders[eventstore.SlugClaim(linkKinds[field], strings.ToLower(t.Entry))] = 0
					l.collectName(nameOf(linkKinds[field], l.termKey(t)))
				}
			}
		}
	}
}

func (l *links) collectName(name calendar.Name) {
	if name.Key != "" {
		l.named[name] = nil
	}
}

// termKey is the folded name that an entry of categories or tags means.
func (l *links) termKey(t calendar.TermRef) string {
	return htmltext.NameKey(l.s.rules.Clean.Name(t.Entry))
}

// inlineKey is the folded name of an inline venue or organizer.
func inlineKey(k calendar.Kind, attrs *calendar.Attrs) string {
	name, _ := attrs.Set[k.NameField()].(string)
	return htmltext.NameKey(name)
}

func imageClaim(url string) calendar.Claim { return calendar.Claim{Space: "image", Key: url} }

// look asks the store for all that was collected: one look-up, one load.
func (l *links) look(ctx context.Context) error {
	ask := eventstore.Lookup{Claims: slices.Collect(maps.Keys(l.holders)), Names: slices.Collect(maps.Keys(l.named))}
	if len(ask.Claims)+len(ask.Names) > 0 {
		found, err := l.s.store.Find(ctx, ask)
		if err != nil {
			return fmt.Errorf("find linked records: %w", err)
		}
		for i, c := range ask.Claims {
			l.holders[c] = found.Holders[i]
			l.records[found.Holders[i]] = nil
		}
		for i, n := range ask.Names {
			l.named[n] = found.Named[i]
			for _, id := range found.Named[i] {
				l.records[id] = nil
			}
		}
	}
	maps.DeleteFunc(l.records, func(id calendar.ID, _ *calendar.Record) bool { return id <= 0 })
	ids := slices.Collect(maps.Keys(l.records))
	loaded, err := l.s.records.Load(ctx, ids...)
	for i, rec := range loaded {
		l.records[ids[i]] = rec
	}
	return err
}

// live returns the record of a kind that an id names, nil when there is none.
func (l *links) live(k calendar.Kind, id calendar.ID) *calendar.Record {
	if rec := l.records[id]; rec != nil && rec.Kind == k {
		return rec
	}
	return nil
}

// values returns attributes with a list of linked records in place of each reference.
func (l *links) values(k calendar.Kind, attrs *calendar.Attrs, p *calendar.Problems) *calendar.Attrs {
	out := &calendar.Attrs{Lang: attrs.Lang, Set: maps.Clone(attrs.Set)}
	for i := range calendar.SpecOf(k).Fields {
		f := &calendar.SpecOf(k).Fields[i]
		switch v := attrs.Set[f.Name].(type) {
		case calendar.ID:
			l.checkID(k, f, v, p)
		case calendar.ImageRef:
			out.Set[f.Name] = l.image(f.Name, v, p)
		case []calendar.Link:
			out.Set[f.Name] = l.places(f.Name, v, p)
		case []calendar.TermRef:
			out.Set[f.Name] = l.terms(f.Name, v, p)
		}
	}
	return out
}

// checkID checks the id of an author, of a parent event or of a parent category.
func (l *links) checkID(k calendar.Kind, f *calendar.Field, id calendar.ID, p *calendar.Problems) {
	if f.Form == calendar.FormAuthor {
		if !calendar.MayNameAuthor(l.r.Caller, id) {
			p.Add(f.Name, calendar.ReasonOtherAuthor)
			return
		}
		k = calendar.KindUser
	}
	known := id == 0 && f.Form == calendar.FormParent || id == l.r.Caller.ID && f.Form == calendar.FormAuthor
	if !known && l.live(k, id) == nil {
		p.Add(f.Name, calendar.UnknownReason(k), id.String())
	}
}

// image finds a sent image, or makes a record for its URL.
func (l *links) image(field string, v calendar.ImageRef, p *calendar.Problems) []*linked {
	known := l.live(calendar.KindImage, v.ID)
	switch {
	case known != nil:
		return []*linked{{id: v.ID, url: known.Fields.String("url")}}
	case v.ID != 0:
		p.Add(field, calendar.ReasonUnknownImage, v.ID.String())
		return nil
	case !calendar.MayUseImageURL(l.r.Caller):
		p.Add(field, calendar.ReasonImageURLRight)
		return nil
	}
	claim := imageClaim(v.URL)
	if l.making[claim] == nil {
		l.making[claim] = &linked{id: l.holders[claim], kind: calendar.KindImage, url: v.URL}
	}
	return []*linked{l.making[claim]}
}

// places finds the entries of venue or organizer (docs/spec/interface.md 3.1.5).
func (l *links) places(field string, links []calendar.Link, p *calendar.Problems) []*linked {
	k := linkKinds[field]
	out := make([]*linked, 0, len(links))
	for _, link := range links {
		switch {
		case link.Inline != nil:
			out = append(out, l.inline(field, k, link, p))
		case l.live(k, link.ID) != nil:
			out = append(out, &linked{id: link.ID})
		default:
			p.Add(field, calendar.UnknownReason(k), link.Entry)
		}
	}
	return out
}

// inline links the published record of the same shown name, or makes one. Bad fields are
// refused in either case.
func (l *links) inline(field string, k calendar.Kind, link calendar.Link, p *calendar.Problems) *linked {
	var bad calendar.Problems
	m := &linked{kind: k, attrs: l.values(k, link.Inline, &bad)}
	for _, f := range bad.Fields {
		p.Add(field, calendar.ReasonInline, append([]string{link.Entry, f.Field, string(f.Reason)}, f.Args...)...)
	}
	key := inlineKey(k, link.Inline)
	if there := l.ofName(k, key, func(rec *calendar.Record) bool { return rec.Status(l.now) == calendar.StatusPublish }); there != nil {
		return there
	}
	l.promise(nameOf(k, key), m)
	return m
}

// ofName returns the record of a kind that shows a folded name and fits, the one of the
// lowest id, or the one that is made with the name; nil for none.
func (l *links) ofName(k calendar.Kind, key string, fits func(*calendar.Record) bool) *linked {
	name := nameOf(k, key)
	for _, id := range l.named[name] {
		if rec := l.live(k, id); rec != nil && showsName(rec, l.lang, key) && fits(rec) {
			return &linked{id: id}
		}
	}
	return l.making[name]
}

// promise notes a record that is made because there is none of the name.
func (l *links) promise(name calendar.Name, m *linked) {
	l.making[name] = m
	l.guard(name, len(l.named[name]))
}

// terms finds the entries of categories or tags (docs/spec/interface.md 3.1.6).
func (l *links) terms(field string, terms []calendar.TermRef, p *calendar.Problems) []*linked {
	k := linkKinds[field]
	out := make([]*linked, 0, len(terms))
	for _, t := range terms {
		if l.live(k, t.ID) != nil {
			out = append(out, &linked{id: t.ID})
		} else if m, reason := l.term(k, t); m != nil {
			out = append(out, m)
		} else {
			p.Add(field, reason, t.Entry)
		}
	}
	return out
}

// term finds a term by slug, else by shown name, else makes it. Terms that entries before it
// make are found too. Without one it returns why.
func (l *links) term(k calendar.Kind, t calendar.TermRef) (*linked, calendar.Reason) {
	if t.Number {
		return nil, calendar.UnknownReason(k)
	}
	bySlug := eventstore.SlugClaim(k, strings.ToLower(t.Entry))
	if id := l.holders[bySlug]; l.live(k, id) != nil {
		return &linked{id: id}, ""
	}
	if m := l.making[bySlug]; m != nil {
		return m, ""
	}
	key := l.termKey(t)
	if there := l.ofName(k, key, func(*calendar.Record) bool { return true }); there != nil {
		return there, ""
	}
	if t.ID != 0 || calendar.IsDigits(calendar.Trim(t.Entry)) {
		return nil, calendar.UnknownReason(k)
	}
	if !calendar.MayCreateTerm(l.r.Caller, k) {
		return nil, calendar.ReasonTermRight
	}
	var bad calendar.Problems
	attrs, _ := calendar.SpecOf(k).Decode(calendar.Input{"name": t.Entry}, calendar.OpCreate, l.lang, l.now, l.s.rules, l.r.Caller, &bad)
	if bad.Err() != nil {
		return nil, calendar.ReasonEntry
	}
	m := &linked{kind: k, attrs: attrs}
	l.promise(nameOf(k, key), m)
	clean := l.s.rules.Clean
	if slug := eventstore.SlugClaim(k, calendar.MakeSlug(clean.Name(t.Entry), clean)); slug.Key != "" && l.making[slug] == nil {
		l.making[slug] = m // where another has it, that one is found first
	}
	return m, ""
}

// order lists the records that are to be made for attributes, each once, and before it those
// that it refers to.
func (l *links) order(k calendar.Kind, attrs *calendar.Attrs) {
	for i := range calendar.SpecOf(k).Fields {
		refs, _ := attrs.Set[calendar.SpecOf(k).Fields[i].Name].([]*linked)
		for _, m := range refs {
			if m.id == 0 && !slices.Contains(l.made, m) {
				if m.attrs != nil {
					l.order(m.kind, m.attrs)
				}
				l.made = append(l.made, m)
			}
		}
	}
}

// make decides the records that are made with that of the request: images first, because
// venues name them.
func (l *links) make(ctx context.Context) error {
	for _, m := range l.made {
		if m.kind == calendar.KindImage {
			if _, err := l.add(nil, calendar.NewImage(m.id, m.url, l.lang)); err != nil {
				return err
			}
		}
	}
	for _, m := range l.made {
		if m.kind == calendar.KindImage {
			continue
		}
		complete(m.attrs)
		c, err := l.decide(ctx, m.kind, m.id, func(on *calendar.Decision) (calendar.Change, error) {
			return calendar.Create(m.kind, m.id, m.attrs, on)
		})
		if err == nil {
			_, err = l.add(nil, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// complete replaces linked records by their ids.
func complete(attrs *calendar.Attrs) {
	for field, v := range attrs.Set {
		refs, ok := v.([]*linked)
		if !ok {
			continue
		}
		if field == "image" {
			attrs.Set[field] = calendar.ResolvedImage{ID: refs[0].id, URL: refs[0].url}
			continue
		}
		ids := make([]calendar.ID, 0, len(refs))
		for _, m := range refs {
			if !slices.Contains(ids, m.id) {
				ids = append(ids, m.id)
			}
		}
		attrs.Set[field] = ids
	}
}
