package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// MaxPayload is the largest message of the feed, in bytes: what NATS advises at
// most. Servers may allow less. A larger entry travels without its fields and state, which
// the source reads from the event store.
const MaxPayload = 8 << 20

const (
	embeddedMemory = 64 << 20 // JetStream keeps consumers in it, the stream is on disk
	embeddedStore  = 1 << 40  // the stream's own bound counts
	readyWait      = 10 * time.Second
)

// The names below the folder of an embedded server.
const (
	storeFolder    = server.JetStreamStoreDir // "jetstream"
	damagedFolder  = "jetstream.damaged"
	startingMarker = "jetstream.starting"
)

// EmbeddedOptions are the settings of an embedded server.
type EmbeddedOptions struct {
	Dir string       // folder for the JetStream store; required
	Log *slog.Logger // nil: no log
}

// Embedded is a NATS server with JetStream inside the process. It has no
// listener: only its own connection reaches it.
type Embedded struct {
	server *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream
}

// StartEmbedded starts a server on a folder. A JetStream store that is missing
// or cannot be opened never stops the start: it is moved aside to
// "jetstream.damaged" and made new, because the event store is the truth. A start
// that ctx ends leaves it alone.
func StartEmbedded(ctx context.Context, o EmbeddedOptions) (*Embedded, error) {
	if o.Dir == "" {
		return nil, errors.New("embedded feed: folder is missing")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	marker := filepath.Join(o.Dir, startingMarker)
	// The marker of an earlier start is still there: that start never came to
	// its end, so the store may be what kills it.
	if _, err := os.Stat(marker); err == nil {
		if err := setAside(o.Dir, o.Log, errors.New("an earlier start did not end")); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	e, err := start(ctx, o)
	if err != nil && ctx.Err() != nil {
		return nil, errors.Join(err, os.Remove(marker)) // the store is not at fault
	}
	if err != nil {
		if aside := setAside(o.Dir, o.Log, err); aside != nil {
			return nil, errors.Join(err, aside)
		}
		if e, err = start(ctx, o); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(marker); err != nil {
		_ = e.Close() // the first error counts
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	return e, nil
}

// start starts server and client and checks that all that is in the store was
// taken over.
func start(ctx context.Context, o EmbeddedOptions) (*Embedded, error) {
	s, err := startServer(o)
	if err != nil {
		return nil, err
	}
	e, err := connectInside(s)
	if err != nil {
		stopServer(s)
		return nil, err
	}
	if err := e.checkStreams(ctx, filepath.Join(o.Dir, storeFolder, server.DEFAULT_GLOBAL_ACCOUNT, "streams")); err != nil {
		_ = e.Close() // the first error counts
		return nil, err
	}
	return e, nil
}

// checkStreams compares the folders of streams with the streams that the server
// knows. One that it could not open is passed over by the server, and its
// folder would be in the way for ever.
func (e *Embedded) checkStreams(ctx context.Context, dir string) error {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("embedded feed: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	for _, f := range folders {
		if _, err := e.js.Stream(ctx, f.Name()); err != nil {
			return fmt.Errorf("embedded feed: stream folder %q: %w", f.Name(), err)
		}
	}
	return nil
}

func startServer(o EmbeddedOptions) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "daybook",
		DontListen: true,
		NoSigs:     true, // else the server ends the process on SIGINT
		MaxPayload: MaxPayload,
	})
	if err != nil {
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	s.SetLogger(serverLog{o.Log}, false, false)
	s.Start()
	if !s.ReadyForConnections(readyWait) {
		stopServer(s)
		return nil, fmt.Errorf("embedded feed: server is not ready after %s", readyWait)
	}
	// JetStream is enabled by hand, because as an option of the server its
	// failure would be fatal.
	err = s.EnableJetStream(&server.JetStreamConfig{
		StoreDir:   o.Dir,
		MaxMemory:  embeddedMemory,
		MaxStore:   embeddedStore,
		CompressOK: true,
	})
	if err != nil {
		stopServer(s)
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	return s, nil
}

// setAside makes room for a new JetStream store. One damaged store is kept.
func setAside(dir string, log *slog.Logger, reason error) error {
	from, to := filepath.Join(dir, storeFolder), filepath.Join(dir, damagedFolder)
	log.Warn("JetStream store set aside", "folder", to, "error", reason)
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("embedded feed: %w", err)
	}
	if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("embedded feed: %w", err)
	}
	return nil
}

func connectInside(s *server.Server) (*Embedded, error) {
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Name("daybook"), nats.MaxReconnects(-1))
	if err != nil {
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	return &Embedded{server: s, conn: conn, js: js}, nil
}

// Conn gives the connection to the server.
func (e *Embedded) Conn() *nats.Conn { return e.conn }

// JetStream gives the client of the server.
func (e *Embedded) JetStream() jetstream.JetStream { return e.js }

// Close ends the connection, then the server, and waits for its files to be
// closed. Relay and source are to be ended before.
func (e *Embedded) Close() error {
	e.conn.Close()
	stopServer(e.server)
	return nil
}

var _ io.Closer = (*Embedded)(nil)

func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// serverLog passes the log lines of the server on. None of them ends the
// process.
type serverLog struct{ log *slog.Logger }

var _ server.Logger = serverLog{}

func (l serverLog) say(level slog.Level, format string, v []any) {
	ctx := context.Background()
	if l.log.Enabled(ctx, level) {
		l.log.Log(ctx, level, "NATS server", "text", fmt.Sprintf(format, v...))
	}
}

func (l serverLog) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (l serverLog) Warnf(format string, v ...any)   { l.say(slog.LevelWarn, format, v) }
func (l serverLog) Fatalf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l serverLog) Errorf(format string, v ...any)  { l.say(slog.LevelError, format, v) }
func (l serverLog) Debugf(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }
func (l serverLog) Tracef(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }
