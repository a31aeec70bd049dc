package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"daybook/eventstore"
)

// translate turns errors of the driver into those of the port, by code. One of the port is
// left as it is.
func translate(err error) error {
	if errors.Is(err, sql.ErrConnDone) {
		return eventstore.ErrClosed
	}
	e, ok := errors.AsType[*driver.Error](err)
	if !ok || errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, eventstore.ErrDamaged) {
		return err
	}
	switch e.Code() & 0xff { // the rest of the code is detail
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_NOMEM, lib.SQLITE_READONLY, lib.SQLITE_IOERR,
		lib.SQLITE_FULL, lib.SQLITE_CANTOPEN, lib.SQLITE_PROTOCOL:
		return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
	default:
		return err
	}
}

// Unwritable reports whether an error may be that of a file that can be read all the same.
func Unwritable(err error) bool {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return slices.Contains([]int{lib.SQLITE_READONLY, lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CANTOPEN}, e.Code()&0xff)
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
