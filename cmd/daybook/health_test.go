package main

import (
	"database/sql"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daybook/eventstore/sqlite"
)

// TestHealthWhenWritesFail: readiness and health tell that the store takes no
// writes, from the first that fails until one succeeds.
func TestHealthWhenWritesFail(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data)
	// Somebody who keeps the file locked makes commits fail as a full disk does.
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.Join(data, sqlite.FileName)}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ready := func(want, why string) {
		t.Helper()
		status, _ := s.try("GET", s.host+pathReady, "", "")
		got := s.state()
		if status != http.StatusOK || got["status"] != want || why != "" && got["why"] != why {
			t.Errorf("ready: got %d and %v, want 200, %q and %q", status, got, want, why)
		}
	}
	ready(statusOK, "")
	s.want(503, "POST", "/tags", s.token, `{"name":"first"}`)
	ready(statusDegraded, whyNoWrites)
	out, _, status := tool(t, nil, "health", "--data", data)
	if status != exitFailed || !strings.Contains(out, "why: "+whyNoWrites) {
		t.Errorf("health: status %d and %q", status, out)
	}
	s.want(200, "GET", "/tags", "", "")
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.want(201, "POST", "/tags", s.token, `{"name":"second"}`)
	ready(statusOK, "")
	for _, line := range []string{"event store takes no writes", "event store takes writes again"} {
		if n := strings.Count(s.log(), line); n != 1 {
			t.Errorf("the log has %q %d times\n%s", line, n, s.log())
		}
	}
}

// TestDataDirectoryIsLost: a process whose files nobody finds any more is not
// ready, and says so.
func TestDataDirectoryIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(data string) (back func() error, err error){
		"removed": func(data string) (func() error, error) {
			return func() error { // the feed may have made its own part anew
				return errors.Join(os.RemoveAll(data), os.Rename(data+"-away", data))
			}, os.Rename(data, data+"-away")
		},
		"replaced": func(data string) (func() error, error) {
			path := filepath.Join(data, sqlite.FileName)
			back := func() error { return os.Rename(path+"-away", path) }
			if err := os.Rename(path, path+"-away"); err != nil {
				return back, err
			}
			return back, os.WriteFile(path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			s := startServer(t, "serve", "--data", data)
			back, err := lose(data)
			if err != nil {
				t.Fatal(err)
			}
			status, body := s.try("GET", s.host+pathReady, "", "")
			if status != http.StatusServiceUnavailable || !strings.Contains(string(body), statusNoData) || strings.Contains(string(body), data) {
				t.Errorf("ready: %d %s", status, body)
			}
			if status, _ := s.try("POST", s.root+"/tags", s.token, `{"name":"Lost"}`); status != http.StatusServiceUnavailable {
				t.Errorf("a write into files that nobody finds: %d, want 503", status)
			}
			s.want(http.StatusOK, "GET", "/tags", "", "")
			eventually(t, "a line in the log", func() bool { return strings.Contains(s.log(), "nothing is written any more") })
			if err := back(); err != nil {
				t.Fatal(err)
			}
			if status, body := s.try("GET", s.host+pathReady, "", ""); status != http.StatusOK {
				t.Errorf("ready afterwards: %d %s", status, body)
			}
			s.want(http.StatusCreated, "POST", "/tags", s.token, `{"name":"Found"}`)
			eventually(t, "another line", func() bool { return strings.Contains(s.log(), "there again") })
		})
	}
}
