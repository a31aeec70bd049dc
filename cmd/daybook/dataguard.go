package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/ground/pause"
)

// lookEvery is how often the files of the data directory are looked at for the log.
const lookEvery = 5 * time.Second

// dataGuard is the lock of the data directory that a process works on. When somebody
// removes or replaces it, another process may serve from there: this one only reads then.
type dataGuard struct {
	path string
	info fs.FileInfo
}

// guardLock notes the lock, which the process has to hold.
func guardLock(dir string) (*dataGuard, error) {
	path := filepath.Join(dir, lockFile)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return &dataGuard{path, info}, nil
}

// lost returns the path of the lock when it is not the one that is held any more, else "".
// Nothing is lost of no guard.
func (g *dataGuard) lost() string {
	if g == nil {
		return ""
	}
	now, err := os.Stat(g.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(g.info, now) {
		return g.path
	}
	return ""
}

// permit refuses a commit into a directory that another process may take.
func (b *backend) permit() error {
	if path := b.guard.Load().lost(); path != "" {
		return fmt.Errorf("%s was removed or replaced", path)
	}
	return nil
}

// lostFile returns the path of a file of the data directory that this process works on and
// that was removed or replaced, "" when there is none.
func (b *backend) lostFile() string {
	if s, ok := b.store.(*sqlite.Store); ok {
		if path := s.Lost(); path != "" {
			return path
		}
	}
	return b.guard.Load().lost()
}

// watchData logs when files are lost, and when they are there again.
func (b *backend) watchData(ctx context.Context, log *slog.Logger) error {
	for before := ""; ; {
		switch now := b.lostFile(); {
		case now != "" && before == "":
			log.ErrorContext(ctx, "data directory was removed or replaced: nothing is written any more", "file", now)
			before = now
		case now == "" && before != "":
			log.InfoContext(ctx, "data directory is there again", "data", b.s.data)
			before = ""
		}
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// commits knows whether the store takes writes: by its last commit, for those who
// send requests elsewhere or raise an alarm.
type commits struct {
	fail atomic.Bool
	log  *slog.Logger
}

// watched is an observer of commits before another one, which may be nil.
func (c *commits) watched(next eventstore.ObserveCommit) eventstore.ObserveCommit {
	return func() func(eventstore.Committed) {
		end := func(eventstore.Committed) {}
		if next != nil {
			end = next()
		}
		return func(done eventstore.Committed) {
			c.note(done)
			end(done)
		}
	}
}

func (c *commits) note(done eventstore.Committed) {
	switch failed := errors.Is(done.Err, eventstore.ErrUnavailable) || errors.Is(done.Err, eventstore.ErrDamaged); {
	case failed && !c.fail.Swap(true):
		c.log.Error("event store takes no writes", "error", done.Err)
	case done.Err == nil && done.Entries > 0 && c.fail.Swap(false): // one without entries proves nothing
		c.log.Info("event store takes writes again")
	}
}
