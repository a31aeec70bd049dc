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

// TestReadOnly opens stores where nothing can be written: on a disk that is full, and on
// a file system that is read-only, after a store was closed and after a process was killed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(t.TempDir(), sqlite.FileName)
	makeStore(t, closed)
	killed := filepath.Join(t.TempDir(), sqlite.FileName)
	live := open(t, killed, sqlite.Options{})
	smallLog(t, live, 2)
	for name, from := range map[string]string{"closed": closed, "killed": killed} {
		for _, fault := range []string{"full", "read-only"} {
			t.Run(name+" "+fault, func(t *testing.T) {
				t.Parallel()
				dir := disk(t)
				for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
					b, err := os.ReadFile(from + suffix)
					if err == nil {
						err = os.WriteFile(filepath.Join(dir, sqlite.FileName+suffix), b, 0o600)
					}
					if err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Fatal(err)
					}
				}
				filler := filepath.Join(dir, "filler")
				if fault == "full" {
					if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
						t.Fatal(err)
					}
				} else if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
					t.Fatal(err)
				}
				s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				// After a kill the engine has the room of the index of the log.
				if why := s.ReadOnly(); !errors.Is(why, eventstore.ErrUnavailable) && name+fault != "killedfull" {
					t.Errorf("ReadOnly: %v", why)
				}
				if err := damage(t, s); err != nil {
					t.Error(err)
				}
				if h, err := s.Head(t.Context(), eventstore.Point{}); err != nil || h.Position != 4 {
					t.Errorf("head: %+v, %v", h, err)
				}
				a, err := twoRecords(9)
				if err != nil {
					t.Fatal(err)
				}
				if res := s.Append(t.Context(), []eventstore.Append{a})[0]; !errors.Is(res.Err, eventstore.ErrUnavailable) {
					t.Errorf("append: %+v", res)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if fault != "full" {
					return
				}
				// With room again it is a store as before.
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
				again := open(t, dir, sqlite.Options{})
				if res := again.Append(t.Context(), []eventstore.Append{a})[0]; again.ReadOnly() != nil || res.Err != nil || res.Position != 6 {
					t.Errorf("append with room again: %+v, %v", res, again.ReadOnly())
				}
			})
		}
	}
}
