package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/engines"
)

// filesWith returns the files below directories that hold a word, in any case.
func filesWith(t *testing.T, word string, dirs ...string) []string {
	t.Helper()
	var found []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return skipGone(err)
			}
			data, err := os.ReadFile(path)
			if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(word))) {
				found = append(found, path)
			}
			return skipGone(err)
		})
		must(t, err)
	}
	return found
}

// skipGone passes over what a server removed meanwhile.
func skipGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// secretWords stand in the record that is erased, in this order of its versions, and in
// nothing else.
var secretWords = []string{"Xylqorvanth", "Wubbrizzek", "Qophtalline"}

// toErase makes a venue in three versions with an image of its own, an event at it, and
// gives their paths.
func toErase(server *server) (venue, event string) {
	v := server.want(201, "POST", "/venues", server.token, fmt.Sprintf(`{"venue":"%s House","address":"%[1]s lane 7","image":"https://pictures.example/%[1]s.png"}`, secretWords[0]))
	venue = "/venues/" + idOf(v)
	server.want(200, "POST", venue, server.token, fmt.Sprintf(`{"venue":"%s House","description":"%[1]s was here"}`, secretWords[1]))
	server.want(200, "POST", venue, server.token, fmt.Sprintf(`{"venue":"%s House","slug":"%[1]s-slug"}`, secretWords[2]))
	e := server.want(201, "POST", "/events", server.token, fmt.Sprintf(`{"title":"Stays","start_date":"2026-07-04 18:30:00","end_date":"2026-07-04 19:30:00","venue":%s}`, idOf(v)))
	return venue, "/events/" + idOf(e)
}

// busy writes and reads until it is stopped, and fails the test when an answer is not
// one that the requests may get.
func busy(t *testing.T, server *server) (stop func()) {
	t.Helper()
	var ended atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for n := 0; !ended.Load(); n++ {
			<-time.After(5 * time.Millisecond)
			if status, data := server.try("POST", server.root+"/tags", server.token, fmt.Sprintf(`{"name":"beside %d"}`, n)); status != 201 {
				t.Errorf("a write beside the erasure: %d %s", status, data)
				return
			}
		}
	})
	group.Go(func() {
		for !ended.Load() {
			if status, data := server.try("GET", server.root+"/venues?per_page=50", "", ""); status != 200 {
				t.Errorf("a read beside the erasure: %d %s\n%s", status, data, server.log())
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	})
	return func() { ended.Store(true); group.Wait() }
}

// wantErased looks at what is left of the venue for clients: HISTORY 20.35, 20.36.
func wantErased(t *testing.T, server *server, venue, event string) {
	t.Helper()
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		status, data := server.try(method, server.root+venue, server.token, `{"venue":"again"}`)
		if status != 410 || !bytes.Contains(data, []byte("rest_record_erased")) {
			t.Errorf("%s %s: %d %s, want 410 rest_record_erased", method, venue, status, data)
		}
	}
	if status, data := server.try("GET", server.root+"/venues/by-slug/"+strings.ToLower(secretWords[2])+"-slug", "", ""); status != 404 {
		t.Errorf("by slug: %d %s, want 404", status, data)
	}
	got := server.want(200, "GET", event, "", "")
	if v, _ := json.Marshal(got["venue"]); !bytes.Equal(v, []byte(`[]`)) {
		t.Errorf("the event shows the venue %s, want none", v)
	}
	server.want(200, "POST", event, server.token, `{"title":"Stays so"}`)
	eventually(t, "lists without the venue", func() bool {
		status, data := server.try("GET", server.root+"/venues?per_page=50&search="+secretWords[2], "", "")
		return status == 200 && bytes.Contains(data, []byte(`"total":0`))
	})
	for _, path := range []string{"/venues?per_page=50", "/events", event, "/venues?status=trash"} {
		if _, data := server.try("GET", server.root+path, server.token, ""); hasSecret(data) {
			t.Errorf("%s tells of what was erased: %s", path, data)
		}
	}
}

func hasSecret(data []byte) bool {
	for _, word := range secretWords {
		if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(word))) {
			return true
		}
	}
	return false
}

