package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"daybook/eventstore"
)

// TestTranslate: what several layers translate is said once.
func TestTranslate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err, want error
	}{
		"connection refused": {&net.OpError{Op: "dial", Err: io.EOF}, eventstore.ErrUnavailable},
		"connection lost":    {io.ErrUnexpectedEOF, eventstore.ErrUnavailable},
		"disk full":          {&pgconn.PgError{Code: "53100"}, eventstore.ErrUnavailable},
		"no table":           {&pgconn.PgError{Code: "42P01"}, eventstore.ErrUnavailable},
		"corrupted":          {&pgconn.PgError{Code: "XX001"}, eventstore.ErrDamaged},
		"damaged":            {fmt.Errorf("%w: entry 7", eventstore.ErrDamaged), eventstore.ErrDamaged},
		"closed":             {eventstore.ErrClosed, eventstore.ErrClosed},
	} {
		err := c.err
		for range 3 {
			err = fmt.Errorf("read: %w", translate(t.Context(), err))
		}
		if got := strings.Count(err.Error(), "event store "); got != 1 || !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %q once", name, err, c.want)
		}
	}
}
