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

// dataGuard are the files of the data directory that a process works on. When somebody
// removes or replaces them, what it wrote would end with it: it only reads then.
type dataGuard struct {
	dir   string
	files []fs.FileInfo
}

// guardFiles notes the files. It needs the directory's lock and an open store.
func guardFiles(s *settings) (*dataGuard, error) {
	names := []string{lockFile}
	if s.store == "" {
		names = append(names, sqlite.FileName)
	}
	h := &dataGuard{dir: s.data}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(h.dir, name))
		if err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
		h.files = append(h.files, info)
	}
	return h, nil
}

// lost gives the path of a file that is not the one that is worked on any more; ""
// when all are. Nothing is lost of no guard.
func (h *dataGuard) lost() string {
	if h == nil {
		return ""
	}
	for _, f := range h.files {
		path := filepath.Join(h.dir, f.Name())
		now, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(f, now) {
			return path
		}
	}
	return ""
}

// permit refuses a commit into files that nobody would find again.
func (b *backend) permit() error {
	if path := b.guard.Load().lost(); path != "" {
		return fmt.Errorf("%s was removed or replaced", path)
	}
	return nil
}

// watch logs when files are lost, and when they are there again.
func (h *dataGuard) watch(ctx context.Context, log *slog.Logger) error {
	for before := ""; ; {
		switch now := h.lost(); {
		case now != "" && before == "":
			log.ErrorContext(ctx, "data directory was removed or replaced: nothing is written any more", "file", now)
			before = now
		case now == "" && before != "":
			log.InfoContext(ctx, "data directory is there again", "data", h.dir)
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
