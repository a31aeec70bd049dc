package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"daybook/calendar"
	"daybook/eventstore"
)

const (
	// dialLimit is how long a connection may take to be made, unless the URL says.
	dialLimit = 3 * time.Second
	// A connection that no one used for silence is tried within tryLimit before it is
	// trusted: its other end may be gone without a word.
	silence, tryLimit = time.Second, time.Second
)

// parse reads a URL and completes it with what the store needs.
func parse(address string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err // it hides the password
	}
	connConfig := config.ConnConfig
	if connConfig.ConnectTimeout == 0 {
		connConfig.ConnectTimeout = dialLimit
	}
	if connConfig.RuntimeParams["application_name"] == "" {
		connConfig.RuntimeParams["application_name"] = "daybook"
	}
	maps.Copy(connConfig.RuntimeParams, sessionSettings)
	dialer := &net.Dialer{
		Timeout:         connConfig.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	connConfig.DialFunc = dialer.DialContext
	connConfig.OnNotice = func(pgConn *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			pgConn.CustomData()[warned] = n.Message
		}
	}
	// Of several hosts the one that takes writes is meant: a standby lags behind.
	said := strings.Contains(address, "target_session_attrs") || os.Getenv("PGTARGETSESSIONATTRS") != ""
	for _, fallbackConfig := range connConfig.Fallbacks {
		if !said && (fallbackConfig.Host != connConfig.Host || fallbackConfig.Port != connConfig.Port) {
			connConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		}
	}
	return config, nil
}

// openPools makes the pool of readers and the one connection that writes.
func (store *Store) openPools(ctx context.Context, config *pgxpool.Config, address string) (err error) {
	config.BeforeConnect = func(_ context.Context, connConfig *pgx.ConnConfig) error { return renewSecrets(connConfig, address) }
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, store.options.ReadTimeout)
		defer cancel()
		return checkSession(ctx, conn, store.options.Schema)
	}
	config.ShouldPing = func(ctx context.Context, shouldPingParams pgxpool.ShouldPingParams) bool {
		if shouldPingParams.IdleDuration < silence {
			return false
		}
		try, cancel := context.WithTimeout(ctx, tryLimit)
		defer cancel()
		if shouldPingParams.Conn.Ping(try) != nil && ctx.Err() == nil {
			// pgx would wait for the server to end the connection, whose place in the pool
			// is taken meanwhile.
			_ = shouldPingParams.Conn.PgConn().Conn().Close()
			store.distrust()
		}
		return shouldPingParams.Conn.IsClosed() // the pool tries another one then
	}
	write := config.Copy()
	write.MaxConns, write.MinConns, write.MinIdleConns = 1, 0, 0
	if store.read, err = pgxpool.NewWithConfig(ctx, config); err == nil {
		store.write, err = pgxpool.NewWithConfig(ctx, write)
	}
	return translate(ctx, err)
}

// renewSecrets reads the password and the files of a URL again for each connection, so
// that a rotation needs no restart.
func renewSecrets(connConfig *pgx.ConnConfig, address string) error {
	now, err := pgx.ParseConfig(address)
	if err != nil {
		return err // it hides the password
	}
	connConfig.Password, connConfig.TLSConfig = now.Password, now.TLSConfig
	for i := range min(len(connConfig.Fallbacks), len(now.Fallbacks)) {
		connConfig.Fallbacks[i].TLSConfig = now.Fallbacks[i].TLSConfig
	}
	return nil
}

// distrust makes new connections take the place of all that are open.
func (store *Store) distrust() {
	store.pools((*pgxpool.Pool).Reset)
}

// warned is where a connection keeps the last warning of the server.
const warned = "daybook.warned"

// errUnheard says that the server did not wait until a commit was durable.
var errUnheard = fmt.Errorf("%w: the wait for a standby was cut off", eventstore.ErrUnavailable)

// heard runs a commit. The server answers one whose wait for a standby was cut off as if
// it were whole, but for a warning. Nothing else that commits do here warns.
func heard(conn *pgx.Conn, commit func() error) error {
	data := conn.PgConn().CustomData()
	delete(data, warned)
	if err := commit(); err != nil {
		return err
	}
	if value, ok := data[warned]; ok {
		return fmt.Errorf("%w: %s", errUnheard, value)
	}
	return nil
}

var errNoAnswer = fmt.Errorf("%w: no answer", eventstore.ErrUnavailable)

// use runs a function on a connection of a pool, within a time, and turns its error into
// one of the port. Where there was no answer in time, or the server takes no writes any
// more, the other connections are not trusted either.
func (store *Store) use(ctx context.Context, pool *pgxpool.Pool, limit time.Duration, do func(context.Context, *pgx.Conn) error) error {
	if store.closing.Load() {
		return eventstore.ErrClosed
	}
	within, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer)
	defer cancel()
	conn, err := pool.Acquire(within)
	if err == nil {
		err = func() error {
			defer giveBack(conn)
			return do(within, conn.Conn())
		}()
	}
	late := within.Err() != nil && ctx.Err() == nil
	if err != nil && late || sqlState(err) == readOnly {
		store.distrust()
	}
	switch {
	case err == nil:
		return nil
	case store.closing.Load():
		return eventstore.ErrClosed
	case late:
		return fmt.Errorf("%w within %s", errNoAnswer, limit)
	case sqlState(err) == refused: // it had the rights when it was opened
		return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
	}
	return translate(ctx, err)
}

