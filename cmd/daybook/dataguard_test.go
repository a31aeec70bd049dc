package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"daybook/eventstore/sqlite"
)

// copyFile puts a copy of a file into the place of another one, as a new file.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to+".copy", b, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(to+".copy", to)
}

// tags adds tags and returns the ids of those that were acknowledged.
func (s *server) tags(token, name string, n int) (ids []string) {
	s.t.Helper()
	for i := range n {
		status, b := s.try("POST", s.root+"/tags", token, fmt.Sprintf(`{"name":"%s %d"}`, name, i))
		if status != http.StatusCreated {
			continue
		}
		var v struct{ ID int64 }
		if err := json.Unmarshal(b, &v); err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(v.ID))
	}
	return ids
}

// TestLostFiles removes, renames and replaces each file of an open store while the service
// writes and then kills it. Health says that the file is lost, and whatever was
// acknowledged before and afterwards is there again after the next start.
func TestLostFiles(t *testing.T) {
	t.Parallel()
	const db, wal, shm = sqlite.FileName, sqlite.FileName + "-wal", sqlite.FileName + "-shm"
	replaced := func(path string) error { return copyFile(path, path) }
	for name, c := range map[string]struct {
		file   string
		lose   func(path string) error
		back   func(path string) error // before the next start
		refuse string                  // what the next start says before that
	}{
		"log removed":        {file: wal, lose: os.Remove},
		"log renamed":        {file: wal, lose: func(path string) error { return os.Rename(path, path+".away") }},
		"log replaced":       {file: wal, lose: func(path string) error { return copyFile(path+".old", path) }},
		"log emptied":        {file: wal, lose: func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }},
		"index removed":      {file: shm, lose: os.Remove},
		"index replaced":     {file: shm, lose: replaced},
		"lock removed":       {file: lockFile, lose: os.Remove},
		"store lock removed": {file: db + ".lock", lose: os.Remove},
		"all but the file": {file: wal, lose: func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Remove(path), os.Remove(filepath.Join(dir, shm)), os.Remove(filepath.Join(dir, db+".lock")), os.Remove(filepath.Join(dir, lockFile)))
		}},
		"file renamed": {
			file: db, refuse: db,
			lose: func(path string) error { return os.Rename(path, path+".away") },
			back: func(path string) error { return os.Rename(path+".away", path) },
		},
		"file replaced by an empty one": {
			file: db, refuse: db,
			lose: func(path string) error {
				return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
			},
			back: func(path string) error { return os.Rename(path+".away", path) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			path := filepath.Join(data, c.file)
			s := startServer(t, "serve", "--data", data)
			token := s.token
			kept := s.tags(token, "first", 5)
			if err := copyFile(filepath.Join(data, wal), filepath.Join(data, wal+".old")); err != nil {
				t.Fatal(err)
			}
			if kept = append(kept, s.tags(token, "second", 5)...); len(kept) != 10 {
				t.Fatalf("%d of 10 tags were made", len(kept))
			}
			if err := c.lose(path); err != nil {
				t.Fatal(err)
			}
			kept = append(kept, s.tags(token, "third", 5)...)
			if status, b := s.try("GET", s.host+pathReady, "", ""); status != http.StatusServiceUnavailable || !bytes.Contains(b, []byte(statusNoData)) || !bytes.Contains(b, []byte(c.file)) {
				t.Errorf("ready: %d %s", status, b)
			}
			s.want(http.StatusOK, "GET", "/tags", "", "")
			if out, errText, status := tool(t, nil, "health", "--data", data); status != exitFailed || !strings.Contains(out, statusNoData) {
				t.Errorf("daybook health: status %d, %q, %q", status, out, errText)
			}
			s.kill()

			if c.refuse != "" {
				_, errText, status := tool(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
				if status != exitFailed || !strings.Contains(errText, c.refuse) {
					t.Errorf("a start without the file: status %d, %q", status, errText)
				}
			}
			if c.back != nil {
				if err := c.back(path); err != nil {
					t.Fatal(err)
				}
			}
			s = startServer(t, "serve", "--data", data)
			if s.token != "" {
				t.Fatal("a new log has begun")
			}
			for _, id := range kept {
				s.want(http.StatusOK, "GET", "/tags/"+id, "", "")
			}
			s.want(http.StatusCreated, "POST", "/tags", token, `{"name":"last"}`)
			mustTool(t, "verify", "--data", data)
		})
	}
}

