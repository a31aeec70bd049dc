package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
	"daybook/internal/lease"
)

// Acquire implements lease.Store, by the clock of the database.
func (s *Store) Acquire(ctx context.Context, name, holder string, span time.Duration) (l lease.Lease, err error) {
	if !isText(name) || !isText(holder) || span < 0 || span > time.Hour {
		return l, fmt.Errorf("%w: lease needs a name, a holder and a span of up to an hour", eventstore.ErrMalformed)
	}
	err = s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, s.q.acquire, name, holder, span.Microseconds()).Scan(&l.Holder, &l.Epoch, &l.Left)
	})
	return l, wrap(err, "acquire lease %s", name)
}

func isText(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}
