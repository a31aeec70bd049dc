package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// service is a running process that prints where it serves in its first line.
type service struct {
	cmd   *exec.Cmd
	root  string // API root, or the URL of a bare server
	host  string // scheme and host
	token string
}

func start(ctx context.Context, errw io.Writer, name string, args ...string) (*service, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = errw
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &service{cmd: cmd}
	r := bufio.NewReader(out)
	for s.root == "" {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s did not start: %w", name, err), cmd.Wait())
		}
		if i := strings.Index(line, "http://"); i >= 0 && !strings.HasPrefix(line, "calendar: ") { // that of people comes before
			s.root = strings.TrimSpace(line[i:])
		}
	}
	parts := strings.SplitAfterN(s.root, "/", 4)
	s.host = strings.TrimSuffix(strings.Join(parts[:3], ""), "/")
	go func() {
		for {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
		}
	}()
	return s, nil
}

func (s *service) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// writing makes a request of the administrator with a JSON body.
func (s *service) writing(ctx context.Context, method, path string, fields map[string]any) (*http.Request, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.root+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("loadgen", s.token)
	return r, nil
}

// memory gives a line of the status of the process in MB: VmRSS is the resident
// memory, VmHWM its peak.
func (s *service) memory(name string) (float64, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("the process has no %s", name)
}

// resident gives the resident memory in MB.
func (s *service) resident() (float64, error) { return s.memory("VmRSS") }

// restTime is how long a service has nothing to do before its memory after a load is read.
const restTime = 10 * time.Second

// rested gives the resident memory after a load.
func (s *service) rested(ctx context.Context) (float64, error) {
	if err := s.settle(ctx); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(restTime):
	}
	return s.resident()
}

// ready waits until lists show everything.
func (s *service) ready(ctx context.Context) error {
	for range 300_000 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.host+"/health/ready", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return errors.New("not ready within ten minutes")
}

// imported makes a data directory with n events, and tells how long the import took.
func imported(ctx context.Context, o options, dir string, n int, of weight, errw io.Writer) (token string, took time.Duration, err error) {
	return importedFrom(ctx, o, dir, func(path string) error { return fill(path, n, today(), of) }, errw)
}

// importedFrom does so with the lines that write puts into a file.
func importedFrom(ctx context.Context, o options, dir string, write func(path string) error, errw io.Writer) (token string, took time.Duration, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", 0, err
	}
	lines := filepath.Join(dir, "fill.ndjson")
	if err := write(lines); err != nil {
		return "", 0, err
	}
	store := append([]string{"--data", filepath.Join(dir, "data")}, o.store...)
	text, err := exec.CommandContext(ctx, o.binary, append([]string{"user", "add", "loadgen", "--role", "administrator"}, store...)...).Output()
	if err != nil {
		return "", 0, fmt.Errorf("add a user: %w", err)
	}
	begin := time.Now()
	imp := exec.CommandContext(ctx, o.binary, append([]string{"import", lines}, store...)...)
	imp.Stderr = errw
	if err := imp.Run(); err != nil {
		return "", 0, fmt.Errorf("import: %w", err)
	}
	took = time.Since(begin)
	return strings.TrimSpace(string(text)), took, os.Remove(lines)
}

// filled makes a data directory with n events and starts the service on it.
func filled(ctx context.Context, o options, dir string, n int, of weight, errw io.Writer) (*service, error) {
	return filledFrom(ctx, o, dir, func(path string) error { return fill(path, n, today(), of) }, errw)
}

// filledFrom does so with the lines that write puts into a file.
func filledFrom(ctx context.Context, o options, dir string, write func(path string) error, errw io.Writer) (*service, error) {
	token, _, err := importedFrom(ctx, o, dir, write, errw)
	if err != nil {
		return nil, err
	}
	s, err := serve(ctx, o, dir, errw)
	if err != nil {
		return nil, err
	}
	s.token = token
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, s.settle(ctx)
}

// settle waits until the service has nothing more to do of itself: the first
// start on an imported calendar fills the feed.
func (s *service) settle(ctx context.Context) error {
	for range 1200 {
		before, err := s.processor()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		after, err := s.processor()
		if err != nil {
			return err
		}
		if after-before <= 2 {
			return nil
		}
	}
	return errors.New("not at rest within ten minutes")
}

// tick is the unit in which the kernel tells of processor time.
const tick = 10 * time.Millisecond

// processor gives the time that the process has used, in ticks.
func (s *service) processor() (int, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "stat"))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest) // from the third field of proc(5) on
	if len(fields) < 13 {
		return 0, fmt.Errorf("stat of the process: %q", b)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return user + system, err
}

func today() time.Time {
	y, m, d := time.Now().UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// serveBare answers every request with the bytes of a file: what net/http alone
// costs.
func serveBare(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("bare needs a file")
	}
	body, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	return listenBare(ctx, body, out)
}
