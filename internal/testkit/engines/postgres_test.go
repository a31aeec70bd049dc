package engines

import (
	"errors"
	"os"
	"testing"
	"time"
)

// TestPostgresServers: a standby has what it was given before Cut, and nothing
// after, when it is promoted; a proxy leads from one server to the other.
func TestPostgresServers(t *testing.T) {
	var dirs []string
	t.Run("life", func(t *testing.T) {
		primary := StartPostgres(t)
		standby := primary.Standby("second")
		dirs = []string{primary.dir, standby.dir}
		proxy := NewProxy(t, primary.URL())
		count := func(url string) (n int) {
			t.Helper()
			if err := postgres(t, url, "").QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		primary.Exec("CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1)")
		path := primary.Dump("public")
		primary.CaughtUp(standby)
		standby.Cut()
		primary.Exec("INSERT INTO kept VALUES (2)")
		if n := count(proxy.URL); n != 2 {
			t.Errorf("the primary has %d", n)
		}
		primary.Kill9()
		standby.Promote()
		proxy.Switch(standby.URL())
		if n := count(proxy.URL); n != 1 {
			t.Errorf("after the failover: %d", n)
		}
		primary.Start()
		if n := count(primary.URL()); n != 2 {
			t.Errorf("the old primary has %d", n)
		}
		primary.Restore("public", path)
		if n := count(primary.URL()); n != 1 {
			t.Errorf("after the backup was put back: %d", n)
		}
	})
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left behind: %s, %v", dir, err)
		}
	}
}

// TestProxySwallows: connections that are swallowed say nothing, new ones are fine.
func TestProxySwallows(t *testing.T) {
	t.Parallel()
	url, _ := Postgres(t)
	proxy := NewProxy(t, url)
	old := postgres(t, proxy.URL, "SELECT 1")
	proxy.Swallow(false)
	if err := old.PgConn().Conn().SetDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec(t.Context(), "SELECT 1"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a swallowed connection: %v", err)
	}
	postgres(t, proxy.URL, "SELECT 1")
}
