package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// watchEvery is how often the files of an open store are looked at.
const watchEvery = 200 * time.Millisecond

// openFile is a file that an open store works on. The engine goes on with it when somebody
// removes or replaces it, and what it writes ends with the process.
type openFile struct {
	path string
	info os.FileInfo
}

// inPlace reports whether the file is the one at its path.
func (f *openFile) inPlace() bool {
	now, err := os.Stat(f.path)
	return err == nil && os.SameFile(f.info, now) || err != nil && !errors.Is(err, os.ErrNotExist)
}

// The suffixes of the files of a store.
const (
	logSuffix   = "-wal" // the write-ahead log, which has the newest entries
	indexSuffix = "-shm"
	lockSuffix  = ".lock"
)

// noteFiles notes the files of the store, which has to be open. Where the file is a link
// the engine has the others next to what it leads to.
func (s *Store) noteFiles(path string) error {
	at := linked(path)
	names := []string{path, at + logSuffix, at + indexSuffix, path + lockSuffix}
	if s.readOnly != nil { // others need not be there
		names = names[:1]
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		s.files = append(s.files, openFile{name, info})
	}
	return nil
}

// linked returns the path that a link leads to.
func linked(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}

// ReadOnly returns why the store that was opened takes no writes: its file system is read-only
// or full, or it belongs to somebody else. nil: it does.
func (s *Store) ReadOnly() error { return s.readOnly }

// Lost returns the path of a file of the store that was removed or replaced since it was
// opened, "" if none exists. Nothing is committed then.
func (s *Store) Lost() string {
	for i := range s.files {
		if !s.files[i].inPlace() {
			return s.files[i].path
		}
	}
	return ""
}

// permitted refuses a commit, and refuses to acknowledge one, with ErrUnavailable: into
// files that no one would find again, and what Options.Permit refuses. What was committed
// before is secured then.
func (s *Store) permitted(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.readOnly != nil {
		return s.readOnly
	}
	var err error
	if path := s.Lost(); path != "" {
		err = fmt.Errorf("%s was removed or replaced", path)
	} else if s.o.Permit != nil {
		err = s.o.Permit()
	}
	if err == nil {
		s.secured = false
		return nil
	}
	if !s.secured {
		err = errors.Join(err, s.secure(context.WithoutCancel(ctx)))
	}
	return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
}

// secure moves what was committed from the log into the file, so that it no longer depends
// on the log, and sets secured. A log that somebody put in the place of the store's is
// moved away, because the next start would write it over the file. Where the file itself is
// missing nothing is done: with its log it is whole again when it is put back.
func (s *Store) secure(ctx context.Context) error {
	file, log := &s.files[0], &s.files[1]
	if _, err := os.Stat(file.path); err != nil {
		return nil //nolint:nilerr // as above
	}
	busy, err := s.emptyLog(ctx)
	if err == nil && busy {
		err = errors.New("others read")
	}
	if err != nil {
		return fmt.Errorf("move the log into the file: %w", err)
	}
	if file.inPlace() && !log.inPlace() {
		if err := os.Rename(log.path, log.path+".replaced"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	s.secured = true
	return nil
}

// emptyLog moves the log into the file, unless others read what is in it. The caller holds
// writing.
func (s *Store) emptyLog(ctx context.Context) (busy bool, err error) {
	return one(ctx, s.writer, "PRAGMA wal_checkpoint(TRUNCATE)", func(r row) (busy bool, err error) {
		var pages, moved int64
		err = r.Scan(&busy, &pages, &moved)
		return busy, err
	})
}

// watchFiles secures what was committed as soon as a file is lost, also when no one writes.
func (s *Store) watchFiles(ctx context.Context) {
	for pause.For(ctx, watchEvery) == nil {
		if s.Lost() != "" {
			_ = s.permitted(ctx) // whoever writes gets the error
		}
	}
}

// checkLog refuses to make a file where a log is left of one: the engine would delete it.
func checkLog(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	}
	log := linked(path) + logSuffix
	if _, err := os.Stat(log); err != nil {
		return nil //nolint:nilerr // there is none
	}
	return fmt.Errorf("%s is missing or empty, and %s is left of a log with its newest entries: put the file back, or move that away", path, log)
}
