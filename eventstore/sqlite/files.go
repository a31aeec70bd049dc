package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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
func (openFile *openFile) inPlace() bool {
	now, err := os.Stat(openFile.path)
	return err == nil && os.SameFile(openFile.info, now) || err != nil && !errors.Is(err, os.ErrNotExist)
}

// The suffixes of the files of a store.
const (
	logSuffix   = "-wal" // the write-ahead log, which has the newest entries
	indexSuffix = "-shm"
	lockSuffix  = ".lock"
)

// noteFiles notes the files of the store, which has to be open. Where the file is a link
// the engine has the others next to what it leads to.
func (store *Store) noteFiles(path string) error {
	at := linked(path)
	names := []string{path, at + logSuffix, at + indexSuffix, path + lockSuffix}
	if store.readOnly != nil { // others need not be there
		names = names[:1]
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		store.files = append(store.files, openFile{name, info})
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
func (store *Store) ReadOnly() error { return store.readOnly }

// Lost returns the path of a file of the store that was removed or replaced since it was
// opened, "" if none exists. Nothing is committed then.
func (store *Store) Lost() string {
	for i := range store.files {
		if !store.files[i].inPlace() {
			return store.files[i].path
		}
	}
	return ""
}

// secure moves what was committed from the log into the file, so that it no longer depends
// on the log, and sets secured. A log that somebody put in the place of the store's is
// moved away, because the next start would write it over the file. Where the file itself is
// missing nothing is done: with its log it is whole again when it is put back.
func (store *Store) secure(ctx context.Context) error {
	file, log := &store.files[0], &store.files[1]
	if _, err := os.Stat(file.path); err != nil {
		return nil //nolint:nilerr // as above
	}
	busy, err := store.emptyLog(ctx)
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
	store.secured = true
	return nil
}

// emptyLog moves the log into the file, unless others read what is in it. The caller holds
// writing.
func (store *Store) emptyLog(ctx context.Context) (busy bool, err error) {
	return one(ctx, store.writer, "PRAGMA wal_checkpoint(TRUNCATE)", func(r row) (busy bool, err error) {
		var pages, moved int64
		err = r.Scan(&busy, &pages, &moved)
		return busy, err
	})
}

// watchFiles secures what was committed as soon as a file is lost, also when no one writes.
func (store *Store) watchFiles(ctx context.Context) {
	for pause.For(ctx, watchEvery) == nil {
		if store.Lost() != "" {
			_ = store.permitted(ctx) // whoever writes gets the error
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
