package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/pause"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// Names within the data directory.
const (
	snapshotFile = "readmodel.snapshot"
	// formerFile is the snapshot of the image that the last rebuild replaced.
	formerFile = "readmodel.former"
)

// image is the memory image of this process with its snapshot in the data
// directory. In a service a source feeds it, elsewhere there is none.
type image struct {
	*keeper
	at *alias

	dir   string
	store eventstore.Verifier
	log   *slog.Logger

	changing sync.Mutex // one rebuild or change of place at a time
}

// openImage opens the image from its snapshot; without one, or with one that is
// damaged or made from another history than that of the store, it is filled from
// the store.
func openImage(ctx context.Context, b *backend, source projector.Source) (*image, error) {
	m := &image{dir: b.s.data, store: b.store, log: b.log}
	epoch := b.store.Epoch()
	index, err := m.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	held, err := index.Marks(ctx)
	if err != nil {
		return nil, err
	}
	if held.All.Position == 0 && source != nil {
		if err := projector.Rebuild(ctx, b.store, index, nil); err != nil {
			return nil, fmt.Errorf("fill the read model: %w", err)
		}
	}
	m.at = newAlias(b.store.Epoch)
	m.at.put(index, epoch)
	m.keeper = &keeper{at: m.at, source: source, store: b.store, log: b.log, observe: b.hooks.Projecting}
	return m, nil
}

// open opens an index from the snapshot.
func (m *image) open(ctx context.Context) (*memindex.Index, error) {
	return memindex.Open(ctx, filepath.Join(m.dir, snapshotFile), memindex.Options{
		Logger: m.log,
		Holds:  func(ctx context.Context, mark calendar.Mark) (bool, error) { return holds(ctx, m.store, mark) },
	})
}

// holds tells whether a store has the history of a mark.
func holds(ctx context.Context, store eventstore.Store, mark calendar.Mark) (bool, error) {
	err := eventstore.CheckMark(ctx, store, mark)
	if errors.Is(err, eventstore.ErrHistory) {
		return false, nil
	}
	return err == nil, err
}

func (m *image) index() *alias { return m.at }

func (m *image) close() error { return nil }

// memory is the image that is in place.
func (m *image) memory() *memindex.Index { return m.at.now().(*memindex.Index) } //nolint:forcetypeassert // no other is put there

func (m *image) rebuild(ctx context.Context, progress func(done, total int)) (int, error) {
	m.changing.Lock()
	defer m.changing.Unlock()
	path := filepath.Join(m.dir, snapshotFile)
	epoch := m.store.Epoch()
	fresh, err := m.fresh(ctx, progress)
	if err != nil {
		return 0, err
	}
	former := m.memory()
	if err := m.replace(ctx, fresh, epoch, true); err != nil {
		return 0, err
	}
	// The former image is kept as a file only.
	err = former.Snapshot(ctx)
	if err == nil {
		err = os.Rename(path, filepath.Join(m.dir, formerFile))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.log.WarnContext(ctx, "the replaced read model is not kept", "error", err)
	}
	if err := fresh.Snapshot(ctx); err != nil {
		return 0, err
	}
	return records(ctx, fresh)
}

// fresh makes another image and fills it from the store.
func (m *image) fresh(ctx context.Context, progress func(done, total int)) (*memindex.Index, error) {
	x, err := m.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("new read model: %w", err)
	}
	return x, projector.Rebuild(ctx, m.store, x, progress)
}

// project keeps the image until the context ends. When the store holds another history
// than the one it was made from, it is made anew; until then nothing of it is visible.
func (m *image) project(ctx context.Context) error {
	for {
		err := m.keeper.project(ctx)
		if !errors.Is(err, eventstore.ErrHistory) {
			return err
		}
		m.log.ErrorContext(ctx, "the event store holds another history than the read model, making that anew", "error", err)
		if err := m.refill(ctx); err != nil {
			m.log.WarnContext(ctx, "read model is not made yet", "error", err, "wait", projectAgain)
			if err := pause.For(ctx, projectAgain); err != nil {
				return err
			}
		}
	}
}

// refill puts an image in place that is made from the store. The one before is
// not kept.
func (m *image) refill(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	epoch := m.store.Epoch()
	x, err := m.fresh(ctx, nil)
	if err != nil {
		return err
	}
	return m.replace(ctx, x, epoch, false)
}

// back takes the former image up to the present and puts it in place; the one
// that it replaces is kept in its stead.
func (m *image) back(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	path, former := filepath.Join(m.dir, snapshotFile), filepath.Join(m.dir, formerFile)
	if _, err := os.Stat(former); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return readmodel.ErrNoGeneration
		}
		return err
	}
	if err := m.memory().Snapshot(ctx); err != nil {
		return err
	}
	// A start between these finds no snapshot and fills a new image.
	aside := path + ".aside"
	for _, r := range [][2]string{{path, aside}, {former, path}, {aside, former}} {
		if err := os.Rename(r[0], r[1]); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	epoch := m.store.Epoch()
	old, err := m.open(ctx)
	if err != nil {
		return err
	}
	// One that this version of the program cannot read, or of another history, is
	// empty.
	held, err := old.Marks(ctx)
	if err != nil {
		return err
	}
	if held.All.Position == 0 {
		return fmt.Errorf("%w: the file of the former one cannot be used", readmodel.ErrNoGeneration)
	}
	if err := m.replace(ctx, old, epoch, false); err != nil {
		return err
	}
	return old.Snapshot(ctx)
}

// snapshotDue tells whether so much has changed since the last snapshot that another one
// is written: a quarter. So what is written for one change does not grow with the
// calendar, and a start after a kill reads no more than that again.
func snapshotDue(changed, documents int) bool { return changed > 0 && 4*changed >= documents }

// snapshots writes the image to its file when enough of it has changed, and at the end.
func (m *image) snapshots(ctx context.Context) error {
	tick := time.NewTicker(snapshotEvery)
	defer tick.Stop()
	save := func(ctx context.Context) {
		m.changing.Lock()
		defer m.changing.Unlock()
		if err := m.memory().Snapshot(ctx); err != nil {
			m.log.WarnContext(ctx, "snapshot not written; the next start fills the read model from the store", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, end := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
			defer end()
			save(last)
			return nil
		case <-tick.C:
			if snapshotDue(m.memory().Unsaved()) {
				save(ctx)
			}
		}
	}
}
