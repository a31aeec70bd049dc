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
func (config *config) localIndex() bool { return config.Index == "" }

// holds reports whether the event store has the history of a mark.
func (backend *backend) holds(ctx context.Context, mark calendar.Mark) (bool, error) {
	err := eventstore.CheckMark(ctx, backend.events, mark)
	if errors.Is(err, eventstore.ErrHistory) {
		return false, nil
	}
	return err == nil, err
}

// history returns which history the event store has, see eventstore.Epoch.
func (backend *backend) history() uint64 { return backend.events.Epoch().History }

// openServers opens an index on servers, which are not asked for anything yet.
func (backend *backend) openServers() (readmodel.Generations, error) {
	config := backend.config
	options := config.Engine
	options.Log, options.Holds, options.Epoch = backend.log, backend.holds, backend.history
	options.First = func(ctx context.Context) (calendar.Mark, error) {
		head, err := backend.events.Head(ctx, eventstore.Point{Position: 1})
		return head.Mark, err
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
func (backend *backend) openModel(ctx context.Context, source projector.Source) (*upkeep.Upkeep, error) {
	var index readmodel.Generations
	var err error
	if backend.localIndex() {
		index, err = memindex.Open(ctx, filepath.Join(backend.Data, snapshotFile), memindex.Options{
			Logger: backend.log, Holds: backend.holds, Epoch: backend.history, Former: filepath.Join(backend.Data, formerFile),
		})
	} else {
		index, err = backend.openServers()
	}
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	options := upkeep.Options{Log: backend.log, Observe: backend.hooks.Projecting}
	if backend.leases != nil && !backend.localIndex() {
		options.Alone = backend.rebuildsAlone
	}
	u := upkeep.New(index, backend.events, source, options)
	if !backend.localIndex() || source == nil {
		return u, nil
	}
	err = u.Ready(ctx)
	go debug.FreeOSMemory() // filling takes more than it keeps
	return u, err
}

// rebuildsAlone runs work under the lease of rebuilds. It does not stand by behind
// another rebuild, only until the lease of a dead one has ended.
func (backend *backend) rebuildsAlone(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(lease.Span*3/2, func() { cancel(errors.New("another rebuild of this read model runs")) })
	// Without a log: who waits is told by a bar.
	err := lease.Run(ctx, backend.leases, "rebuild/"+backend.Engine.Prefix, holder, lease.Options{}, func(ctx context.Context) error {
		late.Stop()
		return work(ctx)
	})
	return cmp.Or(err, context.Cause(ctx))
}
