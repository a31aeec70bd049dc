package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore/sqlite"
)

// copyFile puts a copy of a file into the place of another one, as a new file.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to+".copy", data, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(to+".copy", to)
}

// tags adds five tags and returns the ids of those that were acknowledged.
func (server *server) tags(token, name string) (ids []string) {
	server.t.Helper()
	for i := range 5 {
		status, data := server.try("POST", server.root+"/tags", token, fmt.Sprintf(`{"name":"%s %d"}`, name, i))
		if status != 201 {
			continue
		}
		var v struct{ ID int64 }
		must(server.t, json.Unmarshal(data, &v))
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
	for name, c := range map[string]struct {
		file   string
		lose   func(path string) error
		back   func(path string) error // before the next start
		refuse string                  // what the next start says before that
	}{
		"log removed":        {file: wal, lose: os.Remove},
		"log replaced":       {file: wal, lose: func(path string) error { return copyFile(path+".old", path) }},
		"log emptied":        {file: wal, lose: func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }},
		"index removed":      {file: shm, lose: os.Remove},
		"store lock removed": {file: db + ".lock", lose: os.Remove},
		"all but the file": {file: wal, lose: func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Remove(path), os.Remove(filepath.Join(dir, shm)), os.Remove(filepath.Join(dir, db+".lock")), os.Remove(filepath.Join(dir, lockFile)))
		}},
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
			server := startServer(t, "serve", "--data", data)
			token := server.token
			kept := server.tags(token, "first")
			must(t, copyFile(filepath.Join(data, wal), filepath.Join(data, wal+".old")))
			if kept = append(kept, server.tags(token, "second")...); len(kept) != 10 {
				t.Fatalf("%d of 10 tags were made", len(kept))
			}
			must(t, c.lose(path))
			kept = append(kept, server.tags(token, "third")...)
			if status, b := server.try("GET", server.host+pathReady, "", ""); status != 503 || !bytes.Contains(b, []byte("data directory lost")) || !bytes.Contains(b, []byte(c.file)) {
				t.Errorf("ready: %d %s", status, b)
			}
			server.want(200, "GET", "/tags", "", "")
			wantTool(t, exitFailed, "data directory lost", "health", "--data", data)
			server.kill()

			if c.refuse != "" {
				wantTool(t, exitFailed, c.refuse, "serve", "--data", data, "--listen", "127.0.0.1:0")
			}
			if c.back != nil {
				must(t, c.back(path))
			}
			server = startServer(t, "serve", "--data", data)
			if server.token != "" {
				t.Fatal("a new log has begun")
			}
			for _, id := range kept {
				server.want(200, "GET", "/tags/"+id, "", "")
			}
			server.want(201, "POST", "/tags", token, `{"name":"last"}`)
			mustTool(t, "verify", "--data", data)
		})
	}
}

// TestLostLogWithoutWrites: what was acknowledged before the log was removed is in the file
// a moment later, though no one writes.
func TestLostLogWithoutWrites(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	kept := server.tags(server.token, "kept")
	must(t, os.Remove(filepath.Join(data, sqlite.FileName+"-wal")))
	took := eventually(t, "all entries are in the file", func() bool {
		out, _, _ := tool(t, nil, "verify", "--data", copyFiles(t, data, sqlite.FileName))
		return strings.Contains(out, "intact: 6 entries")
	})
	t.Logf("all entries are in the file after %s", took)
	server.kill()
	server = startServer(t, "serve", "--data", data)
	for _, id := range kept {
		server.want(200, "GET", "/tags/"+id, "", "")
	}
}
