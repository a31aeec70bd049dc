package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
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
	embeddedMemory = 64 << 20 // the stream and its consumers
	embeddedStore  = 1 << 40  // nothing is kept there
	readyWait      = 10 * time.Second
)

// EmbeddedOptions are the settings of an embedded server.
type EmbeddedOptions struct {
	Dir string       // folder that JetStream asks for; required
	Log *slog.Logger // nil: no log
}

// Embedded is a NATS server with JetStream inside the process. It has no
// listener: only its own connection reaches it.
type Embedded struct {
	server *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream
}

// StartEmbedded starts a server.
func StartEmbedded(o EmbeddedOptions) (*Embedded, error) {
	if o.Dir == "" {
		return nil, errors.New("embedded feed: folder is missing")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("embedded feed: %w", err)
	}
	s, err := startServer(o)
	if err != nil {
		return nil, err
	}
	e, err := connectInside(s)
	if err != nil {
		stopServer(s)
		return nil, err
	}
	return e, nil
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
	_ = e.conn.FlushTimeout(readyWait) // the server knows of all that was asked for
	e.conn.Close()
	stopServer(e.server)
	return nil
}

var _ io.Closer = (*Embedded)(nil)

// stopServer ends a server once it has done what it was asked for: a stream that is made
// while the server ends stays open, with its files and goroutines.
func stopServer(s *server.Server) {
	for end := time.After(readyWait); ; {
		if info, err := s.Jsz(nil); err != nil || info.API.Inflight == 0 {
			break
		}
		select {
		case <-time.After(time.Millisecond):
			continue
		case <-end:
		}
		break
	}
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
