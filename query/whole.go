package query

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Selection is what a list finds in one state. It is not safe for concurrent use.
type Selection struct {
	*listPlan // of the step that found something
	List      // without its Views

	query     readmodel.Query
	documents []readmodel.Document // of the page
}

// Whole begins to answer criteria over all pages. The selection has to be closed.
func (service *Service) Whole(ctx context.Context, criteria *Criteria) (whole *Selection, err error) {
	unpaged := *criteria
	unpaged.Page, unpaged.PerPage = 1, 0
	_, err = readmodel.Open(ctx, service.index, func(view readmodel.View) error {
		plan, err := service.plan(ctx, view, &unpaged)
		if err != nil {
			return err
		}
		whole = plan.find()
		// An engine may find out at the second read that it does not hold the state.
		plan.search(readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.Or{}})
		return plan.err
	})
	return whole, err
}

// Gone calls use, by id, with the events that would be in the selection if they were not in
// the trash, were published when they came there, from a moment on, and are not protected.
func (selection *Selection) Gone(ctx context.Context, since time.Time, use func(*calendar.Record)) error {
	plan := *selection.listPlan
	plan.ctx = ctx
	plan.of = readmodel.And{hasStatus(calendar.StatusTrash), not(isProtected), readmodel.AtLeast(readmodel.FieldModified, since.Unix())}
	trashed := Selection{listPlan: &plan, query: readmodel.Query{Kind: calendar.KindEvent, Filter: plan.filter(), Sort: readmodel.By(false, readmodel.FieldID)}}
	if plan.err != nil {
		return plan.err
	}
	return trashed.Records(ctx, func(record *calendar.Record) {
		if !record.Changed.Before(since) && record.FormerStatus(record.Changed) == calendar.StatusPublish {
			use(record)
		}
	})
}

// Close releases what the selection holds.
func (selection *Selection) Close() { selection.view.Close() }

// Records calls use with the records of the selection, in order.
func (selection *Selection) Records(ctx context.Context, use func(*calendar.Record)) error {
	return selection.view.Walk(ctx, selection.query, func(documents []readmodel.Document) error {
		for i := range documents {
			use(documents[i].Record)
		}
		return nil
	})
}

// Each calls use with the views of the selection in order. A view is valid during the call.
func (selection *Selection) Each(ctx context.Context, use func(*View) error) error {
	return selection.view.Walk(ctx, selection.query, func(documents []readmodel.Document) error {
		return selection.each(ctx, documents, use)
	})
}

// each makes views; where all that they embed is more than an answer may have, one by one.
func (selection *Selection) each(ctx context.Context, documents []readmodel.Document, use func(*View) error) error {
	views, err := selection.views(ctx, documents)
	if single := len(documents) == 1; errors.Is(err, ErrTooLarge) && !single {
		views, err = nil, nil
		for i := 0; i < len(documents) && err == nil; i++ {
			err = selection.each(ctx, documents[i:i+1], use)
		}
	}
	for i := 0; i < len(views) && err == nil; i++ {
		err = use(&views[i])
	}
	return err
}
