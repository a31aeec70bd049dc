package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
)

// TestMigrateWaits: a migration that meets the locks of others names them, goes on when
// they are free, gives up when they stay, and reads go on meanwhile.
func TestMigrateWaits(t *testing.T) {
	t.Parallel()
	at, name := server(t), schema(t)
	c := admin(t)
	role := name + "_role"
	sqlExec(t, c, "CREATE ROLE "+role)
	s := open(t, at, postgres.Options{Schema: name})
	defer func() { sqlExec(t, c, "DROP OWNED BY "+role+"; DROP ROLE "+role) }()
	write(t, s, 1, 1, "there")
	holder, err := pgx.Connect(t.Context(), with(t, at, "application_name=holder"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close(t.Context()) }()
	hold := func() { sqlExec(t, holder, "BEGIN; GRANT SELECT ON "+name+".entries TO "+role) }
	var log lockedBuffer
	migrate := func() error {
		return postgres.Migrate(t.Context(), at, postgres.Options{Schema: name, ServiceRole: role, Log: log.logger()})
	}
	hold()
	done := make(chan error, 1)
	go func() { done <- migrate() }()
	want := fmt.Sprintf("process %d (holder, query began ", holder.PgConn().PID())
	eventually(t, "the migration says for whom it waits", func() error {
		if !strings.Contains(log.String(), want) {
			return fmt.Errorf("the log says %q, want %q", log.String(), want)
		}
		return nil
	})
	began := time.Now()
	if _, err := s.Load(t.Context(), 1); err != nil || time.Since(began) > time.Second {
		t.Errorf("a read meanwhile took %s, %v", time.Since(began), err)
	}
	sqlExec(t, holder, "ROLLBACK")
	if err := <-done; err != nil {
		t.Errorf("after the lock was free: %v", err)
	}
	hold()
	if err := migrate(); !errors.Is(err, eventstore.ErrUnavailable) || !strings.Contains(err.Error(), want) {
		t.Errorf("while the lock stays: got %v, want %q", err, want)
	}
	sqlExec(t, holder, "ROLLBACK")
}
