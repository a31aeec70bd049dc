package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// writer is the one writing connection with its statements, and the end of the
// log as that connection last saw it. Only who has the turn to commit uses it.
type writer struct {
	preparer
	head  calendar.Position
	chain [32]byte // hash of the last commit
	lost  bool     // a commit failed: all of these have to be read again

	lastStored calendar.ID // greatest id of a record

	begin, commit, rollback *sql.Stmt

	records, claims, names, receipts lookup
	addEntries, addRecords, addClaims, dropClaims, addNames, dropNames,
	addReceipts, addSlugs, addTimes rows

	addCommit, purge, rekeep *sql.Stmt
}

// addEntries writes entries; each has entryCells columns.
const (
	addEntries = `INSERT INTO entries
		(position, kind, record, version, time, actor, change, leaf, client, request, reason, body, secret, salts) VALUES %s`
	entryCells = 14
)

// ready prepares the statements and reads the end of the log.
func (w *writer) ready(ctx context.Context) error {
	p := &w.preparer
	w.begin = p.one(ctx, "BEGIN IMMEDIATE")
	w.commit = p.one(ctx, "COMMIT")
	w.rollback = p.one(ctx, "ROLLBACK")
	w.records = p.lookup(ctx, "SELECT "+heldColumns+" FROM records WHERE %s", "id")
	w.claims = p.lookup(ctx, "SELECT space, key, record FROM claims WHERE %s", "(space, key)")
	w.names = p.lookup(ctx, "SELECT space, key, count(*) FROM names WHERE %s GROUP BY space, key", "(space, key)")
	w.receipts = p.lookup(ctx, "SELECT "+receiptColumns+" FROM receipts WHERE %s", "(user, key)")
	w.addEntries = p.rows(ctx, addEntries, entryCells)
	w.addRecords = p.rows(ctx, `INSERT INTO records (`+heldColumns+`) VALUES %s
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, position = excluded.position,
		claims = excluded.claims, names = excluded.names, secret = excluded.secret, erased = excluded.erased`, 8)
	w.addClaims = p.rows(ctx, `INSERT INTO claims (space, key, record) VALUES %s
		ON CONFLICT (space, key) DO UPDATE SET record = excluded.record`, 3)
	w.dropClaims = p.rows(ctx, "DELETE FROM claims WHERE (space, key) IN (VALUES %s)", 2)
	w.addNames = p.rows(ctx, "INSERT INTO names (space, key, record) VALUES %s ON CONFLICT DO NOTHING", 3)
	w.dropNames = p.rows(ctx, "DELETE FROM names WHERE (space, key, record) IN (VALUES %s)", 3)
	w.addReceipts = p.rows(ctx, `INSERT INTO receipts
		(user, key, fingerprint, kept, time, record, version, position, answer) VALUES %s
		ON CONFLICT (user, key) DO UPDATE SET answer = excluded.answer WHERE fingerprint = excluded.fingerprint`, 9)
	w.addSlugs = p.rows(ctx, addSlugs, 4)
	w.addTimes = p.rows(ctx, addTimes, 3)
	w.addCommit = p.one(ctx, "INSERT INTO commits (first, last, hash) VALUES (?, ?, ?)")
	w.purge = p.one(ctx, "DELETE FROM receipts WHERE rowid IN (SELECT rowid FROM receipts WHERE kept < ? ORDER BY kept LIMIT ?)")
	w.rekeep = p.one(ctx, "UPDATE receipts SET kept = ? WHERE rowid IN (SELECT rowid FROM receipts WHERE kept > ? ORDER BY kept LIMIT ?)")
	if p.err != nil {
		return p.err
	}
	return w.reload(ctx)
}

