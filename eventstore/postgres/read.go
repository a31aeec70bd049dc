package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// queries are the statements with the schema in them: a pooler by transactions
// keeps no search_path.
type queries struct {
	atPosition, atTime, countedTo, countedUntil, slugAtPosition, slugAtTime, slugTakings, former, erased, erase, checkpoint, checkpoints, putCheckpoint,
	takings, check, newIDs, load, versions, history, entries, records, events, others, find, receipt, commits, mark, identity, leaves, holdings, astray, acquire,
	holdLog, heldRecords, heldErased, heldClaims, heldNames, heldReceipts, written, append, settle, purge, empty, useID, notify string
}

const (
	entryColumns = "e.position, e.kind, e.record, e.version, e.time, e.actor, e.change, e.client, e.request, e.reason, e.fields, e.state, e.secret, " +
		"e.salts, d.by, d.hashes"
	stateColumns   = "r.id, r.kind, r.version, r.position, e.state, r.secret"
	receiptColumns = "user_id, key, fingerprint, time, record, version, position, answer"
)

func newQueries(schema string) queries {
	in := func(text string) string { return strings.ReplaceAll(text, "@", schema+".") }
	const states = "SELECT " + stateColumns + " FROM @records r JOIN @entries e ON e.position = r.position WHERE "
	// What a page has no room for is not even sent; sizes are known without reading.
	cut := func(columns, page, join, size, order string) string {
		return in(fmt.Sprintf("SELECT %[1]s FROM (SELECT *, sum(%[4]s) OVER (ORDER BY %[5]s) - %[4]s AS before FROM (%[2]s) p) e %[3]s "+
			"WHERE before < %[6]d ORDER BY e.%[5]s", columns, page, join, size, order, eventstore.PageBytes))
	}
	const redacted = "LEFT JOIN @redacted d ON d.position = e.position"
	entries := func(where, order string) string {
		return cut(entryColumns, "SELECT * FROM @entries WHERE "+where, redacted, "(octet_length(fields) + octet_length(state))", order)
	}
	pageOf := func(where string) string {
		return cut("id, kind, version, position, state, secret", states+where, "", "octet_length(state)", "id")
	}
	// What counts at a point, which is a position or a time in milliseconds.
	const upTo, until = "position <= $1::bigint", "time <= $1::bigint"
	at := func(counts string) string {
		return "CROSS JOIN LATERAL (SELECT * FROM @entries WHERE record = q.record AND " + counts + " ORDER BY version DESC LIMIT 1) e " + redacted
	}
	pastOf := func(counts string) string {
		return in("SELECT " + entryColumns + " FROM unnest($2::bigint[]) q (record) " + at(counts))
	}
	// Of those who took a slug up to a position only the last one may have it there.
	slugAt := func(took, counts string) string {
		return in("SELECT " + entryColumns + ` FROM (SELECT * FROM (
				SELECT record, position FROM @slugs WHERE digest = $2::bytea AND kind = $3::text AND slug = $4::text
				UNION SELECT record, since FROM @claims
					WHERE digest = $2::bytea AND space = 'slug/' || $3::text AND key = $4::text) t ` + took + ") q " + at(counts) +
			` WHERE e.position >= q.position AND d.position IS NULL AND position($5::bytea IN e.state) > 0 ORDER BY q.position DESC LIMIT 100`)
	}
	return queries{
		atPosition:     pastOf(upTo),
		atTime:         pastOf(until),
		slugAtPosition: slugAt("WHERE "+upTo+" ORDER BY position DESC LIMIT 1", upTo),
		slugAtTime:     slugAt("", until),
		slugTakings: in(`SELECT record, position FROM @slugs WHERE digest = $1::bytea AND kind = $2::text AND slug = $3::text
			UNION SELECT record, since FROM @claims WHERE digest = $1::bytea AND space = 'slug/' || $2::text AND key = $3::text
			ORDER BY position DESC`),
		former: in(`SELECT record FROM @slugs WHERE digest = $1::bytea AND kind = $2::text AND slug = $3::text
			AND NOT EXISTS (SELECT FROM @claims WHERE digest = $1::bytea AND space = 'slug/' || $2::text AND key = $3::text)
			GROUP BY record ORDER BY max(position) DESC LIMIT $4`),
		countedTo: in(`SELECT e.position, greatest(e.time, @last_time(e.position, e.time)) FROM @entries e WHERE e.position = $1::bigint`),
		countedUntil: in(`SELECT greatest(e.position, @last_counted(e.position, $1::bigint)), e.time FROM (
			SELECT position, time FROM @entries WHERE time <= $1::bigint ORDER BY time DESC LIMIT 1) e`),
		erased: in("SELECT r.id, r.kind, e.change, r.position FROM @records r JOIN @entries e ON e.position = r.position WHERE r.id = ANY ($1::bigint[])"),
		erase:  in("SELECT @erase($1::bigint[])"),
		checkpoint: in(`SELECT size, origin, note, time, keys FROM @checkpoints
			WHERE size = CASE $1::bigint WHEN 0 THEN (SELECT max(size) FROM @checkpoints) ELSE $1::bigint END`),
		checkpoints:   in("SELECT size, origin, note, time, keys FROM @checkpoints WHERE size > $1::bigint ORDER BY size LIMIT $2::bigint"),
		putCheckpoint: in("SELECT @put_checkpoint($1::bigint, $2::text, $3::bytea, $4::bigint, $5::text, $6::bytea)"),
		takings: in(`SELECT position, record, kind, fields FROM @entries
			WHERE position > $1::bigint AND position <= $2::bigint AND position('"slug":'::bytea IN fields) > 0`),
		check: in(`SELECT pg_is_in_recovery(), coalesce(h.last, 0), h.hash, coalesce(k.last, 0), k.hash,
			(SELECT uuid FROM @identity) FROM (VALUES (0)) one
			LEFT JOIN LATERAL (SELECT last, hash FROM @commits ORDER BY first DESC LIMIT 1) h ON true
			LEFT JOIN LATERAL (SELECT last, hash FROM @commits WHERE first <= $1::bigint ORDER BY first DESC LIMIT 1) k ON true`),
		newIDs:   in("SELECT @new_ids($1::bigint)"),
		load:     in(states + "r.id = ANY ($1::bigint[])"),
		versions: in("SELECT id, version FROM @records WHERE id = ANY ($1::bigint[])"),
		history:  entries("record = $1::bigint AND version > $2::bigint ORDER BY version LIMIT $3::bigint", "version"),
		entries:  entries("position > $1::bigint ORDER BY position LIMIT $2::bigint", "position"),
		records:  pageOf("r.id > $1::bigint ORDER BY r.id LIMIT $2::bigint"),
		events:   pageOf("r.kind = 'event' AND r.id > $1::bigint ORDER BY r.id LIMIT $2::bigint"),
		others:   pageOf("r.kind = $1::text AND r.kind <> 'event' AND r.id > $2::bigint ORDER BY r.id LIMIT $3::bigint"),
		find: in(`SELECT false, q.i, x.record FROM unnest($1::bytea[], $2::text[], $3::text[]) WITH ORDINALITY q (digest, space, key, i)
				JOIN @claims x ON x.digest = q.digest AND x.space = q.space AND x.key = q.key
			UNION ALL SELECT true, q.i, x.record FROM unnest($4::bytea[], $5::text[], $6::text[]) WITH ORDINALITY q (digest, space, key, i)
				JOIN @names x ON x.digest = q.digest AND x.space = q.space AND x.key = q.key
			ORDER BY 1, 2, 3`),
		receipt: in("SELECT " + receiptColumns + " FROM @receipts WHERE digest = $1::bytea"),
		commits: in("SELECT first, last, hash FROM @commits WHERE first > $1::bigint ORDER BY first LIMIT $2::bigint"),
		mark:    in("SELECT last, hash FROM @commits WHERE first <= $1::bigint ORDER BY first DESC LIMIT 1"),
		leaves:  in("SELECT leaf FROM @entries WHERE position > $1::bigint ORDER BY position LIMIT $2::bigint"),
		holdings: in(`WITH r AS (SELECT id FROM @records WHERE id > $1::bigint ORDER BY id LIMIT $2::bigint)
			SELECT id, 0, '', '' FROM r
			UNION ALL SELECT id, 1, space, key FROM r JOIN @claims x ON x.record = r.id
			UNION ALL SELECT id, 2, space, key FROM r JOIN @names x ON x.record = r.id
			ORDER BY 1, 2`),
		astray: in(`SELECT space, key, record FROM @claims x WHERE NOT EXISTS (SELECT FROM @records r WHERE r.id = x.record)
			UNION ALL SELECT space, key, record FROM @names x WHERE NOT EXISTS (SELECT FROM @records r WHERE r.id = x.record)
			LIMIT 1`),
		acquire: in("SELECT * FROM @acquire_lease($1::text, $2::text, $3::bigint * interval '1 microsecond')"),

		holdLog:      in("SELECT @hold_log()"),
		heldRecords:  in("SELECT id, kind, version, erased FROM @records WHERE id = ANY ($1::bigint[])"),
		heldErased:   in("SELECT id FROM @records WHERE erased AND id = ANY ($1::bigint[])"),
		heldClaims:   in("SELECT digest, record FROM @claims WHERE digest = ANY ($1::bytea[])"),
		heldNames:    in("SELECT digest, record FROM @names WHERE digest = ANY ($1::bytea[])"),
		heldReceipts: in("SELECT " + receiptColumns + " FROM @receipts WHERE digest = ANY ($1::bytea[])"),
		written: in(`SELECT e.record, e.version, e.position, e.leaf FROM unnest($1::bigint[], $2::bigint[]) q (record, version)
			JOIN @entries e ON e.record = q.record AND e.version = q.version`),
		append: in("SELECT head, hash FROM @append_salted($1::bigint, $2::bytea, $3::boolean, $4::bigint, " +
			"$5::int, $6::int, $7::int, $8::int, $9::int, $10::int, $11::int, $12::bigint[], $13::text[], $14::bytea[], $15::bytea, $16::bytea, $17::bigint[])"),
		settle:   in("SELECT @settle()"),
		identity: in("SELECT uuid FROM @identity"),
		empty: in(`SELECT NOT EXISTS (SELECT FROM @entries) AND NOT EXISTS (SELECT FROM @receipts)
			AND NOT EXISTS (SELECT FROM @records)`),
		useID:  in("SELECT @use_id($1::bigint)"),
		notify: "SELECT pg_notify($1::text, $2::text)",
		purge:  in("SELECT @purge_receipts($1::bigint * interval '1 microsecond')"),
	}
}

