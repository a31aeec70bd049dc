package command

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// Erased is what an erasure did.
type Erased struct {
	Position calendar.Position // of the entry that says so
	Before   bool              // the record was erased already; what was missing is done
	Slugs    []string          // that the record had, the present one last; none when Before
	Images   []calendar.ID     // that nothing shows any more, and were erased with it
}

// eraser is the client of entries that erase.
const eraser = "daybook erase"

// Erase erases a record for good, every word of it in every version, and the images that no
// other one shows. Its kind is any but KindImage, the caller an administrator, or the zero one
// for the operator; the reason stays in the log. The children of a category are passed on
// first. Of a record that is erased already what was missing is done, so it may be called
// again whenever it failed. Errors: calendar.CodeNotFound for none of the kind, and those of
// the store.
func (service *Service) Erase(ctx context.Context, request Request) (Erased, error) {
	request.Cause.Client = eraser
	erased, err := attempts(ctx, func() (Erased, error) { return service.begin(&request).erase(ctx) })
	return erased, readable(err, request.Kind)
}

// erase is an attempt of Erase.
func (decision *decision) erase(ctx context.Context) (result Erased, err error) {
	decision.start(ctx)
	record, err := decision.service.records.find(ctx, decision.request.Target.ID)
	switch {
	case err != nil:
		return result, err
	case record == nil || record.Kind != decision.request.Kind:
		return result, calendar.Fail(calendar.CodeNotFound, decision.request.Kind)
	}
	// One that was put below it while it was erased is passed on when it is called again.
	if err := decision.adopt(ctx, record); err != nil {
		return result, err
	}
	erased := []*calendar.Record{record}
	if result.Before = record.Erased; !result.Before {
		var images []*calendar.Record
		if images, result.Slugs, err = decision.everHad(ctx, record); err != nil {
			return result, err
		}
		for _, image := range images {
			if image != nil && image.Kind == calendar.KindImage && !image.Erased {
				erased, result.Images = append(erased, image), append(result.Images, image.ID)
			}
		}
	}
	for _, rec := range erased {
		decision.changes.Redact = append(decision.changes.Redact, rec.ID)
		if !rec.Erased {
			change, err := calendar.Erase(rec)
			if err == nil {
				_, err = decision.add(rec, change)
			}
			if err != nil {
				return result, err
			}
		}
	}
	if done := decision.append(ctx, record.ID); done.Err != nil {
		return result, done.Err
	}
	states, err := decision.service.store.Load(ctx, record.ID)
	if err == nil {
		result.Position = states[0].Position
	}
	return result, err
}

// everHad returns the images that the versions of a record show and no other record does at
// present, and the slugs that it had. Nothing finds records by their image, and erasures are
// few.
func (decision *decision) everHad(ctx context.Context, record *calendar.Record) (images []*calendar.Record, slugs []string, err error) {
	shown := map[calendar.ID]bool{}
	for entry, err := range eventstore.Entries(ctx, decision.service.store, record.ID) {
		if err != nil {
			return nil, nil, err
		}
		if entry.Redacted != nil {
			continue
		}
		then, err := calendar.DecodeRecord(entry.State)
		if err != nil {
			return nil, nil, fmt.Errorf("version %d of %s %d: %w", entry.Version, record.Kind, record.ID, err)
		}
		shown[then.Fields.ID("image")] = true
		if slug := then.Slug(); slug != "" {
			slugs = append(slices.DeleteFunc(slugs, func(text string) bool { return text == slug }), slug)
		}
	}
	delete(shown, 0)
	for page, err := range eventstore.Records(ctx, decision.service.store, 0) {
		if err != nil {
			return nil, nil, err
		}
		for i := range page {
			if page[i].ID == record.ID || !page[i].Kind.IsPost() {
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
	images, err = decision.service.records.load(ctx, slices.Sorted(maps.Keys(shown))...)
	return images, slugs, err
}
