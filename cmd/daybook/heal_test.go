package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/internal/testkit/engines"
)

// eachSearch runs a test on each search server, with the settings that name it.
func eachSearch(t *testing.T, run func(t *testing.T, index, prefix string, on []string)) {
	t.Helper()
	for _, flavour := range engines.SearchServers() {
		t.Run(flavour, func(t *testing.T) {
			t.Parallel()
			index, prefix := engines.Shared(t, flavour)
			run(t, index, prefix, []string{"--index", index, "--index-prefix", prefix, "--index-flavour", flavour})
		})
	}
}

// TestFaultsOfTheIndex: while an index is closed lists are 503, health says so, operators
// read the reason of the server and clients do not; where an index takes no writes, nothing
// that is written meanwhile is quarantined, and lists have it once the cause is gone. What
// somebody deletes of the read model is made again from the store, and no list is short meanwhile.
func TestFaultsOfTheIndex(t *testing.T) {
	t.Parallel()
	eachSearch(t, func(t *testing.T, index, prefix string, on []string) {
		t.Helper()
		data := []string{"--data", filepath.Join(t.TempDir(), "data")}
		server := startServer(t, slices.Concat([]string{"serve"}, data, on)...)
		n, refused := 0, 0
		create := func() {
			t.Helper()
			server.want(201, "POST", "/events", server.token, concert)
			n++
		}
		ask := func(method, path, body string) []byte {
			t.Helper()
			status, b := server.try(method, index+"/"+path, "", body)
			if status >= 300 {
				t.Fatalf("%s %s: %d %s", method, path, status, b)
			}
			return b
		}
		// indices returns the present ones whose names contain a part.
		indices := func(part string) string {
			t.Helper()
			var found map[string]json.RawMessage
			must(t, json.Unmarshal(ask("GET", prefix+"-*/_alias", ""), &found))
			maps.DeleteFunc(found, func(name string, _ json.RawMessage) bool { return !strings.Contains(name, part) })
			return strings.Join(slices.Sorted(maps.Keys(found)), ",")
		}
		// whole reports whether a list has all events, another list each time: answers are kept.
		asked := 0
		whole := func() bool {
			t.Helper()
			asked++
			status, header, b := server.full("GET", fmt.Sprint(server.root, "/events?per_page=", 1+asked%50), server.token, "", nil)
			if status == 503 {
				refused++
				if header.Get("Retry-After") == "" || !strings.Contains(string(b), `"rest_unavailable"`) || strings.Contains(string(b), "closed") {
					t.Errorf("refused with %v %s", header, b)
				}
				return false
			}
			if status != 200 || !strings.Contains(string(b), fmt.Sprintf(`"total":%d,`, n)) {
				t.Fatalf("a list of %d events: %d %.300s", n, status, b)
			}
			return true
		}
		for range 3 {
			create()
		}
		eventually(t, "lists", whole)
		events := indices("-events-")
		for reason, harm := range map[string]struct{ do, undo [3]string }{
			"index_closed_exception": {[3]string{"POST", events + "/_close"}, [3]string{"POST", events + "/_open"}},
			"no write index is defined for alias": {
				[3]string{"PUT", events + "-other", `{"aliases":{"` + events + `-write":{}},"settings":{"number_of_replicas":0}}`},
				[3]string{"DELETE", events + "-other"},
			},
			"does not exist": {
				[3]string{"PUT", events + "/_settings", `{"index.default_pipeline":"` + prefix + `-none"}`},
				[3]string{"PUT", events + "/_settings", `{"index.default_pipeline":null}`},
			},
		} {
			ask(harm.do[0], harm.do[1], harm.do[2])
			if reason == "index_closed_exception" {
				if whole() {
					t.Error("a list of a closed index")
				}
				eventually(t, reason+" in the log", func() bool { return strings.Contains(server.log(), reason) })
				if v := server.state(); v["status"] != "degraded" || v["why"] != "read model unavailable" {
					t.Errorf("health: %v", v)
				}
			}
			create()
			eventually(t, reason+" in health", func() bool {
				out, _, status := tool(t, nil, slices.Concat([]string{"health"}, data)...)
				return status == exitFailed && strings.Contains(out, "status: "+"degraded") && strings.Contains(out, reason)
			})
			if v := server.state(); strings.Contains(fmt.Sprint(v), reason) || v["quarantined"] != 0.0 {
				t.Errorf("%s: everybody reads %v", reason, v)
			}
			ask(harm.undo[0], harm.undo[1], harm.undo[2])
			eventually(t, "health after "+reason, func() bool { return server.state()["status"] == "ok" })
			eventually(t, "lists after "+reason, whole)
		}

		for name, deleted := range map[string]func() string{
			"all indices":         func() string { return indices("") },
			"the index of a kind": func() string { return indices("-events-") },
			"the state":           func() string { return indices("-state-") },
			"an alias":            func() string { return indices("-state-") + "/_alias/" + prefix + "-state" },
			"another kind":        func() string { return indices("-tags-") },
		} {
			before := indices("-state-")
			refused = 0
			ask("DELETE", deleted(), "")
			took := eventually(t, name, func() bool {
				now := indices("-state-")
				return whole() && now != before && now != "" && !strings.Contains(now, ",")
			})
			t.Logf("%s: healed after %s, %d lists refused", name, took, refused)
			if refused == 0 && name != "another kind" { // lists of events may not notice
				t.Errorf("%s: no list was refused", name)
			}
			create()
			eventually(t, "the next event", whole)
		}
		server.ends()
	})
}

