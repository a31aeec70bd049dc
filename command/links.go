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

// linkedRecord is a record that an input refers to: one that exists, or one that the write makes
// with its own: an inline venue or organizer, a term by name, an image by URL.
type linkedRecord struct {
	id    calendar.ID // 0: it is to be made
	kind  calendar.Kind
	attrs *calendar.Attrs // nil for images
	url   string          // of images
}

// linker finds the records that one input refers to. What the store does not answer is the
// Err of the decision.
type linker struct {
	*decision
	loaded  []*calendar.Record               // that the input names by id
	pending map[calendar.Claim]*linkedRecord // to be made, by what they are found by
}

// link returns the attributes of the input with the records that they refer to. All refused
// fields come back together.
func (decision *decision) link(ctx context.Context) (*calendar.Attrs, error) {
	loaded, err := decision.service.records.Load(ctx, namedIDs(decision.attrs)...)
	if err != nil {
		return nil, err
	}
	l := &linker{decision: decision, loaded: loaded, pending: map[calendar.Claim]*linkedRecord{}}
	problems := calendar.Problems{Fields: slices.Clone(decision.problems.Fields)}
	attrs := l.resolve(ctx, decision.request.Kind, decision.attrs, &problems)
	return attrs, cmp.Or(decision.Err, problems.Err())
}

// namedIDs returns the ids in attributes, those of inline records too.
func namedIDs(attrs *calendar.Attrs) (ids []calendar.ID) {
	for _, value := range attrs.Set {
		switch v := value.(type) {
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
func (linker *linker) named(kind calendar.Kind, id calendar.ID) *calendar.Record {
	for _, rec := range linker.loaded {
		if rec != nil && rec.ID == id && rec.Kind == kind {
			return rec
		}
	}
	return nil
}

func existing(rec *calendar.Record) *linkedRecord {
	return &linkedRecord{id: rec.ID, url: rec.Fields.String("url")}
}

// resolve returns attributes with a list of linked records in place of each reference.
func (linker *linker) resolve(ctx context.Context, kind calendar.Kind, attrs *calendar.Attrs, problems *calendar.Problems) *calendar.Attrs {
	out := &calendar.Attrs{Lang: attrs.Lang, Set: maps.Clone(attrs.Set)}
	fields := calendar.SpecOf(kind).Fields
	for i := range fields {
		field := &fields[i]
		switch v := attrs.Set[field.Name].(type) {
		case calendar.ID: // of an author or a parent
			rec := linker.named(field.Links, v)
			switch {
			case field.Form == calendar.FormAuthor && v == linker.request.Caller.ID:
			case rec == nil:
				problems.Add(field.Name, calendar.UnknownReason(field.Links), v.String())
			case rec.Kind == calendar.KindCategory:
				linker.guardPlace(rec)
			}
		case []calendar.Ref:
			found := make([]*linkedRecord, len(v))
			for at, ref := range v {
				found[at] = linker.find(ctx, field, ref, problems)
			}
			out.Set[field.Name] = found
		}
	}
	return out
}

// find returns the record that a reference means, or one that is made because none exists.
// Terms are found by slug before they are by shown name.
func (linker *linker) find(ctx context.Context, field *calendar.Field, ref calendar.Ref, problems *calendar.Problems) *linkedRecord {
	kind := field.Links
	if rec := linker.named(kind, ref.ID); rec != nil {
		return existing(rec)
	}
	claim := calendar.Claim{Space: "image", Key: ref.Entry}
	switch {
	case ref.IsID:
		problems.Add(field.Name, calendar.UnknownReason(kind), ref.Entry)
		return nil
	case kind.IsTerm():
		claim = eventstore.SlugClaim(kind, strings.ToLower(ref.Entry))
	case ref.Inline != nil:
		return linker.findByName(ctx, field, ref, problems)
	}
	if rec := linker.live(ctx, kind, linker.holder(ctx, claim)); rec != nil {
		return existing(rec)
	}
	if made := linker.pending[claim]; made != nil {
		return made
	}
	if ref.Inline != nil {
		return linker.findByName(ctx, field, ref, problems)
	}
	linker.pending[claim] = &linkedRecord{kind: kind, url: ref.Entry}
	return linker.pending[claim]
}

// findByName finds or makes a record by its shown name: any term, or a published venue or
// organizer. Bad fields are refused in either case.
func (linker *linker) findByName(ctx context.Context, field *calendar.Field, ref calendar.Ref, problems *calendar.Problems) *linkedRecord {
	kind := field.Links
	var bad calendar.Problems
	made := &linkedRecord{kind: kind, attrs: linker.resolve(ctx, kind, ref.Inline, &bad)}
	for _, fieldError := range bad.Fields {
		problems.Add(field.Name, calendar.ReasonInline, append([]string{ref.Entry, fieldError.Field, string(fieldError.Reason)}, fieldError.Args...)...)
	}
	text, _ := ref.Inline.Set[kind.NameField()].(string)
	name := nameOf(kind, text)
	for _, rec := range linker.sameName(ctx, name) {
		if kind.IsTerm() || rec.Status(linker.Now) == calendar.StatusPublish {
			return existing(rec)
		}
	}
	if before := linker.pending[name]; before != nil {
		return before
	}
	switch {
	case !kind.IsTerm():
	case calendar.IsDigits(calendar.Trim(ref.Entry)):
		problems.Add(field.Name, calendar.UnknownReason(kind), ref.Entry)
	case !calendar.MayCreateTerm(linker.request.Caller, kind):
		problems.Add(field.Name, calendar.ReasonTermRight, ref.Entry)
	default:
		if slug := linker.service.SlugOf(kind, calendar.Input{kind.NameField(): ref.Entry}); slug.Key != "" && linker.pending[slug] == nil {
			linker.pending[slug] = made // where another has it, that one is found first
		}
	}
	linker.pending[name] = made
	return made
}

// makeLinked replaces linked records by their ids. It decides those that are to be made, each
// once, and before it those that it refers to.
func (decision *decision) makeLinked(ctx context.Context, kind calendar.Kind, attrs *calendar.Attrs) error {
	fields := calendar.SpecOf(kind).Fields
	for i := range fields {
		field := fields[i].Name
		list, isList := attrs.Set[field].([]*linkedRecord)
		if !isList {
			continue
		}
		ids := make([]calendar.ID, 0, len(list))
		for _, record := range list {
			if err := decision.makeOne(ctx, record); err != nil {
				return err
			}
			if !slices.Contains(ids, record.id) {
				ids = append(ids, record.id)
			}
		}
		attrs.Set[field] = ids
		if field == "image" {
			attrs.Set[field], attrs.Set["image_url"] = ids[0], list[0].url
		}
	}
	return nil
}

func (decision *decision) makeOne(ctx context.Context, linked *linkedRecord) error {
	if linked.id != 0 {
		return nil
	}
	if linked.attrs == nil {
		linked.id = decision.newID(ctx)
		_, err := decision.add(nil, calendar.NewImage(linked.id, linked.url, decision.lang))
		return err
	}
	if err := decision.makeLinked(ctx, linked.kind, linked.attrs); err != nil {
		return err
	}
	linked.id = decision.newID(ctx)
	change, err := calendar.Create(linked.kind, linked.id, linked.attrs, &decision.Decision)
	if err == nil {
		_, err = decision.add(nil, change)
	}
	return err
}
