package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// holdAtMost is how long the log is held between two statements of a commit that
// is decided here, in case this process is stopped there.
const holdAtMost = "SET LOCAL idle_in_transaction_session_timeout = '4s'"

// otherHistory is the head that append_salted gives when the log does not hold what
// is known.
const otherHistory = -2

// saltBytes is what the salts of an entry take.
const saltBytes = len(eventstore.Salts{}) * len(eventstore.Salts{}[0])

// lasting tells whether an error is that of the server rather than of one item.
func lasting(err error) bool {
	return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, eventstore.ErrDamaged)
}

// writeGroup writes those of a group that win. An error is that of the whole
// group.
func (s *Store) writeGroup(ctx context.Context, items []*item) error {
	lost, err := s.attempt(ctx, func(ctx context.Context) (bool, error) {
		if independent(items) {
			lost, won, err := s.writeAll(ctx, items)
			if err != nil || won {
				return lost, err
			}
		}
		return s.writeDecided(ctx, items, false)
	})
	if lost && err != nil {
		// It may be written or not. Whoever holds the log after the lost
		// transaction sees which; what is not there is written now.
		s.o.Log.Warn("connection lost during a commit", "error", err)
		_, err = s.attempt(ctx, func(ctx context.Context) (bool, error) { return s.writeDecided(ctx, items, true) })
	}
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	return nil
}

// attempt runs one attempt at a commit within its time: there may be two.
func (s *Store) attempt(ctx context.Context, do func(context.Context) (lost bool, err error)) (bool, error) {
	most := s.o.Timeout / 2
	limit, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	lost, err := do(limit)
	if err != nil && limit.Err() != nil {
		return true, fmt.Errorf("%w: no answer within %s", eventstore.ErrUnavailable, most)
	}
	return lost, translate(ctx, err, lost)
}

// writeAll writes a group of which all win, in one statement; won tells whether
// that was so, else nothing was written.
func (s *Store) writeAll(ctx context.Context, items []*item) (lost, won bool, err error) {
	var v view
	var before int64
	var hash []byte
	lost, err = s.withWriter(ctx, func(c *pgx.Conn) error {
		v = s.view()
		if slices.ContainsFunc(items, func(it *item) bool { return it.a.CheckEpoch(v.epoch) != nil }) {
			before = -1 // decided item by item
			return nil
		}
		return c.QueryRow(ctx, s.q.append, sentWhole(items, v.given).args(v.mark, false)...).Scan(&before, &hash)
	})
	if err != nil || before < 0 {
		return lost, false, err
	}
	head := calendar.Position(before)
	for _, it := range items {
		head += calendar.Position(len(it.drafts))
		*it.result = eventstore.Result{Position: head}
	}
	lost, err = s.written(v, head, hash)
	return lost, err == nil, err
}

// sentWhole gives what a group writes of which all win.
func sentWhole(items []*item, given int64) *sent {
	w := newSent(items, given)
	offset := 0
	for _, it := range items {
		for i := range it.drafts {
			d := &it.drafts[i]
			w.entry(d, true, d.entry.Secret)
			if d.entry.Version > 1 {
				w.released = append(w.released, int64(d.entry.ID))
			}
			w.holds(d.entry.ID, d.claims, d.names)
		}
		offset += len(it.drafts)
		for i, g := range it.a.Guards {
			w.guardDigest = append(w.guardDigest, it.guards[i][:])
			w.guardCount = append(w.guardCount, int64(g.Count))
		}
		w.named = append(w.named, it.named...)
		if r := it.a.Receipt; r != nil {
			behind := offset
			if len(it.drafts) == 0 {
				behind = 0
			}
			w.receipt(it.receipt, r, len(it.drafts) > 0, behind)
		}
	}
	return w
}

// written learns of a commit. What was written into another history than the one
// that the store has now is looked for in that one.
func (s *Store) written(v view, head calendar.Position, hash []byte) (lost bool, err error) {
	if head == 0 {
		return false, nil
	}
	m := eventstore.Mark{Position: head}
	if m.Hash, err = digest(hash); err != nil {
		return false, err
	}
	if !s.wrote(v, m) {
		return true, fmt.Errorf("%w: the commit went to a server of another history", eventstore.ErrUnavailable)
	}
	return false, nil
}

