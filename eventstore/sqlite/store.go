// Package sqlite stores the event store in one SQLite file: the embedded default. One
// process at a time has it open. One connection writes, and appends that arrive during a
// commit share the next one.
package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"modernc.org/sqlite" // the driver "sqlite"

	"daybook/calendar"
	"daybook/eventstore"
)

// FileName is the name of the file when Open is given a directory.
const FileName = "daybook.db"

// Options of a Store; the zero value works.
type Options struct {
	// CacheBytes bounds the memory of records that are cached; 0: 8 MiB.
	CacheBytes int
	// Now is the clock that the age of receipts goes by; nil: time.Now.
	Now func() time.Time
	// PurgeEvery is how often receipts that are too old are looked for; 0: a minute.
	PurgeEvery time.Duration
	// Existing makes Open return eventstore.ErrNoStore if none exists.
	Existing bool
	// Observe is called at each commit; nil: it is not.
	Observe eventstore.ObserveCommit
	// Permit is called before and after each commit; its error refuses the commit, or to
	// acknowledge it, with ErrUnavailable. nil: all are permitted.
	Permit func() error
}

const defaultCacheBytes = 8 << 20

// Store is an event store in a SQLite file.
type Store struct {
	o         Options
	committer *eventstore.Committer
	signal    *eventstore.Signal
	cache     *otter.Cache[calendar.ID, *eventstore.Held]
	commits   atomic.Uint64 // that may have changed what is cached
	lastID    atomic.Int64  // the greatest id that was returned or used
	closing   atomic.Bool

	lock    *os.File
	files   []openFile // the file first, then its log
	writing sync.Mutex // for the writer and what follows
	writer  *statements
	secured bool // nothing depends on the log

	readOnly error // why nothing is written, nil where it is
	reader   *statements

	background sync.WaitGroup
	stop       context.CancelFunc
	close      sync.Once
}

var errInUse = errors.New("in use by another process")

// Open opens the store in a file, or in FileName when path is a directory, and makes it
// if none exists. It starts the committer, which Close ends.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	options.CacheBytes, options.PurgeEvery = cmp.Or(options.CacheBytes, defaultCacheBytes), cmp.Or(options.PurgeEvery, purgeEvery)
	if options.Now == nil {
		options.Now = time.Now
	}
	store := &Store{o: options}
	if err := store.open(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open event store %s: %w", path, translate(err)), store.closeFiles())
	}
	store.committer = eventstore.NewCommitter(ctx, store.commit, options.Observe)
	ctx, store.stop = context.WithCancel(context.WithoutCancel(ctx))
	store.background.Go(func() { store.purgeReceipts(ctx) })
	store.background.Go(func() { store.watchFiles(ctx) })
	return store, nil
}

func (s *Store) open(ctx context.Context, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if s.cache, err = otter.New(&otter.Options[calendar.ID, *eventstore.Held]{
		MaximumWeight: uint64(s.o.CacheBytes), Weigher: weigh,
	}); err != nil {
		return err
	}
	if _, err := os.Stat(path); s.o.Existing && errors.Is(err, os.ErrNotExist) {
		return eventstore.ErrNoStore
	}
	if s.lock, err = lockFile(path + lockSuffix); err != nil {
		return err
	}
	if err := checkLog(path); err != nil {
		return err
	}
	options := url.Values{"_pragma": readPragmas}
	if err := s.openWriter(ctx, path); Unwritable(err) {
		s.readOnly = fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
		options = unwritten(path)
	} else if err != nil {
		return err
	}
	if err := s.noteFiles(path); err != nil {
		return err
	}
	db, readers := sql.OpenDB(&connector{dsn: dsn(path, options), lost: s.Lost}), max(4, 2*runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	s.reader = &statements{db: db, on: db, usable: s.usable}
	if err := openAll(ctx, db, readers); err != nil {
		return err
	}
	if empty, err := checkForm(ctx, s.reader); err != nil || empty {
		return cmp.Or(err, eventstore.ErrNoStore)
	}
	return s.begin(ctx)
}

// openAll opens connections, which stay open: one that is opened after the log was removed
// would read without it.
func openAll(ctx context.Context, db *sql.DB, n int) (err error) {
	for range n {
		conn, failed := db.Conn(ctx)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, conn.Close()) }() // all of them are in use until then
		var tables int
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
	}
	return nil
}

// openWriter opens the connection that writes, and makes the file and its tables where
// there are none.
func (s *Store) openWriter(ctx context.Context, path string) error {
	// The file holds secrets; what SQLite puts next to it takes on its mode.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, url.Values{"_pragma": writePragmas}))
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	// The committer ends before the connection is closed.
	s.writer = &statements{db: db, on: conn, usable: func(context.Context) error { return nil }}
	if err := s.write(ctx, s.create); err != nil {
		err = errors.Join(err, s.writer.close())
		s.writer = nil
		return err
	}
	return nil
}

