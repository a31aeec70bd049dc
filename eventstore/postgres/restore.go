package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

var _ eventstore.Restorer = (*Store)(nil)

// restorePage is how much is read at once from the store that is copied, slugPage from
// the entries that were.
const restorePage, slugPage = 500, 5000

// Restore does eventstore.Restorer, in one transaction of the role that owns the
// schema: the service may not write so.
func (s *Store) Restore(ctx context.Context, from eventstore.Dumper, progress func(done, total calendar.Position)) error {
	head, err := from.Head(ctx)
	if err != nil {
		return err
	}
	err = s.use(ctx, 0, func(ctx context.Context, c *pgx.Conn) (err error) {
		tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
		if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = tx.Rollback(context.WithoutCancel(ctx)) // the first error tells
			}
		}()
		r := restore{s: s, tx: tx, from: from, head: head, progress: progress}
		if err := r.run(ctx); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
	if err != nil {
		return err
	}
	_, err = s.Head(ctx) // learns of it
	return err
}

// restore is one run of Restore.
type restore struct {
	s        *Store
	tx       pgx.Tx
	from     eventstore.Dumper
	head     calendar.Position
	progress func(done, total calendar.Position)

	records  map[calendar.ID]*present
	redacted [][]any // rows of the table
}

// present is where a record stands after the entries that were carried.
type present struct {
	kind     calendar.Kind
	version  int64
	position calendar.Position
	since    calendar.Position // of the entry that took the slug, else of the first one
	secret   []byte
	erased   bool
}

func (r *restore) run(ctx context.Context) error {
	if _, err := r.tx.Exec(ctx, r.s.q.holdLog); err != nil {
		return err
	}
	var empty bool
	if err := r.tx.QueryRow(ctx, r.s.q.empty).Scan(&empty); err != nil {
		return err
	}
	if !empty {
		return fmt.Errorf("schema %s: %w", r.s.o.Schema, eventstore.ErrNotEmpty)
	}
	r.records = map[calendar.ID]*present{}
	for _, step := range []func(context.Context) error{r.entries, r.commits, r.states, r.slugs, r.holdings, r.receipts, r.redactions, r.checkpoints, r.identity} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	var last calendar.ID
	for id := range r.records {
		last = max(last, id)
	}
	if _, err := r.tx.Exec(ctx, r.s.q.useID, int64(last)); err != nil {
		return err
	}
	_, err := r.tx.Exec(ctx, r.s.q.notify, r.s.o.Schema+"_head", fmt.Sprint(r.head))
	return err
}

// table copies rows into a table; next gives the next ones, none at the end.
func (r *restore) table(ctx context.Context, name string, columns []string, next func() ([][]any, error)) error {
	var page [][]any
	_, err := r.tx.CopyFrom(ctx, pgx.Identifier{r.s.o.Schema, name}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		for len(page) == 0 {
			var err error
			if page, err = next(); err != nil || len(page) == 0 {
				return nil, err
			}
		}
		row := page[0]
		page = page[1:]
		return row, nil
	}))
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}

func (r *restore) entries(ctx context.Context) error {
	at := calendar.Position(0)
	columns := []string{
		"position", "record", "version", "time", "actor", "kind", "change", "leaf", "client", "request", "reason", "fields", "state", "secret",
		"salts",
	}
	return r.table(ctx, "entries", columns, func() ([][]any, error) {
		limit := int(min(r.head-at, restorePage))
		if limit == 0 {
			return nil, nil
		}
		entries, err := r.from.ReadStored(ctx, at, limit)
		if err != nil {
			return nil, err
		}
		leaves, err := r.from.Leaves(ctx, at, len(entries))
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 || len(leaves) != len(entries) {
			return nil, fmt.Errorf("%w: %d entries and %d leaves after %d, below the head %d", eventstore.ErrDamaged, len(entries), len(leaves), at, r.head)
		}
		rows := make([][]any, len(entries))
		for i := range entries {
			e := &entries[i]
			rows[i] = []any{
				number(e.Position), int64(e.ID), e.Version, e.Time.UnixMilli(), int64(e.Actor), e.Kind.String(), e.Change, leaves[i][:],
				e.Cause.Client, e.Cause.Request, e.Cause.Reason, list([]byte(e.Fields)), list([]byte(e.State)), e.Secret, e.Salts.Bytes(),
			}
			if e.Redacted != nil {
				r.redacted = append(r.redacted, []any{number(e.Position), number(e.Redacted.By), e.Redacted.Bytes()})
			}
			p := r.records[e.ID]
			if p == nil {
				p = &present{kind: e.Kind, since: e.Position}
				r.records[e.ID] = p
			}
			p.version, p.position, p.erased = e.Version, e.Position, e.Change == eventstore.ErasedChange(e.Kind)
			if e.Secret != nil {
				p.secret = e.Secret
			}
			at = e.Position
		}
		if r.progress != nil {
			r.progress(at, r.head)
		}
		return rows, nil
	})
}

func (r *restore) commits(ctx context.Context) error {
	first, last := calendar.Position(0), calendar.Position(0)
	err := r.table(ctx, "commits", []string{"first", "last", "hash"}, func() ([][]any, error) {
		if last >= r.head {
			return nil, nil
		}
		commits, err := r.from.Commits(ctx, first, restorePage)
		if err != nil {
			return nil, err
		}
		rows := make([][]any, 0, len(commits))
		for i := range commits {
			c := &commits[i]
			if c.Last > r.head {
				break // came meanwhile
			}
			rows = append(rows, []any{number(c.First), number(c.Last), c.Hash[:]})
			first, last = c.First, c.Last
		}
		return rows, nil
	})
	if err == nil && last != r.head {
		return fmt.Errorf("%w: commits end at %d, entries at %d", eventstore.ErrDamaged, last, r.head)
	}
	return err
}

