package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/lease"
	"daybook/projector"
	"daybook/projector/upkeep"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/memindex"
)

// Names within the data directory.
const (
	snapshotFile = "readmodel.snapshot"
	// formerFile is the snapshot of the image that the last rebuild replaced.
	formerFile = "readmodel.former"
)

// localIndex reports whether the read model is in memory, with its snapshot in the data
// directory, and of this process alone.
func (s *config) localIndex() bool { return s.Index == "" }

// holds reports whether the event store has the history of a mark.
func (b *backend) holds(ctx context.Context, mark calendar.Mark) (bool, error) {
	err := eventstore.CheckMark(ctx, b.events, mark)
	if errors.Is(err, eventstore.ErrHistory) {
		return false, nil
	}
	return err == nil, err
}

// history returns which history the event store has, see eventstore.Epoch.
func (b *backend) history() uint64 { return b.events.Epoch().History }

// openMemory opens the image from its snapshot; without one, or with one that is
// damaged or made from another history than that of the store, it is empty.
func openMemory(ctx context.Context, b *backend) (readmodel.Generations, error) {
	return memindex.Open(ctx, filepath.Join(b.s.Data, snapshotFile), memindex.Options{
		Logger: b.log, Holds: b.holds, Epoch: b.history, Former: filepath.Join(b.s.Data, formerFile),
	})
}

// openServers opens an index on servers, which are not asked for anything yet.
func openServers(_ context.Context, b *backend) (readmodel.Generations, error) {
	config := b.s
	options := elastic.Options{
		Flavour: config.IndexFlavour, Prefix: config.IndexPrefix, Log: b.log,
		RefreshInterval: config.IndexRefresh, Shards: config.IndexShards, Replicas: config.IndexReplicas,
		Holds: b.holds, Epoch: b.history,
		First: func(ctx context.Context) (calendar.Mark, error) {
			head, err := b.events.Head(ctx, eventstore.Point{Position: 1})
			return head.Mark, err
		},
	}
	if config.IndexAPIKeyFile != "" {
		options.APIKey = func() (string, error) {
			text, err := os.ReadFile(config.IndexAPIKeyFile)
			return strings.TrimSpace(string(text)), err
		}
	}
	if config.IndexCA != "" {
		var err error
		if options.CACert, err = os.ReadFile(config.IndexCA); err != nil {
			return nil, err
		}
	}
	return elastic.Open(config.Index, options)
}

// openModel opens the read model; without a source it is not kept. One of this process is
// filled when it is empty and kept; another one is to be reached.
func (b *backend) openModel(ctx context.Context, source projector.Source) (*upkeep.Upkeep, error) {
	open := openServers
	if b.s.localIndex() {
		open = openMemory
	}
	index, err := open(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	options := upkeep.Options{Log: b.log, Observe: b.hooks.Projecting}
	if b.leases != nil && !b.s.localIndex() {
		options.Alone = b.rebuildsAlone
	}
	u := upkeep.New(index, b.events, source, options)
	if !b.s.localIndex() || source == nil {
		return u, nil
	}
	err = u.Ready(ctx)
	go debug.FreeOSMemory() // filling takes more than it keeps
	return u, err
}

// rebuildsAlone runs work under the lease of rebuilds. It does not stand by behind
// another rebuild, only until the lease of a dead one has ended.
func (b *backend) rebuildsAlone(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(lease.Span*3/2, func() { cancel(errors.New("another rebuild of this read model runs")) })
	// Without a log: who waits is told by a bar.
	err := lease.Run(ctx, b.leases, rebuildLease+b.s.IndexPrefix, holder(), lease.Options{}, func(ctx context.Context) error {
		late.Stop()
		return work(ctx)
	})
	return cmp.Or(err, context.Cause(ctx))
}
