package command

import (
	"context"
	"errors"
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

// Erased tells what an erasure did.
type Erased struct {
	Position calendar.Position // of the entry that says so
	Before   bool              // the record was erased already; what was missing is done
	Slugs    []string          // that the record had, the present one last; none when Before
	Images   []calendar.ID     // that nothing shows any more, and were erased with it
}

// Erase erases a record, and the images that no other one shows. The children of a
// category are passed on first. Of a record that is erased already what was missing is
// done, so it may be called again whenever it failed. Errors: calendar.CodeNotFound for
// none of the kind, and those of the store.
func (s *Service) Erase(ctx context.Context, e Erasure) (Erased, error) {
	for n := 1; ; n++ {
		out, err := s.erase(ctx, e)
		if !errors.Is(err, eventstore.ErrConflict) || n == maxAttempts {
			return out, readable(err, e.Kind)
		}
		if err := giveWay(ctx, n); err != nil {
			return Erased{}, err
		}
	}
}

func (s *Service) erase(ctx context.Context, e Erasure) (out Erased, err error) {
	release, err := s.locks.Acquire(ctx, e.ID)
	if err != nil {
		return out, err
	}
	defer release()
	rec, err := s.marked(ctx, e.Kind, e.ID)
	if err != nil {
		return out, err
	}
	if rec == nil || rec.Kind != e.Kind {
		return out, calendar.Fail(calendar.CodeNotFound, e.Kind)
	}
	of := eventstore.Erasure{
		Kind: e.Kind, ID: e.ID, Expected: rec.Version, Time: eventstore.Moment(s.now()), Actor: e.Actor,
		Cause: eventstore.Cause{Client: eraser, Reason: e.Reason},
	}
	// One that was put below it while it was erased is passed on when it is called again.
	if err := s.passOn(ctx, rec, &of); err != nil {
		return out, err
	}
	if rec.Erased {
		out.Before = true
		of.Expected--
		of.State, err = s.stateOf(ctx, rec.ID)
		of.Claims = calendar.Claims(rec)
		if err != nil {
			return out, err
		}
	} else if err := s.decideErasure(ctx, rec, &of, &out); err != nil {
		return out, err
	}
	res := s.store.Erase(ctx, of)
	if res.Err != nil {
		return out, fmt.Errorf("erase %s %d: %w", e.Kind, e.ID, res.Err)
	}
	out.Position = res.Position
	return out, nil
}

// eraser is the client of entries that erase.
const eraser = "daybook erase"

func (s *Service) stateOf(ctx context.Context, id calendar.ID) ([]byte, error) {
	states, err := s.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return states[0].Record, nil
}

// decideErasure decides what the erasure of a record leaves of it, and which images go.
func (s *Service) decideErasure(ctx context.Context, rec *calendar.Record, of *eventstore.Erasure, out *Erased) error {
	if err := erases(rec, of); err != nil {
		return err
	}
	images, slugs, err := s.everHad(ctx, rec)
	if err != nil {
		return err
	}
	out.Slugs = slugs
	if len(images) == 0 {
		return nil
	}
	if err := s.keepShown(ctx, rec.ID, images); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(images)) {
		image, err := s.marked(ctx, calendar.KindImage, id)
		if err != nil {
			return err
		}
		if image == nil || image.Kind != calendar.KindImage || image.Erased {
			continue
		}
		also := eventstore.Erasure{
			Kind: calendar.KindImage, ID: id, Time: of.Time, Actor: of.Actor, Cause: of.Cause,
		}
		if err := erases(image, &also); err != nil {
			return err
		}
		of.Also = append(of.Also, also)
		out.Images = append(out.Images, id)
	}
	return nil
}

// erases fills an erasure with what is left of the record.
func erases(rec *calendar.Record, of *eventstore.Erasure) error {
	c, err := calendar.Erase(rec)
	if err != nil {
		return err
	}
	d, _, err := eventstore.NewDraft(rec, c, of.Time)
	if err != nil {
		return err
	}
	of.Expected, of.State, of.Claims = d.Expected, d.State, d.Claims
	return nil
}

// passOn moves the children of a category to its parent.
func (s *Service) passOn(ctx context.Context, rec *calendar.Record, of *eventstore.Erasure) error {
	w := &writing{s: s, r: &Request{Kind: rec.Kind, Caller: calendar.Caller{ID: of.Actor}, Cause: of.Cause}, now: of.Time, epoch: s.store.Epoch()}
	g := &group{at: of.Time}
	if err := w.adopt(ctx, rec, g); err != nil || len(g.drafts) == 0 {
		return err
	}
	_, _, err := w.append(ctx, g, rec)
	return err
}

// erasePage is how many entries or records one read takes.
const erasePage = 500

// everHad gives the images and slugs that the versions of a record show.
func (s *Service) everHad(ctx context.Context, rec *calendar.Record) (map[calendar.ID]bool, []string, error) {
	images := map[calendar.ID]bool{}
	var slugs []string
	for after := int64(0); ; {
		entries, err := s.store.History(ctx, rec.ID, after, erasePage)
		if err != nil {
			return nil, nil, err
		}
		if len(entries) == 0 {
			return images, slugs, nil
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
				images[id] = true
			}
			if slug := then.Slug(); slug != "" {
				slugs = append(slices.DeleteFunc(slugs, func(s string) bool { return s == slug }), slug)
			}
		}
	}
}

// keepShown takes from some images those that a record shows at present that is another
// one than id. Nothing finds records by their image, and erasures are few.
func (s *Service) keepShown(ctx context.Context, id calendar.ID, images map[calendar.ID]bool) error {
	for _, k := range calendar.Kinds {
		if !k.IsPost() {
			continue
		}
		for after := calendar.ID(0); ; {
			states, err := s.store.Records(ctx, k, after, erasePage)
			if err != nil {
				return err
			}
			if len(states) == 0 {
				break
			}
			for i := range states {
				after = states[i].ID
				if after == id {
					continue
				}
				rec, err := calendar.DecodeRecord(states[i].Record)
				if err != nil {
					return fmt.Errorf("%s %d: %w", k, after, err)
				}
				delete(images, rec.Fields.ID("image"))
			}
		}
	}
	return nil
}
