package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"daybook/eventstore/sqlite"
)

// TestClosedStoreIsOneFile shows that a closed store leaves nothing in the log
// next to the file, so that the file alone is a copy.
func TestClosedStoreIsOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), sqlite.FileName)
	makeStore(t, path)
	// The engine takes its log away when the last connection is really closed.
	for _, name := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there after Close (%v)", name, err)
		}
	}
}
