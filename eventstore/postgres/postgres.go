// Package postgres keeps the event store in one schema of a PostgreSQL database (14 or
// later): the store of the distributed size. Any number of processes append at the same
// time; in each of them the appends that arrive during a commit share the next one, which
// takes two round trips: one locks the log and reads what is decided on, the other writes.
package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"daybook/calendar"
	"daybook/eventstore"
)

// Options of a Store; the zero value works.
type Options struct {
	// Log takes what goes wrong in the background; nil: nowhere.
	Log *slog.Logger `kong:"-"`
	// Schema is the schema of the database that the store has for itself: lower
	// case letters, digits and underscores, 48 at most; "": daybook.
	Schema string `default:"daybook" placeholder:"NAME" pattern:"^[a-z_][a-z0-9_]{0,47}$" must:"be lower-case letters, digits and _, at most 48" help:"database schema that only the store uses"`
	// PoolSize is the most connections for reading, 1 to 1000; 0: pool_max_conns
	// of the URL, or 16. Two more are for appending and for listening.
	PoolSize int `name:"pool" default:"0" min:"0" max:"1000" placeholder:"N" help:"connections for reading per process, up to 1000; 0: pool_max_conns of the URL, else 16"`
	// Timeout is how long an Append may take, the wait for others included, before
	// it gets ErrUnavailable; 0: 10 s. A commit that has no answer after half of it
	// is looked for on another connection.
	Timeout time.Duration `name:"append-deadline" default:"10s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest append to the database, 100ms to 1m; half of it is reserved for finding out whether the first attempt was committed"`
	// ReadTimeout is how long any other call may take before it gets ErrUnavailable;
	// 0: 5 s.
	ReadTimeout time.Duration `name:"read-deadline" default:"5s" min:"100ms" max:"1m" placeholder:"DURATION" help:"longest call of the database, 100ms to 1m; appends have a deadline of their own"`
	// PurgeEvery is how often receipts that are too old, by the clock of the database,
	// are looked for; 0: a minute.
	PurgeEvery time.Duration `kong:"-"`

	// ListenURL is where the store listens for appends of other processes, when
	// that is not the URL it is opened with: a pooler by transactions passes no
	// notifications on, so this names the server itself.
	ListenURL string `name:"listen" placeholder:"URL" type:"urls" schemes:"postgres,postgresql" must:"be a postgres:// URL" secret:"" help:"postgres://… for notifications of changes, when --store is a pooler that does not forward them"`
	// PollOnly keeps the store from listening. Appends of other processes are
	// then seen by polling alone, within a second.
	PollOnly bool `kong:"-"`

	// ServiceRole is a role that Migrate grants the rights of the service to: to read,
	// to append, and to change nothing of the log. "": none.
	ServiceRole string `kong:"-"`

	// Existing makes Open return eventstore.ErrNoStore if none exists, in place of
	// making the schema.
	Existing bool `kong:"-"`

	// Observe observes the commits; may be nil.
	Observe eventstore.ObserveCommit `kong:"-"`
}

var (
	schemaForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)
	roleForm   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)
)

func (options *Options) complete() error {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	options.Schema = cmp.Or(options.Schema, "daybook")
	options.Timeout = cmp.Or(options.Timeout, 10*time.Second)
	options.ReadTimeout = cmp.Or(options.ReadTimeout, 5*time.Second)
	options.PurgeEvery = cmp.Or(options.PurgeEvery, time.Minute)
	switch {
	case !schemaForm.MatchString(options.Schema) || strings.HasPrefix(options.Schema, "pg_"):
		return fmt.Errorf("schema %q: must be lower case letters, digits and underscores, 48 at most", options.Schema)
	case options.ServiceRole != "" && !roleForm.MatchString(options.ServiceRole):
		return fmt.Errorf("service role %q: must be letters, digits, underscores and hyphens", options.ServiceRole)
	}
	return nil
}

// Store is an event store in a PostgreSQL database.
type Store struct {
	options   Options
	listenURL string // "": it only polls
	read      *pgxpool.Pool
	write     *pgxpool.Pool // of one connection: readers never keep the committer waiting
	committer *eventstore.Committer
	signal    *eventstore.Signal

	mutex  sync.Mutex        // of what moves the signal
	erased calendar.Position // of the newest erasure that the signal tells of

	poke    chan struct{} // wakes the poll
	closing atomic.Bool
	stop    context.CancelFunc
	waiters sync.WaitGroup // the poll, the listener and the purge
}

// Open opens the store in the database that a URL (or a keyword/value string of
// libpq) names, and makes its schema if none exists, for which the role has to own
// it; see Migrate. What pgx and pgxpool read from the URL holds, like pool_max_conns and
// default_query_exec_mode. Open starts the committer and the wait for other processes,
// which Close ends.
func Open(ctx context.Context, address string, options Options) (*Store, error) {
	store := &Store{options: options, poke: make(chan struct{}, 1), signal: eventstore.NewSignal(eventstore.Head{})}
	if err := store.open(ctx, address); err != nil {
		store.pools((*pgxpool.Pool).Close)
		return nil, fmt.Errorf("open event store in PostgreSQL: %w", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	store.stop = stop
	store.committer = eventstore.NewCommitter(ctx, store.commit, store.options.Observe)
	store.waiters.Go(func() { store.poll(background) })
	store.waiters.Go(func() { store.purgeReceipts(background) })
	if store.listenURL != "" {
		store.waiters.Go(func() { store.listen(background) })
	}
	return store, nil
}

func (store *Store) open(ctx context.Context, address string) error {
	config, conn, err := migrate(ctx, address, &store.options)
	if err != nil {
		return err
	}
	_ = conn.Close(ctx) // nothing was left undone
	switch {
	case store.options.PoolSize > 0:
		config.MaxConns = int32(store.options.PoolSize)
	case !strings.Contains(address, "pool_max_conns"):
		config.MaxConns = 16
	}
	if !store.options.PollOnly {
		store.listenURL = cmp.Or(store.options.ListenURL, address)
		if _, err := parse(store.listenURL); err != nil {
			return fmt.Errorf("listen URL: %w", err)
		}
	}
	if err := store.openPools(ctx, config, address); err != nil {
		return err
	}
	return store.request(ctx, nil)
}

// Close takes no more appends, finishes those that wait, and closes the connections.
func (store *Store) Close() error {
	store.committer.Close()
	if store.closing.Swap(true) {
		return nil
	}
	store.signal.Close()
	store.stop()
	store.waiters.Wait()
	store.pools((*pgxpool.Pool).Close)
	return nil
}

// pools does something with each pool that is open.
func (store *Store) pools(do func(*pgxpool.Pool)) {
	for _, pool := range []*pgxpool.Pool{store.read, store.write} {
		if pool != nil {
			do(pool)
		}
	}
}

// q returns a statement with the schema in the place of each @: a pooler by transactions
// keeps no search_path.
func (store *Store) q(text string) string {
	return strings.ReplaceAll(text, "@", store.options.Schema+".")
}
