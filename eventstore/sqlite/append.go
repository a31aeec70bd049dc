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
func (store *Store) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	return store.committer.Append(ctx, addition)
}

// Sync implements eventstore.Store: what can be read was committed with synchronous=FULL,
// and lasts unless the files were lost.
func (store *Store) Sync(ctx context.Context) error {
	return cmp.Or(store.usable(ctx), store.permitted(ctx))
}

// commit decides items and writes those that win in one transaction.
func (store *Store) commit(ctx context.Context, items []*eventstore.Item) (*eventstore.Group, error) {
	if err := store.permitted(ctx); err != nil {
		return nil, err
	}
	group := eventstore.NewGroup(store.Epoch(), items)
	err := store.write(ctx, func(ctx context.Context) error {
		if err := store.gather(ctx, group); err != nil {
			return fmt.Errorf("read for append: %w", err)
		}
		group.Decide()
		for _, receipt := range group.Stored {
			receipt.Time = eventstore.Moment(store.options.Now())
		}
		return store.insert(ctx, group)
	})
	store.commits.Add(1) // before the cache is changed, see held
	store.newest.Store(nil)
	if err != nil {
		store.cache.InvalidateAll() // perhaps it was committed
		return nil, err
	}
	// Readers see first the records and the newest entries, then the head. What was written is
	// seldom read soon, unlike what it links to, which the cache is for; but who follows the log
	// reads all entries.
	for id, held := range group.Records {
		if store.cache.Invalidate(id); held != nil {
			store.usedID(id)
		}
	}
	size := 0
	for i := range group.Entries {
		size += group.Entries[i].Size()
	}
	if size > 0 && size < eventstore.PageBytes && len(group.Redacts) == 0 {
		store.newest.Store(group)
	}
	store.signal.Move(group.Mark, len(group.Redacts) > 0)
	return group, store.permitted(ctx)
}

// permitted refuses a commit, and refuses to acknowledge one, with ErrUnavailable: into
// files that no one would find again, and what Options.Permit refuses. What was committed
// before is secured then.
func (store *Store) permitted(ctx context.Context) error {
	store.writing.Lock()
	defer store.writing.Unlock()
	if store.readOnly != nil {
		return store.readOnly
	}
	var err error
	if path := store.Lost(); path != "" {
		err = fmt.Errorf("%s was removed or replaced", path)
	} else if store.options.Permit != nil {
		err = store.options.Permit()
	}
	if err == nil {
		store.secured = false
		return nil
	}
	if !store.secured {
		err = errors.Join(err, store.secure(context.WithoutCancel(ctx)))
	}
	return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
}

// write runs one transaction on the writing connection.
func (store *Store) write(ctx context.Context, do func(ctx context.Context) error) error {
	return store.alone(ctx, func(ctx context.Context) error {
		err := store.writer.exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			err = do(ctx)
		}
		if err == nil {
			err = store.writer.exec(ctx, "COMMIT")
		}
		if err != nil {
			_ = store.writer.exec(ctx, "ROLLBACK") // the first error says what is wrong
		}
		return err
	})
}

// alone uses the writing connection. The context does not cut it off: the engine carries
// out a BEGIN that the driver reports as cancelled.
func (store *Store) alone(ctx context.Context, do func(ctx context.Context) error) error {
	store.writing.Lock()
	defer store.writing.Unlock()
	return translate(do(context.WithoutCancel(ctx)))
}

