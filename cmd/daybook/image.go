package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// Names within the data directory.
const (
	snapshotFile = "readmodel.snapshot"
	// formerFile is the snapshot of the image that the last rebuild replaced.
	formerFile = "readmodel.former"
	// originFile names the event store that the snapshot was made from.
	originFile = "readmodel.origin"
)

// image is the memory image of this process with its snapshot in the data
// directory. In a service a source feeds it, elsewhere there is none.
type image struct {
	*keeper
	at *alias

	dir    string
	beside bool // the event store lies in the same directory
	store  eventstore.Store
	log    *slog.Logger

	changing sync.Mutex // one rebuild or change of place at a time
}

// openImage opens the image from its snapshot; without one, or with one that is
// damaged or made from another store, it is filled from the store.
func openImage(ctx context.Context, b *backend, source projector.Source) (*image, error) {
	m := &image{dir: b.s.data, store: b.store, log: b.log}
	path := filepath.Join(m.dir, snapshotFile)
	m.beside = b.s.store == ""
	if err := m.claim(ctx, m.beside); err != nil {
		return nil, err
	}
	index, err := memindex.Open(path, memindex.Options{Logger: b.log})
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	held, err := index.Position(ctx)
	if err != nil {
		return nil, err
	}
	head, err := b.store.Head(ctx)
	if err != nil {
		return nil, err
	}
	if held > head {
		b.log.WarnContext(ctx, "snapshot is ahead of the event store, so it belongs to another one; filling anew", "position", held, "head", head)
		held = 0
	}
	if held == 0 && source != nil {
		if err := projector.Rebuild(ctx, b.store, index, nil); err != nil {
			return nil, fmt.Errorf("fill the read model: %w", err)
		}
	}
	m.at = newAlias(index)
	m.keeper = &keeper{at: m.at, source: source, store: b.store, log: b.log, observe: b.hooks.Projecting}
	return m, nil
}

// claim marks the directory as that of a snapshot of the store. What lies there
// of another store is removed first. SQLite lies beside its snapshot, so without
// a mark the snapshot is believed, as it was before there were marks.
func (m *image) claim(ctx context.Context, beside bool) error {
	origin, err := origin(ctx, m.store)
	if err != nil || origin == "" {
		return err // an empty store has nothing to compare
	}
	path := filepath.Join(m.dir, originFile)
	there, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read model: %w", err)
	}
	mark := strings.TrimSpace(string(there))
	if mark == origin {
		return nil
	}
	if mark != "" || !beside {
		for _, name := range []string{snapshotFile, formerFile} {
			switch err := os.Remove(filepath.Join(m.dir, name)); {
			case err == nil:
				m.log.WarnContext(ctx, "snapshot of another event store removed", "file", name)
			case !errors.Is(err, os.ErrNotExist):
				return fmt.Errorf("read model: %w", err)
			}
		}
	}
	if err := os.WriteFile(path, []byte(origin+"\n"), 0o600); err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	return nil
}

// origin names a store by its first entry, "" while it is empty.
func origin(ctx context.Context, store eventstore.Store) (string, error) {
	entries, err := store.ReadAll(ctx, 0, 1)
	if err != nil {
		return "", fmt.Errorf("first entry: %w", err)
	}
	if len(entries) == 0 {
		return "", nil
	}
	leaf := eventstore.Leaf(&entries[0])
	return hex.EncodeToString(leaf[:]), nil
}

func (m *image) index() *alias { return m.at }

func (m *image) close() error { return nil }

// memory is the image that is in place.
func (m *image) memory() *memindex.Index { return m.at.now().(*memindex.Index) } //nolint:forcetypeassert // no other is put there

func (m *image) rebuild(ctx context.Context, progress func(done, total int)) (int, error) {
	m.changing.Lock()
	defer m.changing.Unlock()
	path := filepath.Join(m.dir, snapshotFile)
	fresh, err := memindex.Open(path, memindex.Options{Logger: m.log})
	if err == nil {
		err = fresh.Reset(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("new read model: %w", err)
	}
	if err := projector.Rebuild(ctx, m.store, fresh, progress); err != nil {
		return 0, err
	}
	former := m.memory()
	if err := m.replace(ctx, fresh, true); err != nil {
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
	old, err := memindex.Open(path, memindex.Options{Logger: m.log})
	if err != nil {
		return err
	}
	// One that this version of the program cannot read is empty.
	at, err := old.Position(ctx)
	if err != nil {
		return err
	}
	if at == 0 {
		return fmt.Errorf("%w: the file of the former one cannot be used", readmodel.ErrNoGeneration)
	}
	if err := m.replace(ctx, old, false); err != nil {
		return err
	}
	return old.Snapshot(ctx)
}

// snapshots writes the image to its file now and then and at the end.
func (m *image) snapshots(ctx context.Context) error {
	tick := time.NewTicker(snapshotEvery)
	marked := false
	defer tick.Stop()
	written := calendar.Position(0)
	save := func(ctx context.Context) {
		m.changing.Lock()
		defer m.changing.Unlock()
		now := m.memory()
		pos, err := now.Position(ctx)
		if err == nil && pos == written {
			return
		}
		if err == nil && !marked { // the store may have been empty when it was opened
			err = m.claim(ctx, true)
			marked = err == nil
		}
		if err == nil {
			err = now.Snapshot(ctx)
		}
		if err != nil {
			m.log.WarnContext(ctx, "snapshot not written; the next start fills the read model from the store", "error", err)
			return
		}
		written = pos
	}
	for {
		select {
		case <-ctx.Done():
			last, end := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
			defer end()
			save(last)
			return nil
		case <-tick.C:
			save(ctx)
		}
	}
}
