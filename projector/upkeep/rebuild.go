package upkeep

import (
	"context"
	"errors"

	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
)

// alone is Options.Alone, one at a time in this process too.
func (u *Upkeep) alone(ctx context.Context, work func(context.Context) error) error {
	u.changing.Lock()
	defer u.changing.Unlock()
	return u.o.Alone(ctx, work)
}

// renew fills another generation of the index from the store, next to the one that answers.
// No list answers from it before that is done, so none is short.
func (u *Upkeep) renew(ctx context.Context, why error) error {
	u.renewing.Store(true)
	defer u.renewing.Store(false)
	return u.alone(ctx, func(ctx context.Context) error {
		epoch := u.store.Epoch().History
		if u.epoch == epoch {
			err := u.index.Sound(ctx)
			if err == nil {
				err = projector.Check(ctx, u.store, u.index)
			}
			if !mended(err) {
				return err // another one was first
			}
		}
		if !u.outage.Ongoing() {
			u.o.Log.WarnContext(ctx, "the read model is filled anew from the event store", "error", why)
		}
		if _, err := u.build(ctx, false, nil); err != nil {
			return err
		}
		if u.store.Epoch().History != epoch {
			return eventstore.ErrHistory
		}
		u.epoch = epoch
		u.o.Log.InfoContext(ctx, "the read model is filled")
		return nil
	})
}

// build fills another generation next to the one that answers, compares it with the store if
// asked, and puts it in place. It returns the number of records that it compared.
func (u *Upkeep) build(ctx context.Context, compare bool, progress func(done, total int)) (records int, err error) {
	next, err := u.index.Next(ctx)
	if err == nil {
		err = projector.Fill(ctx, u.store, next, progress)
	}
	if err == nil {
		err = projector.CatchUp(ctx, u.store, next)
	}
	if err == nil && compare {
		records, err = projector.Compare(ctx, u.store, next)
	}
	for err == nil {
		if err = u.index.Promote(ctx); !errors.Is(err, readmodel.ErrBehind) {
			return records, err
		}
		err = projector.CatchUp(ctx, u.store, next) // projectors have come further meanwhile
	}
	return 0, err
}

// Rebuild fills another index next to the one that answers, compares it with the store,
// puts it in its place and returns the number of its records. One that was dropped because of
// an erasure begins again. progress gets what is done and an upper bound of the whole. Other
// processes project and answer meanwhile.
func (u *Upkeep) Rebuild(ctx context.Context, progress func(done, total int)) (n int, err error) {
	err = u.alone(ctx, func(ctx context.Context) error {
		for range maxRebuilds {
			if n, err = u.build(ctx, true, progress); !errors.Is(err, readmodel.ErrNoNext) {
				break
			}
		}
		return err
	})
	return n, err
}

// maxRebuilds is how many times a rebuild begins that erasures cut off.
const maxRebuilds = 3

// Erase rebuilds the index from the store, as Rebuild does, and drops every other one
// that there is: what the store does not hold any more is in none afterwards.
func (u *Upkeep) Erase(ctx context.Context, progress func(done, total int)) error {
	if _, err := u.Rebuild(ctx, progress); err != nil {
		return err
	}
	return u.alone(ctx, u.index.Forget)
}

// Back puts the index that the last rebuild replaced in its place again.
func (u *Upkeep) Back(ctx context.Context) error { return u.alone(ctx, u.index.Back) }