// gather reads what the file says about all that the items touch.
func (store *Store) gather(ctx context.Context, group *eventstore.Group) (err error) {
	end, err := one(ctx, store.writer, endQuery, scanEnd)
	if err != nil {
		return err
	}
	group.Mark = end.Mark
	for id := range group.Records {
		if id > end.lastID { // it is new
			continue
		}
		if group.Records[id], err = store.held(ctx, store.writer, id); err != nil {
			return err
		}
		if held := group.Records[id]; held != nil {
			for _, claim := range held.Claims {
				group.Holders[claim] = id
			}
		}
	}
	for claim, holder := range group.Holders {
		if holder == 0 { // else a record that is changed holds it
			if group.Holders[claim], err = one(ctx, store.writer, holderQuery, value[calendar.ID], claim.Space, claim.Key); err != nil {
				return err
			}
		}
	}
	for name := range group.Counts {
		if group.Counts[name], err = one(ctx, store.writer, "SELECT count(*) FROM names WHERE space = ? AND key = ?", value[int], name.Space, name.Key); err != nil {
			return err
		}
	}
	for receiptKey := range group.Receipts {
		if group.Receipts[receiptKey], err = one(ctx, store.writer, receiptQuery+"WHERE user = ? AND key = ?", scanReceipt, int64(receiptKey.User), receiptKey.Key); err != nil {
			return err
		}
	}
	for _, size := range slices.Collect(maps.Keys(group.Signed)) {
		signed, err := all(ctx, store.writer, checkpointQuery+"WHERE size = ? OR size = (SELECT max(size) FROM checkpoints)", scanCheckpoint, number(size))
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
func (store *Store) insert(ctx context.Context, group *eventstore.Group) (err error) {
	do := func(text string, args ...any) {
		if err == nil {
			err = store.writer.exec(ctx, text, args...)
		}
	}
	for i := range group.Entries {
		entry := &group.Entries[i]
		do(`INSERT INTO entries (position, kind, record, version, time, actor, change, leaf, client, request, reason, body, secret, salts)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, number(entry.Position), entry.Kind.String(), int64(entry.ID), entry.Version, entry.Time.UnixMilli(),
			int64(entry.Actor), entry.Change, entry.Leaf[:], entry.Cause.Client, entry.Cause.Request, entry.Cause.Reason, packBody(entry), entry.Secret, entry.Salts[:])
	}
	for _, commit := range group.Commits {
		do("INSERT INTO commits (first, last, hash) VALUES (?, ?, ?)", number(commit.First), number(commit.Last), commit.Hash[:])
	}
	if len(group.Entries) > 0 {
		do(`INSERT INTO times (block, least, greatest) SELECT position / 1024 AS block, min(time), max(time) FROM entries WHERE position >= ? GROUP BY block
			ON CONFLICT (block) DO UPDATE SET least = min(least, excluded.least), greatest = max(greatest, excluded.greatest)`, number(group.Entries[0].Position))
	}
	for _, taken := range group.Slugs {
		do("INSERT INTO slugs (space, key, position, record) VALUES (?, ?, ?, ?)", taken.Claim.Space, taken.Claim.Key, number(taken.Position), int64(taken.Record))
	}
	changes := group.Changes()
	for _, held := range changes.Before {
		do("DELETE FROM claims WHERE record = ?", int64(held.ID))
		do("DELETE FROM names WHERE record = ?", int64(held.ID))
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
	for _, receipt := range group.Stored {
		do("INSERT INTO receipts (user, key, fingerprint, kept, record, version, position) VALUES (?, ?, ?, ?, ?, ?, ?)",
			int64(receipt.User), receipt.Key, receipt.Fingerprint[:], receipt.Time.UnixMilli(), int64(receipt.Record), receipt.Version, number(receipt.Position))
	}
	for _, checkpoint := range group.Signs {
		do(`INSERT INTO checkpoints (size, origin, note, time, keys) VALUES (?, ?, ?, ?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note`,
			number(checkpoint.Size), checkpoint.Origin, checkpoint.Note, checkpoint.Time.UnixMilli(), checkpoint.Keys)
	}
	for i := range group.Redacted {
		do(redactedInsert, redactedRow(&group.Redacted[i])...)
	}
	for _, id := range group.Redacts {
		if do("DELETE FROM slugs WHERE record = ?", int64(id)); err == nil {
			err = store.redact(ctx, group.Records[id])
		}
	}
	return err
}

const redactedInsert = "INSERT INTO redacted (position, by, hashes) VALUES (?, ?, ?)"

func redactedRow(entry *eventstore.Entry) []any {
	return []any{number(entry.Position), number(entry.Redacted.By), entry.Redacted.Bytes()}
}

// redact takes away what is left of the entries before the last one of a record, which
// erased it.
func (store *Store) redact(ctx context.Context, held *eventstore.Held) error {
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
		entries, err := all(ctx, store.writer, left, scan, int64(held.ID), held.Version)
		for i := range entries {
			entry := &entries[i]
			if err == nil && entry.Redacted == nil {
				entry.Redact(held.Position)
				err = store.writer.exec(ctx, redactedInsert, redactedRow(entry)...)
			}
			clear(entry.Salts[len(entry.Salts.Of(0)):]) // but for the actor's
			if err == nil {
				err = store.writer.exec(ctx, "UPDATE entries SET client = '', request = '', reason = '', body = x'', secret = NULL, salts = ? WHERE position = ?", entry.Salts[:], number(entry.Position))
			}
		}
		if err != nil || len(entries) == 0 {
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
func (store *Store) Compact(ctx context.Context) error {
	if err := store.Sync(ctx); err != nil {
		return err
	}
	err := store.alone(ctx, func(ctx context.Context) error { return store.writer.exec(ctx, "VACUUM") })
	for busy := true; err == nil && busy; {
		err = store.alone(ctx, func(ctx context.Context) (err error) {
			busy, err = store.emptyLog(ctx)
			return err
		})
		if err == nil && busy {
			err = pause.For(ctx, compactPause)
		}
	}
	return err
}