// all runs a query and gives its rows; scan reads one.
func all[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	var out []T
	err := s.request(ctx, func(b *pgx.Batch) {
		b.Queue(query, args...).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectRows(rows, scan)
			return err
		})
	})
	return out, err
}

func scanEntry(r pgx.CollectableRow) (eventstore.Entry, error) {
	var (
		e             eventstore.Entry
		kind          string
		millis        int64
		fields, state []byte
		salts, hashes []byte
		by            *calendar.Position
	)
	err := r.Scan(&e.Position, &kind, &e.ID, &e.Version, &millis, &e.Actor, &e.Change,
		&e.Cause.Client, &e.Cause.Request, &e.Cause.Reason, &fields, &state, &e.Secret, &salts, &by, &hashes)
	if err != nil {
		return e, err
	}
	if e.Salts, err = eventstore.SaltsOf(salts); err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Position, err)
	}
	if by != nil {
		if e.Redacted, err = eventstore.RedactedOf(*by, hashes); err != nil {
			return e, fmt.Errorf("entry %d: %w", e.Position, err)
		}
	}
	e.Time = time.UnixMilli(millis).UTC()
	if e.Redacted == nil || len(fields) > 0 || len(state) > 0 { // text that an erasure left shows
		e.Fields, e.State = fields, state
	}
	if e.Kind, err = parseKind(kind); err != nil {
		return e, fmt.Errorf("entry %d: %w", e.Position, err)
	}
	return e, nil
}