// writeDecided holds the log, reads what the items touch, decides them one after
// the other, and writes those that win. again tells that an attempt before may
// have written them.
func (s *Store) writeDecided(ctx context.Context, items []*item, again bool) (lost bool, err error) {
	return s.writeAnd(ctx, items, again, func(pgx.Tx, []eventstore.Result) error { return nil })
}

// writeAnd is writeDecided with something to be done before the end of the transaction,
// which is told the results.
func (s *Store) writeAnd(ctx context.Context, items []*item, again bool, and func(pgx.Tx, []eventstore.Result) error) (lost bool, err error) {
	g := &group{written: map[versionOf]place{}, erased: map[int64]bool{}}
	results := make([]eventstore.Result, len(items))
	var v view
	var hash []byte
	lost, err = s.withWriter(ctx, func(c *pgx.Conn) (err error) {
		tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = tx.Rollback(context.WithoutCancel(ctx)) // the first error tells
			}
		}()
		if hash, err = s.gather(ctx, tx, g, items, again); err != nil {
			return fmt.Errorf("read for append: %w", err)
		}
		v = s.view()
		g.Epoch = v.epoch
		before := g.Head
		for i, it := range items {
			results[i] = g.decide(it)
		}
		if len(g.accepted) > 0 || len(g.Kept) > 0 {
			var head int64
			if err := tx.QueryRow(ctx, s.q.append, g.sent(v.given).args(v.mark, true)...).Scan(&head, &hash); err != nil {
				return err
			}
			if head == otherHistory {
				return fmt.Errorf("%w: it went over to another history", eventstore.ErrUnavailable)
			}
			if calendar.Position(head) != before {
				return fmt.Errorf("%w: the log went on while it was held", eventstore.ErrDamaged)
			}
		}
		if g.found && len(g.accepted) == 0 && len(g.Kept) == 0 {
			// What is found may be of a commit whose wait for a standby was cut off.
			if _, err := tx.Exec(ctx, s.q.settle); err != nil {
				return err
			}
		}
		if err := and(tx, results); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
	if err != nil {
		return lost, err
	}
	for i, it := range items {
		*it.result = results[i]
	}
	return s.written(v, g.Head, hash)
}

// gather holds the log and reads what the database says about all that the items
// touch; it gives the hash of the last commit.
func (s *Store) gather(ctx context.Context, tx pgx.Tx, g *group, items []*item, again bool) (hash []byte, err error) {
	v := s.view()
	g.Group = eventstore.NewGroup(0, 0)
	var t told
	var ids, versions, named []int64
	var claims, names, receipts [][]byte
	claim, name := map[[32]byte]calendar.Claim{}, map[[32]byte]calendar.Name{}
	for _, it := range items {
		for i := range it.drafts {
			d := &it.drafts[i]
			ids, versions = append(ids, int64(d.entry.ID)), append(versions, d.entry.Version)
			for j := range d.claims {
				claims = append(claims, d.claims[j].digest[:])
				claim[d.claims[j].digest] = d.claims[j].Claim
			}
		}
		for i := range it.guards {
			names = append(names, it.guards[i][:])
			name[it.guards[i]] = it.a.Guards[i].Name
			g.Counts[it.a.Guards[i].Name] = 0
		}
		named = append(named, it.named...)
		if it.a.Receipt != nil {
			receipts = append(receipts, it.receipt[:])
			g.Receipts[it.a.Receipt.Name()] = nil
		}
	}
	b := &pgx.Batch{}
	b.Queue(holdAtMost)
	b.Queue(s.q.holdLog)
	s.queueCheck(b, v, &t)
	b.Queue(s.q.heldRecords, list(ids)).Query(func(rows pgx.Rows) error {
		var id calendar.ID
		var kind string
		var version int64
		var erased bool
		_, err := pgx.ForEachRow(rows, []any{&id, &kind, &version, &erased}, func() (err error) {
			h := &eventstore.Held{State: eventstore.State{ID: id, Version: version}, Erased: erased}
			h.Kind, err = parseKind(kind)
			g.Records[id] = h
			return err
		})
		return err
	})
	b.Queue(s.q.heldErased, list(named)).Query(func(rows pgx.Rows) error {
		var id int64
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			g.erased[id] = true
			return nil
		})
		return err
	})
	b.Queue(s.q.heldClaims, list(claims)).Query(func(rows pgx.Rows) error {
		return eachDigest(rows, func(digest [32]byte, id calendar.ID) {
			g.Holders[claim[digest]] = id
			if h := g.Records[id]; h != nil {
				h.Claims = append(h.Claims, claim[digest])
			}
		})
	})
	b.Queue(s.q.heldNames, list(names)).Query(func(rows pgx.Rows) error {
		return eachDigest(rows, func(digest [32]byte, id calendar.ID) {
			g.Counts[name[digest]]++
			if h := g.Records[id]; h != nil {
				h.Names = append(h.Names, name[digest])
			}
		})
	})
	b.Queue(s.q.heldReceipts, list(receipts)).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scanReceipt)
		for _, r := range found {
			g.Receipts[r.Name()] = r
		}
		return err
	})
	if again {
		b.Queue(s.q.written, list(ids), list(versions)).Query(func(rows pgx.Rows) error {
			var v versionOf
			var p place
			var leaf []byte
			_, err := pgx.ForEachRow(rows, []any{&v.id, &v.version, &p.position, &leaf}, func() (err error) {
				p.leaf, err = digest(leaf)
				g.written[v] = p
				return err
			})
			return err
		})
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	g.Head = t.head.Position
	return t.head.Hash[:], s.see(v, &t)
}