// reload reads the end of the log.
func (w *writer) reload(ctx context.Context) error {
	var head, last int64
	var hash []byte
	if err := w.conn.QueryRowContext(ctx, "SELECT coalesce(max(position), 0) FROM entries").Scan(&head); err != nil {
		return err
	}
	if err := w.conn.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM records").Scan(&w.lastStored); err != nil {
		return err
	}
	err := w.conn.QueryRowContext(ctx, "SELECT last, hash FROM commits ORDER BY first DESC LIMIT 1").Scan(&last, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		err, hash = nil, make([]byte, 32)
	}
	if err != nil {
		return err
	}
	if last != head {
		return eventstore.Damaged(calendar.Position(min(head, last)+1), "the last entry is %d, the last commit ends at %d", head, last)
	}
	w.head = calendar.Position(head)
	w.chain, err = digest(hash)
	w.lost = err != nil
	return err
}

// lasting tells whether an error is that of the engine or the disk rather than
// of one item.
func lasting(err error) bool {
	return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, eventstore.ErrDamaged)
}

// writeGroup decides items and writes those that win in one transaction. An
// error is that of the whole group: nothing of it was written.
func (s *Store) writeGroup(ctx context.Context, items []*item) error {
	w := s.writer
	if w.lost {
		if err := w.reload(ctx); err != nil {
			return fmt.Errorf("read end of log: %w", translate(ctx, err))
		}
		s.signal.Move(w.head)
	}
	// Everything is read in the transaction that writes: one lock for both.
	if err := w.beginWrite(ctx); err != nil {
		return fmt.Errorf("begin: %w", translate(ctx, err))
	}
	s.forbid(items)
	g := eventstore.NewGroup(w.head, s.Epoch())
	if err := s.gather(ctx, g, items); err != nil {
		w.giveUp(ctx)
		return fmt.Errorf("read for append: %w", translate(ctx, err))
	}
	results := make([]eventstore.Result, len(items))
	var entries []written
	for i, it := range items {
		res, accepted := g.Decide(&it.a)
		if results[i] = res; accepted {
			entries = it.placed(entries, res.Position)
		}
	}
	if len(entries)+len(g.Kept)+len(g.Unseen) == 0 {
		w.giveUp(ctx)
	} else {
		changed, chain, err := s.write(ctx, g, entries)
		if err == nil {
			_, err = w.commit.ExecContext(ctx)
		}
		if err != nil {
			return s.failed(ctx, err)
		}
		s.tail.put(entries, chain)
		s.wrote(g, changed, chain)
	}
	for i, it := range items {
		*it.result = results[i]
	}
	return nil
}

// failed ends a transaction that did not come to its end.
func (s *Store) failed(ctx context.Context, err error) error {
	w := s.writer
	w.giveUp(ctx)
	w.lost = true
	s.cache.clear()
	s.tail.forget()
	return fmt.Errorf("append entries after %d: %w", w.head, translate(ctx, err))
}

// wrote tells all who have to know of a group that was committed. First the states, then
// the head: who sees the head sees the states.
func (s *Store) wrote(g *eventstore.Group, changed []*eventstore.Held, chain [32]byte) {
	w := s.writer
	for _, h := range changed {
		w.lastStored = max(w.lastStored, h.ID)
		s.usedID(h.ID)
	}
	s.cache.put(changed...)
	w.head, w.chain = g.Head, chain
	s.signal.Move(g.Head)
}

// inTurn does something beside appends in a transaction of the one who has the turn to
// commit, and what comes after the commit.
func (s *Store) inTurn(ctx context.Context, do func(ctx context.Context, w *writer) error, then ...func()) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.closing.Load() { // the connection ends with the committer
		return eventstore.ErrClosed
	}
	if err := s.permitted(ctx); err != nil {
		return err
	}
	w := s.writer
	if w.lost {
		if err := w.reload(ctx); err != nil {
			return fmt.Errorf("read end of log: %w", translate(ctx, err))
		}
	}
	ctx = context.WithoutCancel(ctx) // a transaction is not cut off
	if err := w.beginWrite(ctx); err != nil {
		return fmt.Errorf("begin: %w", translate(ctx, err))
	}
	err := do(ctx, w)
	if err == nil {
		_, err = w.commit.ExecContext(ctx)
	}
	if err != nil {
		w.giveUp(ctx)
		w.lost = true // perhaps it was committed
		return translate(ctx, err)
	}
	for _, do := range then {
		do()
	}
	return s.permitted(ctx)
}