func scanState(r pgx.CollectableRow) (eventstore.State, error) {
	var (
		st    eventstore.State
		kind  string
		state []byte
	)
	if err := r.Scan(&st.ID, &kind, &st.Version, &st.Position, &state, &st.Secret); err != nil {
		return st, err
	}
	st.Record = state
	if len(st.Secret) == 0 {
		st.Secret = nil
	}
	var err error
	if st.Kind, err = parseKind(kind); err != nil {
		return st, fmt.Errorf("record %d: %w", st.ID, err)
	}
	return st, nil
}

func scanReceipt(r pgx.CollectableRow) (*eventstore.Receipt, error) {
	var (
		out         eventstore.Receipt
		fingerprint []byte
		millis      int64
	)
	if err := r.Scan(&out.User, &out.Key, &fingerprint, &millis, &out.Record, &out.Version, &out.Position, &out.Answer); err != nil {
		return nil, err
	}
	out.Time = time.UnixMilli(millis).UTC()
	var err error
	out.Fingerprint, err = digest(fingerprint)
	return &out, wrap(err, "receipt %q", out.Key)
}

func scanCommit(r pgx.CollectableRow) (eventstore.Commit, error) {
	var c eventstore.Commit
	var hash []byte
	if err := r.Scan(&c.First, &c.Last, &hash); err != nil {
		return c, err
	}
	var err error
	c.Hash, err = digest(hash)
	return c, wrap(err, "commit %d", c.First)
}

