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
	_ "modernc.org/sqlite" // the driver "sqlite"

	"daybook/calendar"
	eventstore "daybook/eventstore/port"
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
	// Existing makes Open return eventstore.ErrNoStore where there is none.
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
	reader  *statements

	background sync.WaitGroup
	stop       context.CancelFunc
	close      sync.Once
}

var errInUse = errors.New("in use by another process")

// Open opens the store in a file, or in FileName when path is a directory, and makes it
// when there is none. It starts the committer, which Close ends.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	o.CacheBytes, o.PurgeEvery = cmp.Or(o.CacheBytes, defaultCacheBytes), cmp.Or(o.PurgeEvery, purgeEvery)
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{o: o}
	if err := s.open(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open event store %s: %w", path, translate(err)), s.closeFiles())
	}
	s.committer = eventstore.NewCommitter(ctx, eventstore.CommitterOptions{
		Commit: s.commit, Items: commitAppends, Bytes: commitBytes, Observe: o.Observe, Now: time.Now,
	})
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.background.Go(func() { s.purgeReceipts(ctx) })
	s.background.Go(func() { s.watchFiles(ctx) })
	return s, nil
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
	// The file holds secrets; what SQLite puts next to it takes on its mode.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, writePragmas))
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
		return err
	}
	if err := s.noteFiles(path); err != nil {
		return err
	}
	readers := sql.OpenDB(&connector{driver: db.Driver(), dsn: dsn(path, readPragmas), lost: s.Lost})
	readers.SetMaxOpenConns(max(4, 2*runtime.GOMAXPROCS(0)))
	readers.SetMaxIdleConns(max(4, 2*runtime.GOMAXPROCS(0)))
	s.reader = &statements{db: readers, on: readers, usable: s.usable}
	return s.begin(ctx)
}

// begin reads where the log ends.
func (s *Store) begin(ctx context.Context) error {
	end, err := one(ctx, s.reader, endQuery, scanEnd)
	if err != nil {
		return err
	}
	h := eventstore.Head{Mark: end.Mark}
	if h.Signed, err = one(ctx, s.reader, "SELECT coalesce(max(size), 0) FROM checkpoints", value[calendar.Position]); err != nil {
		return err
	}
	id, err := one(ctx, s.reader, "SELECT uuid FROM identity", value[[]byte])
	if err == nil {
		h.UUID, err = eventstore.UUIDOf(id)
	}
	s.lastID.Store(int64(end.lastID))
	s.signal = eventstore.NewSignal(h)
	return err
}

// weigh returns about how many bytes a cached record takes.
func weigh(_ calendar.ID, h *eventstore.Held) uint32 {
	n := 400 + len(h.Record) + len(h.Secret)
	for _, c := range h.Claims {
		n += 32 + len(c.Space) + len(c.Key)
	}
	for _, c := range h.Names {
		n += 32 + len(c.Space) + len(c.Key)
	}
	return uint32(n)
}

// applicationID marks the files of this store in their header ("dayb").
const applicationID = 0x64617962

//go:embed schema.sql
var schema string

// create makes the tables in an empty file. It refuses files of other programs and of
// other versions and, where a store has to be there, an empty one.
func (s *Store) create(ctx context.Context) error {
	sum := sha256.Sum256([]byte(schema))
	form := int32(binary.BigEndian.Uint32(sum[:])) // what user_version holds
	type header struct {
		app, form int32
		objects   int
	}
	found, err := one(ctx, s.writer, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id, pragma_user_version",
		func(r row) (h header, err error) {
			err = r.Scan(&h.app, &h.form, &h.objects)
			return h, err
		})
	switch {
	case err != nil:
		return err
	case found.app != applicationID && (found.app != 0 || found.objects > 0):
		return fmt.Errorf("file belongs to another program (application id %#x)", found.app)
	case found.objects == 0 && s.o.Existing:
		return eventstore.ErrNoStore
	case found.objects == 0:
		_, err = s.writer.exec(ctx, fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, form))
		return err
	case found.form != form:
		return fmt.Errorf("the file was written by another version of daybook (form %08x, this one needs %08x): use that version, or begin an empty store",
			uint32(found.form), uint32(form))
	}
	return nil
}

// connector opens connections to the files that the store works on. Others that lie in
// their place would be read by some connections and by others not.
type connector struct {
	driver driver.Driver
	dsn    string
	lost   func() string // Store.Lost
}

func (c *connector) Driver() driver.Driver { return c.driver }

// Connect returns ErrUnavailable as long as a file is missing or another one.
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.same(); err != nil { // else SQLite makes one that is missing
		return nil, err
	}
	conn, err := c.driver.Open(c.dsn)
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
	commonPragmas = []string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"trusted_schema(OFF)", "temp_store(MEMORY)", "mmap_size(0)",
	}
	writePragmas = append([]string{
		"cache_size(-8192)", "wal_autocheckpoint(2000)", "journal_size_limit(8388608)", "recursive_triggers(ON)", "secure_delete(ON)",
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
