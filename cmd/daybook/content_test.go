package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
)

// TestListsOfAnotherContent: retry, rebuild and rebuild --back change what the read
// model holds while its position stays. A list and a question with the ETag from before
// show it: at once in the process that does it, soon in all others.
func TestListsOfAnotherContent(t *testing.T) {
	t.Parallel()
	const venue = `{"venue":"as it was"}`
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		data := filepath.Join(t.TempDir(), "data")
		s := startServer(t, "serve", "--data", data)
		id := idOf(s.want(201, "POST", "/venues", s.token, venue))
		s.drain()
		store, err := sqlite.Open(t.Context(), data, sqlite.Options{})
		must(t, err)
		spoil(t, store, id)
		must(t, store.Close())
		s = startServer(t, "serve", "--data", data)
		otherContents(t, []*server{s}, id, true, func(command []string) { mustTool(t, append(command, "--data", data)...) })
	})
	t.Run("on servers", func(t *testing.T) {
		t.Parallel()
		size := newSize(t)
		var apis [2]*server
		var group sync.WaitGroup
		for i := range apis {
			group.Go(func() { apis[i] = size.serve("api") })
		}
		for _, role := range []string{"relay", "projector"} {
			group.Go(func() { size.serve(role) })
		}
		group.Wait()
		if t.Failed() {
			return
		}
		id := idOf(apis[0].want(201, "POST", "/venues", apis[0].token+apis[1].token, venue))
		store, err := postgres.Open(t.Context(), size.args[1], postgres.Options{Schema: size.args[3]})
		must(t, err)
		spoil(t, store, id)
		must(t, store.Close())
		otherContents(t, apis[:], id, false, func(command []string) { mustTool(t, size.on(command, "store", "index")...) })
	})
}

// spoil gives a venue a version that cannot be read, and a mended one after it, which
// waits behind it.
func spoil(t *testing.T, store eventstore.Store, of string) {
	t.Helper()
	id, ok := calendar.ParseID(of)
	if !ok {
		t.Fatalf("%q is no id", of)
	}
	now, err := store.Load(t.Context(), id)
	must(t, err)
	rec, err := calendar.DecodeRecord(now[0].Record)
	must(t, err)
	rec.Version += 2
	var name calendar.Text
	name[rec.Home] = "mended"
	rec.Fields["venue"] = name
	mended, err := calendar.EncodeRecord(rec)
	must(t, err)
	for i, state := range [][]byte{[]byte(`{"broken":true}`), mended} {
		res := store.Append(t.Context(), eventstore.Append{Time: rec.Changed, Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
			Kind:    rec.Kind,
			ID:      id,
			Version: now[0].Version + int64(i) + 1,
			Change:  "venue.updated",
			Fields:  []byte(`{}`),
			State:   state,
		}}}})
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
}

// otherContents changes what the read model holds of a spoiled venue, and looks at the
// list of the servers.
func otherContents(t *testing.T, servers []*server, id string, atOnce bool, do func(command []string)) {
	t.Helper()
	const path = "/venues?per_page=7"
	list := func(s *server, tag string) (status int, h http.Header, body string) {
		t.Helper()
		header := map[string]string{}
		if tag != "" {
			header["If-None-Match"] = tag
		}
		status, h, data := s.full("GET", s.root+path, "", "", header)
		return status, h, string(data)
	}
	const before, after = `"venue":"as it was"`, `"venue":"mended"`
	shows := before
	for _, s := range servers {
		eventually(t, "the quarantine", func() bool {
			v := s.state()
			return v["quarantined"] == 1.0 && v["visible"] == v["head"]
		})
	}
	for _, c := range []struct {
		command []string
		shows   string
	}{
		{[]string{"rebuild"}, after},
		{[]string{"rebuild", "--back"}, before},
		{[]string{"retry", id}, after},
	} {
		name := strings.Join(c.command, " ")
		tags, at := make([]string, len(servers)), ""
		for i, s := range servers {
			status, h, body := list(s, "")
			tags[i], at = h.Get("ETag"), h.Get("Daybook-Position")
			if status != 200 || !strings.Contains(body, shows) || tags[i] == "" {
				t.Fatalf("before %s: %d with the ETag %q, want %s in %s", name, status, tags[i], shows, body)
			}
			if status, _, body := list(s, tags[i]); status != 304 {
				t.Fatalf("before %s: the list with its own ETag: %d %s", name, status, body)
			}
		}
		do(c.command)
		from := time.Now()
		for i, s := range servers {
			status, h, body := list(s, tags[i])
			if !atOnce {
				eventually(t, "another list after "+name, func() bool {
					status, h, body = list(s, tags[i])
					return status != 304
				})
			}
			if status != 200 || !strings.Contains(body, c.shows) || h.Get("ETag") == tags[i] {
				t.Fatalf("after %s: %d with the ETag %s after %s, want %s in %s", name, status, h.Get("ETag"), tags[i], c.shows, body)
			}
			if _, _, whole := list(s, ""); whole != body {
				t.Errorf("after %s the list without an ETag is %s, with one %s", name, whole, body)
			}
			if h.Get("Daybook-Position") != at {
				t.Errorf("after %s the list is at %s, before at %s", name, h.Get("Daybook-Position"), at)
			}
			t.Logf("%s: list %d shows it after %s", name, i, time.Since(from).Round(time.Millisecond))
		}
		shows = c.shows
	}
	for _, s := range servers {
		eventually(t, "the end of the quarantine", func() bool { return s.state()["status"] == "ok" })
	}
}