func (r *restore) states(ctx context.Context) error {
	done := false
	return r.table(ctx, "records", []string{"id", "kind", "version", "position", "secret", "erased"}, func() ([][]any, error) {
		if done {
			return nil, nil
		}
		done = true
		rows := make([][]any, 0, len(r.records))
		for id, p := range r.records {
			rows = append(rows, []any{int64(id), p.kind.String(), p.version, number(p.position), p.secret, p.erased})
		}
		return rows, nil
	})
}

// holdings carries claims and names, which two tables have: the first pass keeps
// the claims, the second the names.
func (r *restore) holdings(ctx context.Context) error {
	for _, pass := range []struct {
		table   string
		columns []string
		of      func(*eventstore.Holding) []pair
	}{
		{"claims", []string{"digest", "record", "space", "key", "since"}, func(h *eventstore.Holding) []pair { return distinctPairs(h.Claims) }},
		{"names", []string{"digest", "record", "space", "key"}, func(h *eventstore.Holding) []pair { return distinctPairs(h.Names) }},
	} {
		after := calendar.ID(0)
		err := r.table(ctx, pass.table, pass.columns, func() ([][]any, error) {
			for {
				holdings, err := r.from.Holdings(ctx, after, restorePage)
				if err != nil || len(holdings) == 0 {
					return nil, err
				}
				var rows [][]any
				for i := range holdings {
					after = holdings[i].ID
					state := r.records[after]
					if state == nil {
						continue // came meanwhile
					}
					for _, p := range pass.of(&holdings[i]) {
						row := []any{p.digest[:], int64(after), p.Space, p.Key, number(state.since)}
						rows = append(rows, row[:len(pass.columns)])
					}
				}
				if len(rows) > 0 {
					return rows, nil
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *restore) receipts(ctx context.Context) error {
	after := int64(0)
	columns := []string{"digest", "kept", "user_id", "key", "fingerprint", "time", "record", "version", "position", "answer"}
	return r.table(ctx, "receipts", columns, func() ([][]any, error) {
		receipts, next, err := r.from.Receipts(ctx, after, restorePage)
		if err != nil {
			return nil, err
		}
		after = next
		rows := make([][]any, len(receipts))
		for i := range receipts {
			k := &receipts[i]
			digest := receiptDigest(&k.Receipt)
			rows[i] = []any{
				digest[:], k.Kept.UnixMilli(), int64(k.User), k.Key, k.Fingerprint[:], k.Time.UnixMilli(),
				int64(k.Record), k.Version, number(k.Position), k.Answer,
			}
		}
		return rows, nil
	})
}

// redactions carries what is left of erased entries.
func (r *restore) redactions(ctx context.Context) error {
	return r.table(ctx, "redacted", []string{"position", "by", "hashes"}, func() ([][]any, error) {
		rows := r.redacted
		r.redacted = nil
		return rows, nil
	})
}

// slugs notes who took which slug, which the entries tell, and with which of them.
func (r *restore) slugs(ctx context.Context) error {
	for at := calendar.Position(0); at < r.head; at += slugPage {
		if err := r.slugsBetween(ctx, at, at+slugPage); err != nil {
			return fmt.Errorf("past slugs after entry %d: %w", at, err)
		}
	}
	return nil
}

// slugsBetween is slugs for the entries after a position up to another one.
func (r *restore) slugsBetween(ctx context.Context, after, upto calendar.Position) error {
	rows, err := r.tx.Query(ctx, r.s.q.takings, number(after), number(upto))
	if err != nil {
		return err
	}
	var e eventstore.Entry
	var kind string
	var fields []byte
	var taken [][]any
	_, err = pgx.ForEachRow(rows, []any{&e.Position, &e.ID, &kind, &fields}, func() (err error) {
		if e.Kind, err = parseKind(kind); err != nil {
			return err
		}
		e.Fields = fields
		slug, err := e.Slug()
		if err == nil && slug != "" {
			digest := slugDigest(e.Kind, slug)
			taken = append(taken, []any{digest[:], number(e.Position), int64(e.ID), kind, slug})
			r.records[e.ID].since = e.Position
		}
		return err
	})
	if err != nil {
		return err
	}
	columns := []string{"digest", "position", "record", "kind", "slug"}
	_, err = r.tx.CopyFrom(ctx, pgx.Identifier{r.s.o.Schema, "slugs"}, columns, pgx.CopyFromRows(taken))
	return err
}

func (r *restore) checkpoints(ctx context.Context) error {
	after := calendar.Position(0)
	return r.table(ctx, "checkpoints", []string{"size", "origin", "note", "time", "keys"}, func() ([][]any, error) {
		found, err := r.from.Checkpoints(ctx, after, restorePage)
		if err != nil {
			return nil, err
		}
		var rows [][]any
		for i := range found {
			if c := &found[i]; c.Size <= r.head {
				rows = append(rows, []any{number(c.Size), c.Origin, c.Note, c.Time.UnixMilli(), c.Keys})
				after = c.Size
			}
		}
		return rows, nil
	})
}

func (r *restore) identity(ctx context.Context) error {
	id, err := r.from.UUID(ctx)
	if err != nil {
		return err
	}
	_, err = r.tx.Exec(ctx, "UPDATE "+r.s.o.Schema+".identity SET uuid = $1::uuid", id)
	return err
}
