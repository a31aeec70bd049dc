package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"daybook/eventstore/sqlite"
	"daybook/internal/testkit"
)

// TestSharedIndexOfALostHistory: a backup of the event store is put back while nothing
// runs, and the store goes on past the old head beside another read model. The index on
// servers is made anew by itself, and no list ever shows what is gone.
func TestSharedIndexOfALostHistory(t *testing.T) {
	t.Parallel()
	index, prefix := testkit.Elasticsearch(t)
	data := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(data, sqlite.FileName)
	serve := []string{"serve", "--data", data, "--index", index, "--index-prefix", prefix}
	s := startServer(t, serve...)
	token := s.token
	add := func(name string, n int) {
		t.Helper()
		for i := range n {
			s.want(201, "POST", "/venues", token, fmt.Sprintf(`{"venue":%q}`, fmt.Sprint(name, " ", i)))
		}
	}
	add("kept", 3)
	s.drain()
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = startServer(t, serve...)
	add("old", 4)
	if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 7.0 {
		t.Fatalf("%v venues before, want 7", got)
	}
	s.drain()
	if err := os.WriteFile(path, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, "serve", "--data", data) // another read model
	add("new", 6)
	s.drain()

	cmd := child(t.Context(), append(serve, "--listen", "127.0.0.1:0")...)
	s = beginServerOf(t, cmd, "", cmd.Env)
	took := eventually(t, "lists", func() bool {
		status, b := s.try("GET", s.root+"/venues?search=old", token, "")
		if status != 200 && status != 503 {
			t.Fatalf("a list: %d %s", status, b)
		}
		return status == 200
	})
	t.Logf("lists came back after %s", took)
	if got := s.want(200, "GET", "/venues?search=old", token, "")["total"]; got != 0.0 {
		t.Errorf("%v old venues", got)
	}
	if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 9.0 {
		t.Errorf("%v venues, want 9", got)
	}
	add("later", 1)
	if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 10.0 {
		t.Errorf("%v venues, want 10", got)
	}
	if status := s.drain(); status != exitOK {
		t.Errorf("drained with status %d\n%s", status, s.log())
	}
}
