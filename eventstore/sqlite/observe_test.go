package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// TestObserveCommits: every group commit is told with its size and its end.
func TestObserveCommits(t *testing.T) {
	t.Parallel()
	var told []string
	open := 0
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "events.db"), Options{Observe: func() func(eventstore.Committed) {
		open++
		return func(c eventstore.Committed) {
			open--
			told = append(told, fmt.Sprint(c.Appends, " ", c.Entries, " ", c.Head, " ", c.Err != nil))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.conn.ExecContext(t.Context(), `CREATE TRIGGER refuse BEFORE INSERT ON records WHEN NEW.id = 4
		BEGIN SELECT RAISE(ABORT, 'refused'); END`); err != nil {
		t.Fatal(err)
	}
	add := func(ids ...calendar.ID) {
		var appends []eventstore.Append
		for _, id := range ids {
			appends = append(appends, plain(id, 10))
		}
		s.Append(t.Context(), appends)
	}
	add(1, 2)
	add(2, 3) // 2 is there already
	add(4, 5) // the engine refuses 4, so each is tried alone
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"2 2 2 false", "2 1 3 false", "2 0 3 true", "1 0 3 true", "1 1 4 false"}; !slices.Equal(told, want) || open != 0 {
		t.Errorf("told %q with %d open, want %q", told, open, want)
	}
}
