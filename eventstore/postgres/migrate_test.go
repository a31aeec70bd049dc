package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
)

// TestMigrateWaits: a migration that meets the locks of others goes on when they are free,
// gives up when they stay, and reads go on meanwhile.
func TestMigrateWaits(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	c := admin(t)
	role := name + "_role"
	sqlExec(t, c, "CREATE ROLE "+role)
	s := open(t, at, postgres.Options{Schema: name})
	defer func() { sqlExec(t, c, "DROP OWNED BY "+role+"; DROP ROLE "+role) }()
	write(t, s, 1, 1, "there")
	holder, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close(t.Context()) }()
	migrate := func() error {
		return postgres.Migrate(t.Context(), at, postgres.Options{Schema: name, ServiceRole: role})
	}
	sqlExec(t, holder, "BEGIN; GRANT SELECT ON "+name+".entries TO "+role)
	done := make(chan error, 1)
	go func() { done <- migrate() }()
	<-time.After(200 * time.Millisecond) // it waits by now
	if _, err := s.Load(t.Context(), 1); err != nil {
		t.Errorf("a read meanwhile: %v", err)
	}
	sqlExec(t, holder, "ROLLBACK")
	if err := <-done; err != nil {
		t.Errorf("after the lock was free: %v", err)
	}
	sqlExec(t, holder, "BEGIN; GRANT SELECT ON "+name+".entries TO "+role)
	if err := migrate(); !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("while the lock stays: got %v, want ErrUnavailable", err)
	}
	sqlExec(t, holder, "ROLLBACK")
}
