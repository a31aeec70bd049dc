package cork

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"
)

// serve starts a server whose connections can be corked.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Listener = Listener(s.Listener)
	s.Config.ConnContext = Context
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

func TestBodiesArriveWhole(t *testing.T) {
	t.Parallel()
	bodyOf := func(n int) []byte { return bytes.Repeat([]byte(strconv.Itoa(n)+" "), n/2+1)[:n] }
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Context().Value(key{}).(*conn); !ok {
			t.Error("the connection cannot be corked")
		}
		n, err := strconv.Atoi(r.URL.RawQuery)
		if err != nil {
			t.Error(err)
		}
		sent := bodyOf(n)
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", strconv.Itoa(len(sent)))
		}
		if err := Write(w, r, sent); err != nil {
			t.Error(err)
		}
	})
	lengths := []int{0, 1, shortest - 1, shortest, 100_000, 3_000_000}
	for n := fullBuffer - 300; n <= fullBuffer+300; n += 7 { // where the header fills the buffer
		lengths = append(lengths, n)
	}
	for n := fullBuffer - 200; n <= fullBuffer+2; n++ {
		lengths = append(lengths, n)
	}
	for _, path := range []string{"/length", "/chunks"} {
		for _, n := range lengths {
			got, err := fetch(t, url+path+"?"+strconv.Itoa(n))
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", path, n, err)
			}
			if !bytes.Equal(got, bodyOf(n)) {
				t.Fatalf("%s: %d bytes came of %d", path, len(got), n)
			}
		}
	}
}

func fetch(t *testing.T, url string) ([]byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

// Without the listener the body is written as it is.
func TestOtherConnections(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	body := bytes.Repeat([]byte("x"), 10_000)
	if err := Write(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody), body); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(w.Body.Bytes(), body) {
		t.Errorf("%d bytes", w.Body.Len())
	}
	pipe, _ := net.Pipe()
	if ctx := Context(t.Context(), pipe); ctx.Value(key{}) != nil {
		t.Error("a pipe can be corked")
	}
}

// pair gives a connection and its other end.
func pair(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = Listener(l)
	defer func() { _ = l.Close() }()
	far, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	c, ok := Context(context.Background(), near).Value(key{}).(*conn)
	if !ok {
		t.Fatal("the connection cannot be corked")
	}
	return c, far
}

func TestFullBufferWaits(t *testing.T) {
	t.Parallel()
	c, far := pair(t)
	full := bytes.Repeat([]byte("a"), fullBuffer)
	write := func(p []byte) {
		t.Helper()
		if n, err := c.Write(p); n != len(p) || err != nil {
			t.Fatalf("%d of %d bytes written: %v", n, len(p), err)
		}
	}
	read := func(want []byte) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(far, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read %d bytes: %v", len(got), err)
		}
	}
	nothing := func() {
		t.Helper()
		if err := far.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := far.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("read %d bytes, %v, want none", n, err)
		}
		if err := far.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	write(full) // not corked
	read(full)
	c.corked = true
	write([]byte("short"))
	read([]byte("short"))
	write(full)
	nothing()
	write([]byte("rest"))
	read(append(bytes.Clone(full), "rest"...))
	write(full)
	nothing()
	c.uncork()
	read(full)
	write(full)
	read(full)
}

func TestClientGone(t *testing.T) {
	t.Parallel()
	c, far := pair(t)
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	c.corked = true
	for range 1000 {
		if _, err := c.Write(make([]byte, fullBuffer)); err != nil {
			return
		}
		if n, err := c.Write(make([]byte, 100)); err != nil {
			if n != 0 {
				t.Errorf("%d bytes written with %v", n, err)
			}
			return
		}
	}
	t.Error("writes to a client that is gone succeed")
}
