package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// Append implements eventstore.Store.
func (s *Store) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	return s.committer.Append(ctx, appends)
}

// Sync implements eventstore.Store: what can be read was committed with synchronous=FULL,
// and lasts unless the files were lost.
func (s *Store) Sync(ctx context.Context) error {
	return cmp.Or(s.usable(ctx), s.permitted(ctx))
}

// commit decides items and writes those that win in one transaction.
func (s *Store) commit(ctx context.Context, items []*eventstore.Item) error {
	if err := s.permitted(ctx); err != nil {
		return err
	}
	group := eventstore.NewGroup(s.Epoch(), items)
	err := s.write(ctx, func(ctx context.Context) error {
		if err := s.gather(ctx, group); err != nil {
			return fmt.Errorf("read for append: %w", err)
		}
		group.Decide()
		for _, receipt := range group.Stored {
			receipt.Time = eventstore.Moment(s.o.Now())
		}
		return s.insert(ctx, group)
	})
	s.commits.Add(1) // before the cache is changed, see held
	if err != nil {
		s.cache.InvalidateAll() // perhaps it was committed
		return err
	}
	s.learn(group)
	return s.permitted(ctx)
}

// learn has readers see what was committed: first the records, then the head. What was
// written is seldom read soon, unlike what it links to, which the cache is for.
func (s *Store) learn(group *eventstore.Group) {
	for id, held := range group.Records {
		if s.cache.Invalidate(id); held != nil {
			s.usedID(id)
		}
	}
	s.signal.Move(group.Head(), len(group.Redacts) > 0)
}

// write runs one transaction on the writing connection.
func (s *Store) write(ctx context.Context, do func(ctx context.Context) error) error {
	return s.alone(ctx, func(ctx context.Context) error {
		err := s.writer.exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			err = do(ctx)
		}
		if err == nil {
			err = s.writer.exec(ctx, "COMMIT")
		}
		if err != nil {
			_ = s.writer.exec(ctx, "ROLLBACK") // the first error says what is wrong
		}
		return err
	})
}

// alone uses the writing connection. The context does not cut it off: the engine carries
// out a BEGIN that the driver reports as cancelled.
func (s *Store) alone(ctx context.Context, do func(ctx context.Context) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return translate(do(context.WithoutCancel(ctx)))
}

// gather reads what the file says about all that the items touch.
func (s *Store) gather(ctx context.Context, group *eventstore.Group) (err error) {
	end, err := one(ctx, s.writer, endQuery, scanEnd)
	if err != nil {
		return err
	}
	group.Mark = end.Mark
	for id := range group.Records {
		if id > end.lastID { // it is new
			continue
		}
		if group.Records[id], err = s.held(ctx, s.writer, id); err != nil {
			return err
		}
	}
	for claim := range group.Holders {
		if group.Holders[claim], err = one(ctx, s.writer, holderQuery, value[calendar.ID], claim.Space, claim.Key); err != nil {
			return err
		}
	}
	for n := range group.Counts {
		if group.Counts[n], err = one(ctx, s.writer, "SELECT count(*) FROM names WHERE space = ? AND key = ?", value[int], n.Space, n.Key); err != nil {
			return err
		}
	}
	for receiptKey := range group.Receipts {
		if group.Receipts[receiptKey], err = one(ctx, s.writer, receiptQuery+"WHERE user = ? AND key = ?", scanReceipt, int64(receiptKey.User), receiptKey.Key); err != nil {
			return err
		}
	}
	for _, size := range slices.Collect(maps.Keys(group.Signed)) {
		signed, err := all(ctx, s.writer, checkpointQuery+"WHERE size = ? OR size = (SELECT max(size) FROM checkpoints)", scanCheckpoint, number(size))
		if err != nil {
			return err
		}
		for _, checkpoint := range signed {
			group.Signed[checkpoint.Size] = checkpoint
		}
	}
	return nil
}

// insert writes what a group decided.
func (s *Store) insert(ctx context.Context, group *eventstore.Group) error {
	err := s.inserting(ctx, func(do statement) {
		insertLog(do, group)
		insertRecords(do, group.Changes())
		for _, receipt := range group.Stored {
			do("INSERT INTO receipts (user, key, fingerprint, kept, record, version, position) VALUES (?, ?, ?, ?, ?, ?, ?)",
				int64(receipt.User), receipt.Key, receipt.Fingerprint[:], receipt.Time.UnixMilli(), int64(receipt.Record), receipt.Version, number(receipt.Position))
		}
		for _, checkpoint := range group.Signs {
			do(`INSERT INTO checkpoints (size, origin, note, time, keys) VALUES (?, ?, ?, ?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note`,
				number(checkpoint.Size), checkpoint.Origin, checkpoint.Note, checkpoint.Time.UnixMilli(), checkpoint.Keys)
		}
		for i := range group.Redacted {
			insertRedacted(do, &group.Redacted[i])
		}
	})
	for _, id := range group.Redacts {
		if err == nil {
			err = s.redact(ctx, group.Records[id])
		}
	}
	return err
}

// statement runs a statement, unless one before it failed.
type statement func(text string, args ...any)

