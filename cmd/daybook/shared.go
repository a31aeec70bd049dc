package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/lease"
	"daybook/internal/pause"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
)

// fillWriters is how many pages a rebuild writes at once.
const fillWriters = 4

// shared is a read model on servers, which processes share.
type shared struct {
	*keeper
	at *alias
	b  *backend

	// epoch is that of the store when this process last found or made the index to be
	// of its history; 0: not yet. Of project alone.
	epoch uint64
}

// newShared makes a shared read model whose servers need not be there yet; see
// connect. Without a source it is not kept by this process.
func newShared(b *backend, source projector.Source) *shared {
	at := newAlias(nil)
	return &shared{at: at, b: b, keeper: &keeper{at: at, source: source, store: b.store, log: b.log, observe: b.hooks.Projecting}}
}

// connect opens the index.
func (m *shared) connect(ctx context.Context) error {
	s := m.b.s
	o := elastic.Options{
		Flavour: elastic.Flavour(s.indexFlavour), Prefix: s.indexPrefix, Log: m.b.log,
		RefreshInterval: s.indexRefresh, Shards: s.indexShards, Replicas: s.indexReplicas,
		Follow: true, // the projector makes it, see heal
		Holds:  func(ctx context.Context, mark calendar.Mark) (bool, error) { return holds(ctx, m.b.store, mark) },
		Epoch:  m.b.store.Epoch,
		First:  func(ctx context.Context) (calendar.Mark, error) { return m.b.store.Mark(ctx, 1) },
	}
	for _, f := range []struct {
		path string
		to   func([]byte)
	}{
		{s.indexCA, func(b []byte) { o.CACert = b }},
		{s.indexKeyFile, func(b []byte) { o.APIKey = secretOf(b) }},
	} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return fmt.Errorf("read model: %w", err)
		}
		f.to(text)
	}
	index, err := elastic.Open(ctx, s.index, o)
	if err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	m.at.put(index, 0)
	return nil
}

func (m *shared) index() *alias { return m.at }

// wholeEvery is the time between two looks whether the index is there: how long
// lists are out of order at most, before one that was deleted is made anew.
const wholeEvery = 2 * time.Second

// foreignEvery is the time between two looks at an index of another event store.
const foreignEvery = 10 * time.Second

// Why an index has to be made anew.
var (
	errNotWhole = errors.New("the read model is not there, or not all of it")
	errSchema   = errors.New("the read model is that of another version of the program")
)