// query reads rows in the transaction that writes.
func query[T any](ctx context.Context, w *writer, text string, scan func(row) (T, error), args ...any) ([]T, error) {
	stmt, err := w.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stmt.Close() }() // only read
	return allRows(ctx, stmt, scan, args...)
}

// beginWrite begins the transaction that writes; after an error none is open. The context
// does not cut it off: the engine carries a BEGIN out that the driver reports as cancelled.
func (w *writer) beginWrite(ctx context.Context) error {
	_, err := w.begin.ExecContext(context.WithoutCancel(ctx))
	if err != nil {
		w.giveUp(ctx)
	}
	return err
}

// giveUp ends a transaction without writing, whatever became of the context. It fails
// when there is none, or when the engine has ended it by itself.
func (w *writer) giveUp(ctx context.Context) {
	_, _ = w.rollback.ExecContext(context.WithoutCancel(ctx))
}

// gather reads what the file says about all that the items touch.
func (s *Store) gather(ctx context.Context, g *eventstore.Group, items []*item) error {
	w := s.writer
	var ids, claims, names, receipts []any
	asked := map[calendar.ID]bool{}
	for _, it := range items {
		for i := range it.entries {
			id := it.entries[i].ID
			if asked[id] {
				continue
			}
			asked[id] = true
			if h := s.cache.get(id); h != nil {
				g.Records[id] = h
			} else if id <= w.lastStored {
				ids = append(ids, int64(id))
			}
		}
	}
	// Without their states: only the new ones are used.
	err := find(ctx, w.records, ids, func(r row) (*eventstore.Held, error) { return scanHeld(r) }, func(h *eventstore.Held) { g.Records[h.ID] = h })
	if err != nil {
		return err
	}
	askedClaims := map[calendar.Claim]bool{}
	for _, it := range items {
		for i := range it.a.Drafts {
			d := &it.a.Drafts[i]
			for _, c := range d.Claims {
				if askedClaims[c] || has(g.Records[d.ID], c) {
					continue
				}
				askedClaims[c] = true
				if lacks(s.filter, c) {
					continue
				}
				claims = append(claims, c.Space, c.Key)
			}
		}
		for _, guard := range it.a.Guards {
			if _, ok := g.Counts[guard.Name]; !ok {
				g.Counts[guard.Name] = 0
				names = append(names, guard.Name.Space, guard.Name.Key)
			}
		}
		// What nobody waits for comes first and is told to nobody: unless somebody asks
		// for the same, the statement that writes it looks at what is there.
		if r := it.a.Receipt; r != nil && !it.a.Later {
			if _, ok := g.Receipts[r.Name()]; !ok {
				g.Receipts[r.Name()] = nil
				if !lacks(s.filter, r.Name()) {
					receipts = append(receipts, int64(r.User), r.Key)
				}
			}
		}
	}
	if err := find(ctx, w.claims, claims, scanClaim, func(c heldClaim) { g.Holders[c.claim] = c.holder }); err != nil {
		return err
	}
	if err := find(ctx, w.names, names, scanCount, func(c nameCount) { g.Counts[c.name] = c.count }); err != nil {
		return err
	}
	return find(ctx, w.receipts, receipts, scanReceipt, func(r *eventstore.Receipt) {
		g.Receipts[r.Name()] = r
	})
}

// has tells whether a record has a claim; a nil one has none.
func has(h *eventstore.Held, c calendar.Claim) bool {
	return h != nil && slices.Contains(h.Claims, c)
}

type heldClaim struct {
	claim  calendar.Claim
	holder calendar.ID
}

func scanClaim(r row) (c heldClaim, err error) {
	err = r.Scan(&c.claim.Space, &c.claim.Key, &c.holder)
	return c, err
}

