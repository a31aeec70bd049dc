// Package postgres keeps the event store in one schema of a PostgreSQL database
// (14 or later): the store of the distributed size. Any number of processes
// append at once; in each of them the appends that arrive during a commit share
// the next one, which is one statement.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/groupcommit"
	"daybook/internal/lease"
)

// Options of a Store; the zero value works.
type Options struct {
	// Log takes what goes wrong in the background; nil: nowhere.
	Log *slog.Logger
	// Schema is the schema of the database that the store has for itself: lower
	// case letters, digits and underscores, 48 at most; "": daybook.
	Schema string
	// PoolSize is the most connections for reading, 1 to 1000; 0: pool_max_conns
	// of the URL, or 16. Two more are for appending and for waiting.
	PoolSize int
	// Group is how many appends share a commit at most, 1 to 1024; 0: 256.
	Group int
	// Timeout is how long an Append may take, the wait for others included, before
	// it gets ErrUnavailable; 0: 10 s. A commit that has no answer after half of it
	// is looked for on another connection.
	Timeout time.Duration
	// ReadTimeout is how long any other call may take before it gets ErrUnavailable;
	// 0: 5 s. Wait has none, and neither have Restore and Inspect.
	ReadTimeout time.Duration
	// KeepReceipts is how long receipts are kept at least; 0: 24 h, less is
	// refused.
	KeepReceipts time.Duration
	// PurgeEvery is how often receipts that are too old, by the clock of the database,
	// are looked for; 0: a minute.
	PurgeEvery time.Duration
	// Now is the clock that says what a commit takes and how long a connection was
	// silent. nil: time.Now.
	Now func() time.Time

	// ListenURL is where the store listens for appends of other processes, when
	// that is not the URL it is opened with: a pooler by transactions passes no
	// notifications on, so this names the server itself.
	ListenURL string
	// PollOnly keeps the store from listening. Appends of other processes are
	// then seen by polling alone, within a second.
	PollOnly bool

	// ServiceRole is a role that migrations give the rights of the service to:
	// to read, and to write through the functions of the schema. "": none.
	ServiceRole string

	// Existing makes Open give eventstore.ErrNoStore where there is none, in place of
	// making the schema.
	Existing bool

	// Observe watches the commits; nil: nobody does. The head that it is told is
	// that of this commit's own entries, 0 when it wrote none.
	Observe eventstore.ObserveCommit
}

const (
	defaultSchema   = "daybook"
	defaultPool     = 16
	defaultGroup    = 256
	defaultTimeout  = 10 * time.Second
	defaultRead     = 5 * time.Second
	minKeepReceipts = 24 * time.Hour
	minVersion      = 140000 // of the server, as server_version_num
)

var (
	schemaForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)
	roleForm   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)
)

func (o *Options) complete() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Group == 0 {
		o.Group = defaultGroup
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = defaultRead
	}
	if o.PurgeEvery == 0 {
		o.PurgeEvery = purgeEvery
	}
	if o.KeepReceipts == 0 {
		o.KeepReceipts = minKeepReceipts
	}
	switch {
	case !schemaForm.MatchString(o.Schema) || strings.HasPrefix(o.Schema, "pg_"):
		return fmt.Errorf("schema %q: must be lower case letters, digits and underscores, 48 at most", o.Schema)
	case o.ServiceRole != "" && !roleForm.MatchString(o.ServiceRole):
		return fmt.Errorf("service role %q: must be letters, digits, underscores and hyphens", o.ServiceRole)
	case o.PoolSize < 0 || o.PoolSize > 1000:
		return fmt.Errorf("pool size %d: must be 1 to 1000", o.PoolSize)
	case o.Group < 1 || o.Group > 1024:
		return fmt.Errorf("group of %d appends: must be 1 to 1024", o.Group)
	case o.Timeout < 0 || o.ReadTimeout < 0 || o.PurgeEvery < 0:
		return fmt.Errorf("times %s, %s and %s: must not be negative", o.Timeout, o.ReadTimeout, o.PurgeEvery)
	case o.KeepReceipts < minKeepReceipts:
		return fmt.Errorf("receipts kept for %s: must be %s at least", o.KeepReceipts, minKeepReceipts)
	}
	return nil
}

