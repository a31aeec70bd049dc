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
func (s *Service) Erase(ctx context.Context, e Erasure) (Erased, error) {
	r := &Request{
		Kind: e.Kind, Target: Target{ID: e.ID}, Caller: calendar.Caller{ID: e.Actor},
		Cause: eventstore.Cause{Client: eraser, Reason: e.Reason},
	}
	out, err := attempts(ctx, func() (Erased, error) { return s.begin(r).erase(ctx) })
	return out, readable(err, e.Kind)
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
	if out.Before = rec.Erased; out.Before {
		d.changes.Redact = []calendar.ID{rec.ID}
		if done := d.append(ctx, rec.ID); done.Err != nil {
			return out, done.Err
		}
		states, err := d.s.store.Load(ctx, rec.ID)
		if err == nil {
			out.Position = states[0].Position
		}
		return out, err
	}
	if err := d.redact(rec); err != nil {
		return out, err
	}
	images, slugs, err := d.everHad(ctx, rec)
	if err != nil {
		return out, err
	}
	out.Slugs = slugs
	for _, id := range images {
		image, err := d.s.records.find(ctx, id)
		if err == nil && image != nil && image.Kind == calendar.KindImage && !image.Erased {
			out.Images = append(out.Images, id)
			err = d.redact(image)
		}
		if err != nil {
			return out, err
		}
	}
	done := d.append(ctx, rec.ID)
	out.Position = done.Position - calendar.Position(len(out.Images))
	return out, done.Err
}

// redact adds the erasure of a record.
func (d *decision) redact(rec *calendar.Record) error {
	c, err := calendar.Erase(rec)
	if err == nil {
		_, err = d.add(rec, c)
	}
	d.changes.Redact = append(d.changes.Redact, rec.ID)
	return err
}

// erasePage is how many entries or records one read takes.
const erasePage = 500

// everHad returns the images that the versions of a record show and nothing else does, and
// the slugs that it had.
func (d *decision) everHad(ctx context.Context, rec *calendar.Record) (images []calendar.ID, slugs []string, err error) {
	shown := map[calendar.ID]bool{}
	for after := int64(0); ; {
		entries, err := d.s.store.Read(ctx, eventstore.Range{Record: rec.ID, After: uint64(after), Limit: erasePage})
		if err != nil {
			return nil, nil, err
		}
		if len(entries) == 0 {
			break
		}
		for i := range entries {
			after = entries[i].Version
			if entries[i].Redacted != nil {
				continue
			}
			then, err := calendar.DecodeRecord(entries[i].State)
			if err != nil {
				return nil, nil, fmt.Errorf("version %d of %s %d: %w", after, rec.Kind, rec.ID, err)
			}
			if id := then.Fields.ID("image"); id != 0 {
				shown[id] = true
			}
			if slug := then.Slug(); slug != "" {
				slugs = append(slices.DeleteFunc(slugs, func(s string) bool { return s == slug }), slug)
			}
		}
	}
	if len(shown) > 0 {
		err = d.dropShown(ctx, shown)
	}
	return slices.Sorted(maps.Keys(shown)), slugs, err
}

// dropShown takes from some images those that a record shows at present, but for the one
// that is erased. Nothing finds records by their image, and erasures are few.
func (d *decision) dropShown(ctx context.Context, images map[calendar.ID]bool) error {
	for _, k := range calendar.Kinds {
		for after := calendar.ID(0); k.IsPost(); {
			held, err := d.s.store.Records(ctx, k, after, erasePage)
			if err != nil {
				return err
			}
			if len(held) == 0 {
				break
			}
			for i := range held {
				if after = held[i].ID; after == d.r.Target.ID {
					continue
				}
				rec, err := calendar.DecodeRecord(held[i].Record)
				if err != nil {
					return fmt.Errorf("%s %d: %w", k, after, err)
				}
				delete(images, rec.Fields.ID("image"))
			}
		}
	}
	return nil
}