type nameCount struct {
	name  calendar.Name
	count int
}

func scanCount(r row) (c nameCount, err error) {
	err = r.Scan(&c.name.Space, &c.name.Key, &c.count)
	return c, err
}

// write carries out a group but for the commit, and gives the records that it changed
// and the new end of the chain.
func (s *Store) write(ctx context.Context, g *eventstore.Group, written []written) (changed []*eventstore.Held, chain [32]byte, err error) {
	w := s.writer
	chain = w.chain
	now := s.o.Now()

	entries := make([]any, 0, len(written)*w.addEntries.columns)
	leaves := make([][32]byte, 0, len(written))
	for _, e := range written {
		leaves = append(leaves, *e.leaf)
		entries = append(entries, number(e.entry.Position), e.entry.Kind.String(), int64(e.entry.ID), e.entry.Version,
			e.entry.Time.UnixMilli(), int64(e.entry.Actor), e.entry.Change, e.leaf[:],
			e.entry.Cause.Client, e.entry.Cause.Request, e.entry.Cause.Reason, e.body, e.entry.Secret, e.entry.Salts.Bytes())
	}
	records := make([]any, 0, len(g.Before)*w.addRecords.columns)
	var newClaims, oldClaims, newNames, oldNames, receipts []any
	for id, before := range g.Before {
		h := g.Records[id]
		if changed = append(changed, h); len(h.Secret) == 0 {
			h.Secret = nil
		}
		claims, err := encodePairs(h.Claims)
		if err != nil {
			return nil, chain, err
		}
		names, err := encodePairs(h.Names)
		if err != nil {
			return nil, chain, err
		}
		records = append(records, int64(id), h.Kind.String(), h.Version, number(h.Position),
			string(claims), string(names), h.Secret, h.Erased)
		if before == nil {
			before = &eventstore.Held{}
		}
		for _, c := range without(before.Claims, h.Claims) {
			oldClaims = append(oldClaims, c.Space, c.Key)
		}
		for _, c := range without(h.Claims, before.Claims) {
			keep(s.filter, c)
			newClaims = append(newClaims, c.Space, c.Key, int64(id))
		}
		for _, n := range without(before.Names, h.Names) {
			oldNames = append(oldNames, n.Space, n.Key, int64(id))
		}
		for _, n := range without(h.Names, before.Names) {
			newNames = append(newNames, n.Space, n.Key, int64(id))
		}
	}
	receipt := func(r *eventstore.Receipt) {
		keep(s.filter, r.Name())
		receipts = append(receipts, int64(r.User), r.Key, r.Fingerprint[:], now.UnixMilli(), r.Time.UnixMilli(),
			int64(r.Record), r.Version, number(r.Position), r.Answer)
	}
	for _, r := range g.Unseen {
		receipt(r)
	}
	for _, r := range g.Kept {
		receipt(r)
	}

	for _, do := range []struct {
		rows rows
		args []any
	}{
		{w.addEntries, entries},
		{w.addRecords, records},
		{w.dropClaims, oldClaims},
		{w.addClaims, newClaims},
		{w.dropNames, oldNames},
		{w.addNames, newNames},
		{w.addReceipts, receipts},
		{w.addSlugs, slugRows(g.Slugs)},
		{w.addTimes, timesOf(written)},
	} {
		if err := do.rows.exec(ctx, do.args); err != nil {
			return nil, chain, err
		}
	}
	if len(leaves) > 0 {
		first := w.head + 1
		chain = eventstore.ChainHash(chain, first, leaves)
		if _, err := w.addCommit.ExecContext(ctx, number(first), number(g.Head), chain[:]); err != nil {
			return nil, chain, err
		}
	}
	return changed, chain, nil
}

// without gives what one list has and another one has not.
func without[T comparable](all, other []T) (out []T) {
	for _, v := range all {
		if !slices.Contains(other, v) {
			out = append(out, v)
		}
	}
	return out
}
