package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/cenkalti/backoff/v5"

	"daybook/calendar"
	"daybook/eventstore/sqlite"
	"daybook/internal/audit"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/texts"
)

// task is the work of a command on an open backend. It runs in the command's own process
// when the data directory is free, else in the server that holds it, so every task works
// while the service serves. What it needs to know are the exported fields of the command.
type task interface {
	work(ctx context.Context, c *console) error
}

// runTask does the work of a task. What is refused is told as the interface tells it.
func runTask(ctx context.Context, task task, console *console) error {
	err := task.work(ctx, console)
	if refused, ok := errors.AsType[*calendar.Error](err); ok {
		return errors.New(texts.Message(refused, calendar.LangEN))
	}
	return err
}

// order is what a request on the control socket asks for; its body is the task's standard input.
type order struct {
	Version   string
	Task      string // the command with its act
	Arguments any    // the task itself
	Terminal  bool
	Store     string
	OutputOptions
	ZoneOptions
	LanguageOptions
}

// frame is one line of the answer.
type frame struct {
	Out   []byte `json:"out,omitempty"`
	Err   []byte `json:"err,omitempty"`
	Exit  *int   `json:"exit,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// perform runs a task. One on what lies in the data directory runs here when the
// directory is free, else in the running server that holds it; one on servers
// runs here, next to all processes.
func perform(ctx context.Context, console *console, task task) error {
	existing := !console.tag.Has("makes") // who checks or copies a store means one that is there
	console.backend = &backend{config: console.config, log: console.logger("warn")}
	if console.Store == "" || console.tag.Has("model") && console.localIndex() {
		_, unserved := os.Stat(filepath.Join(console.Data, socketName))
		_, unstored := os.Stat(filepath.Join(console.Data, sqlite.FileName))
		if console.Store == "" && existing && unserved != nil && errors.Is(unstored, os.ErrNotExist) {
			return console.noStore() // before anything is made in the directory
		}
		order := order{version, console.name, task, console.terminal, console.Store, console.OutputOptions, console.ZoneOptions, console.LanguageOptions}
		lock, err := console.hold(ctx, console.Store != "" || !existing, holderWait, func() error { return order.give(ctx, console) })
		if lock == nil {
			return err
		}
		defer func() { _ = lock.Close() }()
	}
	if err := console.open(ctx, existing); err != nil {
		var verified audit.Verified
		if _, verifies := task.(*trustOptions); !verifies || verified.Damage(err) != nil {
			return err
		}
		return printVerified(console, &verified, false) // so much is missing that the store does not open
	}
	if console.file != nil {
		removeSocket(console.Data)
	}
	return errors.Join(runTask(ctx, task, console), console.close())
}

// Waits for who holds a data directory.
const (
	holderWait = 10 * time.Second // for its end, or for its control socket
	holderPoll = 50 * time.Millisecond
	firstWait  = 10 * time.Second // for the first frame, which comes before any work
)

// hold takes the lock of the data directory, none where another way has done the work, which is
// tried first: somebody may have removed the lock. Another command holds it for a moment, and a server that
// starts has no socket yet, so both are waited for.
func (console *console) hold(ctx context.Context, create bool, wait time.Duration, instead func() error) (*os.File, error) {
	outage := lifecycle.Outage{Log: console.log, Message: "waiting for the data directory"}
	lock, err := backoff.Retry(ctx, func() (lock *os.File, err error) {
		if err = instead(); errors.Is(err, errNoServer) {
			lock, err = lockData(console.Data, create, console.name)
			outage.Note(ctx, err)
		}
		if !errors.Is(err, errLocked) {
			err = backoff.Permanent(err)
		}
		return lock, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(holderPoll)), backoff.WithMaxElapsedTime(wait))
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("%w; try again when it has ended", err)
	}
	return lock, err
}

// alone is no other way than to take the lock.
func alone() error { return errNoServer }

var errNoServer = errors.New("no server takes orders")

// give has the server that holds the data directory carry out an order, and passes on what it
// answers. The error is errNoServer when there is no server yet, or no more; none has taken the
// order then.
func (order order) give(ctx context.Context, console *console) error {
	transport := &http.Transport{
		DisableKeepAlives: true, ExpectContinueTimeout: 2 * firstWait,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return atSocket(console.Data, func(path string) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) })
		},
	}
	text, err := json.Marshal(order)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A process that is stopped takes connections, but answers nothing.
	silent := time.AfterFunc(firstWait, func() {
		cancel(fmt.Errorf("the process that serves from %s does not answer", console.Data))
	})
	input := console.input
	if input != nil {
		input = io.NopCloser(input) // who takes no order leaves it open
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://daybook/"+url.PathEscape(string(text)), input)
	if err != nil {
		return err
	}
	request.Header.Set("Expect", "100-continue") // the input is read when the order is taken
	answer, err := transport.RoundTrip(request)
	switch {
	case !silent.Stop():
		return context.Cause(ctx)
	case err != nil: // it ends, or is gone
		return errNoServer
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(answer.Body)
		return usageError("%s", bytes.TrimSpace(why))
	}
	for decoder := json.NewDecoder(answer.Body); ; {
		var f frame
		if err := decoder.Decode(&f); err != nil {
			return fmt.Errorf("the running server broke off: %w", err)
		}
		switch {
		case f.Exit != nil && *f.Exit == exitOK:
			return nil
		case f.Exit != nil:
			return &exitError{*f.Exit, errors.New(f.Cause)}
		}
		_, _ = console.err.Write(f.Err)
		if _, err := console.output.Write(f.Out); err != nil {
			return err
		}
	}
}

const (
	lockFile   = "lock"
	socketName = "control.sock"
	maxSocket  = 100 // bytes: the system's limit for a socket path is 108
)

// atSocket opens the socket that tasks of other processes of this machine come by, by a path
// short enough for the system.
func atSocket[T any](directory string, open func(path string) (T, error)) (opened T, err error) {
	path := filepath.Join(directory, socketName)
	if len(path) > maxSocket { // by a short link, which every Unix follows
		target, err := filepath.Abs(directory)
		if err != nil {
			return opened, err
		}
		short, err := os.MkdirTemp("", "daybook-")
		if err != nil {
			return opened, err
		}
		defer func() { _ = os.RemoveAll(short) }()
		link := filepath.Join(short, "data")
		if err := os.Symlink(target, link); err != nil {
			return opened, err
		}
		path = filepath.Join(link, socketName)
	}
	return open(path)
}

// listenControl opens the socket, with the store open: where somebody removed the lock another
// process may serve. Only the owner of the data directory can open it.
func listenControl(ctx context.Context, directory string) (net.Listener, error) {
	removeSocket(directory)
	listener, err := atSocket(directory, func(path string) (net.Listener, error) {
		before := syscall.Umask(0o177)
		defer syscall.Umask(before)
		return (&net.ListenConfig{}).Listen(ctx, "unix", path)
	})
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return listener, nil
}

// removeSocket removes the socket of a data directory, which a killed process may have left.
// It needs the directory's lock.
func removeSocket(directory string) { _ = os.Remove(filepath.Join(directory, socketName)) }

// taskDrain is how long tasks may go on when the server ends, and tellWait how long
// a client may take to hear of it then.
const (
	taskDrain = 5 * time.Second
	tellWait  = 2 * time.Second
)

// newControl returns the server of tasks. When it ends it lets running tasks end, for at
// most taskDrain; after that it ends them and tells their clients.
func newControl(ctx context.Context, backend *backend) *http.Server {
	ctx, end := context.WithCancel(ctx)
	server := &http.Server{
		Handler: http.HandlerFunc(backend.answer), ReadHeaderTimeout: readHeaderTimeout, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	server.RegisterOnShutdown(func() { time.AfterFunc(taskDrain, end) })
	return server
}

// answer runs one task and answers with a line for each piece of what it prints.
func (backend *backend) answer(writer http.ResponseWriter, request *http.Request) {
	conn := http.NewResponseController(writer)
	order, err := backend.taken([]byte(request.URL.Path[1:]))
	if err = cmp.Or(err, conn.EnableFullDuplex()); err != nil {
		http.Error(writer, err.Error(), http.StatusConflict)
		return
	}
	writer.WriteHeader(http.StatusContinue)
	writer.WriteHeader(http.StatusOK)
	_ = conn.Flush() // the order is taken
	var mu sync.Mutex
	encoder := json.NewEncoder(writer)
	send := func(f frame) error {
		mu.Lock()
		defer mu.Unlock()
		return cmp.Or(encoder.Encode(f), conn.Flush())
	}
	ctx := request.Context()
	stop := context.AfterFunc(ctx, func() { // what waits for input ends, and is told
		_ = conn.SetReadDeadline(time.Now())
		_ = conn.SetWriteDeadline(time.Now().Add(tellWait))
	})
	defer stop()
	settings := *backend.config
	settings.OutputOptions, settings.LanguageOptions = order.OutputOptions, order.LanguageOptions // its zone is that of the server
	c := &console{
		input:    request.Body,
		output:   writerFunc(func(data []byte) (int, error) { return len(data), send(frame{Out: data}) }),
		err:      writerFunc(func(data []byte) (int, error) { return len(data), send(frame{Err: data}) }),
		terminal: order.Terminal, config: &settings, backend: backend,
	}
	err = runTask(ctx, order.Arguments.(task), c)
	end := frame{Exit: new(exitStatus(err))}
	if err != nil {
		end.Cause = err.Error()
		if ctx.Err() != nil {
			end.Cause += "; the service stops and has cut the command off: run it again"
		}
	}
	_ = send(end)
}

// taken returns an order with its task.
func (backend *backend) taken(text []byte) (order order, err error) {
	parser, err := new(settingsReader).parser(new(config), io.Discard, nil)
	if err = cmp.Or(err, json.Unmarshal(text, &order)); err != nil {
		return order, err
	}
	switch zone := backend.zone().Name; {
	case order.Version != version:
		return order, fmt.Errorf("the running server is daybook %s, this command %s", version, order.Version)
	case order.Store != backend.Store:
		return order, errors.New("--store: the running server has another one")
	case order.Timezone != "" && order.zone().Name != zone:
		return order, fmt.Errorf("--timezone: the running server has %s, not %s", zone, order.Timezone)
	}
	parsed, err := kong.Trace(parser, strings.Fields(order.Task))
	if err != nil {
		return order, err
	}
	order.Arguments = parsed.Selected().Target.Addr().Interface()
	return order, json.Unmarshal(text, &order)
}

type writerFunc func([]byte) (int, error)

func (writerFunc writerFunc) Write(data []byte) (int, error) { return writerFunc(data) }

var errLocked = errors.New("in use")

// lockData takes the lock of a data directory for a command, so that one process at a
// time has its store open. The kernel releases it when the process ends in any way. Others
// read in the file which process that is.
func lockData(directory string, create bool, command string) (*os.File, error) {
	if create {
		if err := os.MkdirAll(directory, 0o700); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	path := filepath.Join(directory, lockFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil { // one that cannot be written is a lock all the same
		if unwritten, openErr := os.Open(path); openErr == nil {
			file, err = unwritten, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer func() { _ = file.Close() }()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			holder, _ := io.ReadAll(io.LimitReader(file, 100))
			err = fmt.Errorf("%s is %w by %s", directory, errLocked, cmp.Or(strings.TrimSpace(string(holder)), "another process"))
		}
		return nil, err
	}
	if err := file.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(file, "process %d (daybook %s)\n", os.Getpid(), command) // the lock holds without it
	}
	return file, nil
}
