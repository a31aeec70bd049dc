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
	id      calendar.ID // 0: it is to be made
	kind    calendar.Kind
	attrs   *calendar.Attrs // nil for images
	address string          // of images
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
			for _, reference := range v {
				if reference.ID > 0 {
					ids = append(ids, reference.ID)
				}
				if reference.Inline != nil {
					ids = append(ids, namedIDs(reference.Inline)...)
				}
			}
		}
	}
	return ids
}

// named returns the record of a kind that the input names by an id, nil for none.
func (linker *linker) named(kind calendar.Kind, id calendar.ID) *calendar.Record {
	for _, record := range linker.loaded {
		if record != nil && record.ID == id && record.Kind == kind {
			return record
		}
	}
	return nil
}

func existing(record *calendar.Record) *linkedRecord {
	return &linkedRecord{id: record.ID, address: record.Fields.String("url")}
}

// resolve returns attributes with a list of linked records in place of each reference.
func (linker *linker) resolve(ctx context.Context, kind calendar.Kind, attrs *calendar.Attrs, problems *calendar.Problems) *calendar.Attrs {
	result := &calendar.Attrs{Lang: attrs.Lang, Set: maps.Clone(attrs.Set)}
	fields := calendar.SpecOf(kind).Fields
	for i := range fields {
		field := &fields[i]
		switch v := attrs.Set[field.Name].(type) {
		case calendar.ID: // of an author or a parent
			record := linker.named(field.Links, v)
			switch {
			case field.Form == calendar.FormAuthor && v == linker.request.Caller.ID:
			case record == nil:
				problems.Add(field.Name, calendar.UnknownReason(field.Links), v.String())
			case record.Kind == calendar.KindCategory:
				linker.guardPlace(record)
			}
		case []calendar.Ref:
			found := make([]*linkedRecord, len(v))
			for index, reference := range v {
				found[index] = linker.find(ctx, field, reference, problems)
			}
			result.Set[field.Name] = found
		}
	}
	return result
}

// find returns the record that a reference means, or one that is made because none exists.
// Terms are found by slug before they are by shown name.
func (linker *linker) find(ctx context.Context, field *calendar.Field, reference calendar.Ref, problems *calendar.Problems) *linkedRecord {
	kind := field.Links
	if record := linker.named(kind, reference.ID); record != nil {
		return existing(record)
	}
	claim := calendar.Claim{Space: "image", Key: reference.Entry}
	switch {
	case reference.IsID:
		problems.Add(field.Name, calendar.UnknownReason(kind), reference.Entry)
		return nil
	case kind.IsTerm():
		claim = eventstore.SlugClaim(kind, strings.ToLower(reference.Entry))
	case reference.Inline != nil:
		return linker.findByName(ctx, field, reference, problems)
	}
	if record := linker.live(ctx, kind, linker.holder(ctx, claim)); record != nil {
		return existing(record)
	}
	if made := linker.pending[claim]; made != nil {
		return made
	}
	if reference.Inline != nil {
		return linker.findByName(ctx, field, reference, problems)
	}
	linker.pending[claim] = &linkedRecord{kind: kind, address: reference.Entry}
	return linker.pending[claim]
}

// findByName finds or makes a record by its shown name: any term, or a published venue or
// organizer. Bad fields are refused in either case.
func (linker *linker) findByName(ctx context.Context, field *calendar.Field, reference calendar.Ref, problems *calendar.Problems) *linkedRecord {
	kind := field.Links
	var bad calendar.Problems
	made := &linkedRecord{kind: kind, attrs: linker.resolve(ctx, kind, reference.Inline, &bad)}
	for _, fieldError := range bad.Fields {
		problems.Add(field.Name, calendar.ReasonInline, append([]string{reference.Entry, fieldError.Field, string(fieldError.Reason)}, fieldError.Args...)...)
	}
	text, _ := reference.Inline.Set[kind.NameField()].(string)
	name := nameOf(kind, text)
	for _, record := range linker.sameName(ctx, name) {
		if kind.IsTerm() || record.Status(linker.Now) == calendar.StatusPublish {
			return existing(record)
		}
	}
	if before := linker.pending[name]; before != nil {
		return before
	}
	switch {
	case !kind.IsTerm():
	case calendar.IsDigits(calendar.Trim(reference.Entry)):
		problems.Add(field.Name, calendar.UnknownReason(kind), reference.Entry)
	case !calendar.MayCreateTerm(linker.request.Caller, kind):
		problems.Add(field.Name, calendar.ReasonTermRight, reference.Entry)
	default:
		if slug := linker.service.SlugOf(kind, calendar.Input{kind.NameField(): reference.Entry}); slug.Key != "" && linker.pending[slug] == nil {
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
			attrs.Set[field], attrs.Set["image_url"] = ids[0], list[0].address
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
		_, err := decision.add(nil, calendar.NewImage(linked.id, linked.address, decision.language))
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
