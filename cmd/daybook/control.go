package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"daybook/eventstore/sqlite"
	"daybook/internal/audit"
	"daybook/internal/ground/pause"
	"daybook/internal/telemetry"
)

// task is work on an open backend that a command asks for. It runs in the
// command's own process when the data directory is free, else in the server
// that holds it, so every task works while the service serves.
type task func(ctx context.Context, b *backend, c *console, s *settings, args []string) error

var tasks map[string]task

func init() {
	tasks = map[string]task{
		"user": userTask, "import": importTask, "rebuild": rebuildTask, "verify": verifyTask,
		"back": backTask, "export": exportTask, "history": historyTask, "changes": changesTask, "retry": retryTask, "health": healthTask,
		"erase": eraseTask, "audit": auditTask,
	}
}

// order is the first line on a control connection; what follows it is the
// task's standard input.
type order struct {
	Task     string            `json:"task"`
	Args     []string          `json:"args"`
	Settings map[string]string `json:"settings"`
	Terminal bool              `json:"terminal"`
}

// frame is one line of the answer. The first one is empty: the order was read.
type frame struct {
	Out   []byte `json:"out,omitempty"`
	Err   []byte `json:"err,omitempty"`
	Exit  *int   `json:"exit,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// ofModel are the tasks on the read model; the others need the store only.
var ofModel = map[string]bool{"rebuild": true, "back": true, "retry": true, "health": true, "erase": true}

// runTask runs a task. One on what lies in the data directory runs here when the
// directory is free, else in the running server that holds it; one on servers
// runs here, beside all processes.
func runTask(ctx context.Context, c *console, s *settings, name string, args []string) error {
	existing := !makesStore(name, args)
	held := s.store == "" || ofModel[name] && s.engine().local
	if held {
		if _, err := os.Stat(filepath.Join(s.data, controlFile)); err != nil && s.store == "" && existing { // nobody serves
			if err := wantStore(s); err != nil {
				return err
			}
		}
		lock, server, err := holdOrReach(ctx, s.data, s.store != "", holderWait, order{name, args, s.ordered(), c.terminal})
		switch {
		case err != nil:
			return err
		case server != nil:
			if err := server.conn.SetDeadline(time.Time{}); err != nil { // it may take long
				return err
			}
			return server.follow(ctx, c)
		}
		defer func() { _ = lock.Close() }()
	}
	log := slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := openBackend(ctx, c, s, log, telemetry.Hooks{}, existing)
	if err != nil {
		var v audit.Verified
		if name != "verify" || v.Damage(err) != nil {
			return err
		}
		return printVerified(c, s, &v, false) // so much is missing that the store does not open
	}
	if held {
		tidy(ctx, s.data, slog.New(slog.DiscardHandler))
	}
	err = tasks[name](ctx, b, c, s, args)
	return errors.Join(err, b.Close())
}

// makesStore tells whether a task may begin a store. The others refuse a place that
// has none: who checks or copies a store means one that is there.
func makesStore(name string, args []string) bool {
	return name == "import" || name == "user" && len(args) > 0 && args[0] == "add"
}

// wantStore refuses a directory without a store before anything is made in it.
func wantStore(s *settings) error {
	if _, err := os.Stat(filepath.Join(s.data, sqlite.FileName)); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if left := leftOfLog(s); left != "" {
		return lostLog(s.data, left)
	}
	return noStore(s.data)
}

func noStore(dir string) error {
	return fmt.Errorf("%s holds no event store; daybook serve makes one, --data names another", dir)
}

// Waits for who holds a data directory.
const (
	holderWait = 10 * time.Second // for its end, or for its control socket
	holderPoll = 50 * time.Millisecond
	firstWait  = 5 * time.Second // for the first frame, which comes before any work
)

// holdOrReach gives the lock of a data directory, or a link to the server that holds
// it and has taken the order. The server is asked first: somebody may have removed the
// lock. Another command holds it for a moment, and a server that starts has no socket yet,
// so both are waited for.
func holdOrReach(ctx context.Context, dir string, create bool, wait time.Duration, o order) (lock *os.File, server *link, err error) {
	err = whileLocked(ctx, wait, func(ctx context.Context) (err error) {
		if server, err = give(ctx, dir, o); errors.Is(err, errNoServer) {
			lock, err = lockData(dir, create, o.Task)
		}
		return err
	})
	return lock, server, err
}

// whileLocked tries again while another process holds a data directory.
func whileLocked(ctx context.Context, wait time.Duration, try func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		err := try(limited)
		if !errors.Is(err, errLocked) {
			return err
		}
		if pause.For(limited, holderPoll) != nil {
			return cmp.Or(ctx.Err(), fmt.Errorf("%w; try again when it has ended", err))
		}
	}
}

// link is the connection to a server that has taken an order.
type link struct {
	conn   net.Conn
	answer *json.Decoder
}

var errNoServer = errors.New("no server takes orders")

// give gives an order to the server that holds a data directory. The error is
// errNoServer when there is none yet or no more; none has taken the order then.
func give(ctx context.Context, dir string, o order) (*link, error) {
	path, err := os.ReadFile(filepath.Join(dir, controlFile))
	if err != nil {
		return nil, errNoServer
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimSpace(string(path)))
	if err != nil {
		return nil, errNoServer // the one that wrote it is gone
	}
	l := &link{conn, json.NewDecoder(conn)}
	// A process that is stopped takes connections, but answers nothing.
	if err = conn.SetDeadline(time.Now().Add(firstWait)); err == nil {
		if err = json.NewEncoder(conn).Encode(o); err == nil {
			err = l.answer.Decode(&frame{})
		}
	}
	if err == nil {
		return l, nil
	}
	_ = conn.Close()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("the process that serves from %s does not answer", dir)
	}
	return nil, errNoServer // it ends
}

// follow gives the task of a link its input and passes on what it answers.
func (l *link) follow(ctx context.Context, c *console) error {
	conn, dec := l.conn, l.answer
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	go func() {
		if c.in != nil {
			_, _ = io.Copy(conn, c.in)
		}
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	for {
		var f frame
		if err := dec.Decode(&f); err != nil {
			return fmt.Errorf("the running server broke off: %w", err)
		}
		switch {
		case f.Exit != nil && *f.Exit == exitOK:
			return nil
		case f.Exit != nil:
			return &exitError{*f.Exit, errors.New(f.Cause)}
		}
		to, text := c.out, f.Out
		if f.Err != nil {
			to, text = c.err, f.Err
		}
		if _, err := to.Write(text); err != nil {
			return err
		}
	}
}

const (
	lockFile    = "lock"
	controlFile = "control"
	socketName  = "control.sock"
	maxSocket   = 100 // bytes: the system's limit for a socket path is 108
	tmpPrefix   = "daybook-"
)

// control answers tasks for other processes of this machine on a socket that
// only the owner of the data directory can open.
type control struct {
	b   *backend
	s   *settings
	log *slog.Logger
	l   net.Listener
	tmp string
}

func newControl(ctx context.Context, b *backend, s *settings, log *slog.Logger) (*control, error) {
	dir, err := filepath.Abs(s.data)
	if err != nil {
		return nil, err
	}
	c := &control{b: b, s: s, log: log}
	path := filepath.Join(dir, socketName)
	if len(path) > maxSocket {
		if c.tmp, err = os.MkdirTemp("", tmpPrefix); err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
		path = filepath.Join(c.tmp, socketName)
	}
	old := syscall.Umask(0o177)
	c.l, err = (&net.ListenConfig{}).Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, controlFile), []byte(path+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), c.l.Close())
	}
	return c, nil
}

// removeSocket takes away the socket that a killed process left, wherever it is. It
// needs the directory's lock.
func removeSocket(dir string) {
	_ = os.Remove(filepath.Join(dir, socketName))
	b, err := os.ReadFile(filepath.Join(dir, controlFile))
	if err != nil {
		return
	}
	path := strings.TrimSpace(string(b))
	if tmp, name := filepath.Split(path); name == socketName && strings.HasPrefix(filepath.Base(tmp), tmpPrefix) {
		_ = os.Remove(path)
		_ = os.Remove(tmp) // only when it is empty
	}
	_ = os.Remove(filepath.Join(dir, controlFile))
}

// taskDrain is how long tasks may go on when the server ends, and tellWait how long
// a client may take to hear of it then.
const (
	taskDrain = 5 * time.Second
	tellWait  = 2 * time.Second
)

// run answers until ctx ends. Then it lets running tasks end, for at most taskDrain;
// after that it ends them and tells their clients.
func (c *control) run(ctx context.Context) error {
	tasks, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { _ = c.l.Close() })
	var wg sync.WaitGroup
	defer func() {
		stop()
		_ = c.l.Close()
		late := time.AfterFunc(taskDrain, end)
		wg.Wait()
		late.Stop()
		end()
		c.close()
	}()
	for {
		conn, err := c.l.Accept()
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		wg.Go(func() { c.answer(tasks, conn) })
	}
}

// close takes the socket away.
func (c *control) close() {
	_ = c.l.Close()
	_ = os.Remove(filepath.Join(c.s.data, controlFile))
	if c.tmp != "" {
		_ = os.RemoveAll(c.tmp)
	}
}

func (c *control) answer(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { // what waits for input ends, and is told
		_ = conn.SetReadDeadline(time.Now())
		_ = conn.SetWriteDeadline(time.Now().Add(tellWait))
	})
	defer stop()
	r := bufio.NewReader(conn)
	line, err := r.ReadBytes('\n')
	var o order
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	enc := &frames{e: json.NewEncoder(conn)}
	if err == nil {
		err = enc.send(frame{})
	}
	if err != nil {
		c.log.WarnContext(ctx, "control order unreadable", "err", err)
		return
	}
	status, cause := exitOK, ""
	if err := c.do(ctx, o, r, enc); err != nil {
		status, cause = exitFailed, err.Error()
		if e, ok := errors.AsType[*exitError](err); ok {
			status = e.status
		}
		if ctx.Err() != nil {
			cause += "; the service stops and has cut the command off: run it again"
		}
	}
	_ = enc.send(frame{Exit: &status, Cause: cause})
}

func (c *control) do(ctx context.Context, o order, in io.Reader, enc *frames) error {
	t, ok := tasks[o.Task]
	if !ok {
		return fmt.Errorf("the running server has no task %q", o.Task)
	}
	s := &settings{}
	for _, d := range s.table() {
		if v, ok := o.Settings[d.name]; ok {
			if err := d.set(v); err != nil {
				return usageError("--%s: %w", d.name, err)
			}
		}
	}
	if s.store != c.s.store {
		return usageError("--store: the running server has another one")
	}
	s.data = c.s.data
	if s.timezone != "" && s.timezone != c.s.timezone {
		return usageError("--timezone: the running server has %s, not %s", c.s.timezone, s.timezone)
	}
	con := &console{
		in:       in,
		out:      writerFunc(func(p []byte) error { return enc.send(frame{Out: p}) }),
		err:      writerFunc(func(p []byte) error { return enc.send(frame{Err: p}) }),
		terminal: o.Terminal,
	}
	return t(ctx, c.b, con, s, o.Args)
}

type frames struct {
	mu sync.Mutex
	e  *json.Encoder
}

func (f *frames) send(v frame) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.e.Encode(v)
}

type writerFunc func([]byte) error

func (f writerFunc) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

var errLocked = errors.New("in use")

// lockData takes the lock of a data directory for a command, so that one process at a
// time has its store open. The kernel releases it when the process ends in any way. Others
// read in the file which process that is.
func lockData(dir string, create bool, command string) (*os.File, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil { // one that cannot be written is a lock all the same
		if unwritten, openErr := os.Open(path); openErr == nil {
			f, err = unwritten, nil
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such directory; daybook serve makes one, --data names another", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			holder, _ := io.ReadAll(io.LimitReader(f, 100))
			return nil, fmt.Errorf("%s is %w by %s", dir, errLocked, cmp.Or(strings.TrimSpace(string(holder)), "another process"))
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "process %d (daybook %s)\n", os.Getpid(), command) // the lock holds without it
	}
	return f, nil
}