func eachDigest(rows pgx.Rows, do func([32]byte, calendar.ID)) error {
	var b []byte
	var id calendar.ID
	_, err := pgx.ForEachRow(rows, []any{&b, &id}, func() error {
		d, err := digest(b)
		if err == nil {
			do(d, id)
		}
		return err
	})
	return err
}

// sent is what the function append_salted is told, column by column; its comment gives
// their order.
type sent struct {
	given    int64 // the greatest id that the database gave this process
	top      int64 // the greatest id above it
	released []int64

	kind                           []string
	record, version, millis, actor []int64
	change                         []string
	leaves, salts                  []byte
	client, request, reason        []string
	fields, state, secret          [][]byte
	last                           []int64 // 1 for the last entry of its record in the group
	keeps                          [][]byte
	claims, names                  pairs
	taken                          []int64 // by claim: the entry of the group that takes it
	slugs                          slugs
	named                          []int64 // by answers
	guardDigest                    [][]byte
	guardCount                     []int64
	fresh, kept                    receipts
}

// receipts, column by column.
type receipts struct {
	digest, fingerprint, answer                     [][]byte
	user, millis, record, version, behind, position []int64
	key                                             []string
}

// slugs are those that are taken and may be given up in the group, column by column.
type slugs struct {
	digest        [][]byte
	entry, record []int64
	kind, slug    []string
}

// pairs are claims or names, column by column.
type pairs struct {
	digest     [][]byte
	record     []int64
	space, key []string
}

func (p *pairs) add(c pair, id calendar.ID) {
	p.digest = append(p.digest, c.digest[:])
	p.record = append(p.record, int64(id))
	p.space = append(p.space, c.Space)
	p.key = append(p.key, c.Key)
}

// newSent makes room for the entries of items.
func newSent(items []*item, given int64) *sent {
	n := 0
	for _, it := range items {
		n += len(it.drafts)
	}
	return &sent{
		given: given, kind: make([]string, 0, n), record: make([]int64, 0, n), version: make([]int64, 0, n), millis: make([]int64, 0, n),
		actor: make([]int64, 0, n), change: make([]string, 0, n), leaves: make([]byte, 0, n*sha256.Size), salts: make([]byte, 0, n*saltBytes), client: make([]string, 0, n),
		request: make([]string, 0, n), reason: make([]string, 0, n), fields: make([][]byte, 0, n), state: make([][]byte, 0, n),
		secret: make([][]byte, 0, n), last: make([]int64, 0, n), keeps: make([][]byte, 0, n),
	}
}

// entry adds an entry; last tells that the group has no later one of its record,
// and keeps is the secret of the record after the group: nil the one before it.
func (w *sent) entry(d *draft, last bool, keeps []byte) {
	e := &d.entry
	if int64(e.ID) > w.given {
		w.top = max(w.top, int64(e.ID))
	}
	w.kind = append(w.kind, e.Kind.String())
	w.record = append(w.record, int64(e.ID))
	w.version = append(w.version, e.Version)
	w.millis = append(w.millis, e.Time.UnixMilli())
	w.actor = append(w.actor, int64(e.Actor))
	w.change = append(w.change, e.Change)
	w.leaves = append(w.leaves, d.leaf[:]...)
	w.salts = e.Salts.Append(w.salts)
	w.client = append(w.client, e.Cause.Client)
	w.request = append(w.request, e.Cause.Request)
	w.reason = append(w.reason, e.Cause.Reason)
	w.fields = append(w.fields, e.Fields)
	w.state = append(w.state, e.State)
	w.secret = append(w.secret, e.Secret)
	w.last = append(w.last, one(last))
	w.keeps = append(w.keeps, keeps)
}

