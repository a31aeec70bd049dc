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
	// CacheBytes bounds the memory of records that are cached; 0: 2 MiB.
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

const defaultCacheBytes = 2 << 20

// Store is an event store in a SQLite file.
type Store struct {
	options   Options
	committer *eventstore.Committer
	signal    *eventstore.Signal
	cache     *otter.Cache[calendar.ID, *eventstore.Held]
	commits   atomic.Uint64                    // that may have changed what is cached
	newest    atomic.Pointer[eventstore.Group] // of the last commit, while its entries are a page
	lastID    atomic.Int64                     // the greatest id that was returned or used
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
	store := &Store{options: options}
	if err := store.open(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open event store %s: %w", path, translate(err)), store.closeFiles())
	}
	store.committer = eventstore.NewCommitter(ctx, store.commit, options.Observe)
	ctx, store.stop = context.WithCancel(context.WithoutCancel(ctx))
	store.background.Go(func() { store.purgeReceipts(ctx) })
	store.background.Go(func() { store.watchFiles(ctx) })
	return store, nil
}

func (store *Store) open(ctx context.Context, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if store.cache, err = otter.New(&otter.Options[calendar.ID, *eventstore.Held]{
		MaximumWeight: uint64(store.options.CacheBytes), Weigher: weigh,
	}); err != nil {
		return err
	}
	if _, err := os.Stat(path); store.options.Existing && errors.Is(err, os.ErrNotExist) {
		return eventstore.ErrNoStore
	}
	if store.lock, err = lockFile(path + lockSuffix); err != nil {
		return err
	}
	if err := checkLog(path); err != nil {
		return err
	}
	options := url.Values{"_pragma": readPragmas}
	if err := store.openWriter(ctx, path); Unwritable(err) {
		store.readOnly = fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
		options = unwritten(path)
	} else if err != nil {
		return err
	}
	if err := store.noteFiles(path); err != nil {
		return err
	}
	database, readers := sql.OpenDB(&connector{dsn: dsn(path, options), lost: store.Lost}), max(4, 2*runtime.GOMAXPROCS(0))
	database.SetMaxOpenConns(readers)
	database.SetMaxIdleConns(readers)
	store.reader = &statements{database: database, on: database, usable: store.usable}
	if err := openAll(ctx, database, readers); err != nil {
		return err
	}
	if empty, err := checkForm(ctx, store.reader); err != nil || empty {
		return cmp.Or(err, eventstore.ErrNoStore)
	}
	return store.begin(ctx)
}

// openAll opens connections, which stay open: one that is opened after the log was removed
// would read without it.
func openAll(ctx context.Context, database *sql.DB, count int) (err error) {
	for range count {
		conn, failed := database.Conn(ctx)
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
func (store *Store) openWriter(ctx context.Context, path string) error {
	// The file holds secrets; what SQLite puts next to it takes on its mode.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	database, err := sql.Open("sqlite", dsn(path, url.Values{"_pragma": writePragmas}))
	if err != nil {
		return err
	}
	conn, err := database.Conn(ctx)
	if err != nil {
		return errors.Join(err, database.Close())
	}
	// The committer ends before the connection is closed.
	store.writer = &statements{database: database, on: conn, usable: func(context.Context) error { return nil }}
	if err := store.write(ctx, store.create); err != nil {
		err = errors.Join(err, store.writer.close())
		store.writer = nil
		return err
	}
	return nil
}

// begin reads where the log ends.
func (store *Store) begin(ctx context.Context) error {
	end, err := one(ctx, store.reader, endQuery, scanEnd)
	if err != nil {
		return err
	}
	head := eventstore.Head{Mark: end.Mark}
	id, err := one(ctx, store.reader, "SELECT uuid FROM identity", value[[]byte])
	copy(head.UUID[:], id)
	store.lastID.Store(int64(end.lastID))
	store.signal = eventstore.NewSignal(head)
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
	digest := sha256.Sum256([]byte(schema))
	return int32(binary.BigEndian.Uint32(digest[:]))
}()

// create makes the tables in an empty file, unless a store has to be there.
func (store *Store) create(ctx context.Context) error {
	empty, err := checkForm(ctx, store.writer)
	switch {
	case err != nil || !empty:
		return err
	case store.options.Existing:
		return eventstore.ErrNoStore
	}
	return store.writer.exec(ctx, fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, form))
}

// checkForm refuses files of other programs and of other versions.
func checkForm(ctx context.Context, statements *statements) (empty bool, err error) {
	var app, found int32
	empty, err = one(ctx, statements, "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema), application_id, user_version FROM pragma_application_id, pragma_user_version",
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

func (connector *connector) Driver() driver.Driver { return &connector.engine }

// Connect returns ErrUnavailable as long as a file is missing or another one.
func (connector *connector) Connect(context.Context) (driver.Conn, error) {
	if err := connector.same(); err != nil { // else the engine makes one that is missing
		return nil, err
	}
	conn, err := connector.engine.Open(connector.dsn)
	if err == nil {
		if err = connector.same(); err != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	return conn, err
}

func (connector *connector) same() error {
	if path := connector.lost(); path != "" {
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
func (store *Store) Close() (err error) {
	store.close.Do(func() {
		store.closing.Store(true)
		store.stop()
		store.background.Wait()
		store.committer.Close()
		store.signal.Close()
		err = store.closeFiles()
	})
	return err
}

func (store *Store) closeFiles() error {
	store.writing.Lock()
	defer store.writing.Unlock()
	var errs []error
	for _, c := range []*statements{store.reader, store.writer} { // the last one moves the log into the file
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	if store.lock != nil {
		errs = append(errs, unlockFile(store.lock))
	}
	return errors.Join(errs...)
}

// usedID learns that an id is in use, so that it is not returned again.
func (store *Store) usedID(id calendar.ID) {
	for {
		last := store.lastID.Load()
		if int64(id) <= last || store.lastID.CompareAndSwap(last, int64(id)) {
			return
		}
	}
}

func (store *Store) usable(ctx context.Context) error {
	if store.closing.Load() {
		return eventstore.ErrClosed
	}
	return ctx.Err()
}