// TestIndexCutOff: a read model whose making is cut off before its first document does not
// block the next start, nor the next rebuild.
func TestIndexCutOff(t *testing.T) {
	t.Parallel()
	eachSearch(t, func(t *testing.T, index, _ string, on []string) {
		t.Helper()
		target, err := url.Parse(index)
		must(t, err)
		pass := httputil.NewSingleHostReverseProxy(target)
		var refused atomic.Int64
		front := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			if strings.HasSuffix(request.URL.Path, "/_bulk") {
				refused.Add(1)
				send(writer, 503, productHeader(), []byte(`{"error":{"type":"unavailable","reason":"y"},"status":503}`))
				return
			}
			pass.ServeHTTP(writer, request)
		}))
		defer front.Close()
		through := slices.Clone(on)
		through[1] = front.URL
		data := []string{"--data", filepath.Join(t.TempDir(), "data")}

		cmd := child(t.Context(), slices.Concat([]string{"serve", "--listen", "127.0.0.1:0"}, data, through)...)
		server := beginServerOf(t, cmd, "", cmd.Env)
		token := server.token
		eventually(t, "a read model without a document", func() bool { return refused.Load() > 0 })
		server.kill()

		lists := func() {
			t.Helper()
			cmd := child(t.Context(), slices.Concat([]string{"serve", "--listen", "127.0.0.1:0"}, data, on)...)
			server := beginServerOf(t, cmd, "", cmd.Env)
			eventually(t, "lists", func() bool {
				status, _ := server.try("GET", server.root+"/events", token, "")
				return status == 200
			})
			server.drain()
		}
		lists()
		if out, _, status := tool(t, nil, slices.Concat([]string{"rebuild"}, data, through)...); status == exitOK {
			t.Errorf("rebuild without writes: %s", out)
		}
		if out := mustTool(t, slices.Concat([]string{"rebuild"}, data, on)...); !strings.Contains(out, "agrees") {
			t.Errorf("rebuild: %q", out)
		}
		lists()
	})
}

// TestSearchHangs: while a search server takes connections and answers nothing, lists of that
// moment are 503 within the time of one request to it, and later ones immediately, no matter who
// asks; everything else goes on.
func TestSearchHangs(t *testing.T) {
	t.Parallel()
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	between := engines.NewProxy(t, index)
	server := startServer(t, "serve", "--data", t.TempDir(), "--index", between.URL, "--index-prefix", prefix)
	made := server.want(201, "POST", "/events", server.token, concert)
	server.want(200, "GET", "/events", server.token, "")
	lists := func(within time.Duration) {
		t.Helper()
		var clients sync.WaitGroup
		for i := range 10 {
			clients.Go(func() {
				token := []string{server.token, ""}[i%2]
				began := time.Now()
				status, header, data := server.full("GET", server.root+"/events?per_page="+strconv.Itoa(i+1), token, "", nil)
				if status != 503 || header.Get("Retry-After") == "" {
					t.Errorf("a list: %d %.200s, want 503 to be tried again", status, data)
				}
				if took := time.Since(began); took > within {
					t.Errorf("a list with token %t took %s, want at most %s", token != "", took, within)
				}
			})
		}
		clients.Wait()
	}
	between.Swallow(true)
	<-time.After(1100 * time.Millisecond) // lists without credentials may be so old
	lists(8 * time.Second)
	lists(3 * time.Second)
	server.want(200, "GET", "/events/"+idOf(made), "", "")
	server.want(201, "POST", "/venues", server.token, `{"venue":"Hall"}`)
	between.Swallow(false)
	eventually(t, "lists", func() bool {
		status, _ := server.try("GET", server.root+"/venues", server.token, "")
		return status == 200
	})
}

// TestSecuredIndex: --index-ca and --index-api-key-file, and credentials in the
// URL, reach a server that asks for them; what is printed has no secret.
func TestSecuredIndex(t *testing.T) {
	t.Parallel()
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	byKey, byUser := engines.NewSecured(t, index, "ApiKey a2V5"), engines.NewSecured(t, index, "Basic YWRhOmhpZGRlbg==") // ada:hidden
	data := filepath.Join(dir, "data")
	on := []string{"--data", data, "--index-prefix", prefix}
	with := append([]string{"--index", byKey.URL, "--index-ca", file("key.pem", string(byKey.CA)), "--index-api-key-file", file("key", "a2V5\n")}, on...)
	server := startServer(t, append([]string{"serve"}, with...)...)
	server.want(201, "POST", "/events", server.token, concert)
	if got := server.want(200, "GET", "/events", server.token, "")["total"]; got != 1.0 {
		t.Errorf("%v events, want 1", got)
	}
	server.drain()
	if byKey.Taken.Load() == 0 || byKey.Refused.Load() != 0 {
		t.Errorf("%d requests with the key, %d without", byKey.Taken.Load(), byKey.Refused.Load())
	}
	user := strings.Replace(byUser.URL, "https://", "https://ada:hidden@", 1)
	with = append([]string{"--index", user, "--index-ca", file("user.pem", string(byUser.CA))}, on...)
	if out := mustTool(t, append([]string{"rebuild"}, with...)...); !strings.Contains(out, "agrees") {
		t.Errorf("rebuild: %q", out)
	}
	if byUser.Taken.Load() == 0 || byUser.Refused.Load() != 0 {
		t.Errorf("%d requests with the password, %d without", byUser.Taken.Load(), byUser.Refused.Load())
	}
	// Another password, and what is printed has none; another authority is a test of the package.
	with[1] = strings.Replace(user, "ada", "eve", 1)
	if out, errText, status := tool(t, nil, append([]string{"rebuild"}, with...)...); status != exitFailed || strings.Contains(out+errText, "hidden") {
		t.Errorf("status %d and %q", status, out+errText)
	}
	if strings.Contains(server.log(), "a2V5") {
		t.Error("the key stands in the log")
	}
}