// TestRemovedFile: as long as the service runs all entries can be exported from it, and no
// end of it lets the next start begin a new log.
func TestRemovedFile(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	kept := s.tags(s.token, "kept", 5)
	if err := os.Remove(filepath.Join(data, sqlite.FileName)); err != nil {
		t.Fatal(err)
	}
	if more := s.tags(s.token, "lost", 2); len(more) > 0 {
		t.Errorf("%d writes into a file that nobody finds were acknowledged", len(more))
	}
	if out, _, status := tool(t, nil, "health", "--data", data); status != exitFailed || !strings.Contains(out, statusNoData) {
		t.Errorf("daybook health: status %d, %q", status, out)
	}
	if n := strings.Count(mustTool(t, "export", "--data", data), `"change":"tag.created"`); n != len(kept) {
		t.Errorf("%d tags were exported, want %d", n, len(kept))
	}
	s.drain()
	_, errText, status := tool(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
	if status != exitFailed || !strings.Contains(errText, "is left of a log") {
		t.Errorf("a start without the file: status %d, %q", status, errText)
	}
}

// TestLostLogWithoutWrites: what was acknowledged before the log was removed is in the file
// a moment later, though nobody writes.
func TestLostLogWithoutWrites(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	kept := s.tags(s.token, "kept", 5)
	if err := os.Remove(filepath.Join(data, sqlite.FileName+"-wal")); err != nil {
		t.Fatal(err)
	}
	took := eventually(t, "all entries are in the file", func() bool {
		out, _, _ := tool(t, nil, "verify", "--data", copyFiles(t, data, sqlite.FileName))
		return strings.Contains(out, "intact: 6 entries")
	})
	t.Logf("all entries are in the file after %s", took)
	s.kill()
	s = startServer(t, "serve", "--data", data)
	for _, id := range kept {
		s.want(http.StatusOK, "GET", "/tags/"+id, "", "")
	}
}

// TestLogLostDuringWrites removes the log under several writers and kills the service with
// its first refusal: every acknowledged write is in the file by then.
func TestLogLostDuringWrites(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	log := filepath.Join(data, sqlite.FileName+"-wal")
	s := startServer(t, "serve", "--data", data)
	token := s.token
	var mu sync.Mutex
	var kept []string
	for round := range 3 {
		var wg sync.WaitGroup
		var count atomic.Int64
		var refused atomic.Bool
		for w := range 4 {
			wg.Go(func() {
				for i := 0; !refused.Load(); i++ {
					status, b := s.try("POST", s.root+"/tags", token, fmt.Sprintf(`{"name":"%d %d %d"}`, round, w, i))
					var v struct{ ID int64 }
					switch err := json.Unmarshal(b, &v); {
					case status == http.StatusCreated && err == nil:
						mu.Lock()
						kept = append(kept, fmt.Sprint(v.ID))
						mu.Unlock()
						if count.Add(1) == 30 {
							if err := os.Remove(log); err != nil {
								t.Error(err)
							}
						}
					case !refused.Swap(true):
						s.signalKill()
					}
				}
			})
		}
		wg.Wait()
		s.kill()
		s = startServer(t, "serve", "--data", data)
		for _, id := range kept {
			s.want(http.StatusOK, "GET", "/tags/"+id, "", "")
		}
	}
	mustTool(t, "verify", "--data", data)
}

// TestFileReplacedByABackup: the log of a running service does not become part of a backup
// that somebody puts in the place of its file.
func TestFileReplacedByABackup(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(data, sqlite.FileName)
	s := startServer(t, "serve", "--data", data)
	token, kept := s.token, s.tags(s.token, "kept", 5)
	s.drain()
	if err := copyFile(path, path+".backup"); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, "serve", "--data", data)
	s.tags(token, "later", 5)
	if err := os.Rename(path+".backup", path); err != nil {
		t.Fatal(err)
	}
	if later := s.tags(token, "lost", 5); len(later) > 0 {
		t.Errorf("%d writes into a file that nobody finds were acknowledged", len(later))
	}
	s.kill()
	if out := mustTool(t, "verify", "--data", data); !strings.Contains(out, "intact: 6 entries") {
		t.Errorf("verify: %s", out)
	}
	s = startServer(t, "serve", "--data", data)
	for _, id := range kept {
		s.want(http.StatusOK, "GET", "/tags/"+id, "", "")
	}
}

