package command

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
)

// linked is a record that an input refers to: one that exists, or one that the write makes
// with its own: an inline venue or organizer, a term by name, an image by URL.
type linked struct {
	id    calendar.ID // 0: it is to be made
	kind  calendar.Kind
	attrs *calendar.Attrs // nil for images
	url   string          // of images
}

// linker finds the records that one input refers to. What the store does not answer is the
// Err of the decision.
type linker struct {
	*decision
	loaded  []*calendar.Record         // that the input names by id
	pending map[calendar.Claim]*linked // to be made, by what they are found by
}

// link returns the attributes of the input with the records that they refer to. All refused
// fields come back together.
func (d *decision) link(ctx context.Context) (*calendar.Attrs, error) {
	loaded, err := d.s.records.Load(ctx, namedIDs(d.attrs)...)
	if err != nil {
		return nil, err
	}
	l := &linker{decision: d, loaded: loaded, pending: map[calendar.Claim]*linked{}}
	problems := calendar.Problems{Fields: slices.Clone(d.problems.Fields)}
	attrs := l.resolve(ctx, d.r.Kind, d.attrs, &problems)
	return attrs, cmp.Or(d.Err, problems.Err())
}

// namedIDs returns the ids in attributes, those of inline records too.
func namedIDs(attrs *calendar.Attrs) (ids []calendar.ID) {
	for _, v := range attrs.Set {
		switch v := v.(type) {
		case calendar.ID:
			ids = append(ids, v)
		case []calendar.Ref:
			for _, ref := range v {
				if ref.ID > 0 {
					ids = append(ids, ref.ID)
				}
				if ref.Inline != nil {
					ids = append(ids, namedIDs(ref.Inline)...)
				}
			}
		}
	}
	return ids
}

// named returns the record of a kind that the input names by an id, nil for none.
func (l *linker) named(kind calendar.Kind, id calendar.ID) *calendar.Record {
	for _, rec := range l.loaded {
		if rec != nil && rec.ID == id && rec.Kind == kind {
			return rec
		}
	}
	return nil
}

func existing(rec *calendar.Record) *linked {
	return &linked{id: rec.ID, url: rec.Fields.String("url")}
}

// resolve returns attributes with a list of linked records in place of each reference.
func (l *linker) resolve(ctx context.Context, kind calendar.Kind, attrs *calendar.Attrs, problems *calendar.Problems) *calendar.Attrs {
	out := &calendar.Attrs{Lang: attrs.Lang, Set: maps.Clone(attrs.Set)}
	fields := calendar.SpecOf(kind).Fields
	for i := range fields {
		field := &fields[i]
		switch v := attrs.Set[field.Name].(type) {
		case calendar.ID: // of an author or a parent
			rec := l.named(field.Links, v)
			switch {
			case field.Form == calendar.FormAuthor && v == l.r.Caller.ID:
			case rec == nil:
				problems.Add(field.Name, calendar.UnknownReason(field.Links), v.String())
			case rec.Kind == calendar.KindCategory:
				l.guardPlace(rec)
			}
		case []calendar.Ref:
			found := make([]*linked, len(v))
			for at, ref := range v {
				found[at] = l.find(ctx, field, ref, problems)
			}
			out.Set[field.Name] = found
		}
	}
	return out
}

// find returns the record that a reference means, or one that is made because none exists.
// Terms are found by slug before they are by shown name.
func (l *linker) find(ctx context.Context, field *calendar.Field, ref calendar.Ref, problems *calendar.Problems) *linked {
	k := field.Links
	if rec := l.named(k, ref.ID); rec != nil {
		return existing(rec)
	}
	claim := calendar.Claim{Space: "image", Key: ref.Entry}
	switch {
	case ref.IsID:
		problems.Add(field.Name, calendar.UnknownReason(k), ref.Entry)
		return nil
	case k.IsTerm():
		claim = eventstore.SlugClaim(k, strings.ToLower(ref.Entry))
	case ref.Inline != nil:
		return l.findByName(ctx, field, ref, problems)
	}
	if rec := l.live(ctx, k, l.holder(ctx, claim)); rec != nil {
		return existing(rec)
	}
	if made := l.pending[claim]; made != nil {
		return made
	}
	if ref.Inline != nil {
		return l.findByName(ctx, field, ref, problems)
	}
	l.pending[claim] = &linked{kind: k, url: ref.Entry}
	return l.pending[claim]
}

// findByName finds or makes a record by its shown name: any term, or a published venue or
// organizer. Bad fields are refused in either case.
func (l *linker) findByName(ctx context.Context, field *calendar.Field, ref calendar.Ref, problems *calendar.Problems) *linked {
	k := field.Links
	var bad calendar.Problems
	made := &linked{kind: k, attrs: l.resolve(ctx, k, ref.Inline, &bad)}
	for _, fieldError := range bad.Fields {
		problems.Add(field.Name, calendar.ReasonInline, append([]string{ref.Entry, fieldError.Field, string(fieldError.Reason)}, fieldError.Args...)...)
	}
	text, _ := ref.Inline.Set[k.NameField()].(string)
	name := nameOf(k, text)
	for _, rec := range l.sameName(ctx, name) {
		if k.IsTerm() || rec.Status(l.Now) == calendar.StatusPublish {
			return existing(rec)
		}
	}
	if before := l.pending[name]; before != nil {
		return before
	}
	switch {
	case !k.IsTerm():
	case calendar.IsDigits(calendar.Trim(ref.Entry)):
		problems.Add(field.Name, calendar.UnknownReason(k), ref.Entry)
	case !calendar.MayCreateTerm(l.r.Caller, k):
		problems.Add(field.Name, calendar.ReasonTermRight, ref.Entry)
	default:
		if slug := l.s.SlugOf(k, calendar.Input{k.NameField(): ref.Entry}); slug.Key != "" && l.pending[slug] == nil {
			l.pending[slug] = made // where another has it, that one is found first
		}
	}
	l.pending[name] = made
	return made
}

// makeLinked replaces linked records by their ids. It decides those that are to be made, each
// once, and before it those that it refers to.
func (d *decision) makeLinked(ctx context.Context, kind calendar.Kind, attrs *calendar.Attrs) error {
	fields := calendar.SpecOf(kind).Fields
	for i := range fields {
		field := fields[i].Name
		list, isList := attrs.Set[field].([]*linked)
		if !isList {
			continue
		}
		ids := make([]calendar.ID, 0, len(list))
		for _, m := range list {
			if err := d.makeOne(ctx, m); err != nil {
				return err
			}
			if !slices.Contains(ids, m.id) {
				ids = append(ids, m.id)
			}
		}
		attrs.Set[field] = ids
		if field == "image" {
			attrs.Set[field], attrs.Set["image_url"] = ids[0], list[0].url
		}
	}
	return nil
}

func (d *decision) makeOne(ctx context.Context, m *linked) error {
	if m.id != 0 {
		return nil
	}
	if m.attrs == nil {
		m.id = d.newID(ctx)
		_, err := d.add(nil, calendar.NewImage(m.id, m.url, d.lang))
		return err
	}
	if err := d.makeLinked(ctx, m.kind, m.attrs); err != nil {
		return err
	}
	m.id = d.newID(ctx)
	change, err := calendar.Create(m.kind, m.id, m.attrs, &d.Decision)
	if err == nil {
		_, err = d.add(nil, change)
	}
	return err
}
