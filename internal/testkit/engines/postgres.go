package engines

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgresServer is a PostgreSQL process of a test, of the installed binaries, on
// a port and with data of its own: a primary, or a standby that streams from one.
type PostgresServer struct {
	t    testing.TB
	bin  string
	dir  string
	port int
	cred *syscall.Credential // nil: that of the test

	mu  sync.Mutex
	cmd *exec.Cmd
	out *bytes.Buffer
	end chan struct{} // closed when the process has ended
}

// StartPostgres starts a PostgreSQL primary that ends with the test, or with its
// process. It asks for an engine by name as Own does.
func StartPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	requireOwn(t, EnginePostgres)
	s := newPostgres(t)
	s.tool("initdb", "-D", s.Data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	s.Start()
	return s
}

// Standby starts a standby that streams from the server under a name, which
// synchronous_standby_names knows it by. It has all that the server has when this
// returns.
func (s *PostgresServer) Standby(name string) *PostgresServer {
	s.t.Helper()
	n := newPostgres(s.t)
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", s.port, name)
	n.tool("pg_basebackup", "-D", n.Data(), "-d", from, "-R", "-X", "stream", "-c", "fast", "--no-sync")
	n.Start()
	s.CaughtUp(n)
	return n
}

func newPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	bin := postgresBin()
	if bin == "" {
		Require(t, EnginePostgres, "no postgres and initdb in /usr/lib/postgresql, /usr/pgsql-* or PATH")
	}
	dir, err := os.MkdirTemp("", "daybook-pg-") //nolint:usetesting // PostgreSQL runs as another user, who could not pass t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	s := &PostgresServer{t: t, bin: bin, dir: dir, port: FreePorts(t, 1)[0]}
	if os.Getuid() == 0 { // it refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			owner, err = user.Lookup("nobody")
		}
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.ParseUint(owner.Uid, 10, 32)
		gid, _ := strconv.ParseUint(owner.Gid, 10, 32)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	end := guard(t, exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", `read -r _; p=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null)
		if [ -n "$p" ]; then kill -QUIT "$p"; while kill -0 "$p"; do sleep 0.05; done; fi 2>/dev/null; rm -rf "$0"`, dir))
	t.Cleanup(func() {
		s.Kill9()
		_ = end() // what is left is the folder at most
	})
	return s
}

// postgresBin returns the folder of the newest server binaries, "" for none.
func postgresBin() string {
	var dirs []string // the newest last
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, pattern := range []string{"/usr/pgsql-*/bin", "/usr/lib/postgresql/*/bin"} {
		found, _ := filepath.Glob(pattern) // the patterns are right
		dirs = append(dirs, found...)
	}
	for _, dir := range slices.Backward(dirs) {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir
		}
	}
	return ""
}

// Data is the directory of its data.
func (s *PostgresServer) Data() string { return filepath.Join(s.dir, "data") }

func (s *PostgresServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...) //nolint:noctx // ended by Kill9, or short
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.cred}
	return cmd
}

func (s *PostgresServer) tool(name string, args ...string) {
	s.t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Start starts the process again after Kill9, on the same port with the same
// data, and waits until it takes connections.
func (s *PostgresServer) Start() {
	s.t.Helper()
	options := "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c dynamic_shared_memory_type=mmap -c lc_messages=C -c fsync=off" +
		" -c shared_buffers=16MB -c max_connections=60 -c wal_level=replica -c hot_standby=on -c wal_keep_size=64MB" +
		" -c wal_receiver_status_interval=1s -c wal_retrieve_retry_interval=100ms"
	cmd := s.command("postgres", append(strings.Fields(options), "-D", s.Data(), "-p", strconv.Itoa(s.port))...)
	out, end := &bytes.Buffer{}, make(chan struct{})
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(end)
		_ = cmd.Wait() // it was killed
	}()
	s.mu.Lock()
	s.cmd, s.out, s.end = cmd, out, end
	s.mu.Unlock()
	s.await("takes connections", "SELECT true")
}

// await waits until a query returns true.
func (s *PostgresServer) await(what, query string, args ...any) {
	s.t.Helper()
	s.mu.Lock()
	out, end := s.out, s.end
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), time.Minute)
	defer cancel()
	for {
		var yes bool
		err := s.query(ctx, &yes, query, args...)
		if yes {
			return
		}
		select {
		case <-end:
			s.t.Fatalf("postgres ended, waiting until it %s:\n%s", what, out)
		case <-ctx.Done():
			s.t.Fatalf("PostgreSQL on port %d: waiting until it %s: %v", s.port, what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// query scans the one value that a query returns.
func (s *PostgresServer) query(ctx context.Context, value any, query string, args ...any) error {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, query, args...).Scan(value)
}

// Addr is the address of the server, URL the one of its database as superuser;
// they stay the same over Kill9 and Start.
func (s *PostgresServer) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// URL is where the server serves, as its superuser.
func (s *PostgresServer) URL() string { return "postgres://postgres@" + s.Addr() + "/postgres" }

// Kill9 ends the process and its children as a loss of power would, and waits for
// their end. It does nothing when the process does not run.
func (s *PostgresServer) Kill9() {
	s.mu.Lock()
	cmd, end := s.cmd, s.end
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGQUIT) // its own way of ending without a checkpoint; the children end with it
	<-end
}

// Exec runs statements as the superuser.
func (s *PostgresServer) Exec(statements ...string) {
	s.t.Helper()
	ctx, cancel := clearing(s.t)
	defer cancel()
	if err := execute(ctx, s.URL(), statements...); err != nil {
		s.t.Fatal(err)
	}
}

// Cut makes a standby receive no more from its primary: what is written there from
// now on is lost when the standby is promoted.
func (s *PostgresServer) Cut() {
	s.t.Helper()
	s.Exec("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	s.await("receives no more", "SELECT count(*) = 0 FROM pg_stat_wal_receiver")
}

// CaughtUp waits until a standby has replayed all that the server has written.
func (s *PostgresServer) CaughtUp(standby *PostgresServer) {
	s.t.Helper()
	ctx, cancel := clearing(s.t)
	defer cancel()
	var at string
	if err := s.query(ctx, &at, "SELECT pg_current_wal_lsn()::text"); err != nil {
		s.t.Fatal(err)
	}
	standby.await("has caught up", "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", at)
}

// Promote makes a standby a primary, and waits until it takes writes.
func (s *PostgresServer) Promote() {
	s.t.Helper()
	s.Exec("SELECT pg_promote(true, 60)")
	s.await("takes writes", "SELECT NOT pg_is_in_recovery()")
}

// Dump writes a schema of the server to a file as pg_dump does, and gives its path;
// Restore puts such a file into the server, over what the schema has.
func (s *PostgresServer) Dump(schema string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, "dump-"+unique())
	s.tool("pg_dump", "-Fc", "-n", schema, "-f", path, s.URL())
	return path
}

// Restore puts what Dump gave back.
func (s *PostgresServer) Restore(schema, path string) {
	s.t.Helper()
	s.Exec("DROP SCHEMA IF EXISTS " + schema + " CASCADE")
	s.tool("pg_restore", "-d", s.URL(), "--exit-on-error", "--single-transaction", path)
}

// FreePorts returns n ports of this machine that nobody listens on, below those
// that the system gives to outgoing connections.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for range 1000 {
		port := 20_000 + rand.IntN(10_000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)) //nolint:noctx // closed at once
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // all at the end, so none comes twice
		if ports = append(ports, port); len(ports) == n {
			return ports
		}
	}
	t.Fatal("no free ports")
	return nil
}
