package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/internal/demo"
)

const concert = `{"title":"Quay concert","start_date":"tomorrow 7pm","end_date":"tomorrow 9pm","venue":{"venue":"River Hall"}}`

// TestServeWaitsForCommand: a command that holds the data directory is waited for, and
// named when it goes on for too long.
func TestServeWaitsForCommand(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]time.Duration{"one that ends": time.Second, "one that goes on": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			lock, err := lockData(data, false, "import")
			must(t, err)
			end := time.AfterFunc(held, func() { _ = lock.Close() })
			if held < holderWait {
				startServer(t, "serve", "--data", data)
				return
			}
			defer func() { end.Stop(); _ = lock.Close() }()
			_, text, status := tool(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
			holder := fmt.Sprintf("is in use by process %d (daybook import)", os.Getpid())
			if status != exitFailed || strings.Count(text, holder) != 2 || strings.Count(text, "waiting for the data directory") != 1 {
				t.Errorf("status %d, want %q in one line of the log and in the message:\n%s", status, holder, text)
			}
		})
	}
}

// TestMigrateWaitsForCommand: migrate --to waits as well, and names the command.
func TestMigrateWaitsForCommand(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mustTool(t, "user", "add", "--data", data, "--role", "editor", "ann")
	lock, err := lockData(data, false, "import")
	must(t, err)
	defer func() { _ = lock.Close() }()
	begun := time.Now()
	wantTool(t, exitFailed, fmt.Sprintf("is in use by process %d (daybook import)", os.Getpid()), "migrate", "--data", data, "--to", "postgres://127.0.0.1:1/none")
	if took := time.Since(begun); took < holderWait {
		t.Errorf("it waited for %s, want %s", took, holderWait)
	}
}

// TestDemo looks at the harbor town as it was announced, in a zone of somebody else.
func TestDemo(t *testing.T) {
	t.Parallel()
	server := startServer(t, "demo", "--timezone", "Europe/Rome")
	list := server.want(200, "GET", "/events?start_date=-1%20year&per_page=100", "", "")
	if got := list["total"]; got != float64(demo.Events) {
		t.Errorf("got %v events, want %d", got, demo.Events)
	}
	for query, least := range map[string]float64{
		"":                                   150,
		"?end_date=now&start_date=-1%20year": 100,
		"?geoloc_lat=44.1&geoloc_lng=-69.1&geoloc_radius=5&featured=true": 3,
		"?event_status=cancelled,postponed":                               2,
		"?categories=music":                                               20, // those of the categories below it
	} {
		if got := server.want(200, "GET", "/events"+query, "", "")["total"].(float64); got < least {
			t.Errorf("%q: %v events, want at least %v", query, got, least)
		}
	}
	// The pictures come from here, and pages show them.
	size, pictures := 0, map[string]bool{}
	for _, value := range list["events"].([]any) {
		image, ok := value.(map[string]any)["image"].(map[string]any)
		if !ok || pictures[image["url"].(string)] {
			continue
		}
		pictures[image["url"].(string)] = true
		status, header, data := server.full("GET", image["url"].(string), "", "", nil)
		if size += len(data); status != 200 || header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%v: %d %s", image, status, header.Get("Content-Type"))
		}
	}
	if len(pictures) < 10 || size > 1<<20 {
		t.Errorf("%d pictures of %d bytes", len(pictures), size)
	}
	if _, data := server.try("GET", server.host+"/", "", ""); !strings.Contains(string(data), `src="`+server.host+`/pictures/`) {
		t.Error("the home page shows none of them")
	}
	// What was announced besides: an event that was moved, and the password of another one.
	told := regexp.MustCompile(`protected: (/\S+) opens with the password "(.+)"\n(?s:.*)export R=\S+ TOKEN=(\S+) ID=(\d+)\n`).FindStringSubmatch(server.announced)
	if told == nil {
		t.Fatalf("announced:\n%s", server.announced)
	}
	if status, data := server.try("POST", server.host+told[1], "", ""); status != 403 {
		t.Errorf("without a password: %d %s", status, data)
	}
	if status, _, data := server.full("POST", server.host+told[1], "", "password="+url.QueryEscape(told[2]), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}); status != 200 {
		t.Errorf("with the password: %d %s", status, data)
	}
	actors, reasons := map[any]bool{}, 0
	for _, value := range server.want(200, "GET", "/events/"+told[4]+"/history", told[3], "")["entries"].([]any) {
		e := value.(map[string]any)
		actors[e["actor"].(map[string]any)["name"]] = true
		if e["reason"] != nil {
			reasons++
		}
	}
	if len(actors) < 3 || reasons < 3 {
		t.Errorf("its history has %v and %d reasons", actors, reasons)
	}
	server.ends()
}

