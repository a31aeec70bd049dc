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
	ask     eventstore.Lookup
	found   map[calendar.Claim][]calendar.ID // who has a claim or a name
	records map[calendar.ID]*calendar.Record
	making  map[calendar.Claim]*linked // by what they are found by
	made    []*linked                  // in the order of their ids
}

// link returns the attributes of the input with the ids of the records that they refer to.
// Those that are not there are made. All refused fields come back together. id is the first
// of some fresh ids.
func (d *decision) link(ctx context.Context, fresh int) (attrs *calendar.Attrs, id calendar.ID, err error) {
	l := &links{
		decision: d, found: map[calendar.Claim][]calendar.ID{}, records: map[calendar.ID]*calendar.Record{}, making: map[calendar.Claim]*linked{},
	}
	l.collect(d.r.Kind, d.attrs)
	if err := l.look(ctx); err != nil {
		return nil, 0, err
	}
	p := calendar.Problems{Fields: slices.Clone(d.problems.Fields)}
	attrs = l.values(d.r.Kind, d.attrs, &p)
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
	if err := l.make(); err != nil {
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
			to := calendar.SpecOf(k).Field(field).Links
			for _, ref := range v {
				l.records[ref.ID] = nil
				if claim := claimOf(to, ref); claim.Key != "" {
					l.ask.Claims = append(l.ask.Claims, claim)
				}
				if ref.Inline != nil {
					l.ask.Names = append(l.ask.Names, nameOfRef(to, ref))
					l.collect(to, ref.Inline)
				}
			}
		}
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

// nameOfRef is the name that an entry is found by, that of an inline venue or organizer or of
// a term.
func nameOfRef(k calendar.Kind, ref calendar.Ref) calendar.Name {
	text, _ := ref.Inline.Set[k.NameField()].(string)
	return nameOf(k, htmltext.NameKey(text))
}

// look asks the store for all that was collected: one look-up, one load.
func (l *links) look(ctx context.Context) error {
	if len(l.ask.Claims)+len(l.ask.Names) > 0 {
		found, err := l.s.store.Find(ctx, l.ask)
		if err != nil {
			return fmt.Errorf("find linked records: %w", err)
		}
		for i, claim := range l.ask.Claims {
			l.found[claim] = found.Holders[i : i+1]
		}
		for i, name := range l.ask.Names {
			l.found[name] = found.Named[i]
		}
	}
	for _, ids := range l.found {
		for _, id := range ids {
			l.records[id] = nil
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
				found[at] = l.find(f, ref, p)
			}
			out.Set[f.Name] = found
		}
	}
	return out
}

// find returns the record that an entry refers to, or one that is made because there is none.
// Terms are found by slug before they are by shown name; of venues and organizers those that
// are published. Records that entries before it make are found too.
func (l *links) find(f *calendar.Field, ref calendar.Ref, p *calendar.Problems) *linked {
	k := f.Links
	if rec := l.live(k, ref.ID); rec != nil {
		return &linked{id: rec.ID, url: rec.Fields.String("url")}
	}
	claim, m := claimOf(k, ref), &linked{kind: k, url: ref.Entry}
	there := l.known(k, claim, func(*calendar.Record) bool { return true })
	switch {
	case ref.IsID:
		p.Add(f.Name, calendar.UnknownReason(k), ref.Entry)
	case there != nil:
		return there
	case ref.Inline == nil: // an image
		l.making[claim] = m
	default:
		return l.named(f, ref, p)
	}
	return m
}

// named finds or makes a record by its shown name. Bad fields are refused in either case.
func (l *links) named(f *calendar.Field, ref calendar.Ref, p *calendar.Problems) *linked {
	k, name := f.Links, nameOfRef(f.Links, ref)
	var bad calendar.Problems
	m := &linked{kind: k, attrs: l.values(k, ref.Inline, &bad)}
	for _, b := range bad.Fields {
		p.Add(f.Name, calendar.ReasonInline, append([]string{ref.Entry, b.Field, string(b.Reason)}, b.Args...)...)
	}
	there := l.known(k, name, func(rec *calendar.Record) bool {
		return showsName(rec, l.lang, name.Key) && (k.IsTerm() || rec.Status(l.Now) == calendar.StatusPublish)
	})
	switch {
	case there != nil:
		return there
	case k.IsTerm() && calendar.IsDigits(calendar.Trim(ref.Entry)):
		p.Add(f.Name, calendar.UnknownReason(k), ref.Entry)
	case k.IsTerm() && !calendar.MayCreateTerm(l.r.Caller, k):
		p.Add(f.Name, calendar.ReasonTermRight, ref.Entry)
	}
	l.making[name] = m
	l.guard(name, len(l.found[name]))
	if k.IsTerm() {
		if slug := l.s.SlugOf(k, calendar.Input{k.NameField(): ref.Entry}); slug.Key != "" && l.making[slug] == nil {
			l.making[slug] = m // where another has it, that one is found first
		}
	}
	return m
}

// known returns the record of a kind that has a claim or a name and fits, the one of the
// lowest id, or the one that is made with it; nil for none.
func (l *links) known(k calendar.Kind, claim calendar.Claim, fits func(*calendar.Record) bool) *linked {
	for _, id := range l.found[claim] {
		if rec := l.live(k, id); rec != nil && fits(rec) {
			return &linked{id: id, url: rec.Fields.String("url")}
		}
	}
	return l.making[claim]
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
func (l *links) make() error {
	for _, images := range [...]bool{true, false} {
		for _, m := range l.made {
			if (m.kind == calendar.KindImage) != images {
				continue
			}
			c := calendar.NewImage(m.id, m.url, l.lang)
			if !images {
				complete(m.attrs)
				var err error
				if c, err = calendar.Create(m.kind, m.id, m.attrs, &l.Decision); err != nil {
					return err
				}
			}
			if _, err := l.add(nil, c); err != nil {
				return err
			}
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
