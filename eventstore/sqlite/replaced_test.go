package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"daybook/eventstore"
)

// TestReplacedFile: connections that are opened while another file lies in the place of
// the store's do not read that one, nor make one that is missing; they come again with
// the file.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	read := func() error {
		s.readDB.SetMaxIdleConns(0) // the next one is new
		return s.readDB.PingContext(t.Context())
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("a removed file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made in its place: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("a replaced file: %v", err)
	}
	if err := os.Rename(path+"-away", path); err != nil {
		t.Fatal(err)
	}
	if err := read(); err != nil {
		t.Errorf("the file is there again: %v", err)
	}
}
