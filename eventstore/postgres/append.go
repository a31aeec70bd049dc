package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// Append implements eventstore.Store. When the connection breaks during a commit, the
// store finds out on another one what became of it; an Append gets ErrUnavailable when
// that fails too.
func (store *Store) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	ctx, cancel := context.WithTimeoutCause(ctx, store.options.Timeout, errNoAnswer)
	defer cancel()
	return store.committer.Append(ctx, addition)
}

// Sync implements eventstore.Store by a commit: when one that writes something is durable,
// all before it are. One whose wait for a standby was cut off can be read and may be lost.
func (store *Store) Sync(ctx context.Context) error {
	return store.Append(ctx, eventstore.Append{}).Err
}

// commit decides items and writes those that win in one transaction. Where it may be lost
// with its connection, another one finds out what became of it.
func (store *Store) commit(ctx context.Context, items []*eventstore.Item) (*eventstore.Group, error) {
	group, lost, err := store.attempt(ctx, items, nil)
	if lost {
		store.options.Log.Warn("commit without an answer, tried on another connection", "error", err)
		group, _, err = store.attempt(ctx, items, group) // under the lock the lost transaction is over
	}
	return group, err
}

// attempt is one transaction; lost says that it may have been written all the same, as one
// before it may have been.
func (store *Store) attempt(ctx context.Context, items []*eventstore.Item, before *eventstore.Group) (written *eventstore.Group, lost bool, err error) {
	lost = true
	err = store.use(ctx, store.write, store.options.Timeout/2, func(ctx context.Context, conn *pgx.Conn) error {
		group, err := store.gather(ctx, conn, items, before)
		if err == nil {
			written = group.Group
			group.Decide()
			err = heard(conn, func() error { return store.insert(ctx, conn, group) })
		}
		if err == nil {
			err = store.learn(group)
		}
		if err != nil && !conn.IsClosed() {
			lost = errors.Is(err, errUnheard) || errors.Is(err, errElsewhere)
			_, _ = conn.Exec(context.WithoutCancel(ctx), "ROLLBACK") // the first error counts
		}
		return err
	})
	return written, lost && err != nil, err
}

// errElsewhere says that a commit met another history than the one it was begun in.
var errElsewhere = fmt.Errorf("%w: the server has another history", eventstore.ErrUnavailable)

// The statements around those of an append. At READ COMMITTED a statement sees what was
// committed before it began: each that stands behind the lock sees the whole log.
const (
	begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	// lockLog locks the log, in one statement with the settings of the transaction. What is
	// acknowledged is durable, whatever role and database set. A process that is stopped
	// between its two round trips does not hold the log for long. Tables are looked up by
	// index, by plans that may have been made when they were empty.
	lockLog = `SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END,
		set_config('idle_in_transaction_session_timeout', '4s', true), set_config('enable_seqscan', 'off', true),
		set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true),
		pg_advisory_xact_lock(1684109666, hashtext($1::text))` // "dayb"
	lockIDs = "SELECT pg_advisory_xact_lock(1684109667, hashtext($1::text))"
	// durable makes a transaction that writes nothing else one that is waited for.
	durable = "SELECT pg_logical_emit_message(true, 'daybook', '')"
	commit  = "COMMIT"
	notify  = "SELECT pg_notify($1, $2)"
)

// group is a Group with how the log stood before it.
type group struct {
	*eventstore.Group

	log answer
}

