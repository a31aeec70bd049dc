package query

import (
	"context"
	"errors"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Service answers list requests and makes views. It is safe for concurrent use.
type Service struct {
	index    readmodel.Index
	records  Records
	settings Options

	shared      lazy[shared] // of the last generation that was asked for
	directories [calendar.KindTag + 1]lazy[directory]

	facets []facet
}

// Forget drops what is in memory of linked records, which may have been erased.
func (service *Service) Forget() {
	service.shared.Store(nil)
	for index := range service.directories {
		service.directories[index].Store(nil)
	}
}

// New makes a Service; it starts nothing.
func New(index readmodel.Index, records Records, options Options) *Service {
	options = options.WithDefaults()
	all := slices.Clone(facets)
	all[len(all)-1].options = options.CostBands
	return &Service{index: index, records: records, settings: options, facets: all}
}

// Await waits until lists show position least, or returns *calendar.Error with
// CodePositionNotReached after the longest wait, at once when the store has not come
// so far. For a caller that is not anonymous it also waits for the store's head of
// now, and goes on without an error when that wait ends first (interface 2.10).
// It returns the position that was reached. Another generation of the index may answer
// by the time of the list: an answer has to be compared with it.
func (service *Service) Await(ctx context.Context, caller calendar.Caller, least calendar.Position) (calendar.Position, error) {
	known := caller.Role != calendar.Anonymous
	if least == 0 && !known {
		return 0, nil
	}
	shown, err := service.index.Visible(ctx)
	if err != nil || !known && least <= shown.Position {
		return least, err
	}
	head, err := service.records.Head(ctx)
	want := least
	switch {
	case err != nil:
		return 0, err
	case least > max(head, shown.Position):
		return 0, calendar.Fail(calendar.CodePositionNotReached, 0)
	case known:
		want = max(least, head)
	}
	if want <= shown.Position {
		return want, nil
	}
	wait, cancel := context.WithTimeout(ctx, service.settings.PositionWait)
	defer cancel()
	if err = service.index.Wait(wait, want); err == nil {
		return want, nil
	}
	if ctx.Err() != nil || !errors.Is(wait.Err(), context.DeadlineExceeded) {
		return 0, err
	}
	if shown, err = service.index.Visible(ctx); err == nil && shown.Position < least {
		err = calendar.Fail(calendar.CodePositionNotReached, 0)
	}
	return least, err
}
