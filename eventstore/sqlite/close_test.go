package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
)

// TestClosedStoreIsOneFile shows that a closed store leaves nothing in the log
// next to the file, so that the file alone is a copy.
func TestClosedStoreIsOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Append(t.Context(), []eventstore.Append{{Time: time.Unix(1e9, 0), Drafts: []eventstore.Draft{
		{Kind: calendar.KindTag, ID: 5, Change: "tag.created", Fields: []byte(`{}`), State: []byte(`{}`)},
	}}})
	if r[0].Err != nil {
		t.Fatal(r[0].Err)
	}
	if _, err := s.Read(t.Context(), eventstore.Range{Limit: 10}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The engine takes its log away when the last connection is really closed.
	for _, name := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(filepath.Join(dir, sqlite.FileName+name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there after Close (%v)", sqlite.FileName+name, err)
		}
	}
}
