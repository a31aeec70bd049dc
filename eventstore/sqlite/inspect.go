package sqlite

import (
	"context"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
)

// Holdings does eventstore.Verifier.
func (s *Store) Holdings(ctx context.Context, after calendar.ID, limit int) ([]eventstore.Holding, error) {
	out, err := all(ctx, s, s.read.holdings, func(r row) (h eventstore.Holding, err error) {
		var claims, names []byte
		if err := r.Scan(&h.ID, &claims, &names); err != nil {
			return h, err
		}
		h.Claims, h.Names, err = decodeHeld(h.ID, claims, names)
		return h, err
	}, int64(after), max(limit, 0))
	return out, wrap(err, "read what records after %d hold", after)
}

// Inspect does eventstore.Verifier. Nothing else reads every page of the file: an
// index that only some lists go by, say.
func (s *Store) Inspect(ctx context.Context) error {
	for _, table := range []string{"claims", "names"} {
		var space, key string
		var id calendar.ID
		found, err := s.ask(ctx, `SELECT x.space, x.key, x.record FROM `+table+` x WHERE NOT EXISTS (
			SELECT 1 FROM records r, json_each(r.`+table+`) j
			WHERE r.id = x.record AND j.value ->> 0 = x.space AND j.value ->> 1 = x.key) LIMIT 1`, &space, &key, &id)
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		if found {
			return fmt.Errorf("%w: %s has %s %s of record %d, which does not hold it", eventstore.ErrDamaged, table, space, key, id)
		}
	}
	var says string
	found, err := s.ask(ctx, "PRAGMA integrity_check(1)", &says)
	if err != nil {
		return fmt.Errorf("check of the file: %w", err)
	}
	if found && says != "ok" {
		return fmt.Errorf("%w: the file: %s", eventstore.ErrDamaged, says)
	}
	return nil
}

// ask reads one row into dest and tells whether there is one.
func (s *Store) ask(ctx context.Context, query string, dest ...any) (bool, error) {
	if err := s.usable(ctx); err != nil {
		return false, err
	}
	stmt, err := s.readDB.PrepareContext(ctx, query)
	if err != nil {
		return false, translate(ctx, err)
	}
	defer func() { _ = stmt.Close() }() // only read
	rows, err := all(ctx, s, stmt, func(r row) (struct{}, error) { return struct{}{}, r.Scan(dest...) })
	return len(rows) > 0, err
}
