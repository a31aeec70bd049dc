package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"
	"time"
)

// TestCancelledBegin cancels a write while its BEGIN IMMEDIATE waits for another
// connection. The engine carries it out all the same, and a transaction that stayed open
// would refuse all later writes.
func TestCancelledBegin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	store, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	other, err := sql.Open("sqlite", dsn(path, url.Values{"_pragma": commonPragmas}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = store.commit(ctx, nil)
	}()
	for store.writing.TryLock() { // until the write has the connection
		store.writing.Unlock()
	}
	<-time.After(200 * time.Millisecond) // and waits for the other connection
	cancel()
	<-time.After(50 * time.Millisecond)
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	<-done
	if res := store.Append(t.Context(), plain(1, 10)); res.Err != nil {
		t.Errorf("append afterwards: %v", res.Err)
	}
}