// inserting runs the statements of insert and returns the first error.
func (s *Store) inserting(ctx context.Context, insert func(do statement)) (err error) {
	insert(func(text string, args ...any) {
		if err == nil {
			err = s.writer.exec(ctx, text, args...)
		}
	})
	return err
}

func insertLog(do statement, group *eventstore.Group) {
	if len(group.Entries) == 0 {
		return
	}
	for i := range group.Entries {
		entry := &group.Entries[i]
		do(`INSERT INTO entries (position, kind, record, version, time, actor, change, leaf, client, request, reason, body, secret, salts)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, number(entry.Position), entry.Kind.String(), int64(entry.ID), entry.Version, entry.Time.UnixMilli(),
			int64(entry.Actor), entry.Change, entry.Leaf[:], entry.Cause.Client, entry.Cause.Request, entry.Cause.Reason, packBody(entry), entry.Secret, entry.Salts.Bytes())
	}
	for _, commit := range group.Commits {
		do("INSERT INTO commits (first, last, hash) VALUES (?, ?, ?)", number(commit.First), number(commit.Last), commit.Hash[:])
	}
	do(`INSERT INTO times (block, least, greatest) SELECT position / 1024 AS block, min(time), max(time) FROM entries WHERE position >= ? GROUP BY block
		ON CONFLICT (block) DO UPDATE SET least = min(least, excluded.least), greatest = max(greatest, excluded.greatest)`, number(group.Entries[0].Position))
	for _, t := range group.Slugs {
		do("INSERT INTO slugs (space, key, position, record) VALUES (?, ?, ?, ?)", t.Claim.Space, t.Claim.Key, number(t.Position), int64(t.Record))
	}
}

func insertRecords(do statement, changes eventstore.Changes) {
	for _, pair := range changes.DroppedClaims {
		do("DELETE FROM claims WHERE space = ? AND key = ?", pair.Space, pair.Key)
	}
	for _, pair := range changes.DroppedNames {
		do("DELETE FROM names WHERE space = ? AND key = ? AND record = ?", pair.Space, pair.Key, int64(pair.Record))
	}
	for _, held := range changes.Records {
		do(`INSERT INTO records (id, kind, version, position, secret, erased) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, position = excluded.position, secret = excluded.secret, erased = excluded.erased`,
			int64(held.ID), held.Kind.String(), held.Version, number(held.Position), held.Secret, held.Erased)
	}
	for _, pair := range changes.Claims { // one that is held is an error
		do("INSERT INTO claims (space, key, record) VALUES (?, ?, ?)", pair.Space, pair.Key, int64(pair.Record))
	}
	for _, pair := range changes.Names {
		do("INSERT INTO names (space, key, record) VALUES (?, ?, ?)", pair.Space, pair.Key, int64(pair.Record))
	}
}

func insertRedacted(do statement, entry *eventstore.Entry) {
	do("INSERT INTO redacted (position, by, hashes) VALUES (?, ?, ?)", number(entry.Position), number(entry.Redacted.By), entry.Redacted.Bytes())
}

// redact takes away what is left of the entries before the last one of a record, which
// erased it, and its past slugs.
func (s *Store) redact(ctx context.Context, held *eventstore.Held) error {
	const left = entryQuery + `WHERE e.record = ? AND e.version < ? AND (x.position IS NULL OR length(e.body) > 0
		OR e.client <> '' OR e.request <> '' OR e.reason <> '' OR e.secret IS NOT NULL) ORDER BY e.version LIMIT 256`
	scan := func(r row) (eventstore.Entry, error) {
		entry, err := scanEntry(r)
		if errors.Is(err, eventstore.ErrDamaged) { // it goes as well, and stays to be found
			err = nil
		}
		return entry, err
	}
	for {
		entries, err := all(ctx, s.writer, left, scan, int64(held.ID), held.Version)
		if err != nil {
			return err
		}
		if err := s.inserting(ctx, func(do statement) {
			for i := range entries {
				entry := &entries[i]
				if entry.Redacted == nil {
					entry.Redact(held.Position)
					insertRedacted(do, entry)
				}
				salts := eventstore.Salts{entry.Salts[0]}
				do("UPDATE entries SET client = '', request = '', reason = '', body = x'', secret = NULL, salts = ? WHERE position = ?", salts.Bytes(), number(entry.Position))
			}
			do("DELETE FROM slugs WHERE record = ?", int64(held.ID))
		}); err != nil || len(entries) == 0 {
			return err
		}
	}
}

// compactPause is waited before the log is emptied again, while others read.
const compactPause = 20 * time.Millisecond

// Compact writes the file again and empties the log, so that nothing of what was erased
// is in either. It needs room for another file of the size of this one. Appends wait
// while the file is written; the log is emptied when all who read have come to an end.
// Errors: ErrUnavailable, ErrClosed, that of the context.
func (s *Store) Compact(ctx context.Context) error {
	if err := s.Sync(ctx); err != nil {
		return err
	}
	err := s.alone(ctx, func(ctx context.Context) error { return s.writer.exec(ctx, "VACUUM") })
	for busy := true; err == nil && busy; {
		err = s.alone(ctx, func(ctx context.Context) (err error) {
			busy, err = s.emptyLog(ctx)
			return err
		})
		if err == nil && busy {
			err = pause.For(ctx, compactPause)
		}
	}
	return err
}
