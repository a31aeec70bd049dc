package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
)

// disk mounts a file system of 2 MiB.
func disk(t *testing.T) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skipf("%s did not run: only root mounts a file system", t.Name())
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("%s did not run: mount: %v", t.Name(), err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestReadOnly opens the store of a process that was killed where nothing can be written: on a
// disk that is full, and on a file system that is read-only.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	killed := filepath.Join(t.TempDir(), sqlite.FileName)
	smallLog(t, open(t, killed, sqlite.Options{}), 2)
	for _, full := range []bool{true, false} {
		dir := disk(t)
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			data, err := os.ReadFile(killed + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, sqlite.FileName+suffix), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		filler := filepath.Join(dir, "filler")
		if full {
			if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		} else if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		store := open(t, dir, sqlite.Options{})
		if why := store.ReadOnly(); !full && !errors.Is(why, eventstore.ErrUnavailable) {
			t.Errorf("ReadOnly: %v", why)
		}
		if head, err := store.Head(t.Context(), eventstore.Point{}); err != nil || head.Position != 4 || damage(t, store) != nil {
			t.Errorf("full %t: head %d, %v, %v", full, head.Position, err, damage(t, store))
		}
		a, err := twoRecords(9)
		if err != nil {
			t.Fatal(err)
		}
		if res := store.Append(t.Context(), a); !errors.Is(res.Err, eventstore.ErrUnavailable) {
			t.Errorf("full %t: append: %+v", full, res)
		}
		if !full {
			return
		}
		// With room again it is a store as before.
		if err := errors.Join(store.Close(), os.Remove(filler)); err != nil {
			t.Fatal(err)
		}
		again := open(t, dir, sqlite.Options{})
		if res := again.Append(t.Context(), a); again.ReadOnly() != nil || res.Err != nil || res.Position != 6 {
			t.Errorf("append with room again: %+v, %v", res, again.ReadOnly())
		}
	}
}
