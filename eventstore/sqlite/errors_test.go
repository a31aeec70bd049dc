package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"daybook/eventstore"
)

// TestTranslate: what several layers translate is said once.
func TestTranslate(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	err := s.writer.exec(t.Context(), "ATTACH '/no/such/directory/file' AS other")
	s.o.Permit = func() error { return err }
	for name, err := range map[string]error{"of the engine": err, "of a commit that is not permitted": s.permitted(t.Context())} {
		for range 3 {
			err = fmt.Errorf("read: %w", translate(err))
		}
		if got := strings.Count(err.Error(), "event store "); got != 1 || !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("%s: got %v, want %q once", name, err, eventstore.ErrUnavailable)
		}
	}
}
