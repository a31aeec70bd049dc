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
		if u.epoch != epoch { // what is begun may be of both histories
			if err := u.index.Discard(ctx); err != nil {
				return err
			}
		}
		next, err := u.fill(ctx, nil)
		if err != nil {
			return err
		}
		if u.store.Epoch().History != epoch {
			return eventstore.ErrHistory
		}
		n, err := u.place(ctx, next)
		if err != nil {
			return err
		}
		u.epoch = epoch
		u.o.Log.InfoContext(ctx, "the read model is filled", "records", n)
		return nil
	})
}

// fill fills the coming generation, up to the head. One that was cut off goes on
// where it was.
func (u *Upkeep) fill(ctx context.Context, progress func(done, total int)) (readmodel.Index, error) {
	for {
		next, err := u.index.Next(ctx)
		if err != nil {
			return nil, err
		}
		at, err := next.Marks(ctx)
		switch {
		case errors.Is(err, readmodel.ErrForeign):
			if err := u.index.Discard(ctx); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		case at.All.Position == 0:
			if err := projector.Fill(ctx, u.store, next, progress); err != nil {
				return nil, err
			}
		}
		return next, projector.CatchUp(ctx, u.store, next)
	}
}

// place brings a filled generation up to the head, puts it in place and returns the number
// of its records.
func (u *Upkeep) place(ctx context.Context, next readmodel.Index) (int, error) {
	d, err := next.Digest(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, k := range d.Counts {
		n += k
	}
	for {
		if err := projector.CatchUp(ctx, u.store, next); err != nil {
			return 0, err
		}
		// Projectors may have come further meanwhile.
		if err := u.index.Promote(ctx); !errors.Is(err, readmodel.ErrBehind) {
			return n, err
		}
	}
}

// Rebuild fills another index next to the one that answers, compares it with the store,
// puts it in its place and returns the number of its records. One that was cut off goes on
// where it was, and one that was dropped because of an erasure begins again. progress gets
// what is done and an upper bound of the whole. Other processes project and answer meanwhile.
func (u *Upkeep) Rebuild(ctx context.Context, progress func(done, total int)) (n int, err error) {
	err = u.alone(ctx, func(ctx context.Context) error {
		for range maxRebuilds {
			if n, err = u.rebuild(ctx, progress); !errors.Is(err, readmodel.ErrNoNext) {
				break
			}
		}
		return err
	})
	return n, err
}

// maxRebuilds is how many times a rebuild begins that erasures cut off.
const maxRebuilds = 3

func (u *Upkeep) rebuild(ctx context.Context, progress func(done, total int)) (int, error) {
	next, err := u.fill(ctx, progress)
	if err != nil {
		return 0, err
	}
	if err := projector.Compare(ctx, u.store, next); err != nil {
		if errors.Is(err, projector.ErrDiffers) { // what differs once is not gone on with
			err = errors.Join(err, u.index.Discard(ctx))
		}
		return 0, err
	}
	return u.place(ctx, next)
}

// Erase rebuilds the index from the store, as Rebuild does, and drops every other one
// that there is: what the store does not hold any more is in none afterwards.
func (u *Upkeep) Erase(ctx context.Context, progress func(done, total int)) error {
	if err := u.alone(ctx, u.index.Discard); err != nil { // it may hold what was erased
		return err
	}
	if _, err := u.Rebuild(ctx, progress); err != nil {
		return err
	}
	return u.alone(ctx, u.index.Forget)
}

// Back puts the index that the last rebuild replaced in its place again.
func (u *Upkeep) Back(ctx context.Context) error { return u.alone(ctx, u.index.Back) }
