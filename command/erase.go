package command

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// Erasure asks for a record to be erased for good: every word of it, in every version.
type Erasure struct {
	Kind   calendar.Kind // any but KindImage, which goes with what showed it
	ID     calendar.ID
	Actor  calendar.ID // administrator, 0 the operator
	Reason string      // why; it stays in the log
}

// Erased is what an erasure did.
type Erased struct {
	Position calendar.Position // of the entry that says so
	Before   bool              // the record was erased already; what was missing is done
	Slugs    []string          // that the record had, the present one last; none when Before
	Images   []calendar.ID     // that nothing shows any more, and were erased with it
}

// eraser is the client of entries that erase.
const eraser = "daybook erase"

// Erase erases a record, and the images that no other one shows. The children of a
// category are passed on first. Of a record that is erased already what was missing is
// done, so it may be called again whenever it failed. Errors: calendar.CodeNotFound for
// none of the kind, and those of the store.
func (s *Service) Erase(ctx context.Context, erasure Erasure) (Erased, error) {
	request := &Request{
		Kind: erasure.Kind, Target: Target{ID: erasure.ID}, Caller: calendar.Caller{ID: erasure.Actor},
		Cause: eventstore.Cause{Client: eraser, Reason: erasure.Reason},
	}
	out, err := attempts(ctx, func() (Erased, error) { return s.begin(request).erase(ctx) })
	return out, readable(err, erasure.Kind)
}

// erase is an attempt of Erase.
func (d *decision) erase(ctx context.Context) (out Erased, err error) {
	d.start(ctx)
	rec, err := d.s.records.find(ctx, d.r.Target.ID)
	switch {
	case err != nil:
		return out, err
	case rec == nil || rec.Kind != d.r.Kind:
		return out, calendar.Fail(calendar.CodeNotFound, d.r.Kind)
	}
	// One that was put below it while it was erased is passed on when it is called again.
	if err := d.adopt(ctx, rec); err != nil {
		return out, err
	}
	if rec.Erased {
		d.changes.Redact = []calendar.ID{rec.ID}
		if len(d.changes.Drafts) == 0 {
			d.changes.Guards = nil
		}
		if done := d.append(ctx, rec.ID); done.Err != nil {
			return out, done.Err
		}
		states, err := d.s.store.Load(ctx, rec.ID)
		if err != nil {
			return out, err
		}
		return Erased{Position: states[0].Position, Before: true}, nil
	}
	if err := d.redact(rec); err != nil {
		return out, err
	}
	images, slugs, err := d.everHad(ctx, rec)
	if err != nil {
		return out, err
	}
	out.Slugs = slugs
	for _, image := range images {
		if image == nil || image.Kind != calendar.KindImage || image.Erased {
			continue
		}
		if err := d.redact(image); err != nil {
			return out, err
		}
		out.Images = append(out.Images, image.ID)
	}
	done := d.append(ctx, rec.ID)
	out.Position = done.Position - calendar.Position(len(out.Images))
	return out, done.Err
}

// redact adds the erasure of a record.
func (d *decision) redact(rec *calendar.Record) error {
	change, err := calendar.Erase(rec)
	if err == nil {
		_, err = d.add(rec, change)
	}
	d.changes.Redact = append(d.changes.Redact, rec.ID)
	return err
}

// everHad returns the images that the versions of a record show and no other record does at
// present, and the slugs that it had. Nothing finds records by their image, and erasures are
// few.
func (d *decision) everHad(ctx context.Context, rec *calendar.Record) (images []*calendar.Record, slugs []string, err error) {
	shown := map[calendar.ID]bool{}
	for entry, err := range eventstore.Versions(ctx, d.s.store, rec.ID) {
		if err != nil {
			return nil, nil, err
		}
		if entry.Redacted != nil {
			continue
		}
		then, err := calendar.DecodeRecord(entry.State)
		if err != nil {
			return nil, nil, fmt.Errorf("version %d of %s %d: %w", entry.Version, rec.Kind, rec.ID, err)
		}
		shown[then.Fields.ID("image")] = true
		if slug := then.Slug(); slug != "" {
			slugs = append(slices.DeleteFunc(slugs, func(text string) bool { return text == slug }), slug)
		}
	}
	delete(shown, 0)
	for page, err := range eventstore.Records(ctx, d.s.store, 0) {
		if err != nil {
			return nil, nil, err
		}
		for i := range page {
			if len(shown) == 0 || page[i].ID == rec.ID || !page[i].Kind.IsPost() {
				continue
			}
			other, err := calendar.DecodeRecord(page[i].Record)
			if err != nil {
				return nil, nil, fmt.Errorf("%s %d: %w", page[i].Kind, page[i].ID, err)
			}
			delete(shown, other.Fields.ID("image"))
		}
		if len(shown) == 0 {
			break
		}
	}
	images, err = d.s.records.load(ctx, slices.Sorted(maps.Keys(shown))...)
	return images, slugs, err
}