func scanDigest(r pgx.CollectableRow) ([32]byte, error) {
	var leaf []byte
	if err := r.Scan(&leaf); err != nil {
		return [32]byte{}, err
	}
	return digest(leaf)
}

func digest(b []byte) ([32]byte, error) {
	if len(b) != 32 {
		return [32]byte{}, fmt.Errorf("%w: hash of %d bytes", eventstore.ErrDamaged, len(b))
	}
	return [32]byte(b), nil
}

func parseKind(s string) (calendar.Kind, error) {
	k, ok := calendar.ParseKind(s)
	if !ok {
		return 0, fmt.Errorf("%w: unknown kind %q", eventstore.ErrDamaged, s)
	}
	return k, nil
}

// number gives a position as PostgreSQL keeps it; those beyond its range are
// after every entry.
func number(p calendar.Position) int64 { return int64(min(p, math.MaxInt64)) }

// pairDigest is what a claim or a name is found by.
func pairDigest(space, key string) [32]byte {
	b := make([]byte, 0, 8+len(space)+len(key))
	b = binary.BigEndian.AppendUint64(b, uint64(len(space)))
	b = append(append(b, space...), key...)
	return sha256.Sum256(b)
}

// slugDigest is what the claim on a slug is found by.
func slugDigest(kind calendar.Kind, slug string) [32]byte {
	return pairDigest("slug/"+kind.String(), slug)
}

// receiptDigest is what a receipt is found by.
func receiptDigest(r *eventstore.Receipt) [32]byte {
	b := make([]byte, 0, 8+len(r.Key))
	b = binary.BigEndian.AppendUint64(b, uint64(r.User))
	return sha256.Sum256(append(b, r.Key...))
}

// Load does eventstore.Store.
func (s *Store) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	if err := s.usable(ctx); err != nil || len(ids) == 0 {
		return nil, err
	}
	found, err := all(ctx, s, scanState, s.q.load, numbersOf(ids))
	if err != nil {
		return nil, wrap(err, "load records %d", ids)
	}
	byID := make(map[calendar.ID]*eventstore.State, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	out := make([]eventstore.State, len(ids))
	for i, id := range ids {
		if st := byID[id]; st != nil {
			out[i] = *st
		}
	}
	return out, nil
}

func numbersOf(ids []calendar.ID) []int64 {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	return numbers
}

// Versions does eventstore.Store.
func (s *Store) Versions(ctx context.Context, ids ...calendar.ID) ([]int64, error) {
	if err := s.usable(ctx); err != nil || len(ids) == 0 {
		return nil, err
	}
	type known struct {
		id      calendar.ID
		version int64
	}
	found, err := all(ctx, s, func(r pgx.CollectableRow) (k known, err error) { return k, r.Scan(&k.id, &k.version) }, s.q.versions, numbersOf(ids))
	if err != nil {
		return nil, wrap(err, "versions of records %d", ids)
	}
	byID := make(map[calendar.ID]int64, len(found))
	for _, k := range found {
		byID[k.id] = k.version
	}
	out := make([]int64, len(ids))
	for i, id := range ids {
		out[i] = byID[id]
	}
	return out, nil
}

// History does eventstore.Store.
func (s *Store) History(ctx context.Context, id calendar.ID, after int64, limit int) ([]eventstore.Entry, error) {
	out, err := all(ctx, s, scanEntry, s.q.history, int64(id), after, max(limit, 0))
	return out, wrap(err, "history of record %d", id)
}

// ReadAll does eventstore.Store.
func (s *Store) ReadAll(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	out, err := all(ctx, s, scanEntry, s.q.entries, number(after), max(limit, 0))
	return out, wrap(err, "read entries after %d", after)
}

// ReadStored does eventstore.Verifier.
func (s *Store) ReadStored(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Entry, error) {
	return s.ReadAll(ctx, after, limit)
}

// Records does eventstore.Store.
func (s *Store) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
	if kind == 0 {
		out, err := all(ctx, s, scanState, s.q.records, int64(after), max(limit, 0))
		return out, wrap(err, "read records after %d", after)
	}
	if kind == calendar.KindEvent { // nearly all records: the index of kinds has none
		out, err := all(ctx, s, scanState, s.q.events, int64(after), max(limit, 0))
		return out, wrap(err, "read events after %d", after)
	}
	out, err := all(ctx, s, scanState, s.q.others, kind.String(), int64(after), max(limit, 0))
	return out, wrap(err, "read records of kind %s after %d", kind, after)
}

