// Package sqlite keeps the event store in one SQLite file: the embedded
// default. One process at a time has it open; one connection writes, all
// appends that arrive during a commit share the next one, and the present
// states that were used last are kept in memory.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/groupcommit"
	"daybook/internal/ground/migration"
)

// FileName is the name of the file when Open gets a directory.
const FileName = "daybook.db"

// Options of a Store; the zero value works.
type Options struct {
	// CacheBytes is the most that present states take in memory; 0: 8 MiB.
	CacheBytes int64
	// Now is the clock that the age of receipts goes by; nil: time.Now.
	Now func() time.Time
	// KeepReceipts is how long receipts are kept at least; 0: 24 h, less is
	// refused.
	KeepReceipts time.Duration
	// PurgeEvery is how often receipts that are too old are looked for; 0: a minute.
	PurgeEvery time.Duration
	// Existing makes Open give eventstore.ErrNoStore where there is none.
	Existing bool
	// Observe watches the commits; nil: nobody does.
	Observe eventstore.ObserveCommit
	// Permit is asked before and after each commit; its error refuses the commit, or to
	// acknowledge it, with ErrUnavailable. nil: all are permitted.
	Permit func() error
}

const (
	defaultCacheBytes = 8 << 20
	minKeepReceipts   = 24 * time.Hour
)

// Store is an event store in a SQLite file.
type Store struct {
	o       Options
	lock    *os.File
	files   []openFile // the file first, then its log
	secured bool       // nothing depends on the log; who has the turn uses it
	writeDB *sql.DB
	readDB  *sql.DB
	writer  *writer
	read    readStatements
	cache   *cache
	tail    tail
	filter  *bloomFilter
	signal  eventstore.Signal
	queue   *groupcommit.Queue[*item]
	later   sync.Map // eventstore.ReceiptKey → *item that nobody waits for and that is not written
	turn    turn
	erased  []calendar.ID // since the store was opened; who has the turn uses it
	lastID  atomic.Int64  // the greatest id that was given or used
	closing atomic.Bool
	drained chan struct{}

	stop   context.CancelFunc
	beside sync.WaitGroup // the filling of the filter, the purge and the watch of the files
	filled chan struct{}  // closed when the filling has ended
}

var (
	_ eventstore.Verifier = (*Store)(nil)
	_ eventstore.Recent   = (*Store)(nil)
)

var errInUse = errors.New("in use by another process")

// Open opens the store in a file, or in FileName when path is a directory, and
// makes it when there is none. It starts the committer, which Close ends.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.KeepReceipts == 0 {
		o.KeepReceipts = minKeepReceipts
	}
	if o.PurgeEvery == 0 {
		o.PurgeEvery = purgeEvery
	}
	if o.KeepReceipts < minKeepReceipts || o.CacheBytes < 0 || o.PurgeEvery < 0 {
		return nil, fmt.Errorf("open event store %s: receipts are kept for at least %s, the cache and the time between purges are not negative", path, minKeepReceipts)
	}
	s := &Store{o: o, cache: newCache(o.CacheBytes), filter: newBloomFilter(), queue: groupcommit.New[*item](groupAppends, groupBytes), drained: make(chan struct{})}
	s.turn.delay.Commits = delayCommits
	if err := s.open(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open event store %s: %w", path, translate(ctx, err)), s.closeFiles())
	}
	go s.commitAll(context.WithoutCancel(ctx))
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.filled = stop, make(chan struct{})
	s.beside.Go(func() {
		defer close(s.filled)
		_ = s.fill(background) // an unfilled filter lets everything through
	})
	s.beside.Go(func() { s.purgeAll(background) })
	s.beside.Go(func() { s.watchFiles(background) })
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if s.o.Existing {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return eventstore.ErrNoStore
		}
	}
	if s.lock, err = lockFile(path + lockSuffix); err != nil {
		return err
	}
	if err := checkLog(path); err != nil {
		return err
	}
	// The file holds secrets; what SQLite puts beside it takes on its mode.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	steps, err := migration.Read(schemaFiles)
	if err != nil {
		return err
	}
	if err := s.connect(ctx, path, steps); err != nil {
		return err
	}
	if err := s.writer.ready(ctx); err != nil {
		return err
	}
	if err := s.noteFiles(path); err != nil {
		return err
	}
	s.readDB = sql.OpenDB(&connector{driver: s.writeDB.Driver(), dsn: dsn(path, readPragmas), lost: s.Lost})
	readers := max(4, 2*runtime.GOMAXPROCS(0))
	s.readDB.SetMaxOpenConns(readers)
	s.readDB.SetMaxIdleConns(readers)
	if err := s.read.prepare(ctx, s.readDB); err != nil {
		return err
	}
	s.usedID(s.writer.lastStored)
	s.signal.Move(s.writer.head)
	return nil
}