// gather locks the log and reads what items touch, each in a statement of its own. Where an
// attempt before has written them it returns a group that writes nothing and is durable.
func (store *Store) gather(ctx context.Context, conn *pgx.Conn, items []*eventstore.Item, before *eventstore.Group) (*group, error) {
	g := &group{Group: eventstore.NewGroup(store.Epoch(), items)}
	written := false
	batch := &pgx.Batch{}
	batch.Queue(begin)
	batch.Queue(lockLog, store.options.Schema)
	see := store.queueHead(batch, &g.log)
	each(batch, store.q("SELECT "+heldColumns+", ''::bytea, "+holdings+" FROM @records r WHERE r.id = ANY ($1::bigint[])"), scanHeld,
		func(held eventstore.Held) { g.Records[held.ID] = &held }, numbers(slices.Collect(maps.Keys(g.Records))))
	store.eachPair(batch, claims, slices.Collect(maps.Keys(g.Holders)), func(pair eventstore.Pair) { g.Holders[pair.Claim] = pair.Record })
	store.eachPair(batch, names, slices.Collect(maps.Keys(g.Counts)), func(pair eventstore.Pair) { g.Counts[pair.Claim]++ })
	each(batch, store.q("SELECT "+receiptColumns+" FROM @receipts WHERE digest = ANY ($1::bytea[])"), scanReceipt,
		func(receipt *eventstore.Receipt) { g.Receipts[receipt.ReceiptKey] = receipt }, column(slices.Collect(maps.Keys(g.Receipts)), receiptDigest))
	each(batch, store.q("SELECT "+checkpointColumns+" FROM @checkpoints WHERE size = ANY ($1::bigint[]) OR size = (SELECT max(size) FROM @checkpoints)"), scanCheckpoint,
		func(checkpoint eventstore.Checkpoint) { g.Signed[checkpoint.Size] = checkpoint }, column(slices.Collect(maps.Keys(g.Signed)), number))
	if before != nil && len(before.Commits) > 0 {
		batch.Queue(store.q("SELECT EXISTS (SELECT FROM @commits WHERE first = $1::bigint AND last = $2::bigint AND hash = $3::bytea)"), commitRow(before.Commits[0])...).
			QueryRow(func(row pgx.Row) error { return row.Scan(&written) })
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read for append: %w", err)
	}
	if err := see(); err != nil {
		return nil, err
	}
	if store.Epoch().History != g.Epoch.History {
		return nil, errElsewhere
	}
	if written {
		g.Group = eventstore.NewGroup(g.Epoch, nil)
	}
	g.Mark = g.log.Mark
	return g, nil
}

// insert writes what a group decided and commits, in one batch.
func (store *Store) insert(ctx context.Context, conn *pgx.Conn, group *group) error {
	batch := &pgx.Batch{}
	store.queue(batch, group.Group)
	store.put(batch, receipts, column(group.Stored, receiptRow))
	if len(group.Entries) > 0 {
		if id := slices.Max(column(group.Entries, func(entry eventstore.Entry) calendar.ID { return entry.ID })); id > group.log.lastID {
			batch.Queue(lockIDs, store.options.Schema)
			batch.Queue(store.q("SELECT setval('@ids', $1) FROM @ids WHERE last_value < $1::bigint"), int64(id))
		}
		batch.Queue(notify, store.options.Schema+"_head", group.Mark.Position.String())
	}
	if len(group.Redacts) > 0 {
		batch.Queue(store.q("SELECT @erase($1::bigint[])"), numbers(group.Redacts))
	}
	if batch.Len() == 0 {
		batch.Queue(durable)
	}
	batch.Queue(commit)
	return conn.SendBatch(ctx, batch).Close()
}

// queue queues what a group writes but receipts, whose time differs.
func (store *Store) queue(batch *pgx.Batch, group *eventstore.Group) {
	store.put(batch, entries, column(group.Entries, entryRow))
	store.put(batch, commits, column(group.Commits, commitRow))
	changes := group.Changes()
	if ids := column(changes.Before, func(held *eventstore.Held) int64 { return int64(held.ID) }); len(ids) > 0 {
		batch.Queue(store.q("DELETE FROM @claims WHERE record = ANY ($1::bigint[])"), ids)
		batch.Queue(store.q("DELETE FROM @names WHERE record = ANY ($1::bigint[])"), ids)
	}
	store.put(batch, records, column(changes.Records, recordRow))
	store.put(batch, claims, column(changes.Claims, pairRow))
	store.put(batch, names, column(changes.Names, pairRow))
	store.put(batch, slugs, column(group.Slugs, slugRow))
	store.put(batch, checkpoints, column(slices.Collect(maps.Values(group.Signs)), checkpointRow))
	store.put(batch, redacted, column(group.Redacted, redactedRow))
}

// learn learns of a group that was committed.
func (store *Store) learn(group *group) error {
	store.mutex.Lock()
	defer store.mutex.Unlock()
	if store.signal.Epoch().History != group.Epoch.History {
		return errElsewhere
	}
	erases := len(group.Redacts) > 0
	if erases {
		store.erased = group.Mark.Position
	}
	store.signal.Move(group.Mark, erases)
	return nil
}

// NewID implements eventstore.Store. Who uses greater ones locks it out meanwhile.
func (store *Store) NewID(ctx context.Context) (id calendar.ID, err error) {
	err = store.use(ctx, store.read, store.options.ReadTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		batch.Queue(begin)
		batch.Queue(lockIDs, store.options.Schema)
		batch.Queue(store.q("SELECT setval('@ids', last_value + 1) FROM @ids")).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
		batch.Queue(commit)
		return conn.SendBatch(ctx, batch).Close()
	})
	return id, err
}
