package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"daybook/eventstore"
)

// TestLogLostInACommit removes the log after the commit was permitted: what is acknowledged
// all the same is in the file.
func TestLogLostInACommit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	armed := false
	store, err := Open(t.Context(), path, Options{Permit: func() error {
		if armed {
			armed = false
			return os.Remove(path + logSuffix)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if res := store.Append(t.Context(), plain(1, 10)); res.Err != nil {
		t.Fatal(res.Err)
	}
	store.writing.Lock()
	armed = true
	store.writing.Unlock()
	res := store.Append(t.Context(), plain(2, 10))
	if !errors.Is(res.Err, eventstore.ErrUnavailable) {
		t.Errorf("append: %+v, want ErrUnavailable", res)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(killed, data, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), killed, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if head, err := again.Head(t.Context(), eventstore.Point{}); err != nil || head.Position != 2 {
		t.Errorf("the file alone has the head %d, %v", head.Position, err)
	}
}
