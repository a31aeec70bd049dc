package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUnwritable serves and checks a data directory on a disk that is full, and on a file
// system that is read-only: it reads on, takes no writes and says so.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skipf("%s did not run: only root mounts a file system", t.Name())
	}
	for name, spoil := range map[string]func(data string) error{
		"full": func(data string) error {
			err := os.WriteFile(filepath.Join(data, "filler"), make([]byte, 32<<20), 0o600)
			if errors.Is(err, syscall.ENOSPC) {
				return nil
			}
			return errors.Join(errors.New("there is room left"), err)
		},
		"read-only": func(data string) error { return syscall.Mount("", data, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=16m"); err != nil {
				t.Skipf("%s did not run: mount: %v", t.Name(), err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
			server := startServer(t, "serve", "--data", data)
			token := server.token
			server.want(201, "POST", "/tags", token, `{"name":"first"}`)
			server.drain()
			must(t, spoil(data))
			for _, command := range [][]string{{"verify"}, {"export"}, {"audit", "verify"}, {"audit", "export"}} {
				mustTool(t, append(command, "--data", data)...)
			}
			server = startServer(t, "serve", "--data", data)
			server.want(200, "GET", "/tags", "", "")
			if got := server.state(); got["status"] != "degraded" || got["why"] != whyNoWrites {
				t.Errorf("ready: got %v, want %q because %q", got, "degraded", whyNoWrites)
			}
			server.want(503, "POST", "/tags", token, `{"name":"second"}`)
			server.want(200, "GET", "/tags", "", "")
			server.drain()
		})
	}
}
