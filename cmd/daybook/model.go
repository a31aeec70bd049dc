package main

import (
	"context"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// model is the read model as the service and the tasks work on it: the memory
// image of this process, or an index that processes share.
type model interface {
	// index is what lists are answered from. It may be out of reach at first.
	index() *alias

	// project keeps the index until the context ends; one call at a time.
	project(ctx context.Context) error

	// progress tells how far project has come, and whether something keeps it from
	// getting on.
	progress() (at uint64, stuck bool)

	// rebuild fills a new index beside the one that answers, compares it with
	// the store, puts it in its place and gives the number of its records.
	// progress gets what is done and an upper bound of the whole.
	rebuild(ctx context.Context, progress func(done, total int)) (int, error)

	// back puts the index that the last rebuild replaced in its place again.
	back(ctx context.Context) error

	// retry projects a quarantined record again.
	retry(ctx context.Context, id calendar.ID) error

	// close ends it.
	close() error
}

// openModel opens the read model outside of a service.
func openModel(ctx context.Context, b *backend) (model, error) {
	if b.s.index == "" {
		return openImage(ctx, b, nil)
	}
	m := newShared(b, nil)
	return m, m.connect(ctx)
}

// records gives the number of live records of an index.
func records(ctx context.Context, index readmodel.Index) (int, error) {
	d, err := index.Digest(ctx)
	n := 0
	for _, k := range d.Counts {
		n += k
	}
	return n, err
}
