package upkeep

import (
	"context"
	"errors"

	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
)

// alone is Options.Alone, one at a time in this process too.
func (upkeep *Upkeep) alone(ctx context.Context, work func(context.Context) error) error {
	upkeep.changing.Lock()
	defer upkeep.changing.Unlock()
	return upkeep.options.Alone(ctx, work)
}

// renew fills another generation of the index from the store, next to the one that answers.
// No list answers from it before that is done, so none is short.
func (upkeep *Upkeep) renew(ctx context.Context, why error) error {
	upkeep.renewing.Store(true)
	defer upkeep.renewing.Store(false)
	return upkeep.alone(ctx, func(ctx context.Context) error {
		epoch := upkeep.store.Epoch().History
		if upkeep.epoch == epoch {
			err := upkeep.index.Sound(ctx)
			if err == nil {
				err = projector.Check(ctx, upkeep.store, upkeep.index)
			}
			if !mended(err) {
				return err // another one was first
			}
		}
		if !upkeep.outage.Ongoing() {
			upkeep.options.Log.WarnContext(ctx, "the read model is filled anew from the event store", "error", why)
		}
		if _, err := upkeep.build(ctx, false, nil); err != nil {
			return err
		}
		if upkeep.store.Epoch().History != epoch {
			return eventstore.ErrHistory
		}
		upkeep.epoch = epoch
		upkeep.options.Log.InfoContext(ctx, "the read model is filled")
		return nil
	})
}

// build fills another generation next to the one that answers, compares it with the store if
// asked, and puts it in place. It returns the number of records that it compared.
func (upkeep *Upkeep) build(ctx context.Context, compare bool, progress func(done, total int)) (records int, err error) {
	next, err := upkeep.index.Next(ctx)
	if err == nil {
		err = projector.Fill(ctx, upkeep.store, next, progress)
	}
	if err == nil {
		err = projector.CatchUp(ctx, upkeep.store, next)
	}
	if err == nil && compare {
		records, err = projector.Compare(ctx, upkeep.store, next)
	}
	for err == nil {
		if err = upkeep.index.Promote(ctx); !errors.Is(err, readmodel.ErrBehind) {
			return records, err
		}
		err = projector.CatchUp(ctx, upkeep.store, next) // projectors have come further meanwhile
	}
	return 0, err
}

// Rebuild fills another index next to the one that answers, compares it with the store,
// puts it in its place and returns the number of its records. One that was dropped because of
// an erasure begins again. progress gets what is done and an upper bound of the whole. Other
// processes project and answer meanwhile.
func (upkeep *Upkeep) Rebuild(ctx context.Context, progress func(done, total int)) (count int, err error) {
	err = upkeep.alone(ctx, func(ctx context.Context) error {
		for range maxRebuilds {
			if count, err = upkeep.build(ctx, true, progress); !errors.Is(err, readmodel.ErrNoNext) {
				break
			}
		}
		return err
	})
	return count, err
}

// maxRebuilds is how many times a rebuild begins that erasures cut off.
const maxRebuilds = 3

// Erase rebuilds the index from the store, as Rebuild does, and drops every other one
// that there is: what the store does not hold any more is in none afterwards.
func (upkeep *Upkeep) Erase(ctx context.Context, progress func(done, total int)) error {
	if _, err := upkeep.Rebuild(ctx, progress); err != nil {
		return err
	}
	return upkeep.alone(ctx, upkeep.index.Forget)
}

// Back puts the index that the last rebuild replaced in its place again.
func (upkeep *Upkeep) Back(ctx context.Context) error { return upkeep.alone(ctx, upkeep.index.Back) }
