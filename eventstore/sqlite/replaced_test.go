package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"daybook/eventstore"
)

// TestReplacedFile: connections that are opened while another file lies in the place of
// one of the store's do not read that one, nor make one that is missing; they come again
// with the file.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", logSuffix, indexSuffix} {
		t.Run("file"+suffix, func(t *testing.T) {
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
			path += suffix
			read := func() error {
				s.reader.db.SetMaxIdleConns(0) // the next one is new
				return s.reader.db.PingContext(t.Context())
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
			if res := s.Append(t.Context(), []eventstore.Append{plain(1, 10)}); res[0].Err != nil {
				t.Errorf("append when the file is there again: %v", res[0].Err)
			}
		})
	}
}

// TestLogLostInACommit removes the log after the commit was permitted: what is acknowledged
// all the same is in the file.
func TestLogLostInACommit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	armed := false
	s, err := Open(t.Context(), path, Options{Permit: func() error {
		if armed {
			armed = false
			return os.Remove(path + logSuffix)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if res := s.Append(t.Context(), []eventstore.Append{plain(1, 10)}); res[0].Err != nil {
		t.Fatal(res[0].Err)
	}
	s.writing.Lock()
	armed = true
	s.writing.Unlock()
	res := s.Append(t.Context(), []eventstore.Append{plain(2, 10)})
	if !errors.Is(res[0].Err, eventstore.ErrUnavailable) {
		t.Errorf("append: %+v, want ErrUnavailable", res[0])
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(killed, b, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), killed, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if h, err := again.Head(t.Context(), eventstore.Point{}); err != nil || h.Position != 2 {
		t.Errorf("the file alone has the head %d, %v", h.Position, err)
	}
}