// TestEmptiedDirectory: where other files tell of a log, a directory without its entries
// begins no new one unless it is told to.
func TestEmptiedDirectory(t *testing.T) {
	t.Parallel()
	full := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", full)
	s.tags(s.token, "kept", 3)
	mustTool(t, "audit", "checkpoint", "--data", full)
	s.drain()
	empty := func(dir string) error {
		store, err := sqlite.Open(context.WithoutCancel(t.Context()), dir, sqlite.Options{})
		if err != nil {
			return err
		}
		return store.Close()
	}
	for name, c := range map[string]struct {
		left []string // of the directory
		make func(dir string) error
	}{
		"snapshot":                      {left: []string{snapshotFile}},
		"key":                           {left: []string{keyFile}},
		"note":                          {left: []string{keyFile + keptNote}},
		"snapshot and an empty file":    {left: []string{snapshotFile}, make: func(dir string) error { return os.WriteFile(filepath.Join(dir, sqlite.FileName), nil, 0o600) }},
		"key and a store of no entries": {left: []string{keyFile}, make: empty},
		"log": {make: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, sqlite.FileName+"-wal"), []byte("entries"), 0o600)
		}},
		"index of a log that is lost": {make: func(dir string) error {
			return errors.Join(empty(dir), os.WriteFile(filepath.Join(dir, sqlite.FileName+"-shm"), nil, 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := copyFiles(t, full, c.left...)
			if c.make != nil {
				if err := c.make(dir); err != nil {
					t.Fatal(err)
				}
			}
			files := func() (names []string) {
				found, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					names = append(names, f.Name())
				}
				return names
			}
			for _, args := range [][]string{
				{"serve", "--listen", "127.0.0.1:0"}, {"user", "add", "ada", "--role", "administrator"}, {"import", "-", "--source", "here"}, {"verify"},
			} {
				_, errText, status := tool(t, strings.NewReader(""), append(args, "--data", dir)...)
				if status != exitFailed || !strings.Contains(errText, "is left of a log") {
					t.Errorf("daybook %s: status %d, %q, files %v", args[0], status, errText, files())
				}
			}
			if name == "log" { // only the operator takes it away
				if _, _, status := tool(t, nil, "user", "add", "ada", "--role", "administrator", "--new-log", "--data", dir); status != exitFailed {
					t.Errorf("a log was taken away: status %d", status)
				}
				if b, err := os.ReadFile(filepath.Join(dir, sqlite.FileName+"-wal")); string(b) != "entries" {
					t.Errorf("a log was taken away: %q, %v", b, err)
				}
				return
			}
			token := strings.TrimSpace(mustTool(t, "user", "add", "ada", "--role", "administrator", "--new-log", "--data", dir))
			if _, errText, status := tool(t, nil, "user", "add", "eve", "--role", "editor", "--new-log", "--data", dir); status != exitUsage {
				t.Errorf("a new log in the place of one: status %d, %q", status, errText)
			}
			s := startServer(t, "serve", "--data", dir)
			if s.token != "" {
				t.Error("there is another administrator")
			}
			s.want(http.StatusCreated, "POST", "/tags", token, `{"name":"new"}`)
		})
	}
}
