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

	"daybook/eventstore/sqlite"
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
		"back": backTask, "export": exportTask, "history": historyTask, "retry": retryTask, "health": healthTask,
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

// frame is one line of the answer.
type frame struct {
	Out   []byte `json:"out,omitempty"`
	Err   []byte `json:"err,omitempty"`
	Exit  *int   `json:"exit,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// ofModel are the tasks on the read model; the others need the store only.
var ofModel = map[string]bool{"rebuild": true, "back": true, "retry": true, "health": true}

// runTask runs a task. One on what lies in the data directory runs here when the
// directory is free, else in the running server that holds it; one on servers
// runs here, beside all processes.
func runTask(ctx context.Context, c *console, s *settings, name string, args []string) error {
	existing := !makesStore(name, args)
	if s.store == "" || ofModel[name] && s.index == "" {
		if s.store == "" && existing {
			if err := wantStore(s.data); err != nil {
				return err
			}
		}
		lock, err := lockData(s.data, s.store != "")
		if errors.Is(err, errLocked) {
			return sendTask(ctx, c, s, name, args)
		}
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
		tidy(ctx, s.data, slog.New(slog.DiscardHandler))
	}
	log := slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := openBackend(ctx, s, log, telemetry.Hooks{}, existing)
	if err != nil {
		return err
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
func wantStore(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, sqlite.FileName)); errors.Is(err, os.ErrNotExist) {
		return noStore(dir)
	}
	return nil
}

func noStore(dir string) error {
	return fmt.Errorf("%s holds no event store; daybook serve makes one, --data names another", dir)
}

// sendTask has the running server do a task.
func sendTask(ctx context.Context, c *console, s *settings, name string, args []string) error {
	path, err := os.ReadFile(filepath.Join(s.data, controlFile))
	if err != nil {
		return fmt.Errorf("%s is in use by another process, and it has no control socket", s.data)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", strings.TrimSpace(string(path)))
	if err != nil {
		return fmt.Errorf("%s is in use by another process that does not answer: %w", s.data, err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	first, err := json.Marshal(order{name, args, s.ordered(), c.terminal})
	if err != nil {
		return err
	}
	if _, err := conn.Write(append(first, '\n')); err != nil {
		return fmt.Errorf("send to the running server: %w", err)
	}
	go func() {
		if c.in != nil {
			_, _ = io.Copy(conn, c.in)
		}
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	dec := json.NewDecoder(conn)
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
		case f.Err != nil:
			_, err = c.err.Write(f.Err)
		default:
			_, err = c.out.Write(f.Out)
		}
		if err != nil {
			return err
		}
	}
}

const (
	lockFile    = "lock"
	controlFile = "control"
	socketName  = "control.sock"
	maxSocket   = 100 // bytes: the system's limit for a socket path is 108
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
		if c.tmp, err = os.MkdirTemp("", "daybook-"); err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
		path = filepath.Join(c.tmp, socketName)
	}
	_ = os.Remove(path) // left by a process that was killed; the lock is ours
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

// run answers until ctx ends; then it ends running tasks and waits for them.
func (c *control) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { _ = c.l.Close() })
	var wg sync.WaitGroup
	defer func() {
		cancel()
		_ = c.l.Close()
		wg.Wait()
		c.close()
	}()
	for {
		conn, err := c.l.Accept()
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		wg.Go(func() { c.answer(ctx, conn) })
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
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r := bufio.NewReader(conn)
	line, err := r.ReadBytes('\n')
	var o order
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err != nil {
		c.log.WarnContext(ctx, "control order unreadable", "err", err)
		return
	}
	enc := &frames{e: json.NewEncoder(conn)}
	status, cause := exitOK, ""
	if err := c.do(ctx, o, r, enc); err != nil {
		status, cause = exitFailed, err.Error()
		if e, ok := errors.AsType[*exitError](err); ok {
			status = e.status
		}
	}
	_ = enc.send(frame{Exit: &status, Cause: cause})
}

func (c *control) do(ctx context.Context, o order, in io.Reader, enc *frames) error {
	t, ok := tasks[o.Task]
	if !ok {
		return fmt.Errorf("the running server has no task %q", o.Task)
	}
	s := &settings{raw: make(map[string]string)}
	for name, v := range o.Settings {
		if d := settingNamed(name); d != nil {
			if err := d.set(s, v); err != nil {
				return usageError("--%s: %w", name, err)
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

var errLocked = errors.New("in use by another process")

// lockData takes the lock of a data directory, so that one process at a time
// has its store open. The kernel gives it back when the process ends in any way.
func lockData(dir string, create bool) (*os.File, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such directory; daybook serve makes one, --data names another", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is %w", dir, errLocked)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}
