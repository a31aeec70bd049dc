package memindex

import (
	"context"
	"time"
)

const (
	stillTries = 3           // before writers are held up
	stillLimit = time.Second // for which writers are held up at most
)

// Still does readmodel.Index. Reads that nothing is written beside show one state, and
// most take shorter than the time between two writes. After some that did not, writers
// wait for one: one such reading at a time, so writes come between any two of them.
func (x *Index) Still(ctx context.Context, read func(ctx context.Context) error) error {
	for range stillTries {
		before := x.shown.Load()
		if err := read(ctx); err != nil || x.shown.Load() == before {
			return err
		}
	}
	select {
	case x.still <- struct{}{}:
		defer func() { <-x.still }()
	case <-ctx.Done():
		return ctx.Err()
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, stillLimit)
	defer cancel()
	return read(ctx)
}
