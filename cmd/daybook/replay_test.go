package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/eventstore/sqlite"
	"daybook/internal/testkit/engines"
)

// TestReplay is HISTORY 20.41: a store that is replayed until a point has the lists of
// as_of at that point, and verifies; a beginning of the log has the same entries.
func TestReplay(t *testing.T) {
	t.Parallel()
	testReplay(t, "--data", filepath.Join(t.TempDir(), "data"))
}

// TestReplayOfServers is HISTORY 20.41 of a store in PostgreSQL.
func TestReplayOfServers(t *testing.T) {
	t.Parallel()
	store, schema := engines.Shared(t, engines.Postgres)
	testReplay(t, "--data", filepath.Join(t.TempDir(), "data"), "--store", store, "--store-schema", schema)
}

func testReplay(t *testing.T, on ...string) {
	t.Helper()
	s := startServer(t, append([]string{"serve"}, on...)...)
	run := func(args ...string) string { return mustTool(t, append(args, on...)...) }
	venue, event := toErase(s)
	v := s.want(201, "POST", "/venues", s.token, `{"venue":"Old Mill"}`)
	e := s.want(201, "POST", "/events", s.token, `{"title":"Concert","start_date":"2026-07-04 18:30:00","end_date":"2026-07-04 19:30:00","venue":`+idOf(v)+`,"tags":["jazz"],"password":"secret"}`)
	s.want(200, "POST", "/events/"+idOf(e), s.token, `{"title":"Quay concert"}`)
	past := s.want(200, "GET", "/events/"+idOf(e)+"/history", s.token, "")["entries"].([]any)[0].(map[string]any)
	position := "position:" + jsonOf(past["position"])
	moment := past["time"].(string)
	// What comes later does not count, but for changes with older times.
	s.want(200, "POST", "/events/"+idOf(e), s.token, `{"title":"Too late","password":"another"}`)
	s.want(200, "POST", "/venues/"+idOf(v), s.token, `{"venue":"New Mill"}`)
	s.want(201, "POST", "/events", s.token, `{"title":"Later","start_date":"2026-07-04 18:30:00","end_date":"2026-07-04 19:30:00"}`)
	s.want(200, "DELETE", event, s.token, "")
	lines := strings.NewReader(`{"action":"create","kind":"event","key":"e1","at":1709290000,"fields":{"title":"Old","start_date":"2026-05-01 19:00","end_date":"2026-05-01 21:00","tags":["open air"]}}
{"action":"update","kind":"event","key":"e1","at":1709290100,"lang":"fr","fields":{"title":"Ancien"}}
`)
	importText(t, lines, on...)
	run("erase", "venue", strings.TrimPrefix(venue, "/venues/"), "--reason", "asked for", "--yes")

	within := t.TempDir()
	lists := func(s *server, more string) map[string]any {
		out := make(map[string]any)
		for path, key := range map[string]string{"/events": "events", "/venues": "venues", "/tags": "tags", "/organizers": "organizers", "/fr/events": "events"} {
			of := s.root + path + "?start_date=2020-01-01&end_date=2030-01-01" + more
			if path == "/fr/events" {
				of = s.root + "/events?multilang_language=fr&start_date=2020-01-01&end_date=2030-01-01" + more
			}
			status, data := s.try("GET", of, s.token, "")
			var list map[string]any
			if err := json.Unmarshal(bytes.ReplaceAll(data, []byte(strings.TrimPrefix(s.host, "http://")), nil), &list); err != nil {
				t.Fatalf("%s: %d %s", of, status, data)
			}
			out[path] = []any{list["total"], list[key]}
		}
		return out
	}
	want := map[string]map[string]any{position: lists(s, "&as_of="+position), moment: lists(s, "&as_of="+moment)}
	if n := len(want[moment]["/events"].([]any)[1].([]any)); n != 3 {
		t.Errorf("%d events at %s, want the imported one and two", n, moment)
	}
	exported := strings.Split(run("export"), "\n")

	// Next to the service, and without it.
	dirs := map[string]string{position: filepath.Join(within, "position"), moment: filepath.Join(within, "moment")}
	out := run("audit", "replay", "--until", position, "--into", dirs[position])
	// The entry that erased a record comes from behind the point.
	if !strings.Contains(out, " entries until "+position) || !strings.Contains(out, "renumbered: from entry ") {
		t.Errorf("replay until %s: %q", position, out)
	}
	for _, args := range [][]string{
		{"--until", "position:99999", "--into", filepath.Join(within, "ahead")},
		{"--until", "version:1", "--into", filepath.Join(within, "version")},
		{"--until", "2999-01-01", "--into", filepath.Join(within, "future")},
		{"--until", position},
		{"--into", filepath.Join(within, "none")},
	} {
		wantTool(t, exitUsage, "", append(append([]string{"audit", "replay"}, args...), on...)...)
	}
	token := s.token
	s.drain()
	if out := run("audit", "replay", "--until", moment, "--into", dirs[moment]); !strings.Contains(out, "renumbered: from entry ") {
		t.Errorf("replay until %s: %q", moment, out)
	}
	for point, dir := range dirs {
		if found, err := os.ReadDir(dir); err != nil || len(found) != 1 {
			t.Errorf("%s holds %v, %v", dir, found, err)
		}
		mustTool(t, "verify", "--data", dir)
		wantTool(t, exitFailed, "must be empty", append([]string{"audit", "replay", "--until", point, "--into", dir}, on...)...)
		if point == position {
			n := int(past["position"].(float64))
			own := strings.Split(mustTool(t, "export", "--data", dir), "\n")
			// Of redacted entries the erasing one has another position.
			same := func(a, b string) bool {
				return a == b || strings.Contains(a, `"redacted"`) && strings.Contains(b, `"redacted"`)
			}
			if len(own) < n+1 || !slices.EqualFunc(exported[1:n+1], own[1:n+1], same) {
				t.Errorf("the first %d entries are others: %s", n, cmp.Diff(exported[1:n+1], own[1:]))
			}
		}
		then := startServer(t, "serve", "--data", dir)
		then.token = token // secrets came along
		if diff := cmp.Diff(want[point], lists(then, "")); diff != "" {
			t.Errorf("lists at %s: %s", point, diff)
		}
		then.drain()
	}
	// What a run that was killed leaves is no store, and is not taken for an empty one.
	left := filepath.Join(within, "killed")
	must(t, os.MkdirAll(filepath.Join(left, "replay-1"), 0o700))
	wantTool(t, exitFailed, "", append([]string{"audit", "replay", "--until", position, "--into", left}, on...)...)
	if _, err := os.Stat(filepath.Join(within, "ahead")); err == nil {
		if found, _ := os.ReadDir(filepath.Join(within, "ahead")); len(found) > 0 {
			t.Errorf("a run that failed left %v", found)
		}
	}
}