// Store is an event store in a PostgreSQL database.
type Store struct {
	o       Options
	read    *pgxpool.Pool
	write   *pgxpool.Pool // of one connection: readers never keep the committer waiting
	listen  *pgx.ConnConfig
	q       queries
	signal  eventstore.Signal
	kick    chan struct{} // wakes the poll
	queue   *groupcommit.Queue[*item]
	later   sync.Map // digest of a receipt → *item that nobody waits for and that is not written
	known   known
	closing atomic.Bool
	// writerPID is the process of the server that appends for this one, behind a
	// pooler not the real one; its notifications tell nothing new.
	writerPID atomic.Int64
	drained   chan struct{} // closed when the committer has ended
	stop      context.CancelFunc
	waiters   sync.WaitGroup // the poll, the listener and the purge
}

var (
	_ eventstore.Verifier = (*Store)(nil)
	_ lease.Store         = (*Store)(nil)
)

// Open opens the store in the database that a URL (or a keyword/value string of
// libpq) names, and brings its schema to the newest form, for which the role has
// to own it; see Migrate. What pgx and pgxpool read from the URL holds, like
// pool_max_conns and default_query_exec_mode. Open starts the committer and the
// wait for other processes, which Close ends.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	s := &Store{o: o, drained: make(chan struct{}), kick: make(chan struct{}, 1)}
	if err := s.open(ctx, url); err != nil {
		s.closePools()
		return nil, fmt.Errorf("open event store in PostgreSQL: %w", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.queue = groupcommit.New[*item](s.o.Group, groupBytes)
	go s.commitAll(context.WithoutCancel(ctx))
	s.waiters.Go(func() { s.poll(background) })
	s.waiters.Go(func() { s.purgeAll(background) })
	if s.listen != nil {
		s.waiters.Go(func() { s.listenAll(background) })
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, url string) error {
	if err := s.o.complete(); err != nil {
		return err
	}
	s.q = newQueries(s.o.Schema)
	config, err := parse(url)
	if err != nil {
		return err
	}
	switch {
	case s.o.PoolSize > 0:
		config.MaxConns = int32(s.o.PoolSize)
	case !strings.Contains(url, "pool_max_conns"):
		config.MaxConns = defaultPool
	}
	if !s.o.PollOnly {
		s.listen = config.ConnConfig.Copy()
		if s.o.ListenURL != "" {
			direct, err := parse(s.o.ListenURL)
			if err != nil {
				return fmt.Errorf("listen URL: %w", err)
			}
			s.listen = direct.ConnConfig
		}
	}
	if err := migrateUp(ctx, config.ConnConfig, s.o); err != nil {
		return err
	}
	write := config.Copy()
	write.MaxConns, write.MinConns, write.MinIdleConns = 1, 0, 0
	if s.read, err = s.pool(ctx, config); err != nil {
		return err
	}
	if s.write, err = s.pool(ctx, write); err != nil {
		return err
	}
	_, err = s.Head(ctx)
	return err
}

// Close takes no more appends, finishes those that wait, and closes the
// connections.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		<-s.drained
		return nil
	}
	s.queue.Close()
	<-s.drained
	s.signal.Close()
	s.stop()
	s.waiters.Wait()
	s.closePools()
	return nil
}

func (s *Store) closePools() {
	if s.read != nil {
		s.read.Close()
	}
	if s.write != nil {
		s.write.Close()
	}
}

func (s *Store) usable(ctx context.Context) error {
	if s.closing.Load() {
		return eventstore.ErrClosed
	}
	return ctx.Err()
}

// Head does eventstore.Store.
func (s *Store) Head(ctx context.Context) (calendar.Position, error) {
	if err := s.request(ctx, nil); err != nil {
		return 0, wrap(err, "read head")
	}
	return s.signal.Head(), nil
}

// NewIDs does eventstore.Store.
func (s *Store) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if err := eventstore.CheckCount(n); err != nil {
		return 0, err
	}
	var first calendar.ID
	err := s.use(ctx, s.o.ReadTimeout, func(ctx context.Context, c *pgx.Conn) error {
		v := s.view()
		err := c.QueryRow(ctx, s.q.newIDs, int64(n)).Scan(&first)
		if err == nil {
			s.gave(v, int64(first)+int64(n)-1)
		}
		return err
	})
	return first, wrap(err, "new ids")
}

// Wait does eventstore.Store.
func (s *Store) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	return s.signal.Wait(ctx, after)
}

func wrap(err error, format string, args ...any) error {
	if err == nil || errors.Is(err, eventstore.ErrClosed) {
		return err
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
