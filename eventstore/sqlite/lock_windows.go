package sqlite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// unlockFile gives the lock up.
func unlockFile(f *os.File) error { return f.Close() }

// lockFile takes the lock of the store: one process at a time, because the
// present states and the head are kept in memory. The lock ends with the file
// or the process.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)); err != nil {
		_ = f.Close()
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			return nil, errInUse
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return f, nil
}

// keepOwner does nothing: a file takes on the rights of its directory.
func keepOwner(_, _ string) error { return nil }