func jsonOf(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}

// TestReplayKilled: a replay that is killed, wherever it is, leaves no store; into an empty
// directory the same command then yields the store that one without a kill gives.
func TestReplayKilled(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	on := []string{"--data", filepath.Join(t.TempDir(), "data")}
	var lines bytes.Buffer
	for i := range 1500 {
		fmt.Fprintf(&lines, `{"action":"create","kind":"event","key":"e%d","at":%d,"fields":{"title":"Event %[1]d","start_date":"2026-05-01 19:00","end_date":"2026-05-01 21:00"}}`+"\n", i, 1709290000+i)
	}
	importText(t, &lines, on...)
	replay := func(dir string) []string {
		return append([]string{"audit", "replay", "--until", "position:1200", "--into", dir}, on...)
	}
	within := t.TempDir()
	whole := filepath.Join(within, "whole")
	told := mustTool(t, replay(whole)...)
	want := mustTool(t, "export", "--data", whole)
	killed := 0
	for i, size := range []int64{-1, 1 << 14, 1 << 19} { // bytes of the file when it is killed; -1: there is none
		dir := filepath.Join(within, strconv.Itoa(i))
		begun := func() bool {
			if size < 0 {
				left, _ := os.ReadDir(dir)
				return len(left) > 0
			}
			var sum int64
			files, _ := filepath.Glob(filepath.Join(dir, "replay-*", "*"))
			for _, name := range files {
				if info, err := os.Stat(name); err == nil {
					sum += info.Size()
				}
			}
			return len(files) > 0 && sum >= size
		}
		cmd := child(t.Context(), replay(dir)...)
		must(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for over := false; !over && !begun(); {
			select {
			case err := <-ended:
				over = true
				ended <- err
			case <-time.After(100 * time.Microsecond):
			}
		}
		_ = cmd.Process.Kill() // else it has ended
		err := <-ended
		if _, there := os.Stat(filepath.Join(dir, sqlite.FileName)); there == nil { // then it was whole
			if got := mustTool(t, "export", "--data", dir); got != want {
				t.Errorf("killed at %d bytes: there is a store: %s", size, cmp.Diff(want, got))
			}
		} else if err != nil {
			killed++
			wantTool(t, exitFailed, "must be empty", replay(dir)...)
		}
		must(t, os.RemoveAll(dir))
		if got := mustTool(t, replay(dir)...); got != strings.Replace(told, whole, dir, 1) {
			t.Errorf("killed at %d bytes: again %q, want %q", size, got, told)
		}
		if got := mustTool(t, "export", "--data", dir); got != want {
			t.Errorf("killed at %d bytes: another store: %s", size, cmp.Diff(want, got))
		}
		mustTool(t, "verify", "--data", dir)
	}
	if killed < 2 {
		t.Errorf("only %d of 3 were killed before their end", killed)
	}

	// A store that comes into the directory meanwhile stays.
	dir := filepath.Join(within, "taken")
	other := filepath.Join(dir, sqlite.FileName)
	cmd := child(t.Context(), replay(dir)...)
	must(t, cmd.Start())
	for left := []os.DirEntry(nil); len(left) == 0; <-time.After(100 * time.Microsecond) {
		left, _ = os.ReadDir(dir)
	}
	must(t, cmd.Process.Signal(syscall.SIGSTOP))
	must(t, os.WriteFile(other, []byte("other"), 0o600))
	must(t, cmd.Process.Signal(syscall.SIGCONT))
	err := cmd.Wait()
	if kept, readErr := os.ReadFile(other); err == nil || readErr != nil || string(kept) != "other" {
		t.Errorf("next to another store: %v, which holds %.20q, %v", err, kept, readErr)
	}
}
