//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// unlockFile gives up the lock by itself: a child that is being started may hold
// the file for a moment longer.
func unlockFile(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// lockFile takes the lock of the store: one process at a time, because present states and
// the head are cached in memory. The lock ends with the file or the process. It is nil where
// neither it nor anything else can be written.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if Unwritable(err) {
		if file, err = os.Open(path); errors.Is(err, os.ErrNotExist) { //nolint:gosec // as above
			return nil, nil //nolint:nilnil // no lock is needed
		}
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errInUse
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return file, nil
}
