package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"daybook/internal/testkit/engines"
)

// TestLameDuck: a process that is told to end is not ready first and answers on, for
// the time that is set; a second signal ends it at once.
func TestLameDuck(t *testing.T) {
	t.Parallel()
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--drain-delay", "5m", "--drain-limit", "6m")
	server.signal(syscall.SIGTERM)
	eventually(t, "draining", func() bool {
		v := server.state()
		if v["code"] == 0 {
			t.Fatalf("the listener is closed\n%s", server.log())
		}
		return v["code"] == 503 && v["status"] == "draining"
	})
	server.want(201, "POST", "/tags", server.token, `{"name":"late"}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.root+"/tags", http.NoBody)
	must(t, err)
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !answer.Close {
		t.Errorf("a list while it drains: %d, connection closed %t, want 200 and true", answer.StatusCode, answer.Close)
	}
	if status, _ := server.try("GET", server.host+pathLive, "", ""); status != 200 {
		t.Errorf("alive: %d", status)
	}
	if status := server.drain(); status != -1 { // ended by the signal
		t.Errorf("the second signal: status %d, want the end by the signal", status)
	}
}

// ended waits for the end of a process that was told to, and gives its exit status.
func (server *server) ended() int {
	server.t.Helper()
	watchdog := time.AfterFunc(limit, server.signalKill)
	defer watchdog.Stop()
	_ = server.cmd.Wait()
	return server.cmd.ProcessState.ExitCode()
}

// TestLameDuckDefault: by default only a process next to which others may answer waits.
func TestLameDuckDefault(t *testing.T) {
	t.Parallel()
	store, index := "--store=postgres://p/d", "--index=http://e:9200"
	for args, want := range map[string]time.Duration{
		"": 0, "--drain-delay=3s": 3 * time.Second, store: defaultLameDuck, store + " --drain-delay=0": 0,
		store + " " + index + " --role=api":                                    defaultLameDuck,
		store + " " + index + " --feed=nats://n --role=projector":              0,
		store + " " + index + " --feed=nats://n --role=relay --drain-delay=3s": 0,
		store + " " + index + " --role=api --drain-delay=49s":                  49 * time.Second,
		store + " " + index + " --role=api --drain-delay=50s":                  -1,
		store + " " + index + " --role=api --drain-delay=1m":                   -1,
		"--drain-limit=0s":                   -1,
		store + " --drain-limit=5s":          -1,
		"--drain-delay=-1s":                  -1,
		"--drain-delay=soon":                 -1,
		"--drain-delay=4m --drain-limit=10m": 4 * time.Minute,
	} {
		config, _, err := settingsOf(t, strings.Fields(args), nil)
		if (err != nil) != (want < 0) {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if err == nil && config.lameDuck() != want {
			t.Errorf("%s: %s, want %s", args, config.lameDuck(), want)
		}
	}
}

// TestDrainWithASilentServer: SIGTERM ends a process in its time though its event
// store has vanished without a word while requests wait for it.
func TestDrainWithASilentServer(t *testing.T) {
	t.Parallel()
	store, schema := engines.Shared(t, engines.Postgres)
	between := engines.NewProxy(t, store)
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--store", between.URL, "--store-schema", schema,
		"--drain-delay", "1s", "--drain-limit", "6s")
	id := idOf(server.want(201, "POST", "/tags", server.token, `{"name":"first"}`))
	between.Swallow(true)
	var clients sync.WaitGroup
	defer clients.Wait()
	for range 8 {
		clients.Go(func() { server.try("GET", server.root+"/tags/"+id, server.token, "") })
		clients.Go(func() { server.try("POST", server.root+"/tags", server.token, `{"name":"second"}`) })
	}
	<-time.After(200 * time.Millisecond) // for the requests to be under way
	from := time.Now()
	server.signal(syscall.SIGTERM)
	status := server.ended()
	if status == -1 {
		t.Fatalf("SIGTERM has not ended it in %s\n%s", limit, server.log())
	}
	if took := time.Since(from); took > time.Minute {
		t.Errorf("ended after %s, with a limit of 6s", took)
	}
	if status != exitOK && !strings.Contains(server.log(), "drain hangs: it did not end within 6s") {
		t.Errorf("status %d, and it does not say why\n%s", status, server.log())
	}
}

// TestDrainWithStreams: SIGTERM ends streams before all else, those too whose client reads
// nothing.
func TestDrainWithStreams(t *testing.T) {
	t.Parallel()
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	long := strings.Repeat("word ", 39_000)
	for i := range 40 { // more than the buffers of a connection hold
		server.want(201, "POST", "/tags", server.token, fmt.Sprintf(`{"name":"Tag %d","description":"%s"}`, i, long))
	}
	host, _ := strings.CutPrefix(server.host, "http://")
	stream := func(after string, buffer int) net.Conn {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		must(t, conn.(*net.TCPConn).SetReadBuffer(buffer))
		root, _ := strings.CutPrefix(server.root, server.host)
		if _, err := fmt.Fprintf(conn, "GET %s/changes/stream%s HTTP/1.1\r\nHost: x\r\n\r\n", root, after); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	stream("?after=0", 4<<10)
	reader := stream("", 64<<10)
	ended := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(reader)
		ended <- string(data)
	}()
	<-time.After(time.Second) // for the first one to stand still
	from := time.Now()
	server.signal(syscall.SIGTERM)
	if status := server.ended(); status != exitOK {
		t.Errorf("ended with status %d\n%s", status, server.log())
	}
	if took := time.Since(from); took > 10*time.Second {
		t.Errorf("a stream that nobody reads held SIGTERM for %s", took)
	}
	if text := <-ended; !strings.HasPrefix(text, "HTTP/1.1 200") || !strings.HasSuffix(text, "\r\n0\r\n\r\n") {
		t.Errorf("a stream that is read was cut off: %q", text)
	}
}

// TestStreamsByDefault: the streams of one stranger leave room for others.
func TestStreamsByDefault(t *testing.T) {
	t.Parallel()
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"))
	got := map[int]int{}
	open := func(token string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.root+"/changes/stream", http.NoBody)
		must(t, err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultClient.Do(request)
		must(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.StatusCode
	}
	for range 100 {
		got[open("")]++
	}
	if got[200] != 10 || got[429] != 90 {
		t.Errorf("of a hundred of one address: %v", got)
	}
	if status := open(server.token); status != 200 {
		t.Errorf("with credentials: %d", status)
	}
}
