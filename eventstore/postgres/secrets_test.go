package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
)

// TestRotatedPassword: a password that was replaced in its file is used by each connection
// that is made after that, also by the one that listens.
func TestRotatedPassword(t *testing.T) {
	t.Parallel()
	own := engines.StartPostgres(t)
	access := filepath.Join(own.Data(), "pg_hba.conf")
	before, err := os.ReadFile(access)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(access, append([]byte("host all plain all scram-sha-256\n"), before...), 0o600); err != nil {
		t.Fatal(err)
	}
	own.Exec("CREATE ROLE plain LOGIN", "CREATE SCHEMA daybook AUTHORIZATION plain", "SELECT pg_reload_conf()")
	file := filepath.Join(t.TempDir(), "pgpass")
	rotate := func(password string) {
		t.Helper()
		own.Exec(fmt.Sprintf("ALTER ROLE plain PASSWORD '%s'", password))
		if err := os.WriteFile(file, []byte("*:*:*:*:"+password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rotate("one")
	at := with(t, strings.Replace(own.URL(), "postgres://postgres@", "postgres://plain@", 1), "passfile="+file)
	store := open(t, at, postgres.Options{})
	write(t, store, 1, 1, "before")
	rotate("two")
	own.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'")
	eventually(t, "read", func() error { _, err := position(t.Context(), store); return err })
	write(t, store, 1, 2, "after")
	eventually(t, "listens", func() error {
		if own.Exec("SELECT count(*) FROM pg_stat_activity WHERE usename = 'plain' AND query LIKE 'LISTEN%'") != "1" {
			return errors.New("nobody does")
		}
		return nil
	})
}