// project waits for the servers and then makes and keeps the index. One that is not
// whole, of another version or of another history than that of the store is made anew
// beside the one that answers. Lists are out of reach where that one is untrue.
func (m *shared) project(ctx context.Context) error {
	select {
	case <-m.at.some:
	case <-ctx.Done():
		return ctx.Err()
	}
	m.epoch = 0 // another process may have made the index since
	for {
		err := m.keep(ctx)
		wait := wholeEvery
		switch {
		case errors.Is(err, readmodel.ErrOtherStore):
			wait = foreignEvery
			m.b.log.ErrorContext(ctx, "the read model is left alone", "error", err)
		case mended(err):
			if err = m.renew(ctx, err); err == nil {
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m.b.log.WarnContext(ctx, "read model is not made yet", "error", err, "wait", wait)
		default:
			return err
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// mended tells whether another index mends an error.
func mended(err error) bool {
	if errors.Is(err, readmodel.ErrOtherStore) {
		return false
	}
	for _, of := range []error{errNotWhole, errSchema, eventstore.ErrHistory, readmodel.ErrForeign} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// sound tells why the index has to be made anew, with an error that is mended.
func (m *shared) sound(ctx context.Context, index *elastic.Index) error {
	whole, err := index.Whole(ctx)
	if err != nil {
		return err
	}
	if !whole {
		return errNotWhole
	}
	old, err := index.NeedsRebuild(ctx)
	if err != nil {
		return err
	}
	if old {
		return errSchema
	}
	return nil
}

// keep keeps the index until the context ends, or until another one mends it. What was
// made in another epoch of the store is not gone on with, also where its marks are
// those of the present history: for a moment this process may have read of both.
func (m *shared) keep(ctx context.Context) error {
	index, ok := m.at.now().(*elastic.Index)
	if !ok {
		return errNotOpen
	}
	epoch := m.b.store.Epoch()
	if m.epoch == 0 {
		m.epoch = epoch
	}
	if m.epoch != epoch {
		return eventstore.ErrHistory
	}
	within, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil) // before the wait for the watch
	watch.Go(func() {
		for {
			if err := m.sound(within, index); mended(err) {
				cancel(err)
			}
			if pause.For(within, wholeEvery) != nil {
				return
			}
		}
	})
	err := m.keeper.project(within)
	if cause := context.Cause(within); ctx.Err() == nil && mended(cause) {
		return cause
	}
	return err
}

// renew makes the index anew and fills it from the store, beside the one that answers.
// No list answers from it before that is done, so none is short.
func (m *shared) renew(ctx context.Context, why error) error {
	g, err := m.generations()
	if err != nil {
		return err
	}
	m.renewing.Store(true)
	defer m.renewing.Store(false)
	return m.alone(ctx, func(ctx context.Context) error {
		index, ok := g.(*elastic.Index)
		epoch := m.b.store.Epoch()
		if ok && m.epoch == epoch {
			err := m.sound(ctx, index)
			if err == nil {
				err = projector.Check(ctx, m.b.store, index)
			}
			if !mended(err) {
				return err // another one was first
			}
		}
		m.b.log.WarnContext(ctx, "the read model is filled anew from the event store", "error", why)
		if m.epoch != epoch { // what is begun may be of both histories
			if err := g.Discard(ctx); err != nil {
				return err
			}
		}
		next, err := m.fill(ctx, g, nil)
		if err != nil {
			return err
		}
		if m.b.store.Epoch() != epoch {
			return eventstore.ErrHistory
		}
		if err := g.Promote(ctx); err != nil {
			return err
		}
		m.epoch = epoch
		n, err := records(ctx, next)
		m.b.log.InfoContext(ctx, "the read model is filled", "records", n)
		return err
	})
}

// fill fills the coming generation, up to the head. One that was cut off goes on
// where it was.
func (m *shared) fill(ctx context.Context, g readmodel.Generations, progress func(done, total int)) (readmodel.Index, error) {
	next, err := g.Next(ctx)
	if err != nil {
		return nil, err
	}
	at, err := next.Marks(ctx)
	if errors.Is(err, readmodel.ErrForeign) {
		if err := g.Discard(ctx); err != nil {
			return nil, err
		}
		if next, err = g.Next(ctx); err != nil {
			return nil, err
		}
		at, err = next.Marks(ctx)
	}
	if err != nil {
		return nil, err
	}
	if at.All.Position == 0 {
		err := projector.Fill(ctx, m.b.store, next, projector.FillOptions{Writers: fillWriters, Progress: progress})
		if err != nil {
			return nil, err
		}
	}
	return next, m.catchUp(ctx, next)
}

func (m *shared) catchUp(ctx context.Context, next readmodel.Index) error {
	if err := projector.CatchUp(ctx, m.b.store, next); err != nil {
		return fmt.Errorf("follow the entries: %w", err)
	}
	return nil
}

// secretOf gives the secret that a file holds, without the line's end.
func secretOf(b []byte) string { return strings.TrimSpace(string(b)) }

func (m *shared) close() error {
	if i, ok := m.at.now().(*elastic.Index); ok {
		i.Close()
	}
	return nil
}

// generations is the index that is in place.
func (m *shared) generations() (readmodel.Generations, error) {
	g, ok := m.at.now().(readmodel.Generations)
	if !ok {
		return nil, errNotOpen
	}
	return g, nil
}

// rebuild fills the coming generation and puts it in place. One that was cut off
// goes on where it was. Other processes project and answer meanwhile; the
// projector goes on from the position of the generation that answers.
func (m *shared) rebuild(ctx context.Context, progress func(done, total int)) (int, error) {
	g, err := m.generations()
	if err != nil {
		return 0, err
	}
	n := 0
	err = m.alone(ctx, func(ctx context.Context) error {
		next, err := m.fill(ctx, g, progress)
		if err != nil {
			return err
		}
		if err := projector.Compare(ctx, m.b.store, next); err != nil {
			if errors.Is(err, projector.ErrDiffers) { // what differs once is not gone on with
				err = errors.Join(err, g.Discard(ctx))
			}
			return err
		}
		// What came during the comparison, so that lists do not go back in time.
		if err := m.catchUp(ctx, next); err != nil {
			return err
		}
		if n, err = records(ctx, next); err != nil {
			return err
		}
		return g.Promote(ctx)
	})
	return n, err
}

func (m *shared) back(ctx context.Context) error {
	g, err := m.generations()
	if err != nil {
		return err
	}
	return m.alone(ctx, g.Back)
}

func (m *shared) retry(ctx context.Context, id calendar.ID) error {
	// It reads no entries, only the record's present state.
	p, err := projector.New(m.at, noSource{}, projector.Options{Log: m.b.log})
	if err != nil {
		return err
	}
	if _, err := m.at.Marks(ctx); err != nil { // binds the writer to the generation that answers
		return err
	}
	return p.Retry(ctx, m.b.store, id)
}

type noSource struct{}

func (noSource) Read(context.Context, eventstore.Mark, int) ([]eventstore.Entry, eventstore.Mark, error) {
	return nil, eventstore.Mark{}, errors.New("no entries are read here")
}

// alone runs work under the lease of rebuilds, when there are leases. It does not
// stand by behind another rebuild, only until the lease of a dead one has ended.
func (m *shared) alone(ctx context.Context, work func(context.Context) error) error {
	if m.b.leases == nil {
		return work(ctx)
	}
	name := rebuildLease + m.b.s.indexPrefix
	for patience := lease.DefaultSpan; ; patience -= minServerWait {
		l, held, err := m.b.leases.Acquire(ctx, name, holder(), lease.DefaultSpan)
		if err != nil {
			return err
		}
		if held {
			break
		}
		if patience <= 0 {
			return fmt.Errorf("another rebuild of this read model runs on %s", l.Holder)
		}
		if err := pause.For(ctx, minServerWait); err != nil {
			return err
		}
	}
	// Without a log: who waits is told by a bar.
	err := lease.Run(ctx, m.b.leases, name, holder(), lease.Options{}, work)
	return cmp.Or(err, ctx.Err())
}