// giveBack gives a connection back. One that was lost leaves the pool without delay:
// closing it may take long, and others wait for its place.
func giveBack(conn *pgxpool.Conn) {
	if conn.Conn().IsClosed() {
		conn.Hijack()
		return
	}
	conn.Release()
}

// request sends statements to read, and behind them the one that asks how the log stands,
// so that nothing of another history is returned before the epoch reports it.
func (store *Store) request(ctx context.Context, queue func(*pgx.Batch)) error {
	return store.use(ctx, store.read, store.options.ReadTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		batch := &pgx.Batch{}
		if queue != nil {
			queue(batch)
		}
		see := store.queueHead(batch, &answer{})
		if err := conn.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return see()
	})
}

// answer is how the log of a server stands.
type answer struct {
	eventstore.Head

	there   calendar.Mark // of the commit that holds the position that was known, or the last one before it
	standby bool
	erased  calendar.Position // of the newest erasure
	lastID  calendar.ID       // the greatest one that was given or used
}

const headQuery = `SELECT pg_is_in_recovery(), coalesce(h.last, 0), h.hash, coalesce(k.last, 0), k.hash, (SELECT uuid FROM @identity),
	(SELECT coalesce(max(by), 0) FROM @redacted), (SELECT last_value FROM @ids)
	FROM (VALUES (0)) one
	LEFT JOIN LATERAL (SELECT last, hash FROM @commits ORDER BY first DESC LIMIT 1) h ON true
	LEFT JOIN LATERAL (SELECT last, hash FROM @commits WHERE first <= $1::bigint ORDER BY first DESC LIMIT 1) k ON true`

// queueHead queues the statement that asks how the log stands; see compares the answer
// with what is known. Whatever a call returned in an epoch lies at or before its mark, so
// a log that holds the mark holds all of it.
func (store *Store) queueHead(batch *pgx.Batch, answer *answer) (see func() error) {
	known := store.signal.Head()
	batch.Queue(store.q(headQuery), number(known.Position)).QueryRow(func(row pgx.Row) error {
		var head, there []byte
		err := row.Scan(&answer.standby, &answer.Position, &head, &answer.there.Position, &there, &answer.UUID, &answer.erased, &answer.lastID)
		copy(answer.Hash[:], head)
		copy(answer.there.Hash[:], there)
		return err
	})
	return func() error { return store.see(known, answer) }
}

// see learns from an answer. Where the log does not hold what was known, the store goes
// over to the history that it has. A standby that is behind is no other history.
func (store *Store) see(known eventstore.Head, answer *answer) error {
	store.mutex.Lock()
	defer store.mutex.Unlock()
	switch {
	case store.signal.Epoch().History != known.Epoch.History:
		return nil // what was asked by another history says nothing of this one
	case answer.UUID == known.UUID && answer.there == known.Mark:
		store.signal.Move(answer.Mark, answer.erased > store.erased)
		store.erased = max(store.erased, answer.erased)
		return nil
	case answer.standby && answer.there.Position < known.Position:
		return fmt.Errorf("%w: the server is a standby that has not come to entry %d", eventstore.ErrUnavailable, known.Position)
	case answer.Position == 0 && answer.UUID == known.UUID:
		return fmt.Errorf("%w: the log is empty but still the one that had entry %d: rights or row-level security may hide it",
			eventstore.ErrUnavailable, known.Position)
	}
	store.erased = answer.erased
	store.signal.Reset(answer.Head)
	if known.UUID == [16]byte{} { // the store is being opened
		return nil
	}
	store.options.Log.Error("the event store holds another history than before: what was known of it is dropped",
		"known", known.String(), "present", answer.String())
	store.distrust() // what is open leads to where the other history is, perhaps
	return nil
}

// refused is the SQLSTATE of what a role may not do, readOnly of a write on a server that
// takes none.
const refused, readOnly = "42501", "25006"

// sqlState returns the SQLSTATE of an error, "" when no server sent it.
func sqlState(err error) string {
	if pgError, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgError.Code
	}
	return ""
}

// translate turns errors of the driver into those of the port, by SQLSTATE or type. One
// of the port stays as it is.
func translate(ctx context.Context, err error) error {
	switch code := sqlState(err); {
	case err == nil || errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, eventstore.ErrDamaged) || errors.Is(err, eventstore.ErrClosed):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case code == "26000" || code == "42P05" || code == "08P01":
		return fmt.Errorf("%w: a pooler by transactions (PgBouncer) stands before the server and keeps no prepared statements: "+
			"add default_query_exec_mode=exec to the URL: %w", eventstore.ErrUnavailable, err)
	case code == "XX001" || code == "XX002": // data or index corrupted
		return fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
	case code == "" || passing.MatchString(code):
		return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
	}
	return err
}

// translateOn is translate for one connection, and leaves errors that are not of the
// server, like one of settings, as they are while that connection is open.
func translateOn(ctx context.Context, conn *pgx.Conn, err error) error {
	if sqlState(err) == "" && !conn.IsClosed() {
		return err
	}
	return translate(ctx, err)
}

// passing are the SQLSTATEs of the server's state rather than of what was asked: it is no
// primary any more, it has no schema, table or function while a backup is being put back, a
// transaction was idle or a lock was waited for too long, transactions are in each other's
// way; and the classes of connections (08), of resources like disk, memory and number of
// connections (53), of what was cancelled, of shutdown, crash and start (57), and of the
// system (58).
var passing = regexp.MustCompile("^(?:" + readOnly + "|3F000|42P01|42883|25P03|55P03|40001|40P01|08|53|57|58)")
