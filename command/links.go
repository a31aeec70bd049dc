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
	l.collect(d.r.Kind, d.attrs)
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
func (l *links) collect(k calendar.Kind, attrs *calendar.Attrs) {
	for field, v := range attrs.Set {
		switch v := v.(type) {
		case calendar.ID:
			l.records[v] = nil
		case []calendar.Ref:
			for _, ref := range v {
				l.collectRef(calendar.SpecOf(k).Field(field).Links, ref)
			}
		}
	}
}

func (l *links) collectRef(k calendar.Kind, ref calendar.Ref) {
	l.records[ref.ID] = nil
	if ref.Inline != nil {
		l.collect(k, ref.Inline)
	}
	if claim := claimOf(k, ref); claim.Key != "" {
		l.holders[claim] = 0
	}
	if name := l.nameOf(k, ref); name.Key != "" {
		l.named[name] = nil
	}
}

// claimOf is what an entry is found by: the URL of an image, the slug of a term.
func claimOf(k calendar.Kind, ref calendar.Ref) (claim calendar.Claim) {
	switch {
	case ref.IsID:
	case k == calendar.KindImage:
		claim = calendar.Claim{Space: "image", Key: ref.Entry}
	case k.IsTerm():
		claim = eventstore.SlugClaim(k, strings.ToLower(ref.Entry))
	}
	return claim
}

// nameOf is the name that an entry is found by, that of an inline venue or organizer or of a
// term.
func (l *links) nameOf(k calendar.Kind, ref calendar.Ref) calendar.Name {
	var text string
	switch {
	case ref.IsID:
	case ref.Inline != nil:
		text, _ = ref.Inline.Set[k.NameField()].(string)
	case k.IsTerm():
		text = l.s.rules.Clean.Name(ref.Entry)
	}
	return nameOf(k, htmltext.NameKey(text))
}

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
		case calendar.ID: // of an author or a parent
			self := f.Form == calendar.FormAuthor && v == l.r.Caller.ID
			if !self && l.live(f.Links, v) == nil {
				p.Add(f.Name, calendar.UnknownReason(f.Links), v.String())
			}
		case []calendar.Ref:
			found := make([]*linked, len(v))
			for at, ref := range v {
				var reason calendar.Reason
				if found[at], reason = l.find(f, ref, p); found[at] == nil {
					p.Add(f.Name, reason, ref.Entry)
				}
			}
			out.Set[f.Name] = found
		}
	}
	return out
}

// find returns the record that an entry refers to, or one that is made. Without one it
// returns why.
func (l *links) find(f *calendar.Field, ref calendar.Ref, p *calendar.Problems) (*linked, calendar.Reason) {
	rec := l.live(f.Links, ref.ID)
	switch {
	case rec != nil:
		return &linked{id: rec.ID, url: rec.Fields.String("url")}, ""
	case ref.IsID:
		return nil, calendar.UnknownReason(f.Links)
	case ref.Inline != nil:
		return l.inline(f, ref, p), ""
	case f.Links == calendar.KindImage:
		return l.image(ref), ""
	default:
		return l.term(f.Links, ref)
	}
}

// image finds an image by its URL, or makes a record for it.
func (l *links) image(ref calendar.Ref) *linked {
	claim := claimOf(calendar.KindImage, ref)
	if l.making[claim] == nil {
		l.making[claim] = &linked{id: l.holders[claim], kind: calendar.KindImage, url: ref.Entry}
	}
	return l.making[claim]
}

// inline links the published record of the same shown name, or makes one. Bad fields are
// refused in either case.
func (l *links) inline(f *calendar.Field, ref calendar.Ref, p *calendar.Problems) *linked {
	var bad calendar.Problems
	m := &linked{kind: f.Links, attrs: l.values(f.Links, ref.Inline, &bad)}
	for _, b := range bad.Fields {
		p.Add(f.Name, calendar.ReasonInline, append([]string{ref.Entry, b.Field, string(b.Reason)}, b.Args...)...)
	}
	name := l.nameOf(f.Links, ref)
	there := l.ofName(f.Links, name, func(rec *calendar.Record) bool { return rec.Status(l.now) == calendar.StatusPublish })
	if there == nil {
		l.promise(name, m)
		there = m
	}
	return there
}

// ofName returns the record of a kind that shows a name and fits, the one of the
// lowest id, or the one that is made with the name; nil for none.
func (l *links) ofName(k calendar.Kind, name calendar.Name, fits func(*calendar.Record) bool) *linked {
	for _, id := range l.named[name] {
		if rec := l.live(k, id); rec != nil && showsName(rec, l.lang, name.Key) && fits(rec) {
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

// term finds a term by slug, else by shown name, else makes it. Terms that entries before it
// make are found too. Without one it returns why.
func (l *links) term(k calendar.Kind, ref calendar.Ref) (*linked, calendar.Reason) {
	bySlug := claimOf(k, ref)
	if id := l.holders[bySlug]; l.live(k, id) != nil {
		return &linked{id: id}, ""
	}
	if m := l.making[bySlug]; m != nil {
		return m, ""
	}
	name := l.nameOf(k, ref)
	if there := l.ofName(k, name, func(*calendar.Record) bool { return true }); there != nil {
		return there, ""
	}
	if ref.ID != 0 || calendar.IsDigits(calendar.Trim(ref.Entry)) {
		return nil, calendar.UnknownReason(k)
	}
	if !calendar.MayCreateTerm(l.r.Caller, k) {
		return nil, calendar.ReasonTermRight
	}
	var bad calendar.Problems
	attrs, _ := calendar.SpecOf(k).Decode(calendar.Input{"name": ref.Entry}, calendar.OpCreate, l.lang, l.now, l.s.rules, l.r.Caller, &bad)
	if bad.Err() != nil {
		return nil, calendar.ReasonEntry
	}
	m := &linked{kind: k, attrs: attrs}
	l.promise(name, m)
	if slug := l.s.SlugOf(k, calendar.Input{"name": ref.Entry}); slug.Key != "" && l.making[slug] == nil {
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
		c, err := calendar.Create(m.kind, m.id, m.attrs, l.on(ctx, m.kind, m.id))
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
			attrs.Set[field], attrs.Set["image_url"] = refs[0].id, refs[0].url
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
