package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
)

// Acquire does eventstore.Leases, by the clock of the database.
func (s *Store) Acquire(ctx context.Context, name, holder string, span time.Duration) (eventstore.Lease, bool, error) {
	if !isText(name) || !isText(holder) || span < eventstore.MinLease || span > eventstore.MaxLease {
		return eventstore.Lease{}, false, fmt.Errorf("%w: lease needs a name, a holder and a span of %s to %s",
			eventstore.ErrMalformed, eventstore.MinLease, eventstore.MaxLease)
	}
	l := eventstore.Lease{Name: name}
	err := s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, s.q.acquire, name, holder, span.Microseconds()).Scan(&l.Holder, &l.Epoch, &l.Left)
	})
	if err != nil {
		return eventstore.Lease{}, false, wrap(err, "acquire lease %s", name)
	}
	return l, l.Holder == holder, nil
}

// Release does eventstore.Leases.
func (s *Store) Release(ctx context.Context, name, holder string) error {
	err := s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, s.q.release, name, holder)
		return err
	})
	return wrap(err, "release lease %s", name)
}

func isText(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}
