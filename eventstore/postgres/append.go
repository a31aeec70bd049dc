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
func (s *Store) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.Timeout, errNoAnswer)
	defer cancel()
	return s.committer.Append(ctx, appends)
}

// Sync implements eventstore.Store by a commit: when one that writes something is durable,
// all before it are. One whose wait for a standby was cut off can be read and may be lost.
func (s *Store) Sync(ctx context.Context) error {
	return s.Append(ctx, make([]eventstore.Append, 1))[0].Err
}

// commit decides items and writes those that win in one transaction. Where it may be lost
// with its connection, another one finds out what became of it.
func (s *Store) commit(ctx context.Context, items []*eventstore.Item) error {
	lost, err := s.attempt(ctx, items, false)
	if lost {
		s.o.Log.Warn("commit without an answer, tried on another connection", "error", err)
		_, err = s.attempt(ctx, items, true) // under the lock the lost transaction is over
	}
	return err
}

// attempt is one transaction; lost says that it may have been written all the same.
func (s *Store) attempt(ctx context.Context, items []*eventstore.Item, again bool) (lost bool, err error) {
	lost = true
	err = s.use(ctx, s.write, s.o.Timeout/2, func(ctx context.Context, conn *pgx.Conn) error {
		group, err := s.gather(ctx, conn, items, again)
		if err == nil {
			group.Decide()
			err = heard(conn, func() error { return s.insert(ctx, conn, group) })
		}
		if err == nil {
			err = s.learn(group)
		}
		if err != nil && !conn.IsClosed() {
			lost = errors.Is(err, errUnheard) || errors.Is(err, errElsewhere)
			_, _ = conn.Exec(context.WithoutCancel(ctx), "ROLLBACK") // the first error counts
		}
		return err
	})
	return lost && err != nil, err
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

	epoch eventstore.Epoch
	log   answer
}

// gather locks the log and reads what items touch, each in a statement of its own. again
// says that an attempt before may have written them.
func (s *Store) gather(ctx context.Context, conn *pgx.Conn, items []*eventstore.Item, again bool) (*group, error) {
	epoch := s.Epoch()
	g := &group{Group: eventstore.NewGroup(epoch, items), epoch: epoch}
	touched := numbers(slices.Collect(maps.Keys(g.Records)))
	batch := &pgx.Batch{}
	batch.Queue(begin)
	batch.Queue(lockLog, s.o.Schema)
	see := s.queueHead(batch, &g.log)
	each(batch, s.q("SELECT "+heldColumns+", ''::bytea, "+holdings+" FROM @records r WHERE r.id = ANY ($1::bigint[])"), scanHeld,
		func(held eventstore.Held) { g.Records[held.ID] = &held }, touched)
	s.eachPair(batch, claims, slices.Collect(maps.Keys(g.Holders)), func(pair eventstore.Pair) { g.Holders[pair.Claim] = pair.Record })
	s.eachPair(batch, names, slices.Collect(maps.Keys(g.Counts)), func(pair eventstore.Pair) { g.Counts[pair.Claim]++ })
	each(batch, s.q("SELECT "+receiptColumns+" FROM @receipts WHERE digest = ANY ($1::bytea[])"), scanReceipt,
		func(receipt *eventstore.Receipt) { g.Receipts[receipt.Name()] = receipt }, column(slices.Collect(maps.Keys(g.Receipts)), receiptDigest))
	each(batch, s.q("SELECT "+checkpointColumns+" FROM @checkpoints WHERE size = ANY ($1::bigint[]) OR size = (SELECT max(size) FROM @checkpoints)"), scanCheckpoint,
		func(checkpoint eventstore.Checkpoint) { g.Signed[checkpoint.Size] = checkpoint }, column(slices.Collect(maps.Keys(g.Signed)), number))
	if again {
		leaves := make([][]byte, 0, len(items))
		for _, it := range items {
			leaves = append(leaves, column(it.Entries, func(entry eventstore.Entry) []byte { return entry.Leaf[:] })...)
		}
		each(batch, s.q("SELECT position, leaf FROM @entries WHERE record = ANY ($1::bigint[]) AND leaf = ANY ($2::bytea[])"), scanLeaf,
			func(entry eventstore.Entry) { g.Written[entry.Leaf] = entry.Position }, touched, leaves)
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read for append: %w", err)
	}
	if err := see(); err != nil {
		return nil, err
	}
	if s.Epoch().History != epoch.History {
		return nil, errElsewhere
	}
	g.Mark = g.log.Mark
	return g, nil
}

// insert writes what a group decided and commits, in one batch.
func (s *Store) insert(ctx context.Context, conn *pgx.Conn, g *group) error {
	batch := &pgx.Batch{}
	s.queue(batch, g.Group)
	s.put(batch, receipts, column(g.Stored, receiptRow))
	if len(g.Entries) > 0 {
		if id := slices.Max(column(g.Entries, func(entry eventstore.Entry) calendar.ID { return entry.ID })); id > g.log.lastID {
			batch.Queue(lockIDs, s.o.Schema)
			batch.Queue(s.q("SELECT setval('@ids', $1) FROM @ids WHERE last_value < $1::bigint"), int64(id))
		}
		batch.Queue(notify, s.o.Schema+"_head", g.Mark.Position.String())
	}
	if len(g.Redacts) > 0 {
		batch.Queue(s.q("SELECT @erase($1::bigint[])"), numbers(g.Redacts))
	}
	if !g.Writes() {
		batch.Queue(durable)
	}
	batch.Queue(commit)
	return conn.SendBatch(ctx, batch).Close()
}

// queue queues what a group writes but receipts, whose time differs.
func (s *Store) queue(batch *pgx.Batch, group *eventstore.Group) {
	s.put(batch, entries, column(group.Entries, entryRow))
	s.put(batch, commits, column(group.Commits, commitRow))
	changes := group.Changes()
	s.drop(batch, claims, changes.DroppedClaims)
	s.drop(batch, names, changes.DroppedNames)
	s.put(batch, records, column(changes.Records, recordRow))
	s.put(batch, claims, column(changes.Claims, pairRow))
	s.put(batch, names, column(changes.Names, pairRow))
	s.put(batch, slugs, column(group.Slugs, slugRow))
	s.put(batch, checkpoints, column(slices.Collect(maps.Values(group.Signs)), checkpointRow))
	s.put(batch, redacted, column(group.Redacted, redactedRow))
}

// learn learns of a group that was committed.
func (s *Store) learn(g *group) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.signal.Epoch().History != g.epoch.History {
		return errElsewhere
	}
	head, erases := g.Head(), len(g.Redacts) > 0
	if erases {
		s.erased = head.Position
	}
	s.signal.Move(head, erases)
	return nil
}

// NewIDs implements eventstore.Store. Who takes several in a row locks the others out.
func (s *Store) NewIDs(ctx context.Context, n int) (first calendar.ID, err error) {
	err = s.use(ctx, s.read, s.o.ReadTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		batch.Queue(begin)
		batch.Queue(lockIDs, s.o.Schema)
		batch.Queue(s.q("SELECT setval('@ids', last_value + $1::bigint) - $1::bigint + 1 FROM @ids"), n).QueryRow(func(row pgx.Row) error { return row.Scan(&first) })
		batch.Queue(commit)
		return conn.SendBatch(ctx, batch).Close()
	})
	return first, err
}
