package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/access"
	"daybook/internal/htmltext"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// Names within the data directory.
const (
	snapshotFile = "readmodel.snapshot"
)

// backend is what tasks and the service work on: the embedded event store and
// the write side, and in a running service the read model.
type backend struct {
	dir     string
	lock    *os.File
	log     *slog.Logger
	store   *sqlite.Store
	users   *access.Users
	records *command.Records
	command *command.Service

	live atomic.Pointer[live] // nil unless the service runs
}

// live is the part of a backend that only a running service has.
type live struct {
	index     *alias
	projector *keeper
}

// openBackend opens the store in the data directory; the lock stays with the
// caller, who closes it after Close.
func openBackend(ctx context.Context, s *settings, lock *os.File, log *slog.Logger) (*backend, error) {
	if err := memindex.RemoveCutOff(filepath.Join(s.data, snapshotFile)); err != nil {
		log.WarnContext(ctx, "remains of a snapshot not removed", "error", err)
	}
	store, err := sqlite.Open(ctx, s.data, sqlite.Options{})
	if err != nil {
		return nil, fmt.Errorf("event store in %s: %w", s.data, err)
	}
	site := s.site
	if site == nil {
		site = defaultSite()
	}
	rules := &calendar.Rules{Site: site, Clean: htmltext.New()}
	b := &backend{dir: s.data, lock: lock, log: log, store: store, users: access.New(store)}
	b.records = command.NewRecords(store)
	if b.command, err = command.New(store, rules, access.NewHasher(), command.Options{}); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return b, nil
}

// Close ends the store; what was acknowledged is on the disk already.
func (b *backend) Close(context.Context) error { return b.store.Close() }

// retry projects a quarantined record again.
func (b *backend) retry(ctx context.Context, id calendar.ID) error {
	l := b.live.Load()
	if l == nil {
		return fmt.Errorf("nothing serves from %s, so nothing is quarantined: a start projects every record", b.dir)
	}
	return l.projector.retry(ctx, b.store, id)
}

// The states of health.
const (
	statusOK       = "ok"
	statusStarting = "starting"
	statusDegraded = "degraded" // it serves, but a record is quarantined
)

type health struct {
	Status      string             `json:"status"`
	Head        calendar.Position  `json:"head"`
	Visible     calendar.Position  `json:"visible"`
	Quarantined []readmodel.Poison `json:"quarantined"`
}

func (b *backend) health(ctx context.Context) health {
	h := health{Status: statusStarting, Quarantined: []readmodel.Poison{}}
	head, err := b.store.Head(ctx)
	if err != nil {
		h.Status = "store unavailable"
		return h
	}
	h.Head = head
	l := b.live.Load()
	if l == nil {
		return h
	}
	if h.Visible, err = l.index.Visible(ctx); err != nil {
		h.Status = "read model unavailable"
		return h
	}
	if p, err := l.index.Poisoned(ctx); err == nil && len(p) > 0 {
		h.Quarantined = p
	}
	switch {
	case len(h.Quarantined) > 0:
		h.Status = statusDegraded
	case l.projector.caughtUp.Load():
		h.Status = statusOK
	}
	return h
}

// openIndex opens the memory image from its snapshot; without one, or with a
// damaged one, it is filled from the store.
func openIndex(ctx context.Context, b *backend) (*memindex.Index, error) {
	path := filepath.Join(b.dir, snapshotFile)
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
	}
	if held == 0 || held > head {
		if err := projector.Rebuild(ctx, b.store, index, nil); err != nil {
			return nil, fmt.Errorf("fill the read model: %w", err)
		}
	}
	return index, nil
}

// rebuildTask fills a new read model from the present state beside the old one,
// compares it with the store and puts it in its place.
func rebuildTask(ctx context.Context, b *backend, c *console, _ *settings, _ []string) error {
	fresh, err := memindex.Open(filepath.Join(b.dir, snapshotFile), memindex.Options{Logger: b.log})
	if err == nil {
		err = fresh.Reset(ctx)
	}
	if err != nil {
		return fmt.Errorf("new read model: %w", err)
	}
	bar := newProgress(c, "rebuild", "records")
	err = projector.Rebuild(ctx, b.store, fresh, bar.set)
	bar.done()
	if err != nil {
		return err
	}
	if l := b.live.Load(); l != nil {
		err = l.projector.replace(ctx, b.store, fresh)
	} else {
		err = projector.Compare(ctx, b.store, fresh)
	}
	if err == nil {
		err = fresh.Snapshot(ctx)
	}
	if err != nil {
		return err
	}
	d, err := fresh.Digest(ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, k := range d.Counts {
		n += k
	}
	_, err = fmt.Fprintf(c.out, "the read model holds %d records and agrees with the event store\n", n)
	return err
}

var _ eventstore.Store = (*sqlite.Store)(nil)
