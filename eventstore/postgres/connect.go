package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"daybook/eventstore"
)

const (
	// dialLimit is how long a connection may take to be made, unless the URL says.
	dialLimit = 3 * time.Second
	// A connection that nobody used for silence is tried within tryLimit before it is
	// trusted: its other end may be gone without a word.
	silence, tryLimit = time.Second, time.Second
	// unanswered is how long sent bytes may stay without a sign from the other host.
	unanswered = 10 * time.Second
)

// parse reads a URL and completes it with what the store needs.
func parse(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err // it hides the password
	}
	c := config.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = dialLimit
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "daybook"
	}
	maps.Copy(c.RuntimeParams, sessionSettings)
	dialer := &net.Dialer{
		Timeout:         c.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control:         limitUnanswered,
	}
	c.DialFunc = dialer.DialContext
	c.OnNotice = func(p *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			p.CustomData()[warned] = n.Message
		}
	}
	// Of several hosts the one that takes writes is meant: a standby lags behind.
	said := strings.Contains(url, "target_session_attrs") || os.Getenv("PGTARGETSESSIONATTRS") != ""
	if !said && severalHosts(c) {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return config, nil
}

func severalHosts(c *pgx.ConnConfig) bool {
	for _, f := range c.Fallbacks {
		if f.Host != c.Host || f.Port != c.Port {
			return true
		}
	}
	return false
}

// pool makes a pool whose connections are checked before they are used.
func (s *Store) pool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		s.dialled()
		s.touch(c)
		ctx, cancel := context.WithTimeout(ctx, s.o.ReadTimeout)
		defer cancel()
		if err := checkSession(ctx, c, s.o.Schema); err != nil {
			return err
		}
		return s.check(ctx, c)
	}
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // see acquire
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, translate(ctx, err, true)
	}
	return pool, nil
}

// warned is where a connection keeps the last warning of the server.
const warned = "daybook.warned"

// errUnheard says that the server did not wait until a commit was durable.
var errUnheard = fmt.Errorf("%w: the wait for a standby was cut off", eventstore.ErrUnavailable)

// heard runs what commits something. A warning tells that the wait for a standby was
// cut off there: the server answers as if the commit were whole. Nothing else that
// commits do here makes warnings.
func heard(c *pgx.Conn, commit func() error) error {
	told := c.PgConn().CustomData()
	delete(told, warned)
	if err := commit(); err != nil {
		return err
	}
	if w, ok := told[warned]; ok {
		return fmt.Errorf("%w: %s", errUnheard, w)
	}
	return nil
}

// lastUsed is where a connection keeps when it was used.
const lastUsed = "daybook.used"

func (s *Store) touch(c *pgx.Conn) { c.PgConn().CustomData()[lastUsed] = s.o.Now() }

// acquire takes a connection of a pool. One that was silent for a while is tried
// first; when it says nothing, the others of its age are not trusted either.
func (s *Store) acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	for {
		c, err := pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		used, _ := c.Conn().PgConn().CustomData()[lastUsed].(time.Time)
		if s.o.Now().Sub(used).Abs() < silence {
			return c, nil
		}
		try, cancel := context.WithTimeout(ctx, tryLimit)
		err = s.check(try, c.Conn())
		if err == nil {
			cancel()
			return c, nil
		}
		answered := !c.Conn().IsClosed()
		_ = c.Conn().Close(try) // another one may lead to a better server
		cancel()
		s.giveBack(c)
		if answered {
			return nil, err
		}
		s.distrust()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// giveBack gives a connection back. One that was lost leaves the pool at once:
// closing it may take long, and others wait for its place.
func (s *Store) giveBack(c *pgxpool.Conn) {
	if c.Conn().IsClosed() {
		c.Hijack()
		return
	}
	s.touch(c.Conn())
	c.Release()
}

// distrust makes new connections take the place of all that are open.
func (s *Store) distrust() {
	for _, pool := range []*pgxpool.Pool{s.read, s.write} {
		if pool != nil {
			pool.Reset()
		}
	}
}

// bound is ctx with a time limit; 0 is none.
func bound(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// use runs a function on a connection of the pool for reading, within a time (0:
// that of ctx alone), and turns its error into one of the port.
func (s *Store) use(ctx context.Context, limit time.Duration, do func(context.Context, *pgx.Conn) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	within, cancel := bound(ctx, limit)
	defer cancel()
	c, err := s.acquire(within, s.read)
	lost := true
	if err == nil {
		err = func() error {
			defer s.giveBack(c)
			err := do(within, c.Conn())
			lost = c.Conn().IsClosed()
			return err
		}()
		s.doubt(err, within)
	}
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: no answer within %s", eventstore.ErrUnavailable, limit)
	}
	return s.fault(ctx, err, lost)
}

// doubt looks whether an error on a connection tells against the others: there was
// no answer in time, or the server is no primary any more.
func (s *Store) doubt(err error, within context.Context) { //nolint:revive // the context is looked at, not passed on
	if err == nil {
		return
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if errors.Is(within.Err(), context.DeadlineExceeded) || ok && e.Code == readOnly {
		s.distrust()
	}
}

func (s *Store) fault(ctx context.Context, err error, lost bool) error {
	if err != nil && s.closing.Load() {
		return eventstore.ErrClosed
	}
	err = translate(ctx, err, lost)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == refusedCode { // rights that the store had when it was opened
		return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
	}
	return err
}

// request sends statements, with the one that asks how the log stands to what is known,
// so that nothing of another history is given before the epoch tells it.
func (s *Store) request(ctx context.Context, queue func(*pgx.Batch)) error {
	return s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, c *pgx.Conn) error {
		v := s.view()
		var t told
		b := &pgx.Batch{}
		if queue != nil {
			queue(b)
		}
		s.queueCheck(b, v, &t)
		if err := c.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return s.see(v, &t)
	})
}
