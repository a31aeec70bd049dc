package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/internal/lease"
)

// takeLease takes or renews a lease where it is free, ended or the holder's own. One that
// ends later than its term from now was taken before the clock went back, and has ended.
const takeLease = `INSERT INTO @leases AS l (name, holder, epoch, until, term) VALUES ($1::text, $2::text, 1, clock_timestamp() + $3::interval, $3::interval)
	ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = clock_timestamp() + excluded.term, term = excluded.term,
		epoch = l.epoch + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END
	WHERE l.holder = excluded.holder OR l.until <= clock_timestamp() OR l.until > clock_timestamp() + l.term`

// Acquire implements lease.Store, by the clock of the database. It does not wait for a
// synchronous standby: what a lease is for does, and has a fence of its own.
func (store *Store) Acquire(ctx context.Context, name, holder string, span time.Duration) (l lease.Lease, err error) {
	err = store.use(ctx, store.read, store.options.ReadTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		batch.Queue(begin)
		batch.Queue("SET LOCAL synchronous_commit = local")
		batch.Queue(store.q(takeLease), name, holder, span)
		batch.Queue(store.q("SELECT holder, epoch, greatest(until - clock_timestamp(), interval '0') FROM @leases WHERE name = $1::text"), name).QueryRow(func(row pgx.Row) error {
			return row.Scan(&l.Holder, &l.Epoch, &l.Left)
		})
		batch.Queue(commit)
		return conn.SendBatch(ctx, batch).Close()
	})
	return l, err
}