// Find does eventstore.Store.
func (s *Store) Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) (holders []calendar.ID, found [][]calendar.ID, err error) {
	var c, n pairs
	for _, claim := range claims {
		c.add(newPair(claim), 0)
	}
	for _, name := range names {
		n.add(newPair(calendar.Claim(name)), 0)
	}
	type hit struct {
		name   bool
		place  int
		record calendar.ID
	}
	hits, err := all(ctx, s, func(r pgx.CollectableRow) (h hit, err error) {
		err = r.Scan(&h.name, &h.place, &h.record)
		return h, err
	}, s.q.find, list(c.digest), list(c.space), list(c.key), list(n.digest), list(n.space), list(n.key))
	if err != nil {
		return nil, nil, wrap(err, "find claims and names")
	}
	holders = make([]calendar.ID, len(claims))
	found = make([][]calendar.ID, len(names))
	for _, h := range hits {
		if h.name {
			found[h.place-1] = append(found[h.place-1], h.record)
		} else {
			holders[h.place-1] = h.record
		}
	}
	return holders, found, nil
}

// Mark does eventstore.Store.
func (s *Store) Mark(ctx context.Context, p calendar.Position) (eventstore.Mark, error) {
	if p == 0 {
		return eventstore.Mark{}, s.usable(ctx)
	}
	found, err := all(ctx, s, func(r pgx.CollectableRow) (m eventstore.Mark, err error) {
		var hash []byte
		if err := r.Scan(&m.Position, &hash); err != nil {
			return m, err
		}
		m.Hash, err = digest(hash)
		return m, err
	}, s.q.mark, number(p))
	switch {
	case err != nil:
		return eventstore.Mark{}, wrap(err, "mark of entry %d", p)
	case len(found) == 0 || found[0].Position < p:
		return eventstore.Mark{}, eventstore.ErrAhead
	default:
		return eventstore.Mark{Position: p, Hash: found[0].Hash}, nil
	}
}

// UUID does eventstore.Store.
func (s *Store) UUID(ctx context.Context) ([16]byte, error) {
	kept, err := all(ctx, s, pgx.RowTo[[16]byte], s.q.identity)
	if err != nil {
		return [16]byte{}, wrap(err, "read the UUID")
	}
	if len(kept) != 1 {
		return [16]byte{}, fmt.Errorf("%w: %d UUIDs", eventstore.ErrDamaged, len(kept))
	}
	return eventstore.UUIDOf(kept[0][:])
}

// Epoch does eventstore.Store.
func (s *Store) Epoch() uint64 { return s.signal.Epoch() }

// Commits does eventstore.Verifier.
func (s *Store) Commits(ctx context.Context, after calendar.Position, limit int) ([]eventstore.Commit, error) {
	out, err := all(ctx, s, scanCommit, s.q.commits, number(after), max(limit, 0))
	return out, wrap(err, "read commits after %d", after)
}

// Leaves does eventstore.Verifier.
func (s *Store) Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	out, err := all(ctx, s, scanDigest, s.q.leaves, number(after), max(limit, 0))
	return out, wrap(err, "read leaves after %d", after)
}

// Holdings does eventstore.Verifier.
func (s *Store) Holdings(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error) {
	var out []eventstore.Holding
	_, err := all(ctx, s, func(r pgx.CollectableRow) (struct{}, error) {
		var (
			id   calendar.ID
			what int
			p    calendar.Claim
		)
		if err := r.Scan(&id, &what, &p.Space, &p.Key); err != nil {
			return struct{}{}, err
		}
		switch what {
		case 0: // comes first
			out = append(out, eventstore.Holding{ID: id})
		case 1:
			h := &out[len(out)-1]
			h.Claims = append(h.Claims, p)
		default:
			h := &out[len(out)-1]
			h.Names = append(h.Names, calendar.Name(p))
		}
		return struct{}{}, nil
	}, s.q.holdings, int64(after), max(limit, 0))
	return out, wrap(err, "read what records after %d hold", after)
}

// Inspect does eventstore.Verifier. The pages of the server's files are its own
// business: data checksums and amcheck tell of them.
func (s *Store) Inspect(ctx context.Context) error {
	type stray struct {
		claim  calendar.Claim
		record calendar.ID
	}
	found, err := all(ctx, s, func(r pgx.CollectableRow) (x stray, err error) {
		err = r.Scan(&x.claim.Space, &x.claim.Key, &x.record)
		return x, err
	}, s.q.astray)
	if err != nil {
		return wrap(err, "look for claims and names of no record")
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: %s/%s is kept of record %d, which is not there", eventstore.ErrDamaged, found[0].claim.Space, found[0].claim.Key, found[0].record)
	}
	return nil
}
