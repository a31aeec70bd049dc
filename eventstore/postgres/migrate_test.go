package postgres_test

import (
	"errors"
	"testing"
	"time"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
)

// TestMigrateWaits: a migration that meets the locks of others gives up when they stay, reads
// go on meanwhile, and it goes on when they are free.
func TestMigrateWaits(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	conn := admin(t)
	role := name + "_role"
	sqlExec(t, conn, "CREATE ROLE "+role)
	dropRoles(t, role)
	store := open(t, at, postgres.Options{Schema: name})
	write(t, store, 1, 1, "there")
	migrate := func() error {
		return postgres.Migrate(t.Context(), at, postgres.Options{Schema: name, ServiceRole: role})
	}
	sqlExec(t, conn, "BEGIN; GRANT SELECT ON "+name+".entries TO "+role)
	done := make(chan error, 1)
	go func() { done <- migrate() }()
	for err := error(nil); err == nil; {
		select {
		case err = <-done:
			if !errors.Is(err, eventstore.ErrUnavailable) {
				t.Fatalf("while the lock stays: got %v, want ErrUnavailable", err)
			}
		case <-time.After(100 * time.Millisecond):
			if _, err := store.Load(t.Context(), 1); err != nil {
				t.Errorf("a read meanwhile: %v", err)
			}
		}
	}
	sqlExec(t, conn, "ROLLBACK")
	if err := migrate(); err != nil {
		t.Errorf("after the lock was free: %v", err)
	}
}
