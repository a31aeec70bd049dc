package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"daybook/eventstore/postgres"
	"daybook/internal/testkit"
)

// TestFailoverUnderReadModels: a standby of PostgreSQL takes over without the last
// entries, under processes with a memory image and under the roles on servers, and the
// store then goes on past the lost head. Lists of both come back by themselves, show
// what the store has, and have other ETags at the same positions; the stream of the
// feed has the entries of the store alone, and verify finds the chain whole.
func TestFailoverUnderReadModels(t *testing.T) {
	t.Parallel()
	index, prefix := testkit.Elasticsearch(t)
	nats, feedPrefix := testkit.NATS(t)
	primary := testkit.StartPostgres(t)
	standby := primary.Standby("second")
	proxy := testkit.NewProxy(t, primary.Addr())
	store := []string{"--store", proxy.URL(primary.URL())}
	shared := append([]string{"--feed", nats, "--feed-prefix", feedPrefix, "--index", index, "--index-prefix", prefix}, store...)

	whole := startServer(t, append([]string{"serve", "--data", t.TempDir()}, store...)...)
	token := whole.token
	var api, relay, projector *server
	var wg sync.WaitGroup
	for role, s := range map[string]**server{"api": &api, "relay": &relay, "projector": &projector} {
		wg.Go(func() { *s = startServer(t, append([]string{"serve", "--role", role}, shared...)...) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	both := []*server{whole, api}
	add := func(name string, n int) (last map[string]any) {
		t.Helper()
		for i := range n {
			last = whole.want(201, "POST", "/venues", token, fmt.Sprintf(`{"venue":%q}`, fmt.Sprint(name, " ", i)))
		}
		return last
	}
	tag := func(s *server, path string) string {
		t.Helper()
		status, h, b := s.full("GET", s.root+path, token, "", nil)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, b)
		}
		return h.Get("ETag")
	}
	add("kept", 3)
	primary.CaughtUp(standby)
	standby.Cut()
	record := "/venues/" + idOf(add("lost", 4))
	before := map[*server][2]string{}
	for _, s := range both {
		if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 7.0 {
			t.Fatalf("%v venues before, want 7", got)
		}
		before[s] = [2]string{tag(s, "/venues"), tag(s, record)}
	}
	primary.Kill9()
	standby.Promote()
	proxy.Switch(standby.Addr())

	names := func(s *server) (status int, found map[string]bool) {
		var list struct {
			Venues []struct {
				Venue string `json:"venue"`
			} `json:"venues"`
		}
		status, b := s.try("GET", s.root+"/venues?per_page=50", "", "")
		if status == http.StatusOK {
			if err := json.Unmarshal(b, &list); err != nil {
				t.Fatal(err)
			}
		}
		found = map[string]bool{}
		for _, v := range list.Venues {
			found[v.Venue] = true
		}
		return status, found
	}
	eventually(t, "writes", func() bool {
		status, _ := whole.try("POST", whole.root+"/venues", token, `{"venue":"new"}`)
		return status == http.StatusCreated
	})
	add("new", 5) // past the lost head
	for i, s := range both {
		took := eventually(t, "lists of the present history", func() bool {
			status, found := names(s)
			return status == http.StatusOK && len(found) == 9
		})
		t.Logf("size %d: lists are right after %s", i, took)
		if took > limit {
			t.Errorf("lists took %s", took)
		}
		_, found := names(s)
		for n := range 4 {
			if found[fmt.Sprint("lost ", n)] {
				t.Errorf("size %d lists lost %d", i, n)
			}
		}
		if got := tag(s, "/venues"); got == before[s][0] {
			t.Errorf("size %d: the list has the ETag %s as before", i, got)
		}
		status, h, _ := s.full("GET", s.root+record, token, "", nil)
		if status == http.StatusOK && h.Get("ETag") == before[s][1] {
			t.Errorf("size %d: another record has the ETag %s as before", i, before[s][1])
		}
	}
	left, err := postgres.Open(t.Context(), standby.URL(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = left.Close() }()
	streamIsOf(t, left, nats, feedPrefix)
	mustTool(t, append([]string{"verify"}, store...)...)
	for _, s := range []*server{whole, api, relay, projector} {
		if status := s.drain(); status != exitOK {
			t.Errorf("drained with status %d\n%s", status, s.log())
		}
	}
}