// TestErase is HISTORY 20.34 on the embedded size: after erase no word of the record is
// in the raw bytes of any file, while others write and read. The slug can be taken.
func TestErase(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	venue, event := toErase(server)
	token := server.token
	// So that a snapshot and a former one hold it.
	server.drain()
	server = startServer(t, "serve", "--data", data, "--drain-delay", "0s")
	server.token = token
	mustTool(t, "rebuild", "--data", data)
	mustTool(t, "rebuild", "--data", data)
	if len(filesWith(t, secretWords[2], data)) == 0 {
		t.Fatal("no file holds the word before, so that none does afterwards would say nothing")
	}
	kind, id, _ := strings.Cut(strings.TrimPrefix(venue, "/"), "/")
	wantTool(t, exitUsage, "--yes", "erase", "venue", id, "--data", data, "--reason", "asked for")
	wantTool(t, exitFailed, "The venue was not found", "erase", "venue", "999999", "--data", data, "--reason", "asked for", "--yes")
	stop := busy(t, server)
	out := mustTool(t, "erase", "venue", id, "--data", data, "--reason", "asked for by its owner", "--yes", "--by", "admin")
	stop()
	for _, want := range []string{"is erased at position", "is erased with it", "done      event store", "done      read model", "operator  backups", "/" + kind + "/" + id} {
		if !strings.Contains(out, want) {
			t.Errorf("erase says %q, want %q in it", out, want)
		}
	}
	wantErased(t, server, venue, event)
	for _, word := range secretWords {
		if found := filesWith(t, word, data); len(found) > 0 {
			t.Errorf("%s is in %v while it serves", word, found)
		}
	}
	again := mustTool(t, "erase", "venue", id, "--data", data, "--reason", "again", "--yes", "--json")
	var told struct {
		Before bool    `json:"before"`
		Places []place `json:"places"`
	}
	if err := json.Unmarshal([]byte(again), &told); err != nil || !told.Before || len(told.Places) == 0 {
		t.Errorf("erased again: %s, %v", again, err)
	}
	taken := server.want(201, "POST", "/venues", server.token, fmt.Sprintf(`{"venue":"Other","slug":"%s-slug"}`, secretWords[2]))
	if got := taken["slug"]; got != strings.ToLower(secretWords[2])+"-slug" {
		t.Errorf("the slug of an erased venue cannot be taken: %v", got)
	}
	server.want(200, "DELETE", "/venues/"+idOf(taken), server.token, "")
	mustTool(t, "erase", "venue", idOf(taken), "--data", data, "--reason", "its slug is the word", "--yes")
	server.ends()
	for _, word := range secretWords {
		if found := filesWith(t, word, data); len(found) > 0 {
			t.Errorf("%s is in %v after the end", word, found)
		}
	}
	mustTool(t, "verify", "--data", data)
}

// TestEraseNamesReasons: a reason that was given with a create stays in the entries of
// what was created with it, and the command says where, when it is run again too.
func TestEraseNamesReasons(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	const dates = `"start_date":"2026-07-04 18:30:00","end_date":"2026-07-04 19:30:00"`
	e := server.want(201, "POST", "/events", server.token, `{"title":"Party",`+dates+`,"venue":{"venue":"Old Mill"},"reason":"asked by Ann"}`)
	server.want(200, "POST", "/events/"+idOf(e), server.token, `{"title":"Later","reason":"of this one alone"}`)
	plain := server.want(201, "POST", "/events", server.token, `{"title":"Plain",`+dates+`,"venue":{"venue":"New Mill"}}`)
	want := fmt.Sprintf("operator  reason in the history of venue %s, version 1\n", idOf(e["venue"].(map[string]any)))
	for range 2 {
		out := mustTool(t, "erase", "event", idOf(e), "--data", data, "--reason", "asked for", "--yes")
		if !strings.Contains(out, want) || strings.Count(out, "reason in") != 1 {
			t.Errorf("erase says %q, want %q once", out, want)
		}
	}
	if out := mustTool(t, "erase", "event", idOf(plain), "--data", data, "--reason", "asked for", "--yes"); strings.Contains(out, "reason in") {
		t.Errorf("without a reason erase says %q", out)
	}
}