// TestRepeatedAfterARestart: a repeated request gets status, position and record of the
// first answer from another process too, whatever changed meanwhile, also after a kill;
// what it links to is that of now, and so are the links.
func TestRepeatedAfterARestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	server := startServer(t, "serve", "--data", data)
	token := server.token
	send := func(key string) (http.Header, map[string]any) {
		t.Helper()
		status, h, b := server.full("POST", server.root+"/events", token,
			`{"title":"Concert","start_date":"2030-05-01","end_date":"2030-05-01","venue":{"venue":"Hall"},"tags":"loud","categories":["art","open air"]}`,
			map[string]string{"Idempotency-Key": key})
		if status != 201 {
			t.Fatalf("%s: %d %s", key, status, b)
		}
		var body map[string]any
		must(t, json.Unmarshal(b, &body))
		if location := fmt.Sprintf("%s/events/%s", server.root, idOf(body)); h.Get("Location") != location {
			t.Errorf("%s: Location %s, want %s", key, h.Get("Location"), location)
		}
		return h, body
	}
	wasHeader, was := send("first")
	for _, name := range []string{"drained", "killed"} {
		if name == "killed" {
			server.kill()
		} else {
			server.drain()
		}
		server = startServer(t, "serve", "--data", data)
		for _, collection := range []string{"venues", "tags", "categories", "events"} {
			list := server.want(200, "GET", "/"+collection+"?hide_empty=0", token, "")
			for _, value := range list[collection].([]any) {
				server.want(200, "PATCH", "/"+collection+"/"+idOf(value.(map[string]any)), token, fmt.Sprintf(`{"description":%q}`, name))
			}
		}
		header, is := send("first")
		if header.Get("Idempotency-Replayed") != "true" || header.Get("Daybook-Position") != wasHeader.Get("Daybook-Position") {
			t.Errorf("%s: %v", name, header)
		}
		for _, field := range []string{"id", "title", "description", "modified", "slug"} {
			if diff := cmp.Diff(was[field], is[field]); diff != "" {
				t.Errorf("%s: %s (-first +again):\n%s", name, field, diff)
			}
		}
		if is["venue"].(map[string]any)["description"] != "<p>"+name+"</p>" {
			t.Errorf("%s: venue %v", name, is["venue"])
		}
	}
}

// TestLongRequestLine: long lines get the answer of the interface, which other origins may
// read; headers beyond 64 KiB are refused.
func TestLongRequestLine(t *testing.T) {
	t.Parallel()
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	for _, n := range []int{17 << 10, 60 << 10, 255 << 10} {
		if got := server.want(414, "GET", "/events?search="+strings.Repeat("x", n), "", ""); got["code"] != "rest_uri_too_long" {
			t.Errorf("%d bytes: got %v", n, got)
		}
	}
	get := func(query, header string) (status int, headers http.Header) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.root+"/events"+query, nil)
		must(t, err)
		request.Header.Set("Origin", "https://elsewhere.example")
		request.Header.Set("X-Long", header)
		res, err := http.DefaultClient.Do(request)
		must(t, err)
		must(t, res.Body.Close())
		return res.StatusCode, res.Header
	}
	if status, headers := get("?search="+strings.Repeat("x", 200<<10), ""); headers.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("line of 200 KiB: got %d, headers %v", status, headers)
	}
	if status, _ := get("", strings.Repeat("x", 60<<10)); status != http.StatusOK {
		t.Errorf("headers of 60 KiB: got %d", status)
	}
	for _, n := range []int{65 << 10, 100 << 10} {
		if status, _ := get("", strings.Repeat("x", n)); status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("headers of %d bytes: got %d", n, status)
		}
	}
}
