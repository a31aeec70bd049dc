package query

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// countsLimit is how long a single read waits for counts. A read model that hangs must not
// keep single records from being read.
const countsLimit = time.Second

// lastingCounts returns the numbers of counted events of some terms: the last known ones
// while the read model is out of reach.
func (service *Service) lastingCounts(ctx context.Context, terms []*calendar.Record) (counts map[calendar.ID]int, err error) {
	within, cancel := context.WithTimeout(ctx, countsLimit)
	defer cancel()
	counts, err = planned(within, service, nil, func(plan *listPlan) (counts map[calendar.ID]int) {
		counts, plan.err = plan.countsOf(within, terms)
		return counts
	})
	late := within.Err() != nil && ctx.Err() == nil
	if err == nil || !late && !errors.Is(err, readmodel.ErrUnavailable) {
		return counts, err
	}
	if last := service.shared.Load(); last != nil {
		counts, _ = last.knownCounts(terms)
	}
	return counts, nil
}

// countWait is the longest wait of the answer to a write for its counts, where lists do
// not wait shorter. A read model in the same process is a millisecond behind.
const countWait = 500 * time.Millisecond

// AwaitCounts waits a moment until the counts that a view of record shows take the write at position
// into account, so that the answer to the write is the one of a read right after it, ETag
// included (interface 2.9). Counts may lag: when they still do, or the read model is out of
// reach, the answer goes out as it is.
//
// An index of another process is not waited for: each such wait would cost it a refresh.
func (service *Service) AwaitCounts(ctx context.Context, record *calendar.Record, position calendar.Position) {
	terms := appendLinks(nil, record, EmbedCategories|EmbedTags)
	if !service.settings.LocalIndex || terms == nil && (!record.Kind.IsTerm() || record.Version == 1) { // nothing has a new term
		return
	}
	wait, cancel := context.WithTimeout(ctx, min(countWait, service.settings.PositionWait))
	defer cancel()
	_ = service.index.Wait(wait, position) // counts may lag
}

// Read answers a single read: it finds the record by id or slug, checks that the
// caller may read it, in the order of interface 7.2 and 7.3 (CodeNotFound, CodeErased,
// CodeNoLongerAvailable, CodeNotAccessible, CodePasswordProtected), and returns its view.
// The password is checked by verify, which is called for protected events that the
// caller needs it for; nil (reads by slug) refuses them.
func (service *Service) Read(ctx context.Context, kind calendar.Kind, id calendar.ID, slug string, caller calendar.Caller, language calendar.Lang, embeds Embeds,
	verify func(ctx context.Context, id calendar.ID) (bool, error),
) (View, error) {
	plan, err := service.current(ctx)
	if err != nil && !errors.Is(err, readmodel.ErrUnavailable) {
		return View{}, err
	}
	moment := Moment{Load: service.records.Load, counts: service.lastingCounts}
	if plan != nil {
		defer plan.view.Close()
		moment.Load, moment.counts = plan.view.Get, plan.countsOf
	}
	var record *calendar.Record
	if slug != "" {
		record, err = service.records.BySlug(ctx, kind, slug)
	} else {
		found, failed := moment.Load(ctx, id)
		record, err = append(found, nil)[0], failed // none with an error
	}
	switch {
	case err != nil:
		return View{}, err
	case record == nil || record.Kind != kind:
		return View{}, service.records.Absent(ctx, kind, id)
	}
	moment.Now = service.settings.Now()
	switch {
	case kind == calendar.KindEvent && record.Status(moment.Now) == calendar.StatusTrash:
		return View{}, calendar.Fail(calendar.CodeNoLongerAvailable, kind)
	case !calendar.MayRead(caller, record, moment.Now):
		return View{}, calendar.Fail(calendar.CodeNotAccessible, kind)
	case kind == calendar.KindEvent && calendar.NeedsPassword(caller, record):
		fits := false
		if verify != nil {
			if fits, err = verify(ctx, record.ID); err != nil {
				return View{}, err
			}
		}
		if !fits {
			return View{}, calendar.Fail(calendar.CodePasswordProtected, kind)
		}
	}
	return service.View(ctx, caller, record, language, embeds, moment)
}

// current returns the state of an index in this process that shows all that the store has:
// a document then costs less than a record of the store. Its view has to be closed. nil:
// while it is behind the store, and while entries are quarantined.
func (service *Service) current(ctx context.Context) (*listPlan, error) {
	if !service.settings.LocalIndex {
		return nil, nil
	}
	head, err := service.records.Head(ctx) // first: what the index shows after it is no older
	if err != nil {
		return nil, err
	}
	quarantined, err := service.index.Quarantined(ctx)
	if err != nil || len(quarantined) > 0 {
		return nil, err
	}
	view, err := service.index.View(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := service.plan(ctx, view, nil)
	if err != nil || plan.generation.Position < head {
		view.Close()
		return nil, err
	}
	return plan, nil
}