// What caches between may hold of a record is named by its URLs; a term has no slug route.
func TestErasedURLs(t *testing.T) {
	t.Parallel()
	settings := &config{AddressOptions: AddressOptions{BaseURL: "https://calendar.example.org", APIPrefix: "api"}}
	const root = "https://calendar.example.org/fr/api/calendar/events/v1/"
	for kind, want := range map[calendar.Kind][]string{
		calendar.KindVenue: {root + "venues/8", root + "venues/by-slug/a%20b"},
		calendar.KindTag:   {root + "tags/8"},
		calendar.KindUser:  nil,
	} {
		got := slices.DeleteFunc(settings.urlsOf(kind, 8, []string{"a b"}), func(text string) bool { return !strings.Contains(text, "/fr/") })
		if !slices.Equal(got, want) {
			t.Errorf("URLs of a %s: got %v, want %v", kind, got, want)
		}
	}
}

// TestEraseKilled: an erasure that is killed at any moment is finished by the same
// command.
func TestEraseKilled(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	data := filepath.Join(t.TempDir(), "data")
	token := ""
	for _, after := range []time.Duration{0, 60 * time.Millisecond, 400 * time.Millisecond} {
		server := startServer(t, "serve", "--data", data)
		token = cmp.Or(token, server.token) // shown by the first one
		server.token = token
		venue, event := toErase(server)
		_, id, _ := strings.Cut(strings.TrimPrefix(venue, "/"), "/")
		mustTool(t, "rebuild", "--data", data)
		command := []string{"erase", "venue", id, "--data", data, "--reason", "asked for", "--yes"}
		ctx, end := context.WithCancel(t.Context())
		cut := child(ctx, command...)
		must(t, cut.Start())
		eventually(t, "the erasure", func() bool {
			status, _ := server.try("GET", server.root+venue, "", "")
			return status == 410
		})
		<-time.After(after) // where it is then, is of no account
		server.kill()
		end()
		_ = cut.Wait()
		server = startServer(t, "serve", "--data", data)
		server.token = token
		mustTool(t, command...)
		wantErased(t, server, venue, event)
		for _, word := range secretWords {
			if found := filesWith(t, word, data); len(found) > 0 {
				t.Errorf("killed %s after it was erased and run again: %s is in %v", after, word, found)
			}
		}
		server.drain()
		mustTool(t, "verify", "--data", data)
	}
}

// TestEraseOnServers is HISTORY 20.34 on servers: the files of NATS and of the search
// server hold no word any more; those of PostgreSQL are a test of its package.
func TestEraseOnServers(t *testing.T) {
	t.Parallel()
	size := newSize(t)
	var dirs []string
	for _, name := range []string{engines.NATS, engines.Elasticsearch} {
		variable := "DAYBOOK_TEST_" + strings.ToUpper(name) + "_DIR"
		if os.Getenv(variable) == "" {
			engines.Require(t, name, variable+" is not set (deploy/engines/status prints it for an engine that it started)")
		}
		dirs = append(dirs, os.Getenv(variable))
	}
	server := size.serve("all")
	venue, event := toErase(server)
	eventually(t, "lists with the venue", func() bool {
		status, data := server.try("GET", server.root+"/venues?search="+secretWords[2], "", "")
		return status == 200 && bytes.Contains(data, []byte(`"total":1`))
	})
	mustTool(t, size.on([]string{"rebuild"}, "store", "index")...)
	_, id, _ := strings.Cut(strings.TrimPrefix(venue, "/"), "/")
	stop := busy(t, server)
	out := mustTool(t, size.on([]string{"erase", "venue", id, "--reason", "asked for", "--yes"}, "store", "feed", "index")...)
	stop()
	if !strings.Contains(out, "operator  files of the database: daybook erase --compact") {
		t.Errorf("erase says %q", out)
	}
	wantErased(t, server, venue, event)
	for _, word := range secretWords {
		eventually(t, word+" out of the files of the engines", func() bool { return len(filesWith(t, word, dirs...)) == 0 })
	}
	mustTool(t, size.on([]string{"erase", "--compact"}, "store")...)
	mustTool(t, size.on([]string{"verify"}, "store")...)
}