// holds adds what a record has after the group, with the entry that was added last.
func (w *sent) holds(id calendar.ID, claims, names []pair) {
	for _, c := range claims {
		w.claims.add(c, id)
		w.taken = append(w.taken, int64(len(w.record)))
	}
	for _, n := range names {
		w.names.add(n, id)
	}
}

// receipt adds a receipt. A fresh one must not be there yet; behind, unless 0, is
// how far its position is behind the head before the group.
func (w *sent) receipt(digest [32]byte, r *eventstore.Receipt, fresh bool, behind int) {
	to := &w.kept
	if fresh {
		to = &w.fresh
	}
	to.digest = append(to.digest, digest[:])
	to.user = append(to.user, int64(r.User))
	to.key = append(to.key, r.Key)
	to.fingerprint = append(to.fingerprint, r.Fingerprint[:])
	to.millis = append(to.millis, r.Time.UnixMilli())
	to.record = append(to.record, int64(r.Record))
	to.version = append(to.version, r.Version)
	to.behind = append(to.behind, int64(behind))
	to.position = append(to.position, number(r.Position))
	to.answer = append(to.answer, r.Answer)
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// sent gives what a decided group writes.
func (g *group) sent(given int64) *sent {
	w := newSent(g.accepted, given)
	several := map[calendar.ID]bool{} // records with several entries in the group
	for _, it := range g.accepted {
		for i := range it.drafts {
			d := &it.drafts[i]
			after := g.Records[d.entry.ID]
			last := after.Version == d.entry.Version
			w.entry(d, last, after.Secret)
			several[d.entry.ID] = several[d.entry.ID] || !last
			if slug := it.a.Drafts[i].Slug(); slug != "" && several[d.entry.ID] {
				w.takes(d.entry.ID, d.entry.Kind, slug)
			}
			if !last {
				continue
			}
			if g.Before[d.entry.ID] != nil {
				w.released = append(w.released, int64(d.entry.ID))
			}
			w.holds(d.entry.ID, d.claims, d.names)
		}
	}
	for _, r := range g.Kept {
		w.receipt(receiptDigest(r), r, false, 0)
	}
	return w
}

// takes adds a slug that the entry which was added last takes.
func (w *sent) takes(id calendar.ID, kind calendar.Kind, slug string) {
	digest := slugDigest(kind, slug)
	w.slugs.digest = append(w.slugs.digest, digest[:])
	w.slugs.entry = append(w.slugs.entry, int64(len(w.record)))
	w.slugs.record = append(w.slugs.record, int64(id))
	w.slugs.kind = append(w.slugs.kind, kind.String())
	w.slugs.slug = append(w.slugs.slug, slug)
}

func (w *sent) args(known eventstore.Mark, decided bool) []any {
	f, k := &w.fresh, &w.kept
	return []any{
		number(known.Position), known.Hash[:], decided, w.top,
		len(w.record), len(w.claims.digest), len(w.names.digest), len(w.guardDigest), len(f.digest) + len(k.digest), len(f.digest), len(w.slugs.digest),
		list(slices.Concat(w.record, w.version, w.millis, w.actor, w.last, w.claims.record, w.taken, w.names.record, w.guardCount,
			f.user, k.user, f.millis, k.millis, f.record, k.record, f.version, k.version, f.behind, k.behind, f.position, k.position,
			w.slugs.entry, w.slugs.record, w.released)),
		list(slices.Concat(w.kind, w.change, w.client, w.request, w.reason, w.claims.space, w.claims.key, w.names.space, w.names.key, f.key, k.key,
			w.slugs.kind, w.slugs.slug)),
		list(slices.Concat(w.fields, w.state, w.secret, w.keeps, w.claims.digest, w.names.digest, w.guardDigest,
			f.digest, k.digest, f.fingerprint, k.fingerprint, f.answer, k.answer, w.slugs.digest)),
		w.leaves, w.salts, list(w.named),
	}
}

// list gives an empty list for none: PostgreSQL tells null from empty.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}