// begin reads where the log ends.
func (s *Store) begin(ctx context.Context) error {
	end, err := one(ctx, s.reader, endQuery, scanEnd)
	if err != nil {
		return err
	}
	head := eventstore.Head{Mark: end.Mark}
	if head.Signed, err = one(ctx, s.reader, "SELECT coalesce(max(size), 0) FROM checkpoints", value[calendar.Position]); err != nil {
		return err
	}
	id, err := one(ctx, s.reader, "SELECT uuid FROM identity", value[[]byte])
	copy(head.UUID[:], id)
	s.lastID.Store(int64(end.lastID))
	s.signal = eventstore.NewSignal(head)
	return err
}

// weigh returns about how many bytes a cached record takes.
func weigh(_ calendar.ID, held *eventstore.Held) uint32 {
	return uint32(400 + len(held.Record) + len(held.Secret) + 64*(len(held.Claims)+len(held.Names)))
}

// applicationID marks the files of this store in their header ("dayb").
const applicationID = 0x64617962

//go:embed schema.sql
var schema string

// form is the user_version of files that have the tables of schema.
var form = func() int32 {
	sum := sha256.Sum256([]byte(schema))
	return int32(binary.BigEndian.Uint32(sum[:]))
}()

// create makes the tables in an empty file, unless a store has to be there.
func (s *Store) create(ctx context.Context) error {
	empty, err := checkForm(ctx, s.writer)
	switch {
	case err != nil || !empty:
		return err
	case s.o.Existing:
		return eventstore.ErrNoStore
	}
	return s.writer.exec(ctx, fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, form))
}

// checkForm refuses files of other programs and of other versions.
func checkForm(ctx context.Context, on *statements) (empty bool, err error) {
	var app, found int32
	empty, err = one(ctx, on, "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema), application_id, user_version FROM pragma_application_id, pragma_user_version",
		func(r row) (empty bool, err error) {
			err = r.Scan(&empty, &app, &found)
			return empty, err
		})
	switch {
	case err != nil || empty && app == 0:
		return true, err
	case app != applicationID:
		return false, fmt.Errorf("file belongs to another program (application id %#x)", app)
	case !empty && found != form:
		return false, fmt.Errorf("the file was written by another version of daybook (form %08x, this one needs %08x): use that version, or begin an empty store",
			uint32(found), uint32(form))
	}
	return empty, nil
}

// connector opens connections to the files that the store works on. Others that lie in
// their place would be read by some connections and by others not.
type connector struct {
	engine sqlite.Driver
	dsn    string
	lost   func() string // Store.Lost
}

func (c *connector) Driver() driver.Driver { return &c.engine }

// Connect returns ErrUnavailable as long as a file is missing or another one.
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.same(); err != nil { // else the engine makes one that is missing
		return nil, err
	}
	conn, err := c.engine.Open(c.dsn)
	if err == nil {
		if err = c.same(); err != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	return conn, err
}

func (c *connector) same() error {
	if path := c.lost(); path != "" {
		return fmt.Errorf("%w: %s was removed or replaced", eventstore.ErrUnavailable, path)
	}
	return nil
}

// The pragmas of a connection. Commits are durable by synchronous=FULL; the file is not
// mapped, so that it does not count as memory of the process. What is deleted is
// overwritten, so that what is erased is gone. The log is moved into the file after 8 MiB
// and is cut back to that. What readers cache of the file goes with each commit of others,
// so they cache little.
var (
	commonPragmas = []string{"busy_timeout(5000)", "trusted_schema(OFF)", "temp_store(MEMORY)", "mmap_size(0)"}
	readPragmas   = append([]string{"cache_size(-1024)", "query_only(ON)"}, commonPragmas...)
	writePragmas  = append([]string{
		"journal_mode(WAL)", "synchronous(FULL)", "cache_size(-8192)", "wal_autocheckpoint(2000)", "journal_size_limit(8388608)",
		"recursive_triggers(ON)", "secure_delete(ON)",
	}, commonPragmas...)
)

// unwritten returns the options of connections that write nothing, not even next to the
// file. Where no log is left the file is all there is.
func unwritten(path string) url.Values {
	options := url.Values{"_pragma": readPragmas, "mode": {"ro"}, "readonly_shm": {"1"}}
	if info, err := os.Stat(linked(path) + logSuffix); err != nil || info.Size() == 0 {
		options.Set("immutable", "1")
	}
	return options
}

func dsn(path string, options url.Values) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' { // a drive letter
		path = "/" + path
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}
	return address.String()
}

// Close takes no more appends, finishes those that wait, and closes the file.
func (s *Store) Close() (err error) {
	s.close.Do(func() {
		s.closing.Store(true)
		s.stop()
		s.background.Wait()
		s.committer.Close()
		s.signal.Close()
		err = s.closeFiles()
	})
	return err
}

func (s *Store) closeFiles() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var errs []error
	for _, c := range []*statements{s.reader, s.writer} { // the last one moves the log into the file
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	if s.lock != nil {
		errs = append(errs, unlockFile(s.lock))
	}
	return errors.Join(errs...)
}

// usedID learns that an id is in use, so that it is not returned again.
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