// connect opens the writing connection and brings the file to the newest schema.
func (s *Store) connect(ctx context.Context, path string, steps []migration.Step) (err error) {
	if s.writeDB, err = sql.Open("sqlite", dsn(path, writePragmas)); err != nil {
		return err
	}
	s.writeDB.SetMaxOpenConns(1)
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = &writer{preparer: preparer{conn: conn}}
	return migrate(ctx, conn, steps, s.o.Existing)
}

// connector opens connections to the files that the store works on. Others that lie in
// their place would be read by some connections and by others not.
type connector struct {
	driver driver.Driver
	dsn    string
	lost   func() string // Store.Lost
}

func (c *connector) Driver() driver.Driver { return c.driver }

// Connect gives ErrUnavailable as long as a file is missing or another one.
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.same(); err != nil { // else SQLite makes one that is missing
		return nil, err
	}
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := c.same(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (c *connector) same() error {
	if path := c.lost(); path != "" {
		return fmt.Errorf("%w: %s was removed or replaced", eventstore.ErrUnavailable, path)
	}
	return nil
}

// disconnect closes the writing connection.
func (s *Store) disconnect() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.writeDB != nil { // last: its close folds the log into the file
		errs = append(errs, s.writeDB.Close())
	}
	s.writer, s.writeDB = nil, nil
	return errors.Join(errs...)
}

// The pragmas of a connection. Commits are durable by synchronous=FULL; the
// file is not mapped, so that it does not count as memory of the process. What is
// deleted is overwritten, so that what is erased is gone. The log is
// folded into the file after 8 MiB and is cut back to that. What readers keep of the
// file goes with each commit of others, so they keep little.
var (
	commonPragmas = []string{
		"busy_timeout(5000)",
		"journal_mode(WAL)",
		"synchronous(FULL)",
		"foreign_keys(ON)",
		"trusted_schema(OFF)",
		"temp_store(MEMORY)",
		"mmap_size(0)",
	}
	writePragmas = append([]string{
		"cache_size(-8192)",
		"wal_autocheckpoint(2000)",
		"journal_size_limit(8388608)",
		"recursive_triggers(ON)",
		"secure_delete(ON)",
	}, commonPragmas...)
	readPragmas = append([]string{"cache_size(-1024)", "query_only(ON)"}, commonPragmas...)
)

func dsn(path string, pragmas []string) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' { // a drive letter
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return u.String()
}

// Close takes no more appends, finishes those that wait, and closes the file.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		<-s.drained
		return nil
	}
	s.stop()
	s.beside.Wait()
	s.queue.Close()
	<-s.drained
	s.signal.Close()
	return s.closeFiles()
}

func (s *Store) closeFiles() error {
	var errs []error
	if s.readDB != nil {
		errs = append(errs, s.readDB.Close())
	}
	errs = append(errs, s.disconnect())
	if s.lock != nil {
		errs = append(errs, unlockFile(s.lock))
	}
	return errors.Join(errs...)
}

// Wait does eventstore.Store.
func (s *Store) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	return s.signal.Wait(ctx, after)
}

// Head does eventstore.Store.
func (s *Store) Head(ctx context.Context) (calendar.Position, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	return s.signal.Head(), nil
}

// NewIDs does eventstore.Store.
func (s *Store) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	if err := eventstore.CheckCount(n); err != nil {
		return 0, err
	}
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	return calendar.ID(s.lastID.Add(int64(n)) - int64(n) + 1), nil
}

// usedID notes that an id is in use, so that it is not given again.
func (s *Store) usedID(id calendar.ID) {
	for {
		last := s.lastID.Load()
		if int64(id) <= last || s.lastID.CompareAndSwap(last, int64(id)) {
			return
		}
	}
}

func (s *Store) usable(ctx context.Context) error {
	if s.closing.Load() {
		return eventstore.ErrClosed
	}
	return ctx.Err()
}
